//! Every way to reach a cluster and an account, seen to work; and what is said when one does not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_aws::{Aws, Endpoints, Settings, StaticCredentials, iam};
use joiner_sandbox::Cluster;
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};

use crate::support::{HEAD, chart, run_with};

/// A release of a chart of one ConfigMap: it needs both our own client and Helm's.
fn configuration(provider: &str, chart: &Path) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
{provider}
}}

resource "joiner_helm_release" "map" {{
  name      = "map"
  namespace = "default"
  chart     = {chart:?}
}}
"#
    )
}

/// Puts what the ways need into `dir`: certificates, a token, a program that gives it, a kubeconfig with several contexts.
fn credentials(cloud: &Cloud, cluster: &Cluster, dir: &Path) -> Result<String> {
    cloud.kubectl(&["create", "serviceaccount", "deployer", "-n", "default"])?;
    cloud.kubectl(&[
        "create",
        "clusterrolebinding",
        "deployer",
        "--clusterrole=cluster-admin",
        "--serviceaccount=default:deployer",
    ])?;
    let token = cloud
        .kubectl(&["create", "token", "deployer", "-n", "default"])?
        .trim()
        .to_owned();
    for (name, content) in [
        ("ca.pem", cluster.ca_certificate.as_str()),
        ("client.pem", cluster.client_certificate.as_str()),
        ("client.key", cluster.client_key.as_str()),
        ("token", token.as_str()),
    ] {
        fs::write(dir.join(name), content)?;
    }
    let script = dir.join("credentials.sh");
    fs::write(
        &script,
        "#!/bin/sh\n[ \"$1\" = --for ] && [ \"$2\" = map ] || { echo \"unexpected arguments: $*\" >&2; exit 1; }\n\
         printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}' \
         \"$(cat \"$TOKEN_FILE\")\"\n",
    )?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let kubeconfig = fs::read_to_string(&cluster.kubeconfig)?;
    let mut config: serde_json::Value = serde_saphyr::from_str(&kubeconfig)?;
    let right = config["contexts"][0]["context"].clone();
    config["contexts"] = serde_json::json!([
        { "name": "wrong", "context": { "cluster": "nowhere", "user": right["user"] } },
        { "name": "right", "context": right },
    ]);
    config["current-context"] = "wrong".into();
    if let Some(clusters) = config["clusters"].as_array_mut() {
        clusters
            .push(serde_json::json!({ "name": "nowhere", "cluster": { "server": "https://127.0.0.1:1" } }));
    }
    fs::write(dir.join("kubeconfig"), config.to_string())?;
    Ok(token)
}

/// A cluster, with what the ways to it need.
struct Place {
    cloud: Cloud,
    cluster: Cluster,
    /// The folder of certificates, token, program and kubeconfig.
    dir: PathBuf,
    token: String,
    chart: PathBuf,
}

impl Place {
    async fn new(name: &str) -> Result<Self> {
        let cloud = Cloud::start(Duration::ZERO).await?;
        let cluster = cloud.cluster(name).await?;
        let dir = cloud.folder().join("credentials");
        fs::create_dir_all(&dir)?;
        let token = credentials(&cloud, &cluster, &dir)?;
        let chart = chart(cloud.folder(), "map", "1.0.0")?;
        Ok(Self {
            cloud,
            cluster,
            dir,
            token,
            chart,
        })
    }
}

/// Applies, and answers all that core and provider logged meanwhile.
fn apply_traced(workspace: &Workspace) -> Result<String> {
    let log = workspace.file("trace.log");
    let traced = [("TF_LOG", "trace"), ("TF_LOG_PATH", log.as_str())];
    run_with(
        workspace,
        &["apply", "-auto-approve", "-input=false", "-no-color"],
        &traced,
    )?;
    Ok(fs::read_to_string(&log)?)
}

#[tokio::test]
async fn every_way_to_a_cluster_works() -> Result<()> {
    let Place {
        cloud,
        cluster,
        dir,
        token,
        chart,
    } = Place::new("access").await?;
    let (host, file) = (&cluster.endpoint, |name: &str| {
        format!("file({:?})", dir.join(name).display().to_string())
    });
    let base64 = &cluster.certificate_authority;
    let port = host.rsplit(':').next().context("a port")?;
    let ways = [
        (
            "token",
            format!(
                "kubernetes = {{ host = {host:?}, cluster_ca_certificate = {base64:?}, token = {} }}",
                file("token")
            ),
        ),
        (
            "certificate",
            format!(
                "kubernetes = {{ host = \"127.0.0.1:{port}\", cluster_ca_certificate = {}, client_certificate = {}, client_key = {} }}",
                file("ca.pem"),
                file("client.pem"),
                file("client.key")
            ),
        ),
        (
            "exec",
            format!(
                "kubernetes = {{ host = {host:?}, cluster_ca_certificate = {}, exec = {{ api_version = \"client.authentication.k8s.io/v1\", \
                 command = {:?}, args = [\"--for\", \"map\"], env = {{ TOKEN_FILE = {:?} }} }} }}",
                file("ca.pem"),
                dir.join("credentials.sh").display().to_string(),
                dir.join("token").display().to_string()
            ),
        ),
        (
            "insecure",
            format!(
                "kubernetes = {{ host = {host:?}, insecure = true, token = {} }}",
                file("token")
            ),
        ),
        (
            "server-name",
            format!(
                "kubernetes = {{ host = {host:?}, cluster_ca_certificate = {}, tls_server_name = \"kubernetes.default.svc\", token = {} }}",
                file("ca.pem"),
                file("token")
            ),
        ),
        (
            "context",
            format!(
                "kubernetes = {{ config_path = {:?}, config_context = \"right\" }}",
                dir.join("kubeconfig").display().to_string()
            ),
        ),
        ("eks", "eks = { cluster_name = \"access\" }".to_owned()),
        (
            "endpoints",
            format!(
                "eks = {{ cluster_name = \"access\", region = \"us-west-2\" }}\naws = {{ endpoints = {{ all = {:?} }} }}",
                cloud.sandbox.record().aws_endpoint
            ),
        ),
    ];
    for kind in cores() {
        for (name, provider) in &ways {
            let workspace = Workspace::with(
                &cloud,
                kind,
                &format!("access-{name}"),
                &configuration(provider, &chart),
            )?;
            let log = apply_traced(&workspace).with_context(|| format!("{kind:?} {name}"))?;
            workspace
                .plan_is_empty()
                .with_context(|| format!("{kind:?} {name}"))?;
            let state = fs::read_to_string(workspace.file("terraform.tfstate"))?;
            workspace.destroy().with_context(|| format!("{kind:?} {name}"))?;
            let key: String = cluster.client_key.lines().nth(1).unwrap_or_default().to_owned();
            for (what, secret) in [
                ("the token", token.as_str()),
                ("the client's key", key.as_str()),
                ("an EKS token", "k8s-aws-v1."),
                ("the account's secret", joiner_sandbox::ADMIN_SECRET),
                ("a signature", "X-Amz-Signature"),
            ] {
                ensure!(!log.contains(secret), "{kind:?} {name}: {what} is in the log");
                ensure!(!state.contains(secret), "{kind:?} {name}: {what} is in the state");
            }
            ensure!(
                log.contains("provider.joiner"),
                "{kind:?} {name}: the provider logged nothing"
            );
        }
    }
    Ok(())
}

/// The secret that the owner of the role `deployer` asks for.
const EXTERNAL_ID: &str = "3xternal-s3cret";

/// A role that may do everything, for those in the account who know the external ID; answers its ARN.
async fn deployer(cloud: &Cloud) -> Result<String> {
    let aws = Aws::connect(Settings {
        region: Some(joiner_sandbox::REGION.to_owned()),
        credentials: Some(StaticCredentials {
            access_key_id: joiner_sandbox::ADMIN_KEY.to_owned(),
            secret_access_key: joiner_sandbox::ADMIN_SECRET.to_owned(),
            session_token: None,
        }),
        endpoints: Endpoints {
            all: Some(cloud.sandbox.record().aws_endpoint.clone()),
            ..Endpoints::default()
        },
        ..Settings::default()
    })?;
    let statement = |more: serde_json::Value| {
        let mut statement = serde_json::json!({ "Effect": "Allow" });
        if let (Some(all), Some(more)) = (statement.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        serde_json::json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string()
    };
    let trust = serde_json::json!({
        "Action": "sts:AssumeRole", "Principal": { "AWS": "arn:aws:iam::123456789012:root" },
        "Condition": { "StringEquals": { "sts:ExternalId": EXTERNAL_ID } },
    });
    let role = iam::NewRole {
        name: "deployer".to_owned(),
        trust: statement(trust),
        ..iam::NewRole::default()
    };
    let made = iam::create_role(&aws, &role).await?;
    let everything = serde_json::json!({ "Action": "*", "Resource": "*" });
    iam::put_inline_policy(&aws, "deployer", "everything", &statement(everything)).await?;
    Ok(made.arn)
}

#[tokio::test]
async fn what_keeps_a_cluster_out_of_reach_is_told() -> Result<()> {
    let Place {
        cloud,
        cluster,
        dir,
        chart,
        ..
    } = Place::new("barred").await?;
    let (host, ca) = (&cluster.endpoint, &cluster.certificate_authority);
    let kubeconfig = dir.join("kubeconfig").display().to_string();
    let node_role = &cluster.aws.node_role_arn;
    let deployer = deployer(&cloud).await?;
    let ways = [
        (
            "token",
            format!("kubernetes = {{ host = {host:?}, cluster_ca_certificate = {ca:?}, token = \"wrong\" }}"),
            vec!["refused the credentials (401)"],
        ),
        (
            "authority",
            format!("kubernetes = {{ host = {host:?}, token = \"x\" }}"),
            vec!["cannot reach", "certificate"],
        ),
        (
            "nobody",
            "kubernetes = { host = \"https://127.0.0.1:1\" }".to_owned(),
            vec!["127.0.0.1:1", "nothing is lost"],
        ),
        (
            "context",
            format!("kubernetes = {{ config_path = {kubeconfig:?}, config_context = \"other\" }}"),
            vec!["kubeconfig", "other"],
        ),
        (
            "file",
            "kubernetes = { config_path = \"/nonexistent/config\" }".to_owned(),
            vec!["/nonexistent/config"],
        ),
        (
            "program",
            format!(
                "kubernetes = {{ host = {host:?}, cluster_ca_certificate = {ca:?}, exec = {{ api_version = \
                 \"client.authentication.k8s.io/v1\", command = \"/nonexistent/program\" }} }}"
            ),
            vec!["/nonexistent/program"],
        ),
        (
            "cluster",
            "eks = { cluster_name = \"other\" }".to_owned(),
            vec!["eks.cluster_name", "other"],
        ),
        // A role that trusts somebody else, one that trusts those who know the external ID, and one that has no access entry.
        (
            "role",
            format!("eks = {{ cluster_name = \"barred\", role_arn = {node_role:?} }}"),
            vec!["sts:AssumeRole", "eks.cluster_name"],
        ),
        (
            "assumed",
            format!(
                "eks = {{ cluster_name = \"barred\" }}\naws = {{ assume_role = {{ role_arn = {deployer:?}, session_name = \"s\" }} }}"
            ),
            vec!["sts:AssumeRole", "eks.cluster_name"],
        ),
        (
            "entry",
            format!(
                "eks = {{ cluster_name = \"barred\" }}\naws = {{ assume_role = {{ role_arn = {deployer:?}, external_id = {EXTERNAL_ID:?} }} }}"
            ),
            vec!["access entry"],
        ),
    ];
    let kind = CoreKind::OpenTofu;
    for (name, provider, wanted) in &ways {
        let workspace = Workspace::with(
            &cloud,
            kind,
            &format!("barred-{name}"),
            &configuration(provider, &chart),
        )?;
        let text = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
        for part in wanted {
            ensure!(is_told(&text, part), "{name}: {part:?} is not in:\n{text}");
        }
    }
    // With the role's permissions, and under its name.
    let oidc = &cluster.aws.oidc_provider_arn;
    let role = format!(
        r#"{HEAD}
provider "joiner" {{
  aws = {{ assume_role = {{ role_arn = {deployer:?}, session_name = "tests", external_id = {EXTERNAL_ID:?} }} }}
}}

resource "joiner_irsa_role" "this" {{
  name              = "by-a-role"
  cluster_name      = "barred"
  oidc_provider_arn = {oidc:?}
}}
"#
    );
    let workspace = Workspace::with(&cloud, kind, "by-a-role", &role)?;
    let log = apply_traced(&workspace)?;
    workspace.plan_is_empty()?;
    workspace.destroy()?;
    for secret in [EXTERNAL_ID, "x-amz-security-token", joiner_sandbox::ADMIN_SECRET] {
        ensure!(
            !log.to_lowercase().contains(&secret.to_lowercase()),
            "{secret} is in the log"
        );
    }
    // What can be told without a cluster is told by validate.
    for (name, provider, wanted) in [
        (
            "url",
            "kubernetes = { host = \"ftp://x\" }",
            vec!["kubernetes.host", "https://HOST"],
        ),
        (
            "pem",
            "kubernetes = { host = \"x\", cluster_ca_certificate = \"oops\" }",
            vec!["cluster_ca_certificate", "PEM"],
        ),
        (
            "both",
            "kubernetes = { host = \"x\" }\neks = { cluster_name = \"c\" }",
            vec!["Two clusters"],
        ),
        (
            "region",
            "aws = { region = \"eu central\" }",
            vec!["aws.region", "eu central", "eu-central-1"],
        ),
        (
            "arn",
            "aws = { assume_role = { role_arn = \"nonsense\" } }",
            vec!["assume_role.role_arn", "nonsense"],
        ),
        (
            "registry",
            "registries = [{ url = \"ghcr.io\" }]",
            vec!["registries[0].url", "oci://HOST"],
        ),
        (
            "login",
            "registries = [{ url = \"oci://ghcr.io\", username = \"u\" }]",
            vec!["registries[0].password"],
        ),
    ] {
        let workspace = Workspace::with(
            &cloud,
            kind,
            &format!("wrong-{name}"),
            &configuration(provider, &chart),
        )?;
        let text = workspace.fails(&["validate", "-no-color"])?;
        for part in wanted {
            ensure!(is_told(&text, part), "{name}: {part:?} is not in:\n{text}");
        }
    }
    Ok(())
}
