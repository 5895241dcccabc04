//! What the quickstart tells at its end.

use std::time::Duration;

use comfy_table::{Table, presets};

use super::progress::{Milestones, Progress};
use super::setting::Setting;
use crate::output;

/// The seconds of each stage, and the NodeClaims bought.
pub(crate) fn stages(applied: Duration, progress: &Progress) {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(["stage", "seconds"]);
    table.add_row(["one apply".to_owned(), format!("{:.1}", applied.as_secs_f64())]);
    let Milestones {
        first_pod,
        first_claim,
        first_launch,
        first_registered,
        first_ready,
        first_running,
        all_running,
    } = progress.milestones();
    for (stage, at) in [
        ("scaling to the first pending pod", first_pod),
        ("... to the first NodeClaim", first_claim),
        ("... to the first instance launched", first_launch),
        ("... to the first node registered", first_registered),
        ("... to the first node ready", first_ready),
        ("... to the first pod running", first_running),
        ("... to all pods running", all_running),
    ] {
        table.add_row([
            stage.to_owned(),
            at.map_or_else(|| "-".to_owned(), |at| format!("{at:.2}")),
        ]);
    }
    output::line(&table.to_string());

    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "nodeclaim",
        "instance type",
        "zone",
        "capacity type",
        "price",
    ]);
    for (name, claim) in progress.last().iter().flat_map(|picture| &picture.claims) {
        table.add_row([
            name,
            &claim.instance_type,
            &claim.zone,
            &claim.capacity_type,
            &claim.price,
        ]);
    }
    output::line(&table.to_string());
}

/// How to go on by hand.
pub(crate) fn how_to_go_on(setting: &Setting) {
    output::line(&format!(
        "The sandbox stays up. To go on:\n  \
         eval \"$(target/release/joiner sandbox env)\"          # KUBECONFIG and AWS settings\n  \
         export PATH={}:$PATH                   # kubectl, helm, tofu\n  \
         export TF_CLI_CONFIG_FILE={}\n  \
         kubectl get nodepools,nodeclaims,nodes,pods -A\n  \
         kubectl logs -n kube-system -l app.kubernetes.io/name=joiner -f\n  \
         make quickstart-destroy                               # destroys it and proves that nothing is left\n  \
         target/release/joiner sandbox down                    # ends the sandbox",
        setting.tools.bin.display(),
        setting.cli_config().display(),
    ));
}
