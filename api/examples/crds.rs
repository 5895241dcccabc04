//! Writes the CRDs for the chart: `cargo run -p joiner-api --example crds -- controller/chart/crds`.

use std::{env, error::Error, fs, path::PathBuf};

#[path = "../tests/api/support/yaml.rs"]
mod yaml;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("usage: crds FOLDER")?;
    fs::create_dir_all(&folder)?;
    for (name, text) in yaml::crd_files() {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}
