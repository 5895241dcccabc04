//! Reading EKS tokens and mapping callers to users. Pure.
//!
//! Source: the token's format is aws-iam-authenticator's; the mapping is that of EKS access entries.

use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// The prefix of an EKS token.
const PREFIX: &str = "k8s-aws-v1.";

/// An access entry of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    groups: Vec<String>,
    username: Option<String>,
    admin: bool,
}

/// The presigned request in a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Presigned {
    /// The host (and port) that was signed, which is not necessarily where the request goes.
    pub(super) host: String,
    /// Path and query.
    pub(super) path: String,
}

/// The presigned request in a token; `None` for another kind of token.
pub(super) fn presigned(token: &str) -> Result<Option<Presigned>, String> {
    let Some(encoded) = token.strip_prefix(PREFIX) else {
        return Ok(None);
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(encoded)
        .or_else(|_| URL_SAFE.decode(encoded))
        .map_err(|_| "the token is not base64url after k8s-aws-v1.".to_owned())?;
    let text = String::from_utf8(bytes).map_err(|_| "the token does not hold a URL".to_owned())?;
    let url = url::Url::parse(&text).map_err(|_| "the token does not hold a URL".to_owned())?;
    let parameter = |name: &str| {
        url.query_pairs()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.into_owned())
    };
    if parameter("Action").as_deref() != Some("GetCallerIdentity") {
        return Err("the token's URL is not a GetCallerIdentity request".to_owned());
    }
    // Without it a token for one cluster would open another.
    if !parameter("X-Amz-SignedHeaders")
        .is_some_and(|names| names.split(';').any(|name| name == "x-k8s-aws-id"))
    {
        return Err("the token's URL does not sign the header x-k8s-aws-id".to_owned());
    }
    let host = url.host_str().ok_or("the token's URL has no host")?;
    Ok(Some(Presigned {
        host: url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        path: format!("{}?{}", url.path(), url.query().unwrap_or_default()),
    }))
}

/// The ARN in a GetCallerIdentity answer, which is XML or JSON as the request asked.
pub(super) fn arn(text: &str) -> Option<String> {
    let after = |mark: &str| text.find(mark).map(|at| &text[at + mark.len()..]);
    match after("<Arn>") {
        Some(rest) => rest.split('<').next(),
        // `"Arn": "arn:..."`
        None => after("\"Arn\"")?.split('"').nth(1),
    }
    .map(|arn| arn.trim().to_owned())
}

/// The role behind an assumed role's ARN, which is what access entries name; other ARNs stay.
pub(super) fn principal(arn: &str) -> String {
    let assumed = arn.replacen(":sts:", ":iam:", 1);
    let Some((head, tail)) = assumed.split_once(":assumed-role/") else {
        return arn.to_owned();
    };
    let role = tail.split('/').next().unwrap_or(tail);
    format!("{head}:role/{role}")
}

/// The user that a caller is in the cluster. The sandbox's administrator, who creates its clusters, is `system:masters` as a
/// cluster's creator is on EKS; everybody else needs an access entry.
pub(super) fn user(arn: &str, entry: Option<&Entry>) -> Result<Value, String> {
    let principal = principal(arn);
    let (username, groups) = match entry {
        Some(entry) => {
            let mut groups = entry.groups.clone();
            if entry.admin {
                groups.push("system:masters".to_owned());
            }
            (entry.username.clone().unwrap_or_else(|| arn.to_owned()), groups)
        }
        None if is_creator(arn) => (arn.to_owned(), vec!["system:masters".to_owned()]),
        None => {
            return Err(format!(
                "{principal} has no access entry in this cluster (aws eks create-access-entry makes one)"
            ));
        }
    };
    Ok(json!({ "username": username, "uid": format!("aws-iam-authenticator:{principal}"), "groups": groups }))
}

/// Access entries leave out a role's path.
fn same_principal(entry: &str, principal: &str) -> bool {
    let short = |arn: &str| match arn.split_once(":role/") {
        Some((head, tail)) => format!("{head}:role/{}", tail.rsplit('/').next().unwrap_or(tail)),
        None => arn.to_owned(),
    };
    short(entry) == short(principal)
}

/// The root of the account, which is the emulator's administrator.
fn is_creator(arn: &str) -> bool {
    arn.ends_with(":root")
}

/// The principal's ARN as the list of access entries (`ListAccessEntries`) has it.
pub(super) fn listed(list: &Value, principal: &str) -> Option<String> {
    let arns = list["accessEntries"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    arns.into_iter()
        .find(|arn| same_principal(arn, principal))
        .map(str::to_owned)
}

/// Reads `DescribeAccessEntry` and `ListAssociatedAccessPolicies`. A cluster-wide administrator's policy is the only one
/// that the sandbox knows the meaning of; others are left to RBAC by groups.
pub(super) fn entry(entry: &Value, policies: &Value) -> Entry {
    let entry = &entry["accessEntry"];
    let groups = entry["kubernetesGroups"].as_array().into_iter().flatten();
    let username = entry["username"]
        .as_str()
        .filter(|name| !name.is_empty() && !name.contains("{{"));
    let mut policies = policies["associatedAccessPolicies"]
        .as_array()
        .into_iter()
        .flatten();
    Entry {
        groups: groups
            .filter_map(|group| group.as_str().map(str::to_owned))
            .collect(),
        username: username.map(str::to_owned),
        admin: policies.any(|policy| {
            let arn = policy["policyArn"].as_str().unwrap_or_default();
            arn.ends_with("/AmazonEKSClusterAdminPolicy") && policy["accessScope"]["type"] != "namespace"
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=ab";

    fn token(url: &str) -> String {
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url))
    }

    #[test]
    fn only_presigned_identity_requests_bound_to_a_cluster_pass() {
        let stolen = GOOD.replace("%3Bx-k8s-aws-id", "");
        for (token, want) in [
            (token(GOOD), Ok(true)),
            ("eyJhbGciOi".to_owned(), Ok(false)),
            (
                token("https://sts/?Action=AssumeRole&X-Amz-SignedHeaders=x-k8s-aws-id"),
                Err(()),
            ),
            (token(&stolen), Err(())),
            (token("not a url"), Err(())),
            (format!("{PREFIX}%%%"), Err(())),
        ] {
            assert_eq!(
                presigned(&token).map(|found| found.is_some()).map_err(drop),
                want,
                "{token}"
            );
        }
    }

    #[test]
    fn the_arn_is_found_in_xml_and_json() {
        let want = Some("arn:aws:iam::1:user/a".to_owned());
        assert_eq!(arn("<R><Arn>arn:aws:iam::1:user/a</Arn></R>"), want);
        assert_eq!(
            arn(r#"{"GetCallerIdentityResult":{"Arn":"arn:aws:iam::1:user/a"}}"#),
            want
        );
        assert_eq!(arn(r#"{"Arn":"arn:aws:iam::1:user/a","UserId":"x"}"#), want);
        assert_eq!(arn("nothing"), None);
    }

    #[test]
    fn callers_are_mapped_as_access_entries_say() {
        let dev = entry(
            &json!({ "accessEntry": { "kubernetesGroups": ["dev"] } }),
            &json!({}),
        );
        let policy = json!({
            "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
            "accessScope": { "type": "cluster" },
        });
        let ops = entry(
            &json!({ "accessEntry": {} }),
            &json!({ "associatedAccessPolicies": [policy] }),
        );
        let groups = |arn: &str, entry| user(arn, entry).map(|user| user["groups"].clone());
        let role = "arn:aws:sts::1:assumed-role/dev/session";
        assert_eq!(groups(role, Some(&dev)), Ok(json!(["dev"])));
        assert_eq!(groups(role, Some(&ops)), Ok(json!(["system:masters"])));
        assert_eq!(groups("arn:aws:iam::1:root", None), Ok(json!(["system:masters"])));
        assert!(
            groups(role, None)
                .unwrap_err()
                .contains("arn:aws:iam::1:role/dev")
        );
    }

    #[test]
    fn principals_are_found_whatever_their_path() {
        let list = json!({ "accessEntries": ["arn:aws:iam::1:role/a/b/dev", "arn:aws:iam::1:role/ops"] });
        for (principal, want) in [
            ("arn:aws:iam::1:role/dev", Some("arn:aws:iam::1:role/a/b/dev")),
            ("arn:aws:iam::1:role/ops", Some("arn:aws:iam::1:role/ops")),
            ("arn:aws:iam::1:role/other", None),
        ] {
            assert_eq!(listed(&list, principal).as_deref(), want, "{principal}");
        }
    }
}
