//! Where a container's mounts lie on this machine. A process has no file system of its own here, so a path below a mount
//! that occurs in its command, arguments or environment is replaced by the real one. Pure.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Container;

/// A mount: the path the container believes in, and the real one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) path: String,
    pub(super) real: PathBuf,
}

/// The mounts of a container whose volumes lie at `volume(name)`, the deepest path first.
pub(super) fn of(container: &Container, volume: impl Fn(&str) -> Option<PathBuf>) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = container
        .volume_mounts
        .iter()
        .flatten()
        .filter_map(|mount| {
            let folder = volume(&mount.name)?;
            let real = match mount.sub_path.as_deref() {
                Some(below) if !below.is_empty() => folder.join(below),
                _ => folder,
            };
            Some(Mount {
                path: mount.mount_path.trim_end_matches('/').to_owned(),
                real,
            })
        })
        .collect();
    mounts.sort_by(|a, b| b.path.len().cmp(&a.path.len()).then_with(|| a.path.cmp(&b.path)));
    mounts
}

/// Replaces mounted paths in a text.
pub(super) fn translate(text: &str, mounts: &[Mount]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let before = text[..at].chars().next_back();
        let hit = mounts
            .iter()
            .find(|mount| !mount.path.is_empty() && begins(&text[at..], before, &mount.path));
        match hit {
            Some(mount) => {
                out.push_str(&mount.real.to_string_lossy());
                at += mount.path.len();
            }
            None => {
                let Some(next) = text[at..].chars().next() else {
                    break;
                };
                out.push(next);
                at += next.len_utf8();
            }
        }
    }
    out
}

/// True when `text` begins with the whole path: not in the middle of a longer one.
fn begins(text: &str, before: Option<char>, path: &str) -> bool {
    let in_path = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let Some(rest) = text.strip_prefix(path) else {
        return false;
    };
    let after = rest.chars().next();
    !before.is_some_and(in_path) && after.is_none_or(|c| c == '/' || !in_path(c))
}

/// The real place of a path in the container, if it is mounted.
pub(super) fn real(path: &str, mounts: &[Mount]) -> Option<PathBuf> {
    let mount = mounts
        .iter()
        .find(|mount| Path::new(path).starts_with(&mount.path))?;
    let below = Path::new(path).strip_prefix(&mount.path).ok()?;
    Some(if below.as_os_str().is_empty() {
        mount.real.clone()
    } else {
        mount.real.join(below)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts() -> Vec<Mount> {
        let container = serde_json::from_value(serde_json::json!({ "name": "c", "volumeMounts": [
            { "name": "a", "mountPath": "/etc/a" },
            { "name": "b", "mountPath": "/etc/a/b/", "subPath": "s" },
            { "name": "unknown", "mountPath": "/x" },
        ] }))
        .unwrap();
        of(&container, |name| {
            (name != "unknown").then(|| PathBuf::from(format!("/real/{name}")))
        })
    }

    #[test]
    fn only_whole_mounted_paths_are_replaced() {
        for (text, want) in [
            ("/etc/a", "/real/a"),
            ("--config=/etc/a/x.yaml", "--config=/real/a/x.yaml"),
            ("/etc/a/b/c", "/real/b/s/c"),
            ("/etc/a:/etc/a/b", "/real/a:/real/b/s"),
            ("/etc/ab", "/etc/ab"),
            ("/root/etc/a", "/root/etc/a"),
            ("/x", "/x"),
            ("é/etc/a", "é/etc/a"),
        ] {
            assert_eq!(translate(text, &mounts()), want, "{text}");
        }
    }

    #[test]
    fn the_real_place_of_a_path() {
        assert_eq!(real("/etc/a/t", &mounts()), Some(PathBuf::from("/real/a/t")));
        assert_eq!(real("/etc/a/b", &mounts()), Some(PathBuf::from("/real/b/s")));
        assert_eq!(real("/var", &mounts()), None);
    }
}
