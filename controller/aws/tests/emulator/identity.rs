//! Roles, profiles, trust, tokens.

use crate::cloud::{ACCOUNT, REGION, cloud};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use joiner_aws::iam::{self, NewRole, Ownership};
use joiner_aws::policy::{self, ServiceAccount, same_meaning};
use joiner_aws::profiles::{self, Wanted};
use joiner_aws::{Error, eks, sts, tags};
use std::time::SystemTime;

fn wanted(cluster: &str, role: &str) -> Wanted {
    Wanted {
        name: profiles::name(cluster, REGION, "uid", role),
        path: profiles::path(REGION, cluster, "uid"),
        role: role.to_owned(),
        tags: tags::for_profile(cluster, REGION, "default", &tags::Tags::new()),
    }
}

#[tokio::test]
async fn the_caller_is_known() {
    let identity = sts::identity(&cloud().admin()).await.unwrap();
    assert_eq!(
        (identity.account.as_str(), identity.partition.as_str()),
        (ACCOUNT, "aws")
    );
}

#[tokio::test]
async fn a_profile_is_made_once_given_another_role_and_deleted() {
    let aws = cloud().admin();
    let cluster = cloud().cluster("profiles");
    let role = cluster["nodeRoleName"].as_str().unwrap();
    let wanted_profile = wanted("profiles", role);
    let first = profiles::ensure(&aws, &wanted_profile).await.unwrap();
    assert_eq!(first.role.as_deref(), Some(role));
    assert_eq!(
        profiles::ensure(&aws, &wanted_profile).await.unwrap().arn,
        first.arn
    );
    let listed = profiles::list(&aws, &profiles::cluster_path(REGION, "profiles"))
        .await
        .unwrap();
    let names: Vec<&str> = listed.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, [first.name.as_str()]);
    let other = Wanted {
        role: "profiles-cluster".to_owned(),
        ..wanted_profile.clone()
    };
    assert_eq!(
        profiles::ensure(&aws, &other).await.unwrap().role.as_deref(),
        Some("profiles-cluster")
    );
    assert!(profiles::delete(&aws, &first.name).await.unwrap());
    assert!(!profiles::delete(&aws, &first.name).await.unwrap());
}

#[tokio::test]
async fn a_profile_of_a_missing_role_leaves_nothing() {
    let aws = cloud().admin();
    let missing = wanted("nobody", "no-such-role");
    assert!(matches!(
        profiles::ensure(&aws, &missing).await,
        Err(Error::NotFound(_))
    ));
    assert_eq!(profiles::get(&aws, &missing.name).await.unwrap(), None);
}

#[tokio::test]
async fn a_role_is_made_changed_and_deleted() {
    let aws = cloud().admin();
    let cluster = cloud().cluster("roles");
    let provider = cluster["oidcProviderArn"].as_str().unwrap();
    let account = |name: &str| ServiceAccount {
        namespace: "kube-system".to_owned(),
        name: name.to_owned(),
    };
    let trust = policy::irsa_trust(provider, &[account("joiner")])
        .unwrap()
        .to_json();
    let new = NewRole {
        name: "roles-controller".to_owned(),
        path: "/joiner/".to_owned(),
        trust: trust.clone(),
        tags: [("joiner.dev/role".to_owned(), "roles".to_owned())].into(),
        ..NewRole::default()
    };
    let role = iam::create_role(&aws, &new).await.unwrap();
    assert!(
        role.arn.ends_with(":role/joiner/roles-controller"),
        "{}",
        role.arn
    );
    assert!(same_meaning(&role.trust, &trust), "{}", role.trust);
    assert_eq!(role.ownership("joiner.dev/role", "roles"), Ownership::Ours);
    assert!(matches!(
        iam::create_role(&aws, &new).await,
        Err(Error::AlreadyExists(_))
    ));

    let facts = policy::Controller {
        partition: "aws".to_owned(),
        region: REGION.to_owned(),
        account: ACCOUNT.to_owned(),
        cluster: "roles".to_owned(),
        queue_arn: None,
        node_role_arns: vec![cluster["nodeRoleArn"].as_str().unwrap().to_owned()],
        manages_profiles: true,
    };
    let document = policy::controller(&facts).to_json();
    iam::put_inline_policy(&aws, &new.name, "joiner", &document)
        .await
        .unwrap();
    iam::attach_policy(
        &aws,
        &new.name,
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    )
    .await
    .unwrap();
    let all = iam::attachments(&aws, &new.name).await.unwrap();
    assert!(same_meaning(&all.inline["joiner"], &document));
    assert_eq!(all.policies.len(), 1);

    let other = policy::irsa_trust(provider, &[account("other")])
        .unwrap()
        .to_json();
    iam::set_trust(&aws, &new.name, &other).await.unwrap();
    let wanted = [("team".to_owned(), "b".to_owned())].into();
    iam::set_role_tags(&aws, &new.name, &role.tags, &wanted)
        .await
        .unwrap();
    let changed = iam::get_role(&aws, &new.name).await.unwrap().unwrap();
    assert!(same_meaning(&changed.trust, &other));
    assert_eq!(changed.tags, wanted);
    assert_eq!(changed.ownership("joiner.dev/role", "roles"), Ownership::Foreign);

    assert!(matches!(
        iam::delete_role(&aws, &new.name).await,
        Err(Error::Conflict(_))
    ));
    assert!(
        iam::delete_inline_policy(&aws, &new.name, "joiner")
            .await
            .unwrap()
    );
    for arn in &all.policies {
        assert!(iam::detach_policy(&aws, &new.name, arn).await.unwrap());
    }
    assert!(iam::delete_role(&aws, &new.name).await.unwrap());
    assert!(!iam::delete_role(&aws, &new.name).await.unwrap());
    assert_eq!(iam::get_role(&aws, &new.name).await.unwrap(), None);
}

#[tokio::test]
async fn a_cluster_is_described_and_its_token_is_a_call_that_sts_accepts() {
    let aws = cloud().admin();
    cloud().cluster("tokens");
    let cluster = eks::describe(&aws, "tokens").await.unwrap();
    assert_eq!(cluster.endpoint.as_deref(), Some("https://tokens.example"));
    assert_eq!(cluster.certificate_authority.as_deref(), Some("Q0E="));
    assert_eq!(cluster.version.as_deref(), Some("1.34"));
    assert!(
        cluster.service_cidr.is_some() && cluster.vpc_id.is_some() && cluster.security_group_id.is_some()
    );
    assert!(matches!(
        eks::describe(&aws, "no-such-cluster").await,
        Err(Error::NotFound(_))
    ));
    let token = eks::token(&aws, "tokens", SystemTime::now()).await.unwrap();
    let url = URL_SAFE_NO_PAD
        .decode(token.strip_prefix("k8s-aws-v1.").unwrap())
        .unwrap();
    let url = String::from_utf8(url).unwrap();
    let target = url.strip_prefix("https://sts.us-west-2.amazonaws.com").unwrap();
    let ask = |cluster: &str| {
        cloud().raw(
            target,
            &format!("Host: sts.us-west-2.amazonaws.com\r\nx-k8s-aws-id: {cluster}\r\n"),
        )
    };
    let answer = ask("tokens");
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains(ACCOUNT),
        "{answer}"
    );
    let answer = ask("another-cluster");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn default_tags_are_put_on_what_is_made() {
    let mut settings = cloud().settings();
    settings.default_tags = [("cost-centre".to_owned(), "42".to_owned())].into();
    let aws = joiner_aws::Aws::connect(settings).unwrap();
    let new = NewRole {
        name: "default-tags".to_owned(),
        trust: policy::node_trust("aws").to_json(),
        ..NewRole::default()
    };
    let role = iam::create_role(&aws, &new).await.unwrap();
    let kept = iam::get_role(&aws, &role.name).await.unwrap().unwrap();
    assert_eq!(kept.tags.get("cost-centre").map(String::as_str), Some("42"));
    iam::delete_role(&aws, &role.name).await.unwrap();
}
