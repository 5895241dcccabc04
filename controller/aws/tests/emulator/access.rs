//! Credentials that are absent, wrong or expired; what the controller's own policy allows; the web identity of a pod.

use crate::cloud::{ACCOUNT, REGION, cloud};
use joiner_aws::{Aws, Endpoints, Error, Settings, StaticCredentials, iam, instances, policy, queue, sts};
use serde_json::json;
use std::process::Command;

const CHILD: &str = "JOINER_TEST_CHILD";

fn with_keys(id: &str, secret: &str) -> Aws {
    let mut settings = cloud().settings();
    settings.credentials = Some(StaticCredentials {
        access_key_id: id.to_owned(),
        secret_access_key: secret.to_owned(),
        session_token: None,
    });
    Aws::connect(settings).unwrap()
}

#[tokio::test]
async fn wrong_keys_are_told_as_such() {
    for (id, secret) in [
        ("AKIANOBODY0000000000", "hush-hush"),
        ("AKIASANDBOXADMIN00000", "hush-hush"),
    ] {
        let aws = with_keys(id, secret);
        for error in [
            sts::identity(&aws).await.unwrap_err(),
            instances::list(&aws, "x").await.unwrap_err(),
            iam::get_role(&aws, "x").await.unwrap_err(),
        ] {
            assert!(matches!(error, Error::CredentialsRejected(_)), "{id}: {error:?}");
            assert!(error.is_auth() && !error.to_string().contains(secret), "{error}");
        }
    }
}

#[tokio::test]
async fn expired_keys_and_throttling_are_told_apart() {
    let aws = cloud().admin();
    // No other test of this binary asks for a queue.
    for (code, status) in [
        ("ExpiredToken", 403),
        ("ThrottlingException", 400),
        ("InternalError", 500),
    ] {
        let fault = json!({
            "kind": "error", "code": code, "status": status, "match": {"action": "sqs:GetQueueUrl"}, "times": 1
        });
        let _fault = cloud().fault(&fault);
        let error = queue::url(&aws, "none").await.unwrap_err();
        let fits = match code {
            "ExpiredToken" => matches!(error, Error::CredentialsExpired(_)),
            "ThrottlingException" => matches!(error, Error::Throttled(_)) && error.is_transient(),
            _ => matches!(error, Error::Service(_)) && error.is_transient(),
        };
        assert!(fits, "{code}: {error:?}");
    }
    let error = queue::url(&aws, "none").await.unwrap_err();
    assert!(error.is_not_found(), "{error:?}");
}

#[tokio::test]
async fn an_endpoint_without_a_server_is_unreachable() {
    let mut settings = cloud().settings();
    settings.endpoints = Endpoints {
        sts: Some("http://127.0.0.1:9".to_owned()),
        ..settings.endpoints
    };
    let error = sts::identity(&Aws::connect(settings).unwrap()).await.unwrap_err();
    assert!(
        matches!(error, Error::Unreachable { .. }) && error.is_transient(),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_role_that_may_not_be_assumed_is_named() {
    let mut settings = cloud().settings();
    let role_arn = format!("arn:aws:iam::{ACCOUNT}:role/no-such-role");
    settings.assume_role = Some(joiner_aws::AssumeRole {
        role_arn,
        ..Default::default()
    });
    let error = sts::identity(&Aws::connect(settings).unwrap()).await.unwrap_err();
    assert!(error.is_auth(), "{error:?}");
}

#[tokio::test]
async fn a_role_is_assumed() {
    let trust = json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Effect": "Allow", "Principal": {"AWS": format!("arn:aws:iam::{ACCOUNT}:root")}, "Action": "sts:AssumeRole"
        }],
    });
    let aws = cloud().admin();
    let new = iam::NewRole {
        name: "assumed".to_owned(),
        trust: trust.to_string(),
        ..Default::default()
    };
    let role = iam::create_role(&aws, &new).await.unwrap();
    let mut settings = cloud().settings();
    settings.assume_role = Some(joiner_aws::AssumeRole {
        role_arn: role.arn,
        session_name: Some("test".to_owned()),
        external_id: None,
    });
    let assumed = Aws::connect(settings).unwrap();
    let identity = sts::identity(&assumed).await.unwrap();
    assert!(
        identity.arn.ends_with(":assumed-role/assumed/test"),
        "{}",
        identity.arn
    );
    let denied = instances::list(&assumed, "x").await.unwrap_err();
    assert!(matches!(denied, Error::Unauthorized(_)), "{denied:?}");
    iam::put_inline_policy(
        &aws,
        "assumed",
        "controller",
        &policy::controller(&policy::Controller {
            partition: "aws".to_owned(),
            region: REGION.to_owned(),
            account: ACCOUNT.to_owned(),
            cluster: "x".to_owned(),
            queue_arn: None,
            node_role_arns: Vec::new(),
            manages_profiles: false,
        })
        .to_json(),
    )
    .await
    .unwrap();
    assert!(instances::list(&assumed, "x").await.unwrap().is_empty());
    iam::delete_inline_policy(&aws, "assumed", "controller")
        .await
        .unwrap();
    iam::delete_role(&aws, "assumed").await.unwrap();
}

/// Runs one test of this binary again in a process of its own, with another environment.
fn in_child(test: &str, environment: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("access::{test}"), "--nocapture"])
        .env_clear()
        .env("HOME", "/nonexistent")
        .env(CHILD, "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[tokio::test]
async fn child_without_credentials() {
    if !is_child() {
        return;
    }
    let settings = Settings {
        max_attempts: Some(1),
        ..Settings::default()
    };
    let error = sts::identity(&Aws::connect(settings).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::NoCredentials { .. }), "{error:?}");
    assert!(error.to_string().contains("export AWS_ACCESS_KEY_ID"), "{error}");
}

#[test]
fn absent_credentials_are_told_as_such() {
    let environment = [
        ("AWS_REGION", REGION),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ];
    in_child("child_without_credentials", &environment);
}

#[tokio::test]
async fn child_without_region() {
    if !is_child() {
        return;
    }
    let error = sts::identity(&Aws::connect(Settings::default()).unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoRegion), "{error:?}");
}

#[test]
fn an_absent_region_is_told_as_such() {
    in_child("child_without_region", &[("AWS_EC2_METADATA_DISABLED", "true")]);
}

#[tokio::test]
async fn child_with_the_endpoint_of_the_environment() {
    if !is_child() {
        return;
    }
    let identity = sts::identity(&Aws::connect(Settings::default()).unwrap())
        .await
        .unwrap();
    assert_eq!(identity.account, ACCOUNT);
}

#[test]
fn the_environment_is_honoured() {
    let url = cloud().url();
    let environment = [
        ("AWS_REGION", REGION),
        ("AWS_ENDPOINT_URL", url.as_str()),
        ("AWS_ACCESS_KEY_ID", "AKIASANDBOXADMIN00000"),
        ("AWS_SECRET_ACCESS_KEY", "sandbox-admin-secret"),
    ];
    in_child("child_with_the_endpoint_of_the_environment", &environment);
}

#[tokio::test]
async fn child_with_a_web_identity() {
    if !is_child() {
        return;
    }
    let settings = Settings {
        max_attempts: Some(1),
        ..Settings::default()
    };
    let error = sts::identity(&Aws::connect(settings).unwrap()).await.unwrap_err();
    // The token is none that the cloud knows: that the answer comes from it shows that its endpoint is used.
    assert!(matches!(error, Error::CredentialsRejected(_)), "{error:?}");
}

#[test]
fn a_web_identity_is_taken_to_the_endpoint_of_the_environment() {
    let url = cloud().url();
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "not.a.token").unwrap();
    let role = format!("arn:aws:iam::{ACCOUNT}:role/none");
    let environment = [
        ("AWS_REGION", REGION),
        ("AWS_ENDPOINT_URL", url.as_str()),
        ("AWS_ROLE_ARN", role.as_str()),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token.path().to_str().unwrap()),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    in_child("child_with_a_web_identity", &environment);
}
