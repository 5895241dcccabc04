//! The provider block.

use super::checks::{Level, time};
use std::collections::BTreeMap;
use tfplugin::validate::{not_empty, one_of};
use tfplugin::{Field, Model};

/// Joiner creates what a cluster needs to give its own pods nodes: the controller's IAM role, its Helm release, EC2NodeClasses and
/// NodePools.
///
/// Every setting may be unknown while planning, as when the cluster is created in the same apply. Nothing is contacted unless a
/// resource needs it, and there is no default cluster: neither `KUBECONFIG` nor `~/.kube/config` is read unless named here.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Settings {
    /// The cluster, by host and credentials or by a kubeconfig file. Not together with `eks`.
    pub kubernetes: Field<Kubernetes>,
    /// The cluster, by the name of an EKS cluster: endpoint and certificate authority are looked up, and tokens are made as they are
    /// needed, so that none expires in a long apply. Not together with `kubernetes`.
    pub eks: Field<Eks>,
    /// How to reach AWS. What is left out comes from the standard chain: environment, shared configuration files, web identity,
    /// instance metadata.
    pub aws: Field<AwsSettings>,
    /// The manager under which fields are applied (default `terraform-joiner`). Two configurations that share a cluster may have
    /// different ones.
    #[tf(validate = not_empty)]
    pub field_manager: Field<String>,
    /// Take over fields that other field managers own, instead of an error that names them (default `false`).
    pub force_conflicts: Field<bool>,
    /// Path of the Helm 4 program. Left out, it is looked for beside the provider's executable and in `PATH`.
    #[tf(validate = not_empty)]
    pub helm_path: Field<String>,
    /// OCI registries that charts are pulled from. One that needs neither a login nor a certificate of its own needs no entry.
    pub registries: Field<Vec<RegistrySettings>>,
    /// A file with registry logins, as `helm registry login` and `docker login` write it; `~` is the home directory. Left out, no file
    /// is read.
    #[tf(validate = not_empty)]
    pub registry_config_path: Field<String>,
    /// How seriously a plan takes what it finds beyond the rules of the API: `error`, `warning` or `off`.
    pub checks: Field<ChecksSettings>,
}

/// How seriously a plan takes what it finds, by what tells it.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ChecksSettings {
    /// What the built-in catalogue of instance types and the controller's own judgement tell, without a network: values that no type has,
    /// limits that no node fits into, budgets that never open, user data for another image, kubelet settings that no node can do, labels and
    /// limits that are misspelt, overlays that correct nothing (default `error`). Doubts are warnings always.
    #[tf(validate = one_of(&Level::WORDS))]
    pub catalogue: Field<String>,
    /// What the account tells, when credentials are at hand and the cluster is known: subnets, security groups, images, instance profiles,
    /// capacity reservations and placement groups that are not there, zones without a subnet, reservations that a pool cannot use, limits
    /// above the account's quotas on vCPUs, of one pool or of all pools together that share a quota; the cluster that a role names, and whether it
    /// has the issuer that the role trusts (default `warning`). What runs outside the
    /// pools counts against a quota, too, in a region with up to 1,000 instances; in a larger one it is not looked at. It reads alone
    /// (`ec2:Describe*`, `eks:DescribeCluster`, `iam:GetRole`, `iam:GetInstanceProfile`, `ssm:GetParameter`, `servicequotas:GetServiceQuota`), and what the
    /// credentials may not ask is left out.
    #[tf(validate = one_of(&Level::WORDS))]
    pub account: Field<String>,
    /// What the cluster tells, by a dry run of each change (default `off`: the apply asks it anyway).
    #[tf(validate = one_of(&Level::WORDS))]
    pub cluster: Field<String>,
    /// What the installed custom resource definitions tell: a field that they do not have, as a controller of an older release does not (default
    /// `error`). The cluster is asked only about an object with a field that not every release has, and about a pool's node class that was not
    /// planned before the pool: one that is not there is a warning.
    #[tf(validate = one_of(&Level::WORDS))]
    pub controller: Field<String>,
    /// What the change of a pool or a node class does to nodes that run, by the controller's own decisions on the cluster as it is:
    /// `warning` tells it, `error` also refuses a change after which pods would find no node, `off` asks nothing (default `warning`).
    /// The credentials need to list what scheduling looks at, in all namespaces.
    #[tf(validate = one_of(&Level::WORDS))]
    pub forecast: Field<String>,
    /// How long a forecast may take, such as `20s`; one that takes longer is left out with a warning (default `5s`).
    #[tf(validate = time)]
    pub forecast_timeout: Field<String>,
}

/// An OCI registry that charts are pulled from.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct RegistrySettings {
    /// The registry, or a part of it, as `oci://HOST[:PORT][/PATH]`. Of several entries that fit a chart, the longest counts.
    #[tf(required)]
    pub url: Field<String>,
    /// User of the login.
    pub username: Field<String>,
    /// Password or token of the login.
    #[tf(sensitive)]
    pub password: Field<String>,
    /// Certificate authority of the registry: PEM, or base64 of PEM.
    pub ca_certificate: Field<String>,
    /// Do not check the registry's certificate.
    pub insecure: Field<bool>,
    /// Use HTTP instead of HTTPS, as for a registry on this machine.
    pub plain_http: Field<bool>,
}

/// A cluster by host and credentials, or by a kubeconfig file.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Kubernetes {
    /// URL of the API server.
    pub host: Field<String>,
    /// Certificate authority of the API server: PEM, or base64 of PEM as `aws_eks_cluster` gives it.
    pub cluster_ca_certificate: Field<String>,
    /// Bearer token.
    #[tf(sensitive)]
    pub token: Field<String>,
    /// Client certificate: PEM, or base64 of PEM.
    pub client_certificate: Field<String>,
    /// Key of the client certificate: PEM, or base64 of PEM.
    #[tf(sensitive)]
    pub client_key: Field<String>,
    /// The name that the server's certificate is checked for, instead of the host.
    pub tls_server_name: Field<String>,
    /// Do not check the server's certificate.
    pub insecure: Field<bool>,
    /// A program that makes credentials, as kubeconfig files name them.
    pub exec: Field<ExecSettings>,
    /// A kubeconfig file; `~` is the home directory. Not together with `host`.
    pub config_path: Field<String>,
    /// The context in it, instead of its current one.
    pub config_context: Field<String>,
}

/// A program that makes credentials.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ExecSettings {
    /// Version of the ExecCredential, such as `client.authentication.k8s.io/v1`.
    #[tf(required)]
    pub api_version: Field<String>,
    /// The program.
    #[tf(required)]
    pub command: Field<String>,
    /// Its arguments.
    pub args: Field<Vec<String>>,
    /// Environment variables besides the provider's own.
    pub env: Field<BTreeMap<String, String>>,
}

/// A cluster by the name of an EKS cluster.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Eks {
    /// Name of the cluster. Refer to the cluster's `id`, which is unknown until it exists.
    #[tf(required)]
    pub cluster_name: Field<String>,
    /// Region of the cluster, instead of `aws.region`.
    pub region: Field<String>,
    /// Role to take on for the cluster.
    pub role_arn: Field<String>,
    /// Profile of the shared configuration files, instead of `aws.profile`.
    pub profile: Field<String>,
}

/// How to reach AWS.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct AwsSettings {
    /// Region, such as `eu-central-1`.
    pub region: Field<String>,
    /// Profile of the shared configuration files.
    pub profile: Field<String>,
    /// A role to take on with the credentials of the chain.
    pub assume_role: Field<AssumeRoleSettings>,
    /// Endpoints other than AWS' own.
    pub endpoints: Field<EndpointSettings>,
    /// Tags on everything that this provider creates in AWS.
    pub default_tags: Field<BTreeMap<String, String>>,
}

/// A role to take on.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct AssumeRoleSettings {
    /// ARN of the role.
    #[tf(required)]
    pub role_arn: Field<String>,
    /// Name of the session.
    pub session_name: Field<String>,
    /// The secret that the role's owner asks for.
    #[tf(sensitive)]
    pub external_id: Field<String>,
}

/// Endpoints other than AWS' own, as URLs.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct EndpointSettings {
    /// Of every service that has none of its own here.
    pub all: Field<String>,
    /// Of EC2.
    pub ec2: Field<String>,
    /// Of EKS.
    pub eks: Field<String>,
    /// Of EventBridge.
    pub events: Field<String>,
    /// Of IAM.
    pub iam: Field<String>,
    /// Of the price list.
    pub pricing: Field<String>,
    /// Of SQS.
    pub sqs: Field<String>,
    /// Of Systems Manager.
    pub ssm: Field<String>,
    /// Of STS.
    pub sts: Field<String>,
}
