//! The role's policy documents, made from its attributes.

use super::schema::IrsaRole;
use crate::roles::{Place, controller_policy};
use joiner_aws::policy::{ServiceAccount, irsa_trust};
use tfplugin::Field;

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
pub(super) fn trust(model: &IrsaRole) -> Result<Field<String>, String> {
    let (Some(arn), Some(namespace), Some(name)) = (
        model.oidc_provider_arn.as_str(),
        model.controller.namespace.as_str(),
        model.controller.service_account.as_str(),
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
pub(super) fn policy(model: &IrsaRole, region: Field<String>) -> Result<Field<String>, String> {
    let (Some(arn), Some(region)) = (model.oidc_provider_arn.as_str(), region.into_known()) else {
        return Ok(Field::Unknown);
    };
    let ProviderArn {
        partition, account, ..
    } = ProviderArn::parse(arn)?;
    let place = Place {
        partition: partition.to_owned(),
        account: account.to_owned(),
        region,
    };
    Ok(controller_policy(&model.controller, Field::Known(place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::ControllerAttributes;

    const ARN: &str = "arn:aws-cn:iam::123456789012:oidc-provider/oidc.eks.cn-north-1.amazonaws.com.cn/id/A";

    fn role() -> IrsaRole {
        IrsaRole {
            oidc_provider_arn: ARN.into(),
            controller: ControllerAttributes {
                cluster_name: "c".into(),
                namespace: "kube-system".into(),
                service_account: "joiner".into(),
                manage_instance_profiles: Field::Known(true),
                ..ControllerAttributes::default()
            },
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
        let unknown = IrsaRole {
            oidc_provider_arn: Field::Unknown,
            ..role()
        };
        assert!(policy(&unknown, region()).expect("valid").is_unknown());
        assert!(trust(&unknown).expect("valid").is_unknown());
        let text = policy(&role(), region())
            .expect("valid")
            .into_known()
            .expect("known");
        assert!(text.contains("arn:aws-cn:"), "the partition is the ARN's: {text}");
    }
}
