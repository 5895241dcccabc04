//! The cluster's facts that a new node is told.

use std::net::IpAddr;

use anyhow::Context as _;
use base64::Engine as _;
use joiner_aws::{Aws, eks};
use k8s_openapi::api::core::v1::Service;
use kube::{Api, Client, Config};
use tracing::{info, warn};

use crate::options::Options;

/// The cluster.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub name: String,
    pub region: String,
    /// `1.34`.
    pub version: String,
    /// What nodes are told to join.
    pub join: joiner_aws::userdata::Cluster,
}

impl Cluster {
    /// Puts together what options, API server and EKS say.
    ///
    /// # Errors
    /// Something that nodes cannot do without is known from nowhere.
    pub(crate) async fn discover(
        options: &Options,
        client: &Client,
        config: &Config,
        aws: &Aws,
    ) -> anyhow::Result<Cluster> {
        let version = client
            .apiserver_version()
            .await
            .context("the API server's version could not be read")?;
        let region = aws.region().await?;
        let described = match eks::describe(aws, &options.cluster_name).await {
            Ok(cluster) => Some(cluster),
            Err(error) => {
                warn!(cluster = %options.cluster_name, error = %error, "EKS does not describe the cluster");
                None
            }
        };
        let of_eks = |field: fn(&eks::Cluster) -> Option<String>| described.as_ref().and_then(field);
        let endpoint = given(&options.cluster_endpoint)
            .or_else(|| of_eks(|it| it.endpoint.clone()))
            .context(
                "the cluster's endpoint is not known: set CLUSTER_ENDPOINT, or allow eks:DescribeCluster",
            )?;
        let certificate_authority = given(&options.cluster_ca_bundle)
            .or_else(|| own_bundle(config))
            .or_else(|| of_eks(|it| it.certificate_authority.clone()))
            .context("the cluster's certificate authority is not known: set CLUSTER_CA_BUNDLE, or allow eks:DescribeCluster")?;
        let join = joiner_aws::userdata::Cluster {
            name: options.cluster_name.clone(),
            endpoint,
            ca_bundle: certificate_authority,
            service_cidr: of_eks(|it| it.service_cidr.clone()).unwrap_or_default(),
            dns: dns_ip(client).await,
        };
        let version = format!("{}.{}", version.major, version.minor.trim_end_matches('+'));
        let cluster = Cluster {
            name: options.cluster_name.clone(),
            region,
            version,
            join,
        };
        info!(
            cluster = %cluster.name, endpoint = %cluster.join.endpoint, version = %cluster.version, region = %cluster.region,
            "discovered cluster"
        );
        Ok(cluster)
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The authorities that this process itself trusts for the API server.
fn own_bundle(config: &Config) -> Option<String> {
    let engine = base64::engine::general_purpose::STANDARD;
    let certificates = config.root_cert.as_ref().filter(|all| !all.is_empty())?;
    let mut pem = String::new();
    for certificate in certificates {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let text = engine.encode(certificate);
        for line in text.as_bytes().chunks(64) {
            pem.push_str(&String::from_utf8_lossy(line));
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Some(engine.encode(pem))
}

async fn dns_ip(client: &Client) -> Option<IpAddr> {
    let api: Api<Service> = Api::namespaced(client.clone(), "kube-system");
    match api.get_opt("kube-dns").await {
        Ok(service) => service?.spec?.cluster_ip?.parse().ok(),
        Err(error) => {
            warn!(error = %error, "service kube-system/kube-dns could not be read; nodes find DNS by their own default");
            None
        }
    }
}
