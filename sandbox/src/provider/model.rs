//! The attributes of `sandbox_cluster`, named as those of `aws_eks_cluster` where that has them.

use tfplugin::{Field, Model};

use crate::layout::check_name;
use crate::model::Cluster;
use crate::tools::KUBERNETES_VERSION;

/// A Kubernetes cluster of the sandbox: its own etcd, API server, controller manager and scheduler, two system nodes, and its
/// own network, security group, roles and OIDC provider in the emulated AWS account. Replacing it gives a fresh cluster with
/// another CA.
#[derive(Clone, Debug, PartialEq, Model)]
pub(super) struct ClusterModel {
    /// Name of the cluster: 1 to 32 lower-case letters, digits and dashes.
    #[tf(required, requires_replace, validate = name)]
    pub(super) name: Field<String>,
    /// Kubernetes minor version; the sandbox runs one.
    #[tf(optional, computed, requires_replace_if_configured, use_state_for_unknown, validate = version)]
    pub(super) version: Field<String>,
    /// Name of the cluster, known when it is up.
    #[tf(computed, use_state_for_unknown)]
    pub(super) id: Field<String>,
    /// ARN of the cluster.
    #[tf(computed, use_state_for_unknown)]
    pub(super) arn: Field<String>,
    /// URL of the API server.
    #[tf(computed, use_state_for_unknown)]
    pub(super) endpoint: Field<String>,
    /// The cluster's CA.
    #[tf(computed, use_state_for_unknown)]
    pub(super) certificate_authority: Field<Vec<CertificateAuthority>>,
    /// Identity provider of the cluster.
    #[tf(computed, use_state_for_unknown)]
    pub(super) identity: Field<Vec<Identity>>,
    /// Network of the cluster.
    #[tf(computed, use_state_for_unknown)]
    pub(super) vpc_config: Field<Vec<VpcConfig>>,
    /// ARN of the IAM OIDC provider for the cluster's service accounts.
    #[tf(computed, use_state_for_unknown)]
    pub(super) oidc_provider_arn: Field<String>,
    /// Name of the role of the cluster's nodes.
    #[tf(computed, use_state_for_unknown)]
    pub(super) node_role_name: Field<String>,
    /// ARN of the role of the cluster's nodes.
    #[tf(computed, use_state_for_unknown)]
    pub(super) node_role_arn: Field<String>,
    /// Region of the cluster.
    #[tf(computed, use_state_for_unknown)]
    pub(super) region: Field<String>,
    /// Account of the cluster.
    #[tf(computed, use_state_for_unknown)]
    pub(super) account_id: Field<String>,
    /// Unique id of the cluster (of its namespace kube-system); a replaced cluster has another.
    #[tf(computed, use_state_for_unknown)]
    pub(super) uid: Field<String>,
    /// The CA's certificate as PEM.
    #[tf(computed, use_state_for_unknown)]
    pub(super) cluster_ca_certificate: Field<String>,
    /// The administrator's certificate as PEM.
    // Not sensitive: it is no secret, and Terraform 1.11 takes two sensitive attributes for drift at random.
    #[tf(computed, use_state_for_unknown)]
    pub(super) client_certificate: Field<String>,
    /// The administrator's key as PEM.
    #[tf(computed, sensitive, use_state_for_unknown)]
    pub(super) client_key: Field<String>,
    /// Path of the administrator's kubeconfig.
    #[tf(computed, use_state_for_unknown)]
    pub(super) kubeconfig_path: Field<String>,
}

/// A certificate authority.
#[derive(Clone, Debug, PartialEq, Model)]
pub(super) struct CertificateAuthority {
    /// Base64 of the certificate's PEM.
    #[tf(computed)]
    data: Field<String>,
}

/// An identity provider.
#[derive(Clone, Debug, PartialEq, Model)]
pub(super) struct Identity {
    /// OpenID Connect.
    #[tf(computed)]
    oidc: Field<Vec<Oidc>>,
}

/// An OpenID Connect issuer.
#[derive(Clone, Debug, PartialEq, Model)]
pub(super) struct Oidc {
    /// URL of the issuer of service account tokens.
    #[tf(computed)]
    issuer: Field<String>,
}

/// A cluster's network.
#[derive(Clone, Debug, PartialEq, Model)]
pub(super) struct VpcConfig {
    /// The VPC.
    #[tf(computed)]
    vpc_id: Field<String>,
    /// One private subnet in each zone.
    #[tf(computed)]
    subnet_ids: Field<Vec<String>>,
    /// The security group of the control plane and the nodes.
    #[tf(computed)]
    cluster_security_group_id: Field<String>,
}

fn name(text: &str) -> Result<(), String> {
    check_name("cluster name", text).map_err(|error| error.to_string())
}

fn version(text: &str) -> Result<(), String> {
    let minor = minor_version();
    if text == minor {
        Ok(())
    } else {
        Err(format!(
            "the sandbox runs Kubernetes {minor}; write {minor:?} or leave it out"
        ))
    }
}

fn minor_version() -> String {
    KUBERNETES_VERSION
        .trim_start_matches('v')
        .split('.')
        .take(2)
        .collect::<Vec<_>>()
        .join(".")
}

/// The attributes of a cluster.
pub(super) fn of(cluster: Cluster) -> ClusterModel {
    let known = Field::Known::<String>;
    let aws = cluster.aws;
    ClusterModel {
        name: known(cluster.name.clone()),
        version: known(cluster.version),
        id: known(cluster.name),
        arn: known(aws.arn),
        endpoint: known(cluster.endpoint),
        certificate_authority: Field::Known(vec![CertificateAuthority {
            data: known(cluster.certificate_authority),
        }]),
        identity: Field::Known(vec![Identity {
            oidc: Field::Known(vec![Oidc {
                issuer: known(cluster.oidc_issuer),
            }]),
        }]),
        vpc_config: Field::Known(vec![VpcConfig {
            vpc_id: known(aws.vpc_id),
            subnet_ids: Field::Known(aws.subnet_ids),
            cluster_security_group_id: known(aws.security_group_id),
        }]),
        oidc_provider_arn: known(aws.oidc_provider_arn),
        node_role_name: known(aws.node_role_name),
        node_role_arn: known(aws.node_role_arn),
        region: known(aws.region),
        account_id: known(aws.account_id),
        uid: known(cluster.uid),
        cluster_ca_certificate: known(cluster.ca_certificate),
        client_certificate: known(cluster.client_certificate),
        client_key: known(cluster.client_key),
        kubeconfig_path: known(cluster.kubeconfig.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_one_that_cores_accept() {
        assert_eq!(
            tfplugin::check_schema(&ClusterModel::schema(0)),
            Vec::<String>::new()
        );
    }

    #[test]
    fn names_and_versions_are_checked_at_plan() {
        assert!(name("quickstart").is_ok());
        assert!(name("Bad_Name").unwrap_err().contains("lower-case"));
        assert!(version("1.37").is_ok());
        assert!(version("1.29").unwrap_err().contains("1.37"));
    }
}
