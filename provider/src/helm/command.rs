//! The arguments of the Helm commands, as data. No secret is ever among them.

use super::registry::PullAccess;
use std::path::PathBuf;
use std::time::Duration;

/// `helm upgrade --install`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Upgrade {
    /// Release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Directory or archive of the chart.
    pub chart: PathBuf,
    /// File with the merged values.
    pub values: PathBuf,
    /// Create the namespace when it is absent.
    pub create_namespace: bool,
    /// Revisions to keep; 0 keeps all.
    pub history_max: u32,
    /// Time for each of Helm's own steps, such as hooks.
    pub timeout: Duration,
    /// Take fields over from other managers.
    pub force_conflicts: bool,
    /// Take objects over that another release or nobody manages.
    pub take_ownership: bool,
    /// Label of the new revision, `key=value`.
    pub label: String,
}

impl Upgrade {
    /// The command's arguments. CRDs are skipped: they are applied before, since Helm never upgrades them.
    pub(crate) fn args(&self) -> Vec<String> {
        let mut args = words(&[
            "upgrade",
            &self.name,
            &self.chart.to_string_lossy(),
            "--install",
            "--skip-crds",
        ]);
        args.extend(words(&[
            "--namespace",
            &self.namespace,
            "--values",
            &self.values.to_string_lossy(),
        ]));
        args.extend(words(&[
            "--reset-values",
            "--hide-notes",
            "--server-side=true",
            "--labels",
            &self.label,
        ]));
        args.extend([
            format!("--history-max={}", self.history_max),
            timeout(self.timeout),
        ]);
        flag(&mut args, self.create_namespace, "--create-namespace");
        flag(&mut args, self.force_conflicts, "--force-conflicts");
        flag(&mut args, self.take_ownership, "--take-ownership");
        args
    }
}

/// `helm template`: renders a chart without a cluster.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    /// Release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Directory or archive of the chart.
    pub chart: PathBuf,
    /// File with the merged values.
    pub values: PathBuf,
}

impl Template {
    /// The command's arguments.
    pub(crate) fn args(&self) -> Vec<String> {
        words(&[
            "template",
            &self.name,
            &self.chart.to_string_lossy(),
            "--namespace",
            &self.namespace,
            "--values",
            &self.values.to_string_lossy(),
        ])
    }
}

/// `helm rollback`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rollback {
    /// Release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Revision to go back to.
    pub revision: u32,
    /// Time for each of Helm's own steps.
    pub timeout: Duration,
}

impl Rollback {
    /// The command's arguments.
    pub(crate) fn args(&self) -> Vec<String> {
        let mut args = words(&[
            "rollback",
            &self.name,
            &self.revision.to_string(),
            "--namespace",
            &self.namespace,
        ]);
        args.extend([
            timeout(self.timeout),
            "--force-conflicts".to_owned(),
            "--server-side=true".to_owned(),
        ]);
        args
    }
}

/// `helm uninstall`, which keeps the release's record while it waits for the end of the objects, so that a run that is killed
/// meanwhile can be repeated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Uninstall {
    /// Release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Time until the objects must be gone.
    pub timeout: Duration,
}

impl Uninstall {
    /// The command's arguments. Absence is success.
    pub(crate) fn args(&self) -> Vec<String> {
        let mut args = words(&[
            "uninstall",
            &self.name,
            "--namespace",
            &self.namespace,
            "--ignore-not-found",
        ]);
        args.extend([
            timeout(self.timeout),
            "--wait".to_owned(),
            "--cascade=foreground".to_owned(),
        ]);
        args
    }
}

/// `helm pull` of an OCI reference into `directory`.
pub(super) fn pull(
    reference: &str,
    version: Option<&str>,
    directory: &str,
    access: &PullAccess,
) -> Vec<String> {
    let PullAccess {
        ca_file,
        insecure,
        plain_http,
    } = access;
    let mut args = words(&["pull", reference, "--destination", directory]);
    if let Some(version) = version {
        args.extend(words(&["--version", version]));
    }
    if let Some(file) = ca_file {
        args.extend(words(&["--ca-file", &file.to_string_lossy()]));
    }
    flag(&mut args, *insecure, "--insecure-skip-tls-verify");
    flag(&mut args, *plain_http, "--plain-http");
    args
}

/// `helm show crds`.
pub(super) fn show_crds(chart: &str) -> Vec<String> {
    words(&["show", "crds", chart])
}

/// `helm version`, just the number.
pub(super) fn version() -> Vec<String> {
    words(&["version", "--template", "{{.Version}}"])
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn timeout(limit: Duration) -> String {
    format!("--timeout={}s", limit.as_secs().max(1))
}

fn flag(args: &mut Vec<String>, on: bool, name: &str) {
    if on {
        args.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_as_helm_wants_them() {
        let upgrade = Upgrade {
            name: "joiner".into(),
            namespace: "kube-system".into(),
            chart: "/tmp/chart".into(),
            values: "/tmp/values.yaml".into(),
            create_namespace: true,
            history_max: 5,
            timeout: Duration::from_secs(300),
            force_conflicts: false,
            take_ownership: false,
            label: "joiner.dev/run=m.1.2".into(),
        };
        assert_eq!(
            upgrade.args().join(" "),
            "upgrade joiner /tmp/chart --install --skip-crds --namespace kube-system --values /tmp/values.yaml --reset-values --hide-notes \
             --server-side=true --labels joiner.dev/run=m.1.2 --history-max=5 --timeout=300s --create-namespace"
        );
        let template = Template {
            name: "r".into(),
            namespace: "n".into(),
            chart: "/c".into(),
            values: "/v".into(),
        };
        assert_eq!(
            template.args().join(" "),
            "template r /c --namespace n --values /v"
        );
        let rollback = Rollback {
            name: "r".into(),
            namespace: "n".into(),
            revision: 2,
            timeout: Duration::from_secs(9),
        };
        assert_eq!(
            rollback.args().join(" "),
            "rollback r 2 --namespace n --timeout=9s --force-conflicts --server-side=true"
        );
        let uninstall = Uninstall {
            name: "r".into(),
            namespace: "n".into(),
            timeout: Duration::ZERO,
        };
        assert_eq!(
            uninstall.args().join(" "),
            "uninstall r --namespace n --ignore-not-found --timeout=1s --wait --cascade=foreground"
        );
        assert_eq!(
            pull("oci://r/c", Some("1.0"), "/d", &PullAccess::default()).join(" "),
            "pull oci://r/c --destination /d --version 1.0"
        );
        let access = PullAccess {
            ca_file: Some("/ca".into()),
            insecure: true,
            plain_http: true,
        };
        assert_eq!(
            pull("oci://r/c", None, "/d", &access).join(" "),
            "pull oci://r/c --destination /d --ca-file /ca --insecure-skip-tls-verify --plain-http"
        );
    }
}
