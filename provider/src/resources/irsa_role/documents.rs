//! The role's policy documents, made from its attributes.

use super::schema::IrsaRole;
use joiner_aws::policy::{Controller, ServiceAccount, controller, irsa_trust, same_meaning};
use std::collections::BTreeMap;
use tfplugin::Field;

/// Name of the inline policy with the controller's permissions.
pub(super) const CONTROLLER_POLICY: &str = "JoinerController";
/// The tag that tells our roles from others; its value names service account and cluster.
pub(super) const OWNER_TAG: &str = "joiner.dev/irsa-role";

/// The parts of an OIDC provider's ARN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProviderArn<'a> {
    pub partition: &'a str,
    pub account: &'a str,
    /// Issuer without scheme.
    pub issuer: &'a str,
}

impl<'a> ProviderArn<'a> {
    /// Reads `arn:PARTITION:iam::ACCOUNT:oidc-provider/ISSUER`.
    pub(super) fn parse(arn: &'a str) -> Result<Self, String> {
        let expectation = || {
            format!(
                "{arn:?} is no ARN of an OIDC provider: expected arn:aws:iam::ACCOUNT:oidc-provider/ISSUER, such as the output \
                 oidc_provider_arn of the cluster's module"
            )
        };
        let (head, issuer) = arn.split_once(":oidc-provider/").ok_or_else(expectation)?;
        match head.split(':').collect::<Vec<_>>().as_slice() {
            ["arn", partition, "iam", "", account] if !issuer.is_empty() && !account.is_empty() => Ok(Self {
                partition,
                account,
                issuer,
            }),
            _ => Err(expectation()),
        }
    }

    /// The region in the issuer's name `oidc.eks.REGION.amazonaws.com`.
    pub(super) fn region(&self) -> Option<&'a str> {
        self.issuer.strip_prefix("oidc.eks.")?.split('.').next()
    }
}

/// The trust policy; unknown while what it needs is.
pub(super) fn trust(role: &IrsaRole) -> Result<Field<String>, String> {
    let (Some(arn), Some(namespace), Some(name)) = (
        role.oidc_provider_arn.as_str(),
        role.namespace.as_str(),
        role.service_account.as_str(),
    ) else {
        return Ok(Field::Unknown);
    };
    let account = ServiceAccount {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    irsa_trust(arn, &[account]).map(|document| Field::Known(document.to_json()))
}

/// The controller's policy in `region`; unknown while what it needs is.
pub(super) fn policy(role: &IrsaRole, region: Field<String>) -> Result<Field<String>, String> {
    let (Some(arn), Some(cluster), Some(region)) = (
        role.oidc_provider_arn.as_str(),
        role.cluster_name.as_str(),
        region.into_known(),
    ) else {
        return Ok(Field::Unknown);
    };
    let (Some(queue), Some(roles), Some(Some(manages_profiles))) = (
        role.interruption_queue_arn.decided(),
        role.node_role_arns.decided(),
        role.manage_instance_profiles.decided(),
    ) else {
        return Ok(Field::Unknown);
    };
    let ProviderArn {
        partition, account, ..
    } = ProviderArn::parse(arn)?;
    let facts = Controller {
        partition: partition.to_owned(),
        region,
        account: account.to_owned(),
        cluster: cluster.to_owned(),
        queue_arn: queue.cloned(),
        node_role_arns: roles.into_iter().flatten().cloned().collect(),
        manages_profiles: *manages_profiles,
    };
    Ok(Field::Known(controller(&facts).to_json()))
}

/// The value of [`OWNER_TAG`].
pub(super) fn owner(role: &IrsaRole) -> String {
    let part = |field: &Field<String>| field.as_str().unwrap_or_default().to_owned();
    format!(
        "{}/{}@{}",
        part(&role.namespace),
        part(&role.service_account),
        part(&role.cluster_name)
    )
}

/// `planned`, in the words of `prior` when it means the same.
pub(super) fn keep_words(planned: Field<String>, prior: &Field<String>) -> Field<String> {
    match (planned.as_str(), prior.as_str()) {
        (Some(new), Some(old)) if same_meaning(new, old) => prior.clone(),
        _ => planned,
    }
}

/// Whether two sets of named policies mean the same.
pub(super) fn same_documents(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .all(|(name, left)| right.get(name).is_some_and(|right| same_meaning(left, right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws-cn:iam::123456789012:oidc-provider/oidc.eks.cn-north-1.amazonaws.com.cn/id/A";

    fn role() -> IrsaRole {
        IrsaRole {
            oidc_provider_arn: ARN.into(),
            cluster_name: "c".into(),
            namespace: "kube-system".into(),
            service_account: "joiner".into(),
            manage_instance_profiles: Field::Known(true),
            ..IrsaRole::default()
        }
    }

    #[test]
    fn an_arn_tells_partition_account_and_region() {
        let parsed = ProviderArn::parse(ARN).expect("an ARN");
        assert_eq!(
            (parsed.partition, parsed.account, parsed.region()),
            ("aws-cn", "123456789012", Some("cn-north-1"))
        );
        for wrong in [
            "",
            "arn:aws:iam::1:role/x",
            "arn:aws:iam:::oidc-provider/x",
            "arn:aws:iam::1:oidc-provider/",
        ] {
            assert!(ProviderArn::parse(wrong).is_err(), "{wrong}");
        }
        let sandbox = ProviderArn::parse("arn:aws:iam::1:oidc-provider/127.0.0.1:1/x").expect("an ARN");
        assert_eq!(sandbox.region(), None);
    }

    #[test]
    fn documents_are_unknown_until_everything_is_known() {
        let known = |field: &Field<String>| field.is_known();
        let region = || Field::Known("cn-north-1".to_owned());
        assert!(known(&trust(&role()).expect("valid")) && known(&policy(&role(), region()).expect("valid")));
        assert!(policy(&role(), Field::Unknown).expect("valid").is_unknown());
        for unknown in [
            IrsaRole {
                oidc_provider_arn: Field::Unknown,
                ..role()
            },
            IrsaRole {
                cluster_name: Field::Unknown,
                ..role()
            },
            IrsaRole {
                node_role_arns: Field::Unknown,
                ..role()
            },
            IrsaRole {
                interruption_queue_arn: Field::Unknown,
                ..role()
            },
        ] {
            assert!(
                policy(&unknown, region()).expect("valid").is_unknown(),
                "{unknown:?}"
            );
        }
        let text = policy(&role(), region())
            .expect("valid")
            .into_known()
            .expect("known");
        assert!(text.contains("arn:aws-cn:"), "the partition is the ARN's: {text}");
    }

    #[test]
    fn another_spelling_is_no_change() {
        let old = Field::Known(
            r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"a:B","Resource":"*"}]}"#
                .to_owned(),
        );
        let new = Field::Known(
            r#"{"Statement":{"Resource":["*"],"Action":["a:B"],"Effect":"Allow"},"Version":"2012-10-17"}"#
                .to_owned(),
        );
        assert_eq!(keep_words(new, &old), old);
        assert_eq!(keep_words("x".into(), &old), "x".into());
        assert_eq!(owner(&role()), "kube-system/joiner@c");
    }
}
