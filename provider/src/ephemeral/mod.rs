//! Ephemeral resources: what lives for one run and is never stored.

mod cluster_auth;
mod registry_auth;

use crate::provider::Joiner;
use tfplugin::Offers;

/// Adds every ephemeral resource of the provider.
pub(crate) fn add(offers: Offers<Joiner>) -> Offers<Joiner> {
    offers
        .ephemeral(cluster_auth::ClusterAuth)
        .ephemeral(registry_auth::RegistryAuth)
}

#[cfg(test)]
mod tests {
    use crate::account::Account;
    use serde_json::json;
    use tfplugin::testing::Core;

    #[tokio::test]
    async fn a_token_is_made_without_a_call() {
        let (account, url) = Account::start().await;
        let core = Core::new(Account::provider()).await.expect("valid");
        let settings = json!({ "aws": Account::settings(&url) });
        core.configure(settings).await.expect("configured");
        let opened = core
            .open("joiner_cluster_auth", json!({ "cluster_name": "c" }))
            .await
            .expect("opened");
        let token = opened
            .as_object()
            .and_then(|object| object["token"].as_str())
            .unwrap_or_default();
        assert!(token.starts_with("k8s-aws-v1."), "{token}");
        assert!(account.calls().is_empty());
    }

    #[tokio::test]
    async fn a_registry_is_logged_in_to_for_a_run() {
        let (account, url) = Account::start().await;
        let core = Core::new(Account::provider()).await.expect("valid");
        let settings = json!({ "aws": Account::settings(&url) });
        core.configure(settings).await.expect("configured");
        for (config, host) in [
            (json!({}), "123456789012.dkr.ecr.eu-central-1.amazonaws.com"),
            (
                json!({ "registry_id": "210987654321" }),
                "210987654321.dkr.ecr.eu-central-1.amazonaws.com",
            ),
        ] {
            let opened = core.open("joiner_registry_auth", config).await.expect("opened");
            let object = opened.as_object().expect("an object");
            let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
            assert_eq!(text("url"), format!("oci://{host}"));
            assert_eq!(
                (text("username"), text("password")),
                ("AWS".to_owned(), "token".to_owned())
            );
            assert_eq!(text("expires_at"), "2027-01-15T08:00:00Z");
        }
        assert_eq!(
            account.calls(),
            ["GetAuthorizationToken", "GetAuthorizationToken"]
        );
        account.refuse("GetAuthorizationToken");
        let failure = core
            .open("joiner_registry_auth", json!({}))
            .await
            .expect_err("refused");
        assert!(
            failure.to_string().contains("ecr:GetAuthorizationToken"),
            "{failure}"
        );
        let failure = core
            .open("joiner_registry_auth", json!({ "registry_id": "mine" }))
            .await
            .expect_err("no account");
        assert!(failure.to_string().contains("twelve digits"), "{failure}");
    }
}
