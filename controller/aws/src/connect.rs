//! Settings in, clients out.
//!
//! [`Aws::connect`] only checks the settings; files, environment and metadata service are read at the first call, and a
//! client is built when it is first needed, since the provider starts four times in one apply.

use crate::error::Error;
use crate::selectors::ssm;
use crate::{ecr, events, json_call, quotas};
use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::OnceCell;

/// How to reach AWS. Everything left out comes from the standard chain (environment, web identity, profile, metadata).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Region such as `eu-central-1`; else AWS_REGION, the profile's, the instance's.
    pub region: Option<String>,
    /// Name of a profile in the shared configuration files.
    pub profile: Option<String>,
    /// Keys in place of the standard chain.
    pub credentials: Option<StaticCredentials>,
    /// Endpoints other than AWS' own; they win over AWS_ENDPOINT_URL.
    pub endpoints: Endpoints,
    /// A role to take on with the credentials of the chain.
    pub assume_role: Option<AssumeRole>,
    /// Tags put on everything that is created through this connection.
    pub default_tags: BTreeMap<String, String>,
    /// Attempts for one call, the first included; the SDK's default is 3.
    pub max_attempts: Option<u32>,
}

/// Keys given by hand.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StaticCredentials {
    /// Such as `AKIA...`.
    pub access_key_id: String,
    /// The secret.
    pub secret_access_key: String,
    /// For temporary keys.
    pub session_token: Option<String>,
}

impl fmt::Debug for StaticCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticCredentials")
            .field("access_key_id", &self.access_key_id)
            .finish_non_exhaustive()
    }
}

/// Endpoint URLs, for all services or for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoints {
    /// For every service that has none of its own below.
    pub all: Option<String>,
    /// EC2.
    pub ec2: Option<String>,
    /// EKS.
    pub eks: Option<String>,
    /// EventBridge.
    pub events: Option<String>,
    /// IAM.
    pub iam: Option<String>,
    /// Price list.
    pub pricing: Option<String>,
    /// SQS.
    pub sqs: Option<String>,
    /// Systems Manager.
    pub ssm: Option<String>,
    /// STS.
    pub sts: Option<String>,
}

impl Endpoints {
    fn named(&self) -> [(&'static str, Option<&String>); 9] {
        let Self {
            all,
            ec2,
            eks,
            events,
            iam,
            pricing,
            sqs,
            ssm,
            sts,
        } = self;
        [
            ("endpoints.all", all.as_ref()),
            ("endpoints.ec2", ec2.as_ref()),
            ("endpoints.eks", eks.as_ref()),
            ("endpoints.events", events.as_ref()),
            ("endpoints.iam", iam.as_ref()),
            ("endpoints.pricing", pricing.as_ref()),
            ("endpoints.sqs", sqs.as_ref()),
            ("endpoints.ssm", ssm.as_ref()),
            ("endpoints.sts", sts.as_ref()),
        ]
    }
}

/// A role to take on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRole {
    /// ARN of the role.
    pub role_arn: String,
    /// Name of the session, seen in CloudTrail; `joiner` if left out.
    pub session_name: Option<String>,
    /// The secret that the role's owner asks for.
    pub external_id: Option<String>,
}

/// A connection to one account and region. Cheap to clone; clones share credentials and connections.
#[derive(Clone, Debug)]
pub struct Aws {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: Settings,
    config: OnceCell<SdkConfig>,
    clients: Clients,
}

/// A client, and its endpoint.
type JsonClient = (json_call::Client, String);

#[derive(Debug, Default)]
struct Clients {
    ec2: OnceLock<aws_sdk_ec2::Client>,
    ecr: OnceLock<JsonClient>,
    eks: OnceLock<aws_sdk_eks::Client>,
    events: OnceLock<JsonClient>,
    iam: OnceLock<aws_sdk_iam::Client>,
    pricing: OnceLock<aws_sdk_pricing::Client>,
    quotas: OnceLock<JsonClient>,
    sqs: OnceLock<aws_sdk_sqs::Client>,
    ssm: OnceLock<JsonClient>,
    sts: OnceLock<aws_sdk_sts::Client>,
}

macro_rules! client {
    ($name:ident, $sdk:ident, $doc:literal) => {
        #[doc = $doc]
        pub(crate) async fn $name(&self) -> Result<&$sdk::Client, Error> {
            let config = self.config().await?;
            Ok(self.inner.clients.$name.get_or_init(|| {
                let mut builder = $sdk::config::Builder::from(config);
                if let Some(url) = self.inner.settings.endpoints.$name.as_deref() {
                    builder = builder.endpoint_url(url);
                }
                $sdk::Client::from_conf(builder.build())
            }))
        }
    };
}

impl Aws {
    /// Checks the settings; makes no call and reads no file.
    pub fn connect(settings: Settings) -> Result<Self, Error> {
        for (setting, value) in settings.endpoints.named() {
            if let Some(value) = value {
                check_endpoint(setting, value)?;
            }
        }
        if let Some(role) = &settings.assume_role {
            check_role(&role.role_arn)?;
        }
        Ok(Self {
            inner: Arc::new(Inner {
                settings,
                config: OnceCell::new(),
                clients: Clients::default(),
            }),
        })
    }

    /// The settings this connection was made with.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The region of this connection, found in settings, environment, profile or instance metadata.
    pub async fn region(&self) -> Result<String, Error> {
        let config = self.config().await?;
        Ok(config.region().ok_or(Error::NoRegion)?.as_ref().to_owned())
    }

    /// Whether credentials are likely to be found without asking the network: in the settings, the environment or the shared files.
    /// For what is worth a call only then.
    pub fn has_credentials_at_hand(&self) -> bool {
        const VARIABLES: [&str; 6] = [
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_SHARED_CREDENTIALS_FILE",
        ];
        let settings = self.settings();
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let in_files = || {
            std::env::home_dir().is_some_and(|home| {
                ["credentials", "config"]
                    .iter()
                    .any(|file| home.join(".aws").join(file).is_file())
            })
        };
        settings.credentials.is_some()
            || settings.profile.is_some()
            || VARIABLES.iter().any(is_set)
            || in_files()
    }

    /// The default tags with `tags` on top.
    pub(crate) fn with_default_tags(&self, tags: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = self.inner.settings.default_tags.clone();
        all.extend(tags.iter().map(|(key, value)| (key.clone(), value.clone())));
        all
    }

    client!(ec2, aws_sdk_ec2, "The EC2 client.");
    client!(eks, aws_sdk_eks, "The EKS client.");
    client!(iam, aws_sdk_iam, "The IAM client.");
    client!(sqs, aws_sdk_sqs, "The SQS client.");
    client!(sts, aws_sdk_sts, "The STS client.");

    /// The price list client, in the one of the few regions that serve it which is nearest to this connection's.
    pub(crate) async fn pricing(&self) -> Result<&aws_sdk_pricing::Client, Error> {
        let config = self.config().await?;
        let region = self.region().await?;
        Ok(self.inner.clients.pricing.get_or_init(|| {
            let mut builder = aws_sdk_pricing::config::Builder::from(config)
                .region(Region::from_static(price_list_region(&region)));
            if let Some(url) = self.inner.settings.endpoints.pricing.as_deref() {
                builder = builder.endpoint_url(url);
            }
            aws_sdk_pricing::Client::from_conf(builder.build())
        }))
    }

    /// One call of EventBridge; `operation` is `events:OPERATION`.
    pub(crate) async fn events(&self, operation: &'static str, input: &Json) -> Result<Json, Error> {
        let endpoint = self.inner.settings.endpoints.events.as_deref();
        let client = &self.inner.clients.events;
        self.json(client, events::SERVICE, endpoint, operation, input)
            .await
    }

    /// One call of ECR; `operation` is `ecr:OPERATION`.
    pub(crate) async fn ecr(&self, operation: &'static str, input: &Json) -> Result<Json, Error> {
        let client = &self.inner.clients.ecr;
        self.json(client, ecr::SERVICE, None, operation, input).await
    }

    /// One call of Service Quotas; `operation` is `servicequotas:OPERATION`.
    pub(crate) async fn quotas(&self, operation: &'static str, input: &Json) -> Result<Json, Error> {
        let client = &self.inner.clients.quotas;
        self.json(client, quotas::SERVICE, None, operation, input).await
    }

    /// One call of Systems Manager; `operation` is `ssm:OPERATION`.
    pub(crate) async fn ssm(&self, operation: &'static str, input: &Json) -> Result<Json, Error> {
        let endpoint = self.inner.settings.endpoints.ssm.as_deref();
        let client = &self.inner.clients.ssm;
        self.json(client, ssm::SERVICE, endpoint, operation, input).await
    }

    /// One call of a service that has no SDK crate here, at the `endpoint` that the settings give or else where the SDK would look.
    async fn json(
        &self,
        client: &OnceLock<JsonClient>,
        service: json_call::Service,
        endpoint: Option<&str>,
        operation: &'static str,
        input: &Json,
    ) -> Result<Json, Error> {
        let config = self.config().await?;
        let region = self.region().await?;
        let (client, endpoint) = client.get_or_init(|| {
            let endpoint = endpoint
                .map(str::to_owned)
                .or_else(|| json_call::configured_endpoint(service, config))
                .unwrap_or_else(|| json_call::endpoint(service, &region, config));
            (json_call::client(service, &endpoint, config), endpoint)
        });
        json_call::call(self, service, (client, endpoint), operation, input).await
    }

    /// The resolved SDK configuration.
    pub(crate) async fn config(&self) -> Result<&SdkConfig, Error> {
        let config = self.inner.config.get_or_init(|| load(&self.inner.settings)).await;
        if config.region().is_none() {
            return Err(Error::NoRegion);
        }
        Ok(config)
    }
}

async fn load(settings: &Settings) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12()).timeout_config(
        TimeoutConfig::builder()
            .connect_timeout(Duration::from_secs(5))
            .build(),
    );
    if let Some(region) = &settings.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if let Some(profile) = &settings.profile {
        loader = loader.profile_name(profile);
    }
    if let Some(url) = &settings.endpoints.all {
        loader = loader.endpoint_url(url);
    }
    if let Some(StaticCredentials {
        access_key_id,
        secret_access_key,
        session_token,
    }) = &settings.credentials
    {
        loader = loader.credentials_provider(Credentials::new(
            access_key_id,
            secret_access_key,
            session_token.clone(),
            None,
            "settings",
        ));
    }
    if let Some(attempts) = settings.max_attempts {
        loader = loader.retry_config(RetryConfig::standard().with_max_attempts(attempts.max(1)));
    }
    let config = loader.load().await;
    match &settings.assume_role {
        None => config,
        Some(role) => assume(config, role, settings.endpoints.sts.as_deref()).await,
    }
}

async fn assume(config: SdkConfig, role: &AssumeRole, sts_endpoint: Option<&str>) -> SdkConfig {
    let mut base = config.to_builder();
    if let Some(url) = sts_endpoint {
        base = base.endpoint_url(url);
    }
    let mut provider = AssumeRoleProvider::builder(role.role_arn.as_str())
        .session_name(role.session_name.as_deref().unwrap_or("joiner"))
        .configure(&base.build());
    if let Some(id) = &role.external_id {
        provider = provider.external_id(id);
    }
    if let Some(region) = config.region() {
        provider = provider.region(region.clone());
    }
    let credentials = aws_credential_types::provider::SharedCredentialsProvider::new(provider.build().await);
    config.to_builder().credentials_provider(credentials).build()
}

fn check_endpoint(setting: &str, value: &str) -> Result<(), Error> {
    let usable = url::Url::parse(value)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
    if usable {
        return Ok(());
    }
    Err(Error::Setting {
        setting: setting.to_owned(),
        value: value.to_owned(),
        expected: "an http or https URL such as https://ec2.eu-central-1.amazonaws.com",
    })
}

fn check_role(arn: &str) -> Result<(), Error> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    if let ["arn", partition, "iam", "", account, resource] = parts.as_slice()
        && !partition.is_empty()
        && account.len() == 12
        && resource.starts_with("role/")
    {
        return Ok(());
    }
    Err(Error::Setting {
        setting: "assume_role.role_arn".to_owned(),
        value: arn.to_owned(),
        expected: "the ARN of a role such as arn:aws:iam::123456789012:role/deployer",
    })
}

fn price_list_region(region: &str) -> &'static str {
    match region.split('-').next().unwrap_or_default() {
        "ap" => "ap-south-1",
        "cn" => "cn-northwest-1",
        "eu" => "eu-central-1",
        _ => "us-east-1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked_without_a_call() {
        let with_endpoint = |url: &str| Settings {
            endpoints: Endpoints {
                ec2: Some(url.to_owned()),
                ..Endpoints::default()
            },
            ..Settings::default()
        };
        for (url, fine) in [
            ("http://127.0.0.1:4566", true),
            ("https://ec2.x", true),
            ("ftp://x", false),
            ("localhost:80", false),
        ] {
            assert_eq!(Aws::connect(with_endpoint(url)).is_ok(), fine, "{url}");
        }
        let error = Aws::connect(with_endpoint("nonsense")).unwrap_err().to_string();
        assert!(
            error.starts_with("setting `endpoints.ec2` has the value \"nonsense\": expected an http"),
            "{error}"
        );
    }

    #[test]
    fn secrets_are_not_printed() {
        let settings = Settings {
            credentials: Some(StaticCredentials {
                access_key_id: "AKIA".to_owned(),
                secret_access_key: "hush".to_owned(),
                session_token: Some("hush".to_owned()),
            }),
            ..Settings::default()
        };
        let text = format!("{settings:?} {:?}", Aws::connect(settings.clone()).unwrap());
        assert!(text.contains("AKIA") && !text.contains("hush"), "{text}");
    }

    #[test]
    fn a_role_arn_must_be_one() {
        for (arn, fine) in [
            ("arn:aws:iam::123456789012:role/a", true),
            ("arn:aws-cn:iam::123456789012:role/path/a", true),
            ("arn:aws:iam::123456789012:user/a", false),
            ("a", false),
        ] {
            assert_eq!(check_role(arn).is_ok(), fine, "{arn}");
        }
    }

    #[test]
    fn prices_come_from_a_region_that_serves_them() {
        for (region, want) in [
            ("us-west-2", "us-east-1"),
            ("ap-northeast-2", "ap-south-1"),
            ("eu-north-1", "eu-central-1"),
            ("cn-north-1", "cn-northwest-1"),
            ("sa-east-1", "us-east-1"),
        ] {
            assert_eq!(price_list_region(region), want);
        }
    }
}
