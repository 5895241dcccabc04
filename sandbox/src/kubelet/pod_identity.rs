//! EKS Pod Identity: what a pod gets when its service account has an association, as EKS's webhook gives it.
//!
//! Source: the EKS Pod Identity webhook: variables, audience and life of the token. The agent's address is a route of the emulator.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// The audience of the projected token.
pub(super) const AUDIENCE: &str = "pods.eks.amazonaws.com";
/// The token's life in seconds.
pub(super) const LIFE: i64 = 86_400;

/// Where EKS lists the associations of a service account.
pub(super) fn path(cluster: &str, namespace: &str, account: &str) -> String {
    format!("/clusters/{cluster}/pod-identity-associations?namespace={namespace}&serviceAccount={account}")
}

/// Whether the list has the association of this service account.
pub(super) fn is_associated(list: &Value, namespace: &str, account: &str) -> bool {
    let associations = list["associations"].as_array().into_iter().flatten();
    let mut associations = associations;
    associations.any(|one| one["namespace"] == namespace && one["serviceAccount"] == account)
}

/// The variables, for a token at `token` and the emulator at `endpoint`.
pub(super) fn environment(token: &Path, endpoint: &str, region: &str) -> BTreeMap<String, String> {
    [
        (
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            format!("{}/_sandbox/pod-identity", endpoint.trim_end_matches('/')),
        ),
        (
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
            token.display().to_string(),
        ),
        ("AWS_REGION", region.to_owned()),
        ("AWS_DEFAULT_REGION", region.to_owned()),
        ("AWS_STS_REGIONAL_ENDPOINTS", "regional".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_association_of_the_account_itself_counts() {
        let list = serde_json::json!({ "associations": [{ "namespace": "n", "serviceAccount": "s" }] });
        assert!(is_associated(&list, "n", "s"));
        assert!(!is_associated(&list, "n", "t") && !is_associated(&serde_json::json!({}), "n", "s"));
        let env = environment(Path::new("/t"), "http://127.0.0.1:1/", "r");
        assert_eq!(
            env["AWS_CONTAINER_CREDENTIALS_FULL_URI"],
            "http://127.0.0.1:1/_sandbox/pod-identity"
        );
        assert_eq!(env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"], "/t");
    }
}
