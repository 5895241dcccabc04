//! EKS: access entries and pod identity associations of any cluster.

use super::{Account, Answer, refused};
use axum::http::{Method, StatusCode};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// An access entry, under cluster and principal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub kind: String,
    pub tags: BTreeMap<String, String>,
}

/// A pod identity association, under its ID.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Association {
    pub cluster: String,
    pub namespace: String,
    pub service_account: String,
    pub role_arn: String,
    pub tags: BTreeMap<String, String>,
}

/// What EKS knows.
#[derive(Default)]
pub(crate) struct Clusters {
    /// By cluster and principal.
    pub entries: BTreeMap<(String, String), Entry>,
    /// By ID.
    pub associations: BTreeMap<String, Association>,
    /// By name: what EKS tells of a cluster.
    pub described: BTreeMap<String, Json>,
}

pub(super) fn answer(account: &Account, method: &Method, path: &str, input: &Json) -> Answer<Json> {
    let decoded: Vec<String> = path.trim_matches('/').split('/').map(decode).collect();
    let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
    match (method.as_str(), parts.as_slice()) {
        ("GET", ["clusters", cluster]) => {
            account.enter("DescribeCluster")?;
            let clusters = account.clusters();
            let described = clusters.described.get(*cluster).ok_or_else(absent)?;
            Ok(json!({ "cluster": described }))
        }
        ("POST", ["clusters", cluster, "access-entries"]) => {
            account.enter("CreateAccessEntry")?;
            create_entry(account, cluster, input)
        }
        ("GET", ["clusters", cluster, "access-entries", principal]) => {
            account.enter("DescribeAccessEntry")?;
            let key = ((*cluster).to_owned(), (*principal).to_owned());
            let clusters = account.clusters();
            let entry = clusters.entries.get(&key).ok_or_else(absent)?;
            Ok(json!({ "accessEntry": entry_json(cluster, principal, entry) }))
        }
        ("DELETE", ["clusters", cluster, "access-entries", principal]) => {
            account.enter("DeleteAccessEntry")?;
            let key = ((*cluster).to_owned(), (*principal).to_owned());
            account.clusters().entries.remove(&key).ok_or_else(absent)?;
            Ok(json!({}))
        }
        ("POST", ["clusters", cluster, "pod-identity-associations"]) => {
            account.enter("CreatePodIdentityAssociation")?;
            create_association(account, cluster, input)
        }
        ("GET", ["clusters", cluster, "pod-identity-associations"]) => {
            account.enter("ListPodIdentityAssociations")?;
            let clusters = account.clusters();
            let found = clusters
                .associations
                .iter()
                .filter(|(_, known)| known.cluster == *cluster);
            let list: Vec<Json> = found.map(|(id, known)| association_json(id, known)).collect();
            Ok(json!({ "associations": list }))
        }
        (method, ["clusters", _, "pod-identity-associations", id]) => {
            let action = match method {
                "GET" => "DescribePodIdentityAssociation",
                "DELETE" => "DeletePodIdentityAssociation",
                _ => "UpdatePodIdentityAssociation",
            };
            account.enter(action)?;
            let mut clusters = account.clusters();
            let known = clusters.associations.get_mut(*id).ok_or_else(absent)?;
            if let Some(role) = input["roleArn"].as_str() {
                role.clone_into(&mut known.role_arn);
            }
            let answer = association_json(id, known);
            if method == "DELETE" {
                clusters.associations.remove(*id);
            }
            Ok(json!({ "association": answer }))
        }
        _ => Err(refused(StatusCode::BAD_REQUEST, "InvalidRequestException")),
    }
}

fn create_entry(account: &Account, cluster: &str, input: &Json) -> Answer<Json> {
    let principal = text(&input["principalArn"]);
    let key = (cluster.to_owned(), principal.clone());
    let mut clusters = account.clusters();
    if clusters.entries.contains_key(&key) {
        return Err(refused(StatusCode::CONFLICT, "ResourceInUseException"));
    }
    let entry = Entry {
        kind: text(&input["type"]),
        tags: tags(&input["tags"]),
    };
    let answer = json!({ "accessEntry": entry_json(cluster, &principal, &entry) });
    clusters.entries.insert(key, entry);
    Ok(answer)
}

fn create_association(account: &Account, cluster: &str, input: &Json) -> Answer<Json> {
    let association = Association {
        cluster: cluster.to_owned(),
        namespace: text(&input["namespace"]),
        service_account: text(&input["serviceAccount"]),
        role_arn: text(&input["roleArn"]),
        tags: tags(&input["tags"]),
    };
    let id = format!("a-{}", account.made());
    let mut clusters = account.clusters();
    let taken = clusters.associations.values().any(|known| {
        (&known.cluster, &known.namespace, &known.service_account)
            == (
                &association.cluster,
                &association.namespace,
                &association.service_account,
            )
    });
    if taken {
        return Err(refused(StatusCode::CONFLICT, "ResourceInUseException"));
    }
    let answer = json!({ "association": association_json(&id, &association) });
    clusters.associations.insert(id, association);
    Ok(answer)
}

fn entry_json(cluster: &str, principal: &str, entry: &Entry) -> Json {
    json!({
        "clusterName": cluster, "principalArn": principal, "type": entry.kind, "tags": entry.tags,
        "accessEntryArn": format!("arn:aws:eks:eu-central-1:123456789012:access-entry/{cluster}/{principal}"),
    })
}

fn association_json(id: &str, association: &Association) -> Json {
    let Association {
        cluster,
        namespace,
        service_account,
        role_arn,
        tags,
    } = association;
    json!({
        "clusterName": cluster, "namespace": namespace, "serviceAccount": service_account, "roleArn": role_arn, "tags": tags,
        "associationId": id,
        "associationArn": format!("arn:aws:eks:eu-central-1:123456789012:podidentityassociation/{cluster}/{id}"),
    })
}

fn absent() -> super::Refused {
    refused(StatusCode::NOT_FOUND, "ResourceNotFoundException")
}

fn tags(value: &Json) -> BTreeMap<String, String> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.clone(), text(value))).collect()
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A step of a path without its percent-encoding.
fn decode(step: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = step.bytes();
    while let Some(byte) = rest.next() {
        let code = if byte == b'%' {
            let hex: String = rest.by_ref().take(2).map(char::from).collect();
            u8::from_str_radix(&hex, 16).unwrap_or(byte)
        } else {
            byte
        };
        bytes.push(code);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
