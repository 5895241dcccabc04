//! The CRDs in the chart are the ones that the types give.

use std::{fs, path::Path};

use crate::support::yaml;

#[test]
fn the_chart_has_the_crds_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../controller/chart/crds");
    for (name, text) in yaml::crd_files() {
        let stored = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(
            stored == text,
            "{name} in controller/chart/crds is stale; run: cargo run -p joiner-api --example crds -- controller/chart/crds"
        );
    }
}
