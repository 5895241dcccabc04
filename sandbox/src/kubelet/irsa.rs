//! The web identity settings that a pod gets when its service account names a role, as EKS's webhook gives them. Pure.
//!
//! Source: amazon-eks-pod-identity-webhook: annotations, variables and defaults.

use std::collections::BTreeMap;
use std::path::Path;

/// What the annotations of a service account ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WebIdentity {
    role: String,
    /// The audience of the projected token.
    pub(super) audience: String,
    /// The token's life in seconds.
    pub(super) expiration: i64,
    regional: bool,
}

/// Reads a service account's annotations; `None` when it names no role.
pub(super) fn wanted(annotations: &BTreeMap<String, String>) -> Option<WebIdentity> {
    let get = |name: &str| annotations.get(&format!("eks.amazonaws.com/{name}"));
    let seconds = get("token-expiration")
        .and_then(|text| text.parse().ok())
        .unwrap_or(86_400);
    Some(WebIdentity {
        role: get("role-arn")?.clone(),
        audience: get("audience")
            .cloned()
            .unwrap_or_else(|| "sts.amazonaws.com".to_owned()),
        // What the API server accepts.
        expiration: i64::clamp(seconds, 600, 86_400),
        regional: get("sts-regional-endpoints").is_none_or(|text| text != "false"),
    })
}

impl WebIdentity {
    /// The variables, for a token at `token`.
    pub(super) fn environment(&self, token: &Path, region: &str) -> BTreeMap<String, String> {
        let mut env = BTreeMap::from([
            ("AWS_ROLE_ARN".to_owned(), self.role.clone()),
            (
                "AWS_WEB_IDENTITY_TOKEN_FILE".to_owned(),
                token.display().to_string(),
            ),
            ("AWS_REGION".to_owned(), region.to_owned()),
            ("AWS_DEFAULT_REGION".to_owned(), region.to_owned()),
        ]);
        if self.regional {
            env.insert("AWS_STS_REGIONAL_ENDPOINTS".to_owned(), "regional".to_owned());
        }
        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_read_with_the_webhooks_defaults() {
        let of = |pairs: &[(&str, &str)]| {
            wanted(
                &pairs
                    .iter()
                    .map(|(name, value)| (format!("eks.amazonaws.com/{name}"), (*value).to_owned()))
                    .collect(),
            )
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("audience", "x")]), None);
        let plain = of(&[("role-arn", "arn:r")]).unwrap();
        assert_eq!(
            (plain.audience.as_str(), plain.expiration),
            ("sts.amazonaws.com", 86_400)
        );
        let env = plain.environment(Path::new("/t"), "us-west-2");
        assert_eq!(env["AWS_ROLE_ARN"], "arn:r");
        assert_eq!(env["AWS_WEB_IDENTITY_TOKEN_FILE"], "/t");
        assert_eq!(env["AWS_STS_REGIONAL_ENDPOINTS"], "regional");
        let short = of(&[
            ("role-arn", "arn:r"),
            ("token-expiration", "5"),
            ("sts-regional-endpoints", "false"),
        ])
        .unwrap();
        assert_eq!(short.expiration, 600);
        assert!(
            !short
                .environment(Path::new("/t"), "r")
                .contains_key("AWS_STS_REGIONAL_ENDPOINTS")
        );
    }
}
