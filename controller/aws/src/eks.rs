//! EKS: what a cluster is, and the tokens that its API server accepts.

pub mod access_entries;
pub mod pod_identity;

use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::instances::timestamp;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{
    PercentEncodingMode, SessionTokenMode, SignableBody, SignableRequest, SignatureLocation, SigningSettings,
    sign,
};
use aws_sigv4::sign::v4;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use std::time::{Duration, SystemTime};

const DESCRIBE_CLUSTER: &str = "eks:DescribeCluster";

/// How long the API server accepts a token after it was minted.
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// A cluster as EKS describes it. Everything but name and status may be absent while it is being created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: Option<String>,
    /// `CREATING`, `ACTIVE`, `DELETING`, `FAILED`, `UPDATING`, `PENDING`.
    pub status: String,
    /// Kubernetes version such as `1.34`.
    pub version: Option<String>,
    /// URL of the API server.
    pub endpoint: Option<String>,
    /// PEM of the certificate authority, base64 encoded.
    pub certificate_authority: Option<String>,
    /// CIDR of the cluster's services, IPv4 if it has one, else IPv6.
    pub service_cidr: Option<String>,
    /// URL of the OIDC issuer.
    pub issuer: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// The cluster's VPC.
    pub vpc_id: Option<String>,
    /// The security group that EKS made for the cluster.
    pub security_group_id: Option<String>,
}

/// Asks EKS for the cluster.
pub async fn describe(aws: &Aws, name: &str) -> Result<Cluster, Error> {
    let output = aws
        .eks()
        .await?
        .describe_cluster()
        .name(name)
        .send()
        .await
        .named(DESCRIBE_CLUSTER)?;
    let cluster = output.cluster.ok_or(Error::Incomplete {
        operation: DESCRIBE_CLUSTER,
        part: "cluster",
    })?;
    let network = cluster.kubernetes_network_config.as_ref();
    let vpc = cluster.resources_vpc_config.as_ref();
    Ok(Cluster {
        name: cluster.name.clone().unwrap_or_else(|| name.to_owned()),
        arn: cluster.arn.clone(),
        status: cluster
            .status
            .as_ref()
            .map_or_else(String::new, |status| status.as_str().to_owned()),
        version: cluster.version.clone(),
        endpoint: cluster.endpoint.clone(),
        certificate_authority: cluster
            .certificate_authority
            .as_ref()
            .and_then(|authority| authority.data.clone()),
        service_cidr: network.and_then(|network| {
            network
                .service_ipv4_cidr
                .clone()
                .or_else(|| network.service_ipv6_cidr.clone())
        }),
        issuer: cluster
            .identity
            .as_ref()
            .and_then(|identity| identity.oidc.as_ref())
            .and_then(|oidc| oidc.issuer.clone()),
        created: cluster.created_at.as_ref().and_then(timestamp),
        vpc_id: vpc.and_then(|vpc| vpc.vpc_id.clone()),
        security_group_id: vpc.and_then(|vpc| vpc.cluster_security_group_id.clone()),
    })
}

/// Mints a bearer token for the API server of `cluster`: a presigned GetCallerIdentity that names the cluster. No call is
/// made (but the credentials may need one), so mint one for each use; it is good for [`TOKEN_LIFETIME`] from `now`, and
/// no longer than the credentials.
pub async fn token(aws: &Aws, cluster: &str, now: SystemTime) -> Result<String, Error> {
    const OPERATION: &str = "eks:Token";
    let config = aws.config().await?;
    let region = aws.region().await?;
    let provider = config
        .credentials_provider()
        .ok_or_else(|| Error::NoCredentials {
            operation: OPERATION,
            detail: "no provider is configured".to_owned(),
        })?;
    let credentials = provider
        .provide_credentials()
        .await
        .map_err(|error| crate::error::from_credentials(OPERATION, &error))?;
    presign(cluster, &region, &sts_endpoint(&region), credentials.into(), now).map_err(|detail| {
        Error::NoCredentials {
            operation: OPERATION,
            detail,
        }
    })
}

/// The regional STS endpoint: the API server's authenticator accepts these hosts only, whatever endpoint is set for calls.
fn sts_endpoint(region: &str) -> String {
    let domain = crate::sts::domain_of(region);
    format!("https://sts.{region}.{domain}/")
}

/// A tag as a pair of its own.
fn pair((key, value): (&String, &String)) -> (String, String) {
    (key.clone(), value.clone())
}

fn presign(
    cluster: &str,
    region: &str,
    endpoint: &str,
    identity: aws_smithy_runtime_api::client::identity::Identity,
    now: SystemTime,
) -> Result<String, String> {
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.expires_in = Some(Duration::from_secs(60));
    settings.percent_encoding_mode = PercentEncodingMode::Double;
    settings.session_token_mode = SessionTokenMode::Include;
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("sts")
        .time(now)
        .settings(settings)
        .build()
        .map_err(|error| error.to_string())?
        .into();
    let url = format!("{endpoint}?Action=GetCallerIdentity&Version=2011-06-15");
    let headers = [("x-k8s-aws-id", cluster)];
    let request = SignableRequest::new("GET", &url, headers.into_iter(), SignableBody::Bytes(&[]))
        .map_err(|error| error.to_string())?;
    let (instructions, _signature) = sign(request, &params)
        .map_err(|error| error.to_string())?
        .into_parts();
    let mut signed = http::Request::builder()
        .method("GET")
        .uri(&url)
        .header("x-k8s-aws-id", cluster)
        .body(())
        .map_err(|error| error.to_string())?;
    instructions.apply_to_request_http1x(&mut signed);
    Ok(format!(
        "k8s-aws-v1.{}",
        URL_SAFE_NO_PAD.encode(signed.uri().to_string())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_credential_types::Credentials;

    fn url_of(session: Option<&str>) -> String {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", session.map(str::to_owned), None, "test");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let token = presign(
            "dev",
            "eu-central-1",
            &sts_endpoint("eu-central-1"),
            credentials.into(),
            now,
        )
        .unwrap();
        let encoded = token.strip_prefix("k8s-aws-v1.").unwrap();
        assert!(!encoded.contains('='), "padding");
        String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap()
    }

    #[test]
    fn a_token_is_a_presigned_call_that_names_the_cluster() {
        let url = url_of(None);
        assert!(url.starts_with(
            "https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&"
        ));
        for part in [
            "X-Amz-Algorithm=AWS4-HMAC-SHA256",
            "X-Amz-Credential=AKIDEXAMPLE%2F20270115%2Feu-central-1%2Fsts%2Faws4_request",
            "X-Amz-Date=20270115T080000Z",
            "X-Amz-Expires=60",
            "X-Amz-SignedHeaders=host%3Bx-k8s-aws-id",
            "X-Amz-Signature=",
        ] {
            assert!(url.contains(part), "{part} in {url}");
        }
        assert!(!url.contains("secret"));
    }

    #[test]
    fn a_session_token_is_part_of_it_and_the_same_input_gives_the_same_token() {
        assert!(url_of(Some("sess")).contains("X-Amz-Security-Token=sess"));
        assert_eq!(url_of(None), url_of(None));
    }

    #[test]
    fn each_partition_has_its_host() {
        for (region, want) in [
            ("us-west-2", "https://sts.us-west-2.amazonaws.com/"),
            ("cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn/"),
            ("us-gov-west-1", "https://sts.us-gov-west-1.amazonaws.com/"),
        ] {
            assert_eq!(sts_endpoint(region), want);
        }
    }
}
