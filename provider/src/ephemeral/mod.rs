//! Ephemeral resources: what lives for one run and is never stored.

mod cluster_auth;

use crate::provider::Joiner;
use tfplugin::Offers;

/// Adds every ephemeral resource of the provider.
pub(crate) fn add(offers: Offers<Joiner>) -> Offers<Joiner> {
    offers.ephemeral(cluster_auth::ClusterAuth)
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
}
