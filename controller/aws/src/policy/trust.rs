//! Who may take on a role: service accounts by OIDC, EKS pod identity, EC2.

use super::{Document, Statement};

/// A Kubernetes service account; `*` in the name stands for all of the namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: String,
    /// Its name, or `*`.
    pub name: String,
}

/// Trust of IRSA: tokens of the cluster's OIDC provider for the given service accounts and the audience of STS.
/// `provider_arn` is `arn:<partition>:iam::<account>:oidc-provider/<issuer without scheme>`.
///
/// # Errors
/// The text of the expectation if the ARN is not one of an OIDC provider, or no account is given.
pub fn irsa_trust(provider_arn: &str, accounts: &[ServiceAccount]) -> Result<Document, String> {
    let issuer = provider_arn
        .split_once(":oidc-provider/")
        .filter(|(head, issuer)| head.starts_with("arn:") && head.contains(":iam::") && !issuer.is_empty())
        .map(|(_, issuer)| issuer)
        .ok_or_else(|| {
            format!(
                "{provider_arn:?} is no ARN of an OIDC provider: expected \
                 arn:aws:iam::<account>:oidc-provider/<issuer>, such as the output oidc_provider_arn of the cluster's \
                 module"
            )
        })?;
    if accounts.is_empty() {
        return Err("no service account may take on the role: give at least one".to_owned());
    }
    let mut subjects: Vec<String> = accounts
        .iter()
        .map(|account| format!("system:serviceaccount:{}:{}", account.namespace, account.name))
        .collect();
    subjects.sort();
    subjects.dedup();
    let operator = if subjects.iter().any(|subject| subject.contains('*')) {
        "StringLike"
    } else {
        "StringEquals"
    };
    let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
    Ok(Document::new(vec![
        Statement::trust(
            "ServiceAccounts",
            &["sts:AssumeRoleWithWebIdentity"],
            "Federated",
            provider_arn,
        )
        .when("StringEquals", &format!("{issuer}:aud"), &["sts.amazonaws.com"])
        .when(operator, &format!("{issuer}:sub"), &subjects),
    ]))
}

/// Trust of EKS pod identity; which pods get the role is said by the association, not here.
pub fn pod_identity_trust() -> Document {
    Document::new(vec![Statement::trust(
        "PodIdentity",
        &["sts:AssumeRole", "sts:TagSession"],
        "Service",
        "pods.eks.amazonaws.com",
    )])
}

/// Trust of a node's role. `partition` is `aws`, `aws-cn`, `aws-us-gov`, ...
pub fn node_trust(partition: &str) -> Document {
    Document::new(vec![Statement::trust(
        "Nodes",
        &["sts:AssumeRole"],
        "Service",
        ec2_service(partition),
    )])
}

/// The service principal of EC2 in a partition.
pub(super) fn ec2_service(partition: &str) -> &'static str {
    match partition {
        "aws-cn" => "ec2.amazonaws.com.cn",
        _ => "ec2.amazonaws.com",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(namespace: &str, name: &str) -> ServiceAccount {
        ServiceAccount {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    const PROVIDER: &str =
        "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC";

    #[test]
    fn irsa_names_audience_and_subjects() {
        let document = irsa_trust(
            PROVIDER,
            &[account("b", "y"), account("a", "x"), account("a", "x")],
        )
        .unwrap();
        assert_eq!(
            document.to_json(),
            "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"ServiceAccounts\",\"Effect\":\"Allow\",\
             \"Principal\":{\"Federated\":[\"arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.\
             com/id/ABC\"]},\"Action\":[\"sts:AssumeRoleWithWebIdentity\"],\"Condition\":{\"StringEquals\":{\"oidc.eks.\
             eu-central-1.amazonaws.com/id/ABC:aud\":[\"sts.amazonaws.com\"],\"oidc.eks.eu-central-1.amazonaws.com/id/\
             ABC:sub\":[\"system:serviceaccount:a:x\",\"system:serviceaccount:b:y\"]}}}]}"
        );
    }

    #[test]
    fn a_wildcard_account_is_matched_by_pattern() {
        let json = irsa_trust(PROVIDER, &[account("a", "*")]).unwrap().to_json();
        assert!(
            json.contains("\"StringLike\":{\"oidc.eks.eu-central-1.amazonaws.com/id/ABC:sub\""),
            "{json}"
        );
    }

    #[test]
    fn what_is_no_provider_is_said() {
        for arn in [
            "",
            "https://oidc.eks",
            "arn:aws:iam::1:role/x",
            "arn:aws:iam::1:oidc-provider/",
        ] {
            assert!(
                irsa_trust(arn, &[account("a", "x")])
                    .unwrap_err()
                    .contains("is no ARN of an OIDC provider")
            );
        }
        assert!(irsa_trust(PROVIDER, &[]).is_err());
    }

    #[test]
    fn each_partition_has_its_ec2() {
        assert!(node_trust("aws-cn").to_json().contains("ec2.amazonaws.com.cn"));
        assert!(
            node_trust("aws-us-gov")
                .to_json()
                .contains("\"ec2.amazonaws.com\"")
        );
    }
}
