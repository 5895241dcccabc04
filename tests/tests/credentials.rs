//! AWS credentials that are wrong, expired or absent, and that expire in the middle of an apply: an error says what is wrong with
//! them and what to do, and what was done before is in the state.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_sandbox::Cluster;
use joiner_tests::configuration::{SOURCES, by_eks, node_class};
use joiner_tests::{Cloud, Pause, Workspace, cores, tells};
use serde_json::{Value, json};

/// Variables to set, or to take away.
type Environment<'a> = &'a [(&'a str, Option<&'a str>)];

const PATIENCE: Duration = Duration::from_secs(180);
const DEPLOYER: &str = "deployer";

/// What AWS gives for a role.
struct Session {
    key: String,
    secret: String,
    token: String,
}

impl Session {
    /// The environment of whoever works with it.
    fn environment(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("AWS_ACCESS_KEY_ID", Some(&self.key)),
            ("AWS_SECRET_ACCESS_KEY", Some(&self.secret)),
            ("AWS_SESSION_TOKEN", Some(&self.token)),
        ]
    }
}

/// A role that may do everything, in the account.
fn make_deployer(cloud: &Cloud) -> Result<String> {
    let trust = json!({ "Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Action": "sts:AssumeRole", "Principal": { "AWS": "arn:aws:iam::123456789012:root" },
    }] });
    let policy = json!({ "Version": "2012-10-17", "Statement": [{ "Effect": "Allow", "Action": "*", "Resource": "*" }] });
    let made = cloud.aws(
        "iam",
        "create_role",
        &json!({ "RoleName": DEPLOYER, "AssumeRolePolicyDocument": trust.to_string() }),
    )?;
    cloud.aws(
        "iam",
        "put_role_policy",
        &json!({ "RoleName": DEPLOYER, "PolicyName": "all", "PolicyDocument": policy.to_string() }),
    )?;
    let arn = made["Role"]["Arn"].as_str().context("a role without ARN")?;
    Ok(arn.to_owned())
}

/// Makes the role an administrator of the cluster.
fn let_in(cloud: &Cloud, cluster: &Cluster, role: &str) -> Result<()> {
    let entry = json!({ "clusterName": cluster.name, "principalArn": role });
    cloud.aws("eks", "create_access_entry", &entry)?;
    let policy = json!({
        "clusterName": cluster.name,
        "principalArn": role,
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        "accessScope": { "type": "cluster" },
    });
    cloud.aws("eks", "associate_access_policy", &policy).map(drop)
}

fn assume(cloud: &Cloud, role: &str) -> Result<Session> {
    let answer = cloud.aws(
        "sts",
        "assume_role",
        &json!({ "RoleArn": role, "RoleSessionName": "test" }),
    )?;
    let text = |key: &str| {
        let value = answer["Credentials"][key].as_str();
        value.map(str::to_owned).with_context(|| format!("no {key}"))
    };
    Ok(Session {
        key: text("AccessKeyId")?,
        secret: text("SecretAccessKey")?,
        token: text("SessionToken")?,
    })
}

async fn expire(cloud: &Cloud) -> Result<Value> {
    Ok(cloud
        .sandbox
        .emulator("POST", "expire", Some(&json!({ "role": DEPLOYER })))
        .await?)
}

fn role(name: &str, cluster: &Cluster, more: &str) -> String {
    format!(
        r#"
resource "joiner_irsa_role" "{name}" {{
  name              = "{name}"
  cluster_name      = "{}"
  oidc_provider_arn = "{}"
  {more}
}}
"#,
        cluster.name, cluster.aws.oidc_provider_arn
    )
}

#[tokio::test]
async fn wrong_expired_and_absent_credentials_are_told_with_the_remedy() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("keys").await?;
    cloud.crds(&cluster)?;
    let deployer = make_deployer(&cloud)?;
    let expired = assume(&cloud, &deployer)?;
    expire(&cloud).await?;
    let nowhere = cloud.folder().join("nobodys-home").display().to_string();
    let absent = [
        ("AWS_ACCESS_KEY_ID", None),
        ("AWS_SECRET_ACCESS_KEY", None),
        ("AWS_EC2_METADATA_DISABLED", Some("true")),
        ("HOME", Some(nowhere.as_str())),
    ];
    let expired = expired.environment();
    let wrong_secret = [("AWS_SECRET_ACCESS_KEY", Some("not-the-secret"))];
    let wrong_key = [("AWS_ACCESS_KEY_ID", Some("AKIANOBODYKNOWSIT000"))];
    let cases: [(&str, Environment<'_>, &[&str]); 4] = [
        (
            "secret",
            &wrong_secret,
            &["AWS does not accept the credentials", "check access key"],
        ),
        (
            "key",
            &wrong_key,
            &["AWS does not accept the credentials", "check access key"],
        ),
        (
            "expired",
            &expired,
            &["the AWS credentials have expired", "sign in again"],
        ),
        (
            "absent",
            &absent,
            &["no AWS credentials were found", "export AWS_ACCESS_KEY_ID"],
        ),
    ];
    for kind in cores() {
        let prefix = format!("{kind:?}").to_lowercase();
        // What is in the account: the role. What is in the cluster, found through EKS: the class.
        let in_account = format!("{SOURCES}{}", role(&prefix, &cluster, ""));
        let in_cluster = by_eks(&cluster) + &node_class(&prefix, "");
        for (name, main, summary) in [
            ("account", &in_account, "The role was not created"),
            ("cluster", &in_cluster, "eks.cluster_name"),
        ] {
            let mut workspace = Workspace::with(&cloud, kind, name, main)?;
            for (case, environment, words) in &cases {
                workspace.set_environment(environment);
                let said = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
                tells(&said, &[summary]).with_context(|| format!("{kind:?} {name} {case}"))?;
                tells(&said, words).with_context(|| format!("{kind:?} {name} {case}"))?;
                ensure!(
                    workspace.state()?.is_empty(),
                    "{kind:?} {name} {case}: {:?}",
                    workspace.state()?
                );
            }
            workspace.set_environment(&[]);
            workspace.apply(&[])?;
            // Now there is something to look at, so the plan says it already.
            for (case, environment, words) in &cases {
                workspace.set_environment(environment);
                let said = workspace.fails(&["plan", "-input=false", "-no-color"])?;
                tells(&said, words).with_context(|| format!("plan of {kind:?} {name} {case}"))?;
            }
            workspace.set_environment(&[]);
            workspace.plan_is_empty()?;
            workspace.destroy()?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn credentials_that_expire_during_an_apply_lose_nothing() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let deployer = make_deployer(&cloud)?;
    let cluster = cloud.cluster("during").await?;
    cloud.crds(&cluster)?;
    let_in(&cloud, &cluster, &deployer)?;
    for kind in cores() {
        let prefix = format!("{kind:?}").to_lowercase();
        let after = "depends_on = [terraform_data.pause]";
        let main = [
            by_eks(&cluster),
            role(&format!("{prefix}-before"), &cluster, ""),
            node_class("before", ""),
            Pause::resource(&format!(
                "joiner_irsa_role.{prefix}-before, joiner_ec2_node_class.before"
            )),
            role(&format!("{prefix}-after"), &cluster, after),
            node_class("after", after),
        ]
        .concat();
        let mut workspace = Workspace::with(&cloud, kind, "during", &main)?;
        let session = assume(&cloud, &deployer)?;
        workspace.set_environment(&session.environment());
        let mut apply = workspace.start_apply()?;
        let pause = Pause::reached(&workspace, &mut apply).await?;
        expire(&cloud).await?;
        // A token is new each second; one that the API server has accepted, it would accept for a while yet.
        tokio::time::sleep(Duration::from_secs(1)).await;
        pause.end();
        let said = apply.fails(PATIENCE).await?;
        tells(
            &said,
            &[
                "The role was not created",
                "the AWS credentials have expired",
                "sign in again",
                "eks.cluster_name: the API server refused the token (401): ",
            ],
        )?;
        ensure!(
            workspace.state()?
                == [
                    "joiner_ec2_node_class.before".to_owned(),
                    format!("joiner_irsa_role.{prefix}-before"),
                    "terraform_data.pause".to_owned(),
                ],
            "{kind:?}: {:?}",
            workspace.state()?
        );
        let session = assume(&cloud, &deployer)?;
        workspace.set_environment(&session.environment());
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    Ok(())
}

#[tokio::test]
async fn who_has_no_access_to_the_cluster_is_told_who_he_is() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("closed").await?;
    cloud.crds(&cluster)?;
    let deployer = make_deployer(&cloud)?;
    for kind in cores() {
        let main = by_eks(&cluster) + &node_class("closed", "");
        let mut workspace = Workspace::with(&cloud, kind, "closed", &main)?;
        let session = assume(&cloud, &deployer)?;
        workspace.set_environment(&session.environment());
        let said = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
        tells(
            &said,
            &[
                "(401)",
                "arn:aws:sts::123456789012:assumed-role/deployer",
                "access entry",
            ],
        )?;
    }
    Ok(())
}
