//! From the provider block to what resources get. Connects to nothing.

use super::checks::Checks;
use super::data::{Joiner, Part};
use super::eks::EksCluster;
use super::registries::registries;
use super::settings::{AwsSettings, Eks, Kubernetes, Settings};
use crate::cluster::{Access, Cluster, ClusterError, Direct, EksAccess, Exec, Secret, from_direct};
use async_trait::async_trait;
use joiner_api::rules::tag_problem;
use joiner_aws::{AssumeRole, Aws, Endpoints};
use std::path::PathBuf;
use std::sync::Arc;
use tfplugin::{
    AttributePath, AttributeValue as _, Configured, Context, Diagnostics, Field, Offers, Provider,
};

/// Makes a cluster from the way to reach it.
type Reach = dyn Fn(Access) -> Cluster + Send + Sync;

/// The field manager when none is set.
pub(super) const FIELD_MANAGER: &str = "terraform-joiner";

/// The provider `joiner`.
pub(crate) struct JoinerProvider {
    reach: Arc<Reach>,
    #[cfg(test)]
    fakes: super::fakes::Fakes,
}

impl JoinerProvider {
    /// The provider as it is served.
    pub(crate) fn new() -> Self {
        Self {
            reach: Arc::new(Cluster::new),
            #[cfg(test)]
            fakes: super::fakes::Fakes::default(),
        }
    }

    /// A provider whose clusters are made by `reach`.
    #[cfg(test)]
    pub(crate) fn reaching(reach: impl Fn(Access) -> Cluster + Send + Sync + 'static) -> Self {
        Self {
            reach: Arc::new(reach),
            fakes: super::fakes::Fakes::default(),
        }
    }

    /// The same with something else than a real Helm or a real account.
    #[cfg(test)]
    pub(crate) fn with(mut self, fakes: super::fakes::Fakes) -> Self {
        self.fakes = fakes;
        self
    }
}

#[async_trait]
impl Provider for JoinerProvider {
    type Model = Settings;
    type Data = Joiner;

    async fn validate(&self, _: &Context<Joiner>, config: &Settings) -> Result<(), Diagnostics> {
        check(config).into_result(())
    }

    async fn configure(
        &self,
        _: &Context<Joiner>,
        config: Settings,
    ) -> Result<Configured<Joiner>, Diagnostics> {
        // What is unknown is unknown part by part: a role can be planned while the cluster is not there yet.
        let data = joiner(&config, &*self.reach);
        #[cfg(test)]
        let data = self.fakes.put_into(data);
        Ok(Configured::ready(data))
    }

    fn offers(&self) -> Offers<Joiner> {
        crate::ephemeral::add(crate::functions::add(crate::data_sources::add(
            crate::resources::offers(),
        )))
    }
}

/// What is wrong with the block, as far as it is known.
pub(super) fn check(config: &Settings) -> Diagnostics {
    let mut found = Diagnostics::new();
    if config.kubernetes.is_known() && config.eks.is_known() {
        found.error_at(
            "eks",
            "Two clusters",
            "Both kubernetes and eks are set, and a provider has one cluster. Remove one of them, or use two provider blocks with \
             aliases.",
        );
    }
    if let Some(kubernetes) = config.kubernetes.known() {
        check_kubernetes(kubernetes, &mut found);
    }
    super::registries::check(config, &mut found);
    if config.aws.to_value().is_wholly_known()
        && let Some(settings) = config.aws.known()
        && let Err(error) = Aws::connect(aws_settings(settings))
    {
        found.error_at(aws_path(&error), "Not a setting", format!("{error}."));
    }
    check_tags(config, &mut found);
    let aws = config.aws.known().map(|aws| ("aws.region", &aws.region));
    let eks = config.eks.known().map(|eks| ("eks.region", &eks.region));
    for (path, region) in aws.into_iter().chain(eks) {
        if let Some(Err(problem)) = region.as_str().map(check_region) {
            found.error_at(path, "Not a region", problem);
        }
    }
    if let Some(eks) = config.eks.known()
        && let Some(role_arn) = text(&eks.role_arn)
        && let Err(error) = Aws::connect(joiner_aws::Settings {
            assume_role: Some(AssumeRole {
                role_arn,
                ..AssumeRole::default()
            }),
            ..joiner_aws::Settings::default()
        })
    {
        let problem = error.to_string().replace("assume_role.role_arn", "eks.role_arn");
        found.error_at("eks.role_arn", "Not a role", format!("{problem}."));
    }
    found
}

/// Default tags that no resource could have.
fn check_tags(config: &Settings, found: &mut Diagnostics) {
    let tags = config.aws.known().and_then(|aws| aws.default_tags.known());
    for (key, value) in tags.into_iter().flatten() {
        if let Some(problem) = tag_problem(key, value) {
            let path = AttributePath::from("aws.default_tags").key(key.as_str());
            found.error_at(path, "Not a tag", format!("{problem}."));
        }
    }
}

/// What is wrong with the name of a region.
pub(crate) fn check_region(region: &str) -> Result<(), String> {
    let is_label = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    if !region.is_empty() && region.len() <= 63 && region.chars().all(is_label) {
        return Ok(());
    }
    Err(format!(
        "{region:?} is no region: expected lower-case letters, digits and dashes, such as eu-central-1."
    ))
}

/// The attribute that a wrong AWS setting stands at.
fn aws_path(error: &joiner_aws::Error) -> AttributePath {
    match error {
        joiner_aws::Error::Setting { setting, .. } => format!("aws.{setting}").as_str().into(),
        _ => "aws".into(),
    }
}

fn check_kubernetes(kubernetes: &Kubernetes, found: &mut Diagnostics) {
    let base = AttributePath::from("kubernetes");
    let Kubernetes {
        host,
        config_path,
        config_context,
        client_certificate,
        client_key,
        token,
        exec,
        ..
    } = kubernetes;
    if host.is_null() && config_path.is_null() {
        found.error_at(
            base.clone(),
            "No cluster",
            "Neither host nor config_path is set, and there is no default cluster. Set host to the URL of the API server, or \
             config_path to a kubeconfig file.",
        );
    }
    if host.is_known() && config_path.is_known() {
        found.error_at(
            base.attribute("config_path"),
            "Two clusters",
            "Both host and config_path are set. Remove one of them.",
        );
    }
    if config_context.is_known() && config_path.is_null() {
        found.error_at(
            base.attribute("config_context"),
            "No kubeconfig",
            "config_context chooses a context in a kubeconfig file, and config_path names none. Set config_path.",
        );
    }
    if client_certificate.is_null() != client_key.is_null()
        && !client_certificate.is_unknown()
        && !client_key.is_unknown()
    {
        let missing = if client_key.is_null() {
            "client_key"
        } else {
            "client_certificate"
        };
        found.error_at(
            base.attribute(missing),
            "Half a client certificate",
            format!("client_certificate and client_key go together. Set {missing}, too."),
        );
    }
    if found.is_empty()
        && host.is_known()
        && kubernetes.to_value().is_wholly_known()
        && let Access::Direct(direct) = access(kubernetes)
        && let Err(ClusterError::Setting { attribute, problem }) = from_direct(&direct)
    {
        found.error_at(attribute, "Not a setting", format!("{problem}."));
    }
    if token.is_known() && exec.is_known() {
        found.error_at(
            base.attribute("exec"),
            "Two credentials",
            "Both token and exec are set. Remove one of them.",
        );
    }
}

/// The data for resources.
pub(super) fn joiner(config: &Settings, reach: &Reach) -> Joiner {
    let aws = aws(&config.aws);
    let cluster = cluster(config, &aws, reach);
    let mut data = Joiner::new(cluster, aws);
    if let Some(manager) = config.field_manager.as_str() {
        manager.clone_into(&mut data.field_manager);
    }
    data.default_tags = config.aws.clone().and_then(|aws| aws.default_tags);
    data.force_conflicts = config.force_conflicts.known().copied().unwrap_or(false);
    data.helm_path = match &config.helm_path {
        Field::Unknown => Part::Unknown,
        path => Part::Known(path.as_str().map(PathBuf::from)),
    };
    data.registries = registries(config);
    data.checks = Checks::of(config.checks.known());
    data
}

fn aws(block: &Field<AwsSettings>) -> Part<Aws> {
    if !block.to_value().is_wholly_known() {
        return Part::Unknown;
    }
    let settings = block.known().cloned().unwrap_or_default();
    connect(aws_settings(&settings))
}

fn connect(settings: joiner_aws::Settings) -> Part<Aws> {
    match Aws::connect(settings) {
        Ok(aws) => Part::Known(aws),
        Err(error) => Part::Broken(error.to_string()),
    }
}

fn aws_settings(block: &AwsSettings) -> joiner_aws::Settings {
    let AwsSettings {
        region,
        profile,
        assume_role,
        endpoints,
        default_tags,
    } = block;
    joiner_aws::Settings {
        region: text(region),
        profile: text(profile),
        endpoints: endpoints
            .known()
            .map(|endpoints| Endpoints {
                all: text(&endpoints.all),
                ec2: text(&endpoints.ec2),
                eks: text(&endpoints.eks),
                events: text(&endpoints.events),
                iam: text(&endpoints.iam),
                pricing: text(&endpoints.pricing),
                sqs: text(&endpoints.sqs),
                ssm: text(&endpoints.ssm),
                sts: text(&endpoints.sts),
            })
            .unwrap_or_default(),
        assume_role: assume_role.known().map(|role| AssumeRole {
            role_arn: text(&role.role_arn).unwrap_or_default(),
            session_name: text(&role.session_name),
            external_id: text(&role.external_id),
        }),
        default_tags: default_tags.known().cloned().unwrap_or_default(),
        ..joiner_aws::Settings::default()
    }
}

fn cluster(config: &Settings, aws: &Part<Aws>, reach: &Reach) -> Part<Cluster> {
    if !config.kubernetes.to_value().is_wholly_known() || !config.eks.to_value().is_wholly_known() {
        return Part::Unknown;
    }
    match (config.kubernetes.known(), config.eks.known()) {
        (Some(kubernetes), _) => Part::Known(reach(access(kubernetes))),
        (None, Some(eks)) => eks_cluster(eks, aws),
        (None, None) => Part::Absent,
    }
}

fn eks_cluster(eks: &Eks, aws: &Part<Aws>) -> Part<Cluster> {
    let base = match aws {
        Part::Known(aws) => aws.settings().clone(),
        Part::Unknown => return Part::Unknown,
        Part::Broken(problem) => return Part::Broken(problem.clone()),
        Part::Absent => joiner_aws::Settings::default(),
    };
    let access = EksAccess {
        cluster_name: text(&eks.cluster_name).unwrap_or_default(),
        region: text(&eks.region),
        role_arn: text(&eks.role_arn),
        profile: text(&eks.profile),
    };
    let label = Access::Eks(access.clone()).label();
    let EksAccess {
        cluster_name,
        region,
        role_arn,
        profile,
    } = access;
    let settings = joiner_aws::Settings {
        region: region.or(base.region),
        profile: profile.or(base.profile),
        assume_role: role_arn
            .map(|role_arn| AssumeRole {
                role_arn,
                ..AssumeRole::default()
            })
            .or(base.assume_role),
        ..base
    };
    match connect(settings) {
        Part::Known(aws) => Part::Known(Cluster::eks(
            label,
            Arc::new(EksCluster {
                aws,
                name: cluster_name,
            }),
        )),
        Part::Broken(problem) => Part::Broken(problem),
        Part::Absent | Part::Unknown => Part::Unknown,
    }
}

fn access(block: &Kubernetes) -> Access {
    let Kubernetes {
        host,
        cluster_ca_certificate,
        token,
        client_certificate,
        client_key,
        tls_server_name,
        insecure,
        exec,
        config_path,
        config_context,
    } = block;
    if let Some(path) = config_path.as_str() {
        return Access::Kubeconfig {
            path: expand(path),
            context: text(config_context),
        };
    }
    Access::Direct(Box::new(Direct {
        host: text(host).unwrap_or_default(),
        cluster_ca_certificate: text(cluster_ca_certificate),
        token: token.as_str().map(Secret::new),
        client_certificate: text(client_certificate),
        client_key: client_key.as_str().map(Secret::new),
        tls_server_name: text(tls_server_name),
        insecure: insecure.known().copied().unwrap_or(false),
        exec: exec.known().map(|exec| Exec {
            api_version: text(&exec.api_version).unwrap_or_default(),
            command: text(&exec.command).unwrap_or_default(),
            args: exec.args.known().cloned().unwrap_or_default(),
            env: exec.env.known().cloned().unwrap_or_default(),
        }),
    }))
}

/// A path with `~` as the home directory.
pub(super) fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

pub(super) fn text(field: &Field<String>) -> Option<String> {
    field.as_str().map(str::to_owned)
}
