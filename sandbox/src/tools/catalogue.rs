//! Which Go tools there are, and from which module each is built.

use super::KUBERNETES_VERSION;

/// A folder under `sandbox/tools` with a go.mod of its own, since the tools' dependencies do not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The store.
    Etcd,
    /// The control plane and kubectl.
    Kubernetes,
    /// Nodes and pods that need no process.
    Kwok,
    /// Charts.
    Helm,
    /// The core that applies configurations.
    OpenTofu,
}

impl Group {
    /// Every group.
    pub const ALL: [Group; 5] = [
        Group::Etcd,
        Group::Kubernetes,
        Group::Kwok,
        Group::Helm,
        Group::OpenTofu,
    ];

    /// The group's folder below `tools/`.
    pub fn folder(self) -> &'static str {
        match self {
            Group::Etcd => "etcd",
            Group::Kubernetes => "kubernetes",
            Group::Kwok => "kwok",
            Group::Helm => "helm",
            Group::OpenTofu => "opentofu",
        }
    }
}

/// A program built by Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoTool {
    /// The program's file name.
    pub name: &'static str,
    /// The Go package.
    pub package: &'static str,
    /// The module it is built from.
    pub group: Group,
}

impl GoTool {
    /// Every tool, those that a sandbox runs first.
    pub const ALL: [GoTool; 8] = [
        GoTool {
            name: "etcd",
            package: "go.etcd.io/etcd/server/v3",
            group: Group::Etcd,
        },
        kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
        kubernetes(
            "kube-controller-manager",
            "k8s.io/kubernetes/cmd/kube-controller-manager",
        ),
        kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
        GoTool {
            name: "kwok",
            package: "sigs.k8s.io/kwok/cmd/kwok",
            group: Group::Kwok,
        },
        kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        GoTool {
            name: "helm",
            package: "helm.sh/helm/v4/cmd/helm",
            group: Group::Helm,
        },
        GoTool {
            name: "tofu",
            package: "github.com/opentofu/opentofu/cmd/tofu",
            group: Group::OpenTofu,
        },
    ];

    /// The tools that a running sandbox needs.
    pub fn control_plane() -> &'static [GoTool] {
        const ALL: &[GoTool] = &GoTool::ALL;
        &ALL[..5]
    }

    /// The tool called `name`.
    pub fn named(name: &str) -> Option<GoTool> {
        Self::ALL.into_iter().find(|tool| tool.name == name)
    }
}

const fn kubernetes(name: &'static str, package: &'static str) -> GoTool {
    GoTool {
        name,
        package,
        group: Group::Kubernetes,
    }
}

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

    #[test]
    fn each_group_has_its_module_files_and_names_its_tools() {
        for tool in GoTool::ALL {
            let path = format!("tools/{}/go.mod", tool.group.folder());
            let text = String::from_utf8_lossy(embedded::file(&path).unwrap_or_default()).into_owned();
            assert!(
                text.contains(tool.package),
                "{path} does not name {}",
                tool.package
            );
        }
    }

    #[test]
    fn kubernetes_version_is_the_one_in_go_mod() {
        let text = String::from_utf8_lossy(embedded::file("tools/kubernetes/go.mod").unwrap_or_default())
            .into_owned();
        assert!(
            text.contains(&format!("k8s.io/kubernetes {KUBERNETES_VERSION}")),
            "{KUBERNETES_VERSION}"
        );
        assert!(linker_flags().contains("gitMinor=37"));
    }
}
