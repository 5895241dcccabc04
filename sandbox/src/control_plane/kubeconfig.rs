//! Kubeconfigs: for the control plane's own programs, for the administrator, for pods, and the merged one of a sandbox.
//!
//! Output: YAML text. Pure.

use std::path::Path;

use serde_json::{Value, json};

use crate::model::Cluster;

/// A kubeconfig whose user has certificate files.
pub(crate) fn with_files(server: &str, ca: &Path, certificate: &Path, key: &Path) -> String {
    let user = json!({ "client-certificate": certificate, "client-key": key });
    text(&one(
        "default",
        json!({ "server": server, "certificate-authority": ca }),
        user,
    ))
}

/// The administrator's kubeconfig, which needs no other file.
pub(crate) fn admin(cluster: &Cluster) -> String {
    text(&document(&cluster.name, vec![parts(cluster)]))
}

/// One kubeconfig for all clusters, `current` being the context in use.
pub(crate) fn merged(clusters: &[Cluster], current: &str) -> String {
    text(&document(current, clusters.iter().map(parts).collect()))
}

/// A pod's kubeconfig: the projected token is read from its file at each use, so a refreshed one is found.
pub(crate) fn for_pod(server: &str, ca: &Path, token: &Path, namespace: &str) -> String {
    let mut config = one(
        "pod",
        json!({ "server": server, "certificate-authority": ca }),
        json!({ "tokenFile": token }),
    );
    config["contexts"][0]["context"]["namespace"] = json!(namespace);
    text(&config)
}

/// A kubeconfig for a token webhook, in which the "cluster" is the webhook.
pub(crate) fn for_webhook(url: &str) -> String {
    text(&one("webhook", json!({ "server": url }), json!({})))
}

type Parts = (String, Value, Value);

fn parts(cluster: &Cluster) -> Parts {
    use base64::Engine;
    let encode = |pem: &str| base64::engine::general_purpose::STANDARD.encode(pem);
    let server =
        json!({ "server": cluster.endpoint, "certificate-authority-data": cluster.certificate_authority });
    let user = json!({
        "client-certificate-data": encode(&cluster.client_certificate),
        "client-key-data": encode(&cluster.client_key),
    });
    (cluster.name.clone(), server, user)
}

fn one(name: &str, cluster: Value, user: Value) -> Value {
    document(name, vec![(name.to_owned(), cluster, user)])
}

fn document(current: &str, parts: Vec<Parts>) -> Value {
    let (mut clusters, mut users, mut contexts) = (Vec::new(), Vec::new(), Vec::new());
    for (name, cluster, user) in parts {
        contexts.push(json!({ "name": name, "context": { "cluster": name, "user": name } }));
        clusters.push(json!({ "name": name, "cluster": cluster }));
        users.push(json!({ "name": name, "user": user }));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": clusters,
        "contexts": contexts,
        "current-context": current,
        "users": users,
    })
}

fn text(config: &Value) -> String {
    // JSON is YAML, too; it is the answer should the YAML writer ever refuse.
    serde_saphyr::to_string(config).unwrap_or_else(|_| config.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_read_what_is_written() {
        let pod = for_pod(
            "https://127.0.0.1:1",
            Path::new("/ca"),
            Path::new("/token"),
            "kube-system",
        );
        let config = kube::config::Kubeconfig::from_yaml(&pod).unwrap();
        assert_eq!(
            config.auth_infos[0]
                .auth_info
                .as_ref()
                .unwrap()
                .token_file
                .as_deref(),
            Some("/token")
        );
        assert_eq!(
            config.contexts[0].context.as_ref().unwrap().namespace.as_deref(),
            Some("kube-system")
        );
        assert_eq!(config.current_context.as_deref(), Some("pod"));
    }
}
