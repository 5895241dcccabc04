//! Embeds the controller's chart: writes `chart.rs` with the content of every file below `controller/chart`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    println!("cargo::rerun-if-changed=../controller/chart");
    let chart = manifest.join("../controller/chart").canonicalize()?;
    let mut files = Vec::new();
    collect(&chart, &mut files)?;
    files.sort();
    let mut code = String::from(
        "/// Path below the chart's directory, and content, of each file.\nconst FILES: &[(&str, &[u8])] = &[\n",
    );
    let mut hash = Fnv::new();
    for file in &files {
        let name = file
            .strip_prefix(&chart)
            .map_err(io::Error::other)?
            .to_string_lossy()
            .replace('\\', "/");
        hash.write(name.as_bytes());
        hash.write(&fs::read(file)?);
        // Not the path itself: checkouts at several places may share a target folder, and this text.
        let from_package = format!("/../controller/chart/{name}");
        let _ = writeln!(
            code,
            "    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {from_package:?}))),"
        );
    }
    let _ = writeln!(
        code,
        "];\n/// Changes when a file of the chart does.\nconst FINGERPRINT: &str = {:?};",
        hash.hex()
    );
    fs::write(out.join("chart.rs"), code)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Four FNV-1a hashes with different starts: enough to notice a change, not to resist an attack.
struct Fnv([u64; 4]);

impl Fnv {
    fn new() -> Self {
        Self([1, 2, 3, 4].map(|seed| 0xcbf2_9ce4_8422_2325_u64.wrapping_mul(seed)))
    }

    fn write(&mut self, bytes: &[u8]) {
        for hash in &mut self.0 {
            for byte in bytes {
                *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }

    fn hex(&self) -> String {
        self.0.iter().map(|hash| format!("{hash:016x}")).collect()
    }
}
