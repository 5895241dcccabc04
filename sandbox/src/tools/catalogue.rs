//! Which Go tools there are.

use super::KUBERNETES_VERSION;

/// A program built by Go from the module in `sandbox/tools`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoTool {
    /// The program's file name.
    pub name: &'static str,
    /// The Go package.
    pub package: &'static str,
}

impl GoTool {
    /// Every tool, those that a sandbox runs first.
    pub const ALL: [GoTool; 8] = [
        tool("etcd", "go.etcd.io/etcd/server/v3"),
        tool("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
        tool(
            "kube-controller-manager",
            "k8s.io/kubernetes/cmd/kube-controller-manager",
        ),
        tool("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
        tool("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
        tool("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        tool("helm", "helm.sh/helm/v4/cmd/helm"),
        tool("tofu", "github.com/opentofu/opentofu/cmd/tofu"),
    ];

    /// The tools that a running sandbox needs.
    pub fn control_plane() -> &'static [GoTool] {
        const ALL: &[GoTool] = &GoTool::ALL;
        &ALL[..5]
    }

    /// The name that Go gives the program: the last part of the package's path, without a version.
    pub(super) fn built_as(&self) -> &'static str {
        let mut parts = self.package.rsplit('/');
        let is_version = |part: &&str| part.strip_prefix('v').is_some_and(|it| it.parse::<u32>().is_ok());
        parts.find(|part| !is_version(part)).unwrap_or(self.name)
    }

    /// The tool called `name`.
    pub fn named(name: &str) -> Option<GoTool> {
        Self::ALL.into_iter().find(|tool| tool.name == name)
    }
}

const fn tool(name: &'static str, package: &'static str) -> GoTool {
    GoTool { name, package }
}

/// No debug data is written that the linker would drop: a tenth of the time.
pub(crate) const COMPILER_FLAGS: &str = "-gcflags=all=-dwarf=false";

/// The linker flags: no debug tables, and the Kubernetes version, without which clients cannot parse the server's version.
pub(crate) fn linker_flags() -> String {
    const PACKAGE: &str = "k8s.io/component-base/version";
    let (major, minor) = version_parts(KUBERNETES_VERSION);
    [
        "-s -w".to_owned(),
        format!("-X {PACKAGE}.gitVersion={KUBERNETES_VERSION}"),
        format!("-X {PACKAGE}.gitMajor={major}"),
        format!("-X {PACKAGE}.gitMinor={minor}"),
        format!("-X {PACKAGE}.gitTreeState=clean"),
        format!("-X {PACKAGE}.buildDate=2026-09-01T00:00:00Z"),
    ]
    .join(" ")
}

fn version_parts(version: &str) -> (&str, &str) {
    let mut parts = version.trim_start_matches('v').split('.');
    (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;

    fn module() -> String {
        String::from_utf8_lossy(embedded::file("tools/go.mod").unwrap_or_default()).into_owned()
    }

    #[test]
    fn the_module_names_every_tool() {
        let module = module();
        for tool in GoTool::ALL {
            assert!(
                module.contains(tool.package),
                "go.mod does not name {}",
                tool.package
            );
        }
    }

    #[test]
    fn programs_are_named_as_go_names_them() {
        let etcd = GoTool::named("etcd").map(|tool| tool.built_as());
        assert_eq!(etcd, Some("server"));
        let helm = GoTool::named("helm").map(|tool| tool.built_as());
        assert_eq!(helm, Some("helm"));
    }

    #[test]
    fn kubernetes_version_is_the_one_in_go_mod() {
        assert!(
            module().contains(&format!("k8s.io/kubernetes {KUBERNETES_VERSION}")),
            "{KUBERNETES_VERSION}"
        );
        assert!(linker_flags().contains("gitMinor=37"));
    }
}
