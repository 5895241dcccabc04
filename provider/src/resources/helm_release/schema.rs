//! The attributes of `joiner_helm_release`.

use super::documents::same_values;
use std::collections::BTreeMap;
use tfplugin::validate::{between, duration, not_empty, one_of};
use tfplugin::{Field, Model, Value};

/// A Helm release, by the real Helm 4: by default of the controller's chart, which the provider carries.
///
/// The chart's CRDs are applied before the release, each time, since Helm itself installs them once and never upgrades them; they stay
/// when the release is destroyed. After Helm the resource waits for the workloads, and a warning says why a pod is not ready. What
/// someone changed in the cluster shows as `drift`, and the next apply sets it right; a field that another field manager set since is
/// taken back with `force_conflicts` alone, and without it that manager is named. A release that a killed run left unfinished is taken
/// up from there.
///
/// A plan renders the chart, without a cluster, when all its values are known, and tells what the chart refuses: the controller's chart, or one
/// on this machine. A chart in a registry is pulled in the apply alone. A plan also warns when the controller's role, of the same
/// configuration, is for another service account than the one that the controller's chart gives to its pods.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct HelmRelease {
    /// Name of the release. A change replaces it.
    #[tf(required, requires_replace, validate = not_empty)]
    pub name: Field<String>,
    /// Namespace of the release. A change replaces it.
    #[tf(required, requires_replace, validate = not_empty)]
    pub namespace: Field<String>,
    /// The chart: a directory or archive on this machine, or an `oci://` reference. Left out: the chart of Joiner's controller that the
    /// provider carries.
    pub chart: Field<String>,
    /// Version of an `oci://` chart; the newest when left out.
    pub version: Field<String>,
    /// Values of the chart: an object, or a list of YAML texts and objects that are merged in order.
    #[tf(equivalent = same_values)]
    pub values: Field<Value>,
    /// Single values, merged over `values`.
    pub set: Field<Vec<SetEntry>>,
    /// Single values that are kept out of what a plan shows, merged after `set`. They are in the state; see `set_wo` for values that
    /// must not be.
    // Computed, so that an empty list and none are the same: a configuration that a core generates for an import has an empty one.
    #[tf(optional, computed, sensitive)]
    pub set_sensitive: Field<Vec<SetEntry>>,
    /// Single values that are in no plan and no state, merged last of all. A new value alone is no change: give a new
    /// `set_wo_version` with it.
    // Not sensitive: no plan and no state has it, and Terraform 1.11 takes two sensitive attributes for drift at random, since it compares the
    // order in which it came by them.
    #[tf(write_only)]
    pub set_wo: Field<Vec<SecretEntry>>,
    /// Any number; a change writes the release anew with the values of `set_wo`.
    pub set_wo_version: Field<i64>,
    /// Create the namespace when it is absent. It stays when the release is destroyed.
    #[tf(default = false)]
    pub create_namespace: Field<bool>,
    /// Apply the chart's CRDs before the release. They stay when the release is destroyed, since their objects would go with them.
    #[tf(default = true)]
    pub install_crds: Field<bool>,
    /// Wait until the workloads are ready. If they are not within `timeout`, a warning says why; the apply goes on.
    #[tf(default = true)]
    pub wait: Field<bool>,
    /// How long to wait for the workloads, and for each of Helm's own steps, such as `5m`.
    #[tf(default = "5m", validate = duration)]
    pub timeout: Field<String>,
    /// When an install or upgrade fails, or its workloads do not get ready in time, go back to what was before, and fail.
    #[tf(default = false)]
    pub atomic: Field<bool>,
    /// Revisions that Helm keeps; 0 keeps all.
    #[tf(default = 10, validate = between(0..=1000))]
    pub history_max: Field<i64>,
    /// Take over fields that other field managers own, instead of an error that names them. The provider's setting when left out.
    pub force_conflicts: Field<bool>,
    /// Take over objects that exist and belong to no release or to another one.
    #[tf(default = false)]
    pub take_ownership: Field<bool>,
    /// Take over a working release of this name that is not in the state, instead of an error.
    #[tf(default = false)]
    pub adopt: Field<bool>,
    /// Compare the live objects with what the release rendered, at each refresh.
    #[tf(default = true)]
    pub detect_drift: Field<bool>,
    /// Destroy the embedded chart's release even while NodeClaims exist. Their instances then run on without a controller.
    #[tf(default = false)]
    pub allow_orphans: Field<bool>,
    /// Time limits besides `timeout`.
    pub timeouts: Field<Limits>,
    /// `NAMESPACE/NAME`, also the import ID.
    #[tf(computed, use_state_for_unknown)]
    pub id: Field<String>,
    /// The cluster's identity: the uid of its namespace `kube-system`. Null when it may not be read.
    #[tf(computed, use_state_for_unknown)]
    pub cluster_uid: Field<String>,
    /// Helm's status of the newest revision: `deployed`, `failed`, ...
    #[tf(computed)]
    pub status: Field<String>,
    /// Number of the newest revision.
    #[tf(computed)]
    pub revision: Field<i64>,
    /// Name of the chart that is installed.
    #[tf(computed)]
    pub chart_name: Field<String>,
    /// Version of the chart that is installed.
    #[tf(computed)]
    pub chart_version: Field<String>,
    /// Version of the application in the chart that is installed.
    #[tf(computed)]
    pub app_version: Field<String>,
    /// Changes when the content of an embedded or local chart does; null for a chart in a registry.
    #[tf(computed)]
    pub chart_digest: Field<String>,
    /// Names of the CRDs that were applied with the release.
    #[tf(computed)]
    pub crds: Field<Vec<String>>,
    /// Whether the workloads were ready when they were last looked at.
    #[tf(computed)]
    pub ready: Field<bool>,
    /// What of the live objects differs from what the release rendered, by object. Empty when nothing does.
    #[tf(computed)]
    pub drift: Field<BTreeMap<String, String>>,
}

impl HelmRelease {
    /// The planned release with what is in the configuration alone.
    pub(super) fn with_secrets(&self, config: &Self) -> Self {
        Self {
            set_wo: config.set_wo.clone(),
            ..self.clone()
        }
    }
}

/// Time limits besides `timeout`, such as `10m`.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Limits {
    /// How long a destroy may take until the release's objects are gone (10 minutes).
    #[tf(validate = duration)]
    pub delete: Field<String>,
}

/// A single value that is stored nowhere.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct SecretEntry {
    /// Where, such as `auth.password`; `\.` is a dot within a key.
    #[tf(required, write_only)]
    pub name: Field<String>,
    /// What.
    #[tf(required, write_only, sensitive)]
    pub value: Field<String>,
    /// `auto`, the default, reads `true`, `false`, `null` and whole numbers in the text; `string` leaves it as it is.
    #[tf(write_only, validate = one_of(&["auto", "string"]))]
    pub r#type: Field<String>,
}

/// A single value.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct SetEntry {
    /// Where, such as `controller.env[0].name`; `\.` is a dot within a key.
    #[tf(required)]
    pub name: Field<String>,
    /// What.
    #[tf(required)]
    pub value: Field<String>,
    /// `auto` reads `true`, `false`, `null` and whole numbers in the text; `string` leaves it as it is.
    #[tf(default = "auto", validate = one_of(&["auto", "string"]))]
    pub r#type: Field<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_attribute_alone_is_sensitive() {
        let schema = HelmRelease::schema(0);
        let sensitive = schema.attributes.iter().filter(|attribute| attribute.sensitive);
        let names: Vec<&str> = sensitive.map(|attribute| attribute.name.as_str()).collect();
        assert_eq!(names, ["set_sensitive"], "two would look like drift to Terraform");
    }
}
