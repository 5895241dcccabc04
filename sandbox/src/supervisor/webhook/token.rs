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
    principal: String,
    groups: Vec<String>,
    username: Option<String>,
    admin: bool,
}

/// The query of the presigned request in a token; `None` for another kind of token.
pub(super) fn query(token: &str) -> Result<Option<String>, String> {
    let Some(encoded) = token.strip_prefix(PREFIX) else { return Ok(None) };
    let bytes = URL_SAFE_NO_PAD
        .decode(encoded)
        .or_else(|_| URL_SAFE.decode(encoded))
        .map_err(|_| "the token is not base64url after k8s-aws-v1.".to_owned())?;
    let text = String::from_utf8(bytes).map_err(|_| "the token does not hold a URL".to_owned())?;
    let url = url::Url::parse(&text).map_err(|_| "the token does not hold a URL".to_owned())?;
    let parameter = |name: &str| {
        url.query_pairs().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.into_owned())
    };
    if parameter("Action").as_deref() != Some("GetCallerIdentity") {
        return Err("the token's URL is not a GetCallerIdentity request".to_owned());
    }
    // Without it a token for one cluster would open another.
    if !parameter("X-Amz-SignedHeaders").is_some_and(|names| names.split(';').any(|name| name == "x-k8s-aws-id")) {
        return Err("the token's URL does not sign the header x-k8s-aws-id".to_owned());
    }
    Ok(url.query().map(str::to_owned))
}

/// The ARN in a GetCallerIdentity answer, which is XML or JSON as the request asked.
pub(super) fn arn(text: &str) -> Option<String> {
    let between = |open: &str, close: &str| {
        let start = text.find(open)? + open.len();
        let length = text[start..].find(close)?;
        Some(text[start..start + length].trim().trim_matches('"').to_owned())
    };
    between("<Arn>", "</Arn>").or_else(|| between("\"Arn\":", "\"}").or_else(|| between("\"Arn\":", ",")))
}

/// The role behind an assumed role's ARN, which is what access entries name; other ARNs stay.
fn principal(arn: &str) -> String {
    let assumed = arn.replacen(":sts:", ":iam:", 1);
    let Some((head, tail)) = assumed.split_once(":assumed-role/") else { return arn.to_owned() };
    let role = tail.split('/').next().unwrap_or(tail);
    format!("{head}:role/{role}")
}

/// The user that a caller is in the cluster. The sandbox's administrator, who creates its clusters, is `system:masters` as a
/// cluster's creator is on EKS; everybody else needs an access entry.
pub(super) fn user(arn: &str, entries: &[Entry]) -> Result<Value, String> {
    let principal = principal(arn);
    let found = entries.iter().find(|entry| same_principal(&entry.principal, &principal));
    let (username, groups) = match found {
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

/// A user or the root of the account, not a role: the sandbox's clusters are created by its administrator.
fn is_creator(arn: &str) -> bool {
    arn.contains(":user/") || arn.ends_with(":root")
}

/// Reads the emulator's list of access entries.
pub(super) fn entries(found: &Value) -> Vec<Entry> {
    let list = found.as_array().or_else(|| found["accessEntries"].as_array());
    list.into_iter().flatten().filter_map(entry).collect()
}

fn entry(value: &Value) -> Option<Entry> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let policies = texts(&value["policies"]);
    Some(Entry {
        principal: value["principalArn"].as_str()?.to_owned(),
        groups: texts(&value["kubernetesGroups"]),
        username: value["username"].as_str().filter(|name| !name.is_empty() && !name.contains("{{")).map(str::to_owned),
        admin: policies.iter().any(|policy| policy.ends_with("/AmazonEKSClusterAdminPolicy")),
    })
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
            (token("https://sts/?Action=AssumeRole&X-Amz-SignedHeaders=x-k8s-aws-id"), Err(())),
            (token(&stolen), Err(())),
            (token("not a url"), Err(())),
            (format!("{PREFIX}%%%"), Err(())),
        ] {
            assert_eq!(query(&token).map(|query| query.is_some()).map_err(drop), want, "{token}");
        }
    }

    #[test]
    fn the_arn_is_found_in_xml_and_json() {
        let want = Some("arn:aws:iam::1:user/a".to_owned());
        assert_eq!(arn("<R><Arn>arn:aws:iam::1:user/a</Arn></R>"), want);
        assert_eq!(arn(r#"{"GetCallerIdentityResult":{"Arn":"arn:aws:iam::1:user/a"}}"#), want);
        assert_eq!(arn(r#"{"Arn":"arn:aws:iam::1:user/a","UserId":"x"}"#), want);
        assert_eq!(arn("nothing"), None);
    }

    #[test]
    fn callers_are_mapped_as_access_entries_say() {
        let entries = entries(&json!([
            { "principalArn": "arn:aws:iam::1:role/path/dev", "kubernetesGroups": ["dev"], "policies": [] },
            { "principalArn": "arn:aws:iam::1:role/ops", "kubernetesGroups": [],
              "policies": ["arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"] },
        ]));
        let groups = |arn: &str| user(arn, &entries).map(|user| user["groups"].clone());
        assert_eq!(groups("arn:aws:sts::1:assumed-role/dev/session"), Ok(json!(["dev"])));
        assert_eq!(groups("arn:aws:sts::1:assumed-role/ops/session"), Ok(json!(["system:masters"])));
        assert_eq!(groups("arn:aws:iam::1:user/admin"), Ok(json!(["system:masters"])));
        assert!(groups("arn:aws:sts::1:assumed-role/nobody/session").is_err());
    }
}
