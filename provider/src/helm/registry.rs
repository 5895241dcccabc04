//! OCI registries that charts are pulled from: logins, certificates and plain HTTP.
//!
//! Input: the provider's settings. Output: what Helm must be told for one pull. Invariant: a login goes into a file with mode 0600
//! that only this run of Helm reads, never into an argument.

use super::{HelmError, Workspace};
use crate::cluster::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Scheme of charts in an OCI registry.
pub(crate) const OCI: &str = "oci://";

/// How one registry, or a part of it, is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Registry {
    /// `HOST[:PORT][/PATH]`.
    pub place: String,
    /// User and password.
    pub login: Option<(String, Secret)>,
    /// PEM of the certificate authority.
    pub ca_certificate: Option<String>,
    /// Do not check the registry's certificate.
    pub insecure: bool,
    /// HTTP instead of HTTPS.
    pub plain_http: bool,
}

/// The registries that the provider knows something of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Registries {
    /// Each by its place.
    pub list: Vec<Registry>,
    /// A file with logins, as `helm registry login` writes it.
    pub file: Option<PathBuf>,
}

/// What a pull must be told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PullAccess {
    /// File with the certificate authority.
    pub ca_file: Option<PathBuf>,
    /// Do not check the registry's certificate.
    pub insecure: bool,
    /// HTTP instead of HTTPS.
    pub plain_http: bool,
}

impl Registries {
    /// Writes the logins, and the certificate for `reference`, into the workspace.
    pub(super) fn prepare(&self, workspace: &Workspace, reference: &str) -> Result<PullAccess, HelmError> {
        let logins = self.logins()?;
        workspace.write(Workspace::REGISTRY_CONFIG, logins.to_string().as_bytes())?;
        let Some(registry) = self.of(reference) else {
            return Ok(PullAccess::default());
        };
        let ca_file = match &registry.ca_certificate {
            Some(pem) => Some(workspace.write("registry-ca.pem", pem.as_bytes())?),
            None => None,
        };
        Ok(PullAccess {
            ca_file,
            insecure: registry.insecure,
            plain_http: registry.plain_http,
        })
    }

    /// The registry that a reference is in: of several that fit, the one that says most.
    fn of(&self, reference: &str) -> Option<&Registry> {
        let place = reference.strip_prefix(OCI).unwrap_or(reference);
        let fits = |registry: &&Registry| {
            place
                .strip_prefix(registry.place.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.list
            .iter()
            .filter(fits)
            .max_by_key(|registry| registry.place.len())
    }

    /// All logins in the form that Helm reads: the file's, and over them those of the settings.
    fn logins(&self) -> Result<Value, HelmError> {
        let mut config = match &self.file {
            None => json!({}),
            Some(path) => {
                let unusable = |cause: String| HelmError::Registry {
                    problem: format!("registry_config_path: cannot use {}: {cause}", path.display()),
                };
                let text = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
                match serde_json::from_str(&text) {
                    Ok(Value::Object(config)) => Value::Object(config),
                    Ok(_) => return Err(unusable("it is no JSON object".to_owned())),
                    Err(error) => return Err(unusable(format!("it is no JSON: {error}"))),
                }
            }
        };
        if !config["auths"].is_object() {
            config["auths"] = Value::Object(Map::new());
        }
        for Registry { place, login, .. } in &self.list {
            if let Some((user, password)) = login {
                let host = place.split('/').next().unwrap_or(place);
                let auth = STANDARD.encode(format!("{user}:{}", password.expose()));
                config["auths"][host] = json!({ "auth": auth });
            }
        }
        Ok(config)
    }
}

/// The place in `oci://HOST[:PORT][/PATH]`.
pub(crate) fn place_of(url: &str) -> Result<String, String> {
    let place = url.strip_prefix(OCI).unwrap_or_default().trim_end_matches('/');
    let host = place.split('/').next().unwrap_or_default();
    let is_host = !host.is_empty()
        && host
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || ".-:[]".contains(char));
    if is_host {
        Ok(place.to_owned())
    } else {
        Err(format!(
            "{url:?} is no registry: expected oci://HOST[:PORT][/PATH], such as oci://ghcr.io"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(place: &str, login: Option<(&str, &str)>) -> Registry {
        Registry {
            place: place.into(),
            login: login.map(|(user, password)| (user.into(), Secret::new(password))),
            ..Registry::default()
        }
    }

    #[test]
    fn the_registry_that_says_most_is_meant() {
        let registries = Registries {
            list: vec![registry("r:5000", None), registry("r:5000/charts", None)],
            file: None,
        };
        for (reference, want) in [
            ("oci://r:5000/other/c", Some("r:5000")),
            ("oci://r:5000/charts/c", Some("r:5000/charts")),
            ("oci://r:5000/charts-2/c", Some("r:5000")),
            ("oci://r:50001/c", None),
        ] {
            let found = registries.of(reference).map(|registry| registry.place.as_str());
            assert_eq!(found, want, "{reference}");
        }
    }

    #[test]
    fn logins_are_added_to_those_of_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("config.json");
        std::fs::write(
            &file,
            r#"{ "auths": { "a": { "auth": "eA==" }, "b": { "auth": "eA==" } }, "credsStore": "x" }"#,
        )
        .expect("written");
        let registries = Registries {
            list: vec![registry("b/charts", Some(("u", "p")))],
            file: Some(file.clone()),
        };
        assert_eq!(
            registries.logins().expect("readable"),
            json!({ "auths": { "a": { "auth": "eA==" }, "b": { "auth": STANDARD.encode("u:p") } }, "credsStore": "x" })
        );
        std::fs::write(&file, "[]").expect("written");
        let error = registries.logins().expect_err("no object").to_string();
        assert!(
            error.contains("registry_config_path") && error.contains("config.json"),
            "{error}"
        );
        assert!(
            !format!("{registries:?}").contains("\"p\""),
            "a password is not for logs"
        );
    }

    #[test]
    fn a_place_has_a_host() {
        assert_eq!(place_of("oci://ghcr.io/"), Ok("ghcr.io".to_owned()));
        assert_eq!(
            place_of("oci://127.0.0.1:5000/a/b"),
            Ok("127.0.0.1:5000/a/b".to_owned())
        );
        for wrong in ["ghcr.io", "https://ghcr.io", "oci://", "oci:///x", "oci://a b"] {
            assert!(
                place_of(wrong).is_err_and(|error| error.contains("oci://HOST")),
                "{wrong}"
            );
        }
    }
}
