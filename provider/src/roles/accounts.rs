//! Whether the controller's role is for the service account that its release gives to its pods: role and release are resources of their own,
//! so each is compared with those that were planned before it in this process.
//!
//! Input: service accounts as far as a plan knows them. Output: the pair that does not fit. Invariant: pure but for the memory.

use joiner_aws::policy::ServiceAccount;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tfplugin::Diagnostic;

/// A planned role, or a planned release of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// How the configuration calls it, such as `joiner_irsa_role "x"`.
    pub called: String,
    /// The service account that it is for.
    pub account: ServiceAccount,
    /// The cluster that it is for, where that is known.
    pub cluster: Option<String>,
}

impl Party {
    fn may_share_a_cluster(&self, other: &Self) -> bool {
        match (&self.cluster, &other.cluster) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        }
    }
}

/// The roles and releases that were planned so far.
#[derive(Default)]
pub(crate) struct Accounts(Mutex<Planned>);

#[derive(Default)]
struct Planned {
    roles: BTreeMap<String, Party>,
    releases: BTreeMap<String, Party>,
}

/// A role and a release that do not fit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    role: Party,
    release: Party,
}

impl Accounts {
    /// Notes a planned role; answers a release that no role is for.
    pub(crate) fn plan_role(&self, role: Party) -> Option<Misfit> {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        planned.roles.insert(role.called.clone(), role.clone());
        let release = planned
            .releases
            .values()
            .find(|release| role.may_share_a_cluster(release) && planned.has_no_role(release))?;
        Some(Misfit {
            release: release.clone(),
            role,
        })
    }

    /// Notes a planned release; answers a role that is for another service account, when no role is for that of the release.
    pub(crate) fn plan_release(&self, release: Party) -> Option<Misfit> {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        planned.releases.insert(release.called.clone(), release.clone());
        let mut roles = planned.roles.values();
        let role = roles.find(|role| role.may_share_a_cluster(&release))?;
        planned.has_no_role(&release).then(|| Misfit {
            role: role.clone(),
            release,
        })
    }
}

impl Planned {
    fn has_no_role(&self, release: &Party) -> bool {
        !self
            .roles
            .values()
            .any(|role| role.may_share_a_cluster(release) && role.account == release.account)
    }
}

impl Misfit {
    /// The warning at the role.
    pub(crate) fn at_role(&self) -> Diagnostic {
        self.told_at("service_account")
    }

    /// The warning at the release.
    pub(crate) fn at_release(&self) -> Diagnostic {
        self.told_at("values")
    }

    /// At the attribute that names the account, or at the namespace where that alone differs.
    fn told_at(&self, naming: &str) -> Diagnostic {
        let same_name = self.role.account.name == self.release.account.name;
        self.told().at(if same_name { "namespace" } else { naming })
    }

    fn told(&self) -> Diagnostic {
        let Self { role, release } = self;
        let (of_role, of_release) = (&role.account, &release.account);
        let mut differences = Vec::new();
        let mut remedies = Vec::new();
        if of_role.name != of_release.name {
            differences.push(format!(
                "service_account of {} is {:?}, and serviceAccount.name of {}, set in values or by the release's name, comes to {:?}",
                role.called, of_role.name, release.called, of_release.name
            ));
            remedies.push(format!(
                "service_account = {:?} in the role, or serviceAccount = {{ name = {:?} }} in the release's values",
                of_release.name, of_role.name
            ));
        }
        if of_role.namespace != of_release.namespace {
            differences.push(format!(
                "namespace of {} is {:?}, and namespace of {} is {:?}",
                role.called, of_role.namespace, release.called, of_release.namespace
            ));
            remedies.push(format!(
                "namespace = {:?} in the role, or namespace = {:?} in the release",
                of_release.namespace, of_role.namespace
            ));
        }
        Diagnostic::warning(
            "Role and release are for different service accounts",
            format!(
                "The controller's pods could not take the role on: {}. Write {}.",
                differences.join("; "),
                remedies.join("; and ")
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(called: &str, namespace: &str, name: &str, cluster: Option<&str>) -> Party {
        Party {
            called: called.to_owned(),
            account: ServiceAccount {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            cluster: cluster.map(str::to_owned),
        }
    }

    #[test]
    fn the_one_planned_second_is_told() {
        let release = || party("release", "kube-system", "joiner", Some("c"));
        for (role, misfits) in [
            (party("role", "kube-system", "joiner", Some("c")), false),
            (party("role", "kube-system", "karpenter", Some("c")), true),
            (party("role", "karpenter", "joiner", None), true),
            // Of another cluster.
            (party("role", "kube-system", "karpenter", Some("d")), false),
        ] {
            let accounts = Accounts::default();
            assert_eq!(accounts.plan_role(role.clone()), None, "nothing to compare with");
            assert_eq!(accounts.plan_release(release()).is_some(), misfits, "{role:?}");
            let accounts = Accounts::default();
            assert_eq!(accounts.plan_release(release()), None);
            assert_eq!(accounts.plan_role(role.clone()).is_some(), misfits, "{role:?}");
        }
    }

    #[test]
    fn one_role_that_fits_is_enough() {
        let accounts = Accounts::default();
        let own = party("own", "kube-system", "joiner", None);
        let other = party("other", "kube-system", "karpenter", None);
        assert_eq!(accounts.plan_role(own.clone()), None);
        assert_eq!(accounts.plan_role(other), None);
        let release = Party {
            called: "release".to_owned(),
            ..own.clone()
        };
        assert_eq!(accounts.plan_release(release), None);
        // A change of mind within the process: the last plan counts.
        let moved = party("own", "kube-system", "moved", None);
        assert!(accounts.plan_role(moved).is_some());
        assert_eq!(accounts.plan_role(own), None);
    }

    #[test]
    fn both_attributes_are_named_and_what_to_write() {
        let misfit = |namespace: &str, name: &str| Misfit {
            role: party("joiner_irsa_role \"r\"", namespace, name, None),
            release: party(
                "joiner_helm_release \"kube-system/joiner\"",
                "kube-system",
                "joiner",
                None,
            ),
        };
        for (misfit, at_role, at_release, words) in [
            (
                misfit("kube-system", "x"),
                "service_account",
                "values",
                "Write service_account = \"joiner\" in the role, or serviceAccount = { name = \"x\" } in the release's values.",
            ),
            (
                misfit("n", "joiner"),
                "namespace",
                "namespace",
                "Write namespace = \"kube-system\" in the role, or namespace = \"n\" in the release.",
            ),
            (
                misfit("n", "x"),
                "service_account",
                "values",
                "values; and namespace = \"kube-system\" in the role",
            ),
        ] {
            let told = misfit.at_role();
            assert!(told.detail.contains(words), "{}", told.detail);
            let mut found = tfplugin::Diagnostics::new();
            found.push(told);
            found.push(misfit.at_release());
            assert_eq!(found.paths(), [at_role, at_release]);
        }
    }
}
