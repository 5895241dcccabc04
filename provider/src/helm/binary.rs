//! Finding the Helm program: the setting, beside the provider, PATH.

use super::HelmError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Name of the program on this system.
const PROGRAM: &str = if cfg!(windows) { "helm.exe" } else { "helm" };

/// The Helm program to run.
///
/// A `setting` is taken as it is and must exist. Otherwise the directory of the running executable comes before PATH,
/// since the provider's zip carries the Helm that it was tested with.
pub(crate) fn find(setting: Option<&str>) -> Result<PathBuf, HelmError> {
    let executable = std::env::current_exe().ok();
    let beside = executable
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_path_buf);
    let path = std::env::var_os("PATH");
    find_in(setting, beside.as_deref(), path.as_deref())
}

fn find_in(setting: Option<&str>, beside: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, HelmError> {
    let candidates: Vec<PathBuf> = match setting {
        Some(setting) => vec![PathBuf::from(setting)],
        None => {
            let in_path = path.map(std::env::split_paths).into_iter().flatten();
            beside
                .map(Path::to_path_buf)
                .into_iter()
                .chain(in_path)
                .map(|dir| dir.join(PROGRAM))
                .collect()
        }
    };
    candidates
        .iter()
        .find(|candidate| candidate.is_file())
        .cloned()
        .ok_or_else(|| HelmError::Missing {
            looked_at: match setting {
                Some(setting) => vec![format!("helm_path = {setting:?}")],
                None => {
                    let mut places: Vec<String> =
                        beside.map(|dir| dir.display().to_string()).into_iter().collect();
                    places.push("PATH".to_owned());
                    places
                }
            },
        })
}

/// Whether `helm version` speaks of Helm 4.
pub(super) fn check_version(path: &Path, version: &str) -> Result<(), HelmError> {
    let version = version.trim();
    if version.trim_start_matches('v').starts_with("4.") {
        return Ok(());
    }
    Err(HelmError::WrongVersion {
        path: path.display().to_string(),
        version: version.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_wins_then_the_neighbour_then_path() {
        let dir = tempfile::tempdir().expect("a directory");
        let (beside, in_path) = (dir.path().join("a"), dir.path().join("b"));
        for place in [&beside, &in_path] {
            std::fs::create_dir(place).expect("a directory");
            std::fs::write(place.join(PROGRAM), "").expect("a file");
        }
        let path = in_path.clone().into_os_string();
        let setting = in_path.join(PROGRAM);
        let found = |setting: Option<&str>, beside: Option<&Path>, path: Option<&OsStr>| {
            find_in(setting, beside, path).map_err(|error| error.to_string())
        };
        assert_eq!(found(setting.to_str(), Some(&beside), None), Ok(setting.clone()));
        assert_eq!(found(None, Some(&beside), Some(&path)), Ok(beside.join(PROGRAM)));
        assert_eq!(
            found(None, Some(dir.path()), Some(&path)),
            Ok(in_path.join(PROGRAM))
        );
        let missing = found(Some("/no/helm"), Some(&beside), Some(&path)).expect_err("no such file");
        assert!(missing.contains("/no/helm"), "{missing}");
        let nowhere = found(None, Some(dir.path()), None).expect_err("nowhere");
        assert!(
            nowhere.contains("PATH") && nowhere.contains("helm_path"),
            "{nowhere}"
        );
    }

    #[test]
    fn only_helm_4_will_do() {
        for (version, ok) in [
            ("v4.3.2", true),
            ("4.0.0\n", true),
            ("v3.19.0", false),
            ("v4", false),
            ("", false),
        ] {
            assert_eq!(
                check_version(Path::new("/helm"), version).is_ok(),
                ok,
                "{version:?}"
            );
        }
    }
}
