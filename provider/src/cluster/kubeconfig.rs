//! An [`Access`] as a kubeconfig: the one form that both our client and Helm read.

use super::{ClusterError, Direct, Exec};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Name of the only cluster, user and context in the kubeconfigs made here.
const NAME: &str = "joiner";

/// What EKS tells about a cluster, enough to reach it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EksEndpoint {
    /// URL of the API server.
    pub endpoint: String,
    /// Base64 of the PEM CA bundle.
    pub certificate_authority: String,
}

/// The kubeconfig of a direct access.
///
/// Errors name the attribute under `kubernetes` that is malformed.
pub(crate) fn from_direct(direct: &Direct) -> Result<Value, ClusterError> {
    let mut cluster = json!({ "server": server_url(&direct.host)? });
    if direct.insecure {
        cluster["insecure-skip-tls-verify"] = json!(true);
    } else if let Some(ca) = &direct.cluster_ca_certificate {
        cluster["certificate-authority-data"] = json!(pem_base64("kubernetes.cluster_ca_certificate", ca)?);
    }
    if let Some(name) = &direct.tls_server_name {
        cluster["tls-server-name"] = json!(name);
    }
    let mut user = json!({});
    if let Some(token) = &direct.token {
        user["token"] = json!(token.expose());
    }
    if let Some(certificate) = &direct.client_certificate {
        user["client-certificate-data"] = json!(pem_base64("kubernetes.client_certificate", certificate)?);
    }
    if let Some(key) = &direct.client_key {
        user["client-key-data"] = json!(pem_base64("kubernetes.client_key", key.expose())?);
    }
    if let Some(exec) = &direct.exec {
        user["exec"] = exec_json(exec);
    }
    Ok(assemble(cluster, user))
}

/// The kubeconfig of an EKS cluster, without credentials: tokens are minted as they are needed.
pub(crate) fn from_eks(eks: &EksEndpoint) -> Value {
    assemble(
        json!({ "server": eks.endpoint, "certificate-authority-data": eks.certificate_authority }),
        json!({}),
    )
}

/// The same kubeconfig with its current user reading its token from `path`, which a Kubernetes client reads anew each minute.
pub(crate) fn with_token_file(mut kubeconfig: Value, path: &str) -> Value {
    if let Some(users) = kubeconfig["users"].as_array_mut() {
        for user in users {
            user["user"] = json!({ "tokenFile": path });
        }
    }
    kubeconfig
}

fn assemble(cluster: Value, user: Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": NAME, "cluster": cluster }],
        "users": [{ "name": NAME, "user": user }],
        "contexts": [{ "name": NAME, "context": { "cluster": NAME, "user": NAME } }],
        "current-context": NAME,
    })
}

fn exec_json(exec: &Exec) -> Value {
    let env: Vec<Value> = exec
        .env
        .iter()
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    json!({
        "apiVersion": exec.api_version,
        "command": exec.command,
        "args": exec.args,
        "env": env,
        "interactiveMode": "Never",
    })
}

fn server_url(host: &str) -> Result<String, ClusterError> {
    let url = if host.contains("://") {
        host.to_owned()
    } else {
        format!("https://{host}")
    };
    match url::Url::parse(&url) {
        Ok(parsed) if matches!(parsed.scheme(), "https" | "http") && parsed.host().is_some() => Ok(url),
        _ => Err(ClusterError::Setting {
            attribute: "kubernetes.host",
            problem: format!("{host:?} is not a URL of an API server; give it as https://HOST[:PORT]"),
        }),
    }
}

/// Base64 of PEM, from PEM or from base64 of PEM.
fn pem_base64(attribute: &'static str, text: &str) -> Result<String, ClusterError> {
    pem(text)
        .map(|pem| STANDARD.encode(pem))
        .map_err(|problem| ClusterError::Setting { attribute, problem })
}

/// PEM, from PEM or from base64 of PEM.
pub(crate) fn pem(text: &str) -> Result<String, String> {
    const BEGIN: &str = "-----BEGIN ";
    if text.trim_start().starts_with(BEGIN) {
        return Ok(text.to_owned());
    }
    let compact: String = text.split_whitespace().collect();
    let decoded = STANDARD.decode(&compact).ok();
    decoded
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .filter(|decoded| decoded.trim_start().starts_with(BEGIN))
        .ok_or_else(|| "the value is neither PEM (-----BEGIN ...) nor base64 of PEM".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Secret;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

    #[test]
    fn hosts_become_urls() {
        for (host, want) in [
            ("https://127.0.0.1:6443", Ok("https://127.0.0.1:6443")),
            ("example.com", Ok("https://example.com")),
            ("http://[::1]:8080", Ok("http://[::1]:8080")),
            ("", Err(())),
            ("ftp://example.com", Err(())),
        ] {
            assert_eq!(
                server_url(host).map_err(|_| ()),
                want.map(str::to_owned),
                "{host}"
            );
        }
    }

    #[test]
    fn certificates_may_be_pem_or_base64_of_pem() {
        let encoded = STANDARD.encode(PEM);
        for text in [PEM.to_owned(), encoded.clone(), format!("{}\n", encoded)] {
            let direct = Direct {
                host: "h".into(),
                cluster_ca_certificate: Some(text),
                ..Direct::default()
            };
            let kubeconfig = from_direct(&direct).expect("a valid certificate");
            assert_eq!(
                kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"],
                json!(encoded)
            );
        }
        let direct = Direct {
            host: "h".into(),
            cluster_ca_certificate: Some("oops".into()),
            ..Direct::default()
        };
        let error = from_direct(&direct).expect_err("not a certificate");
        assert!(error.to_string().contains("cluster_ca_certificate"), "{error}");
    }

    #[test]
    fn secrets_reach_the_file_and_no_log() {
        let direct = Direct {
            host: "h".into(),
            token: Some(Secret::new("s3cr3t")),
            ..Direct::default()
        };
        assert!(!format!("{direct:?}").contains("s3cr3t"));
        assert_eq!(
            from_direct(&direct).expect("valid")["users"][0]["user"]["token"],
            json!("s3cr3t")
        );
    }

    #[test]
    fn a_token_file_replaces_the_credentials() {
        let eks = EksEndpoint {
            endpoint: "https://e".into(),
            certificate_authority: "Q0E=".into(),
        };
        let kubeconfig = with_token_file(from_eks(&eks), "/x/token");
        assert_eq!(kubeconfig["users"][0]["user"], json!({ "tokenFile": "/x/token" }));
        assert_eq!(kubeconfig["clusters"][0]["cluster"]["server"], json!("https://e"));
    }
}
