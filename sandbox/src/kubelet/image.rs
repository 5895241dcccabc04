//! Which images the system node runs: `joiner/<name>[:tag][@digest]` is the program `joiner-<name>`. Pure.

/// The program of an image; `None` for an image that is not ours.
pub(super) fn program(image: &str) -> Option<String> {
    let image = image.strip_prefix("docker.io/").unwrap_or(image);
    let rest = image.strip_prefix("joiner/")?;
    let name = rest.split(['@', ':']).next()?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (!name.is_empty() && name.chars().all(plain)).then(|| format!("joiner-{name}"))
}

/// The kubelet's words for an image that it cannot run.
pub(super) fn refusal(image: &str) -> String {
    format!(
        "the sandbox's system node runs images called joiner/NAME (as the program joiner-NAME); it cannot pull {image:?}. Pods that need no real process run on the simulated nodes"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_images_are_programs() {
        for (image, want) in [
            ("joiner/controller", Some("joiner-controller")),
            ("joiner/controller:0.1.0", Some("joiner-controller")),
            ("docker.io/joiner/echo:1@sha256:ab", Some("joiner-echo")),
            ("joiner/../sh", None),
            ("joiner/", None),
            ("nginx", None),
            ("registry.k8s.io/pause:3.10", None),
        ] {
            assert_eq!(program(image).as_deref(), want, "{image}");
        }
    }
}
