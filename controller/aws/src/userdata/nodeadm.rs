//! Amazon Linux 2023: the user's parts first, then our NodeConfig, which nodeadm merges over theirs.

use super::mime::{self, Part};
use super::{Bootstrap, UserDataError};
use serde_json::{Value, json};

const NODE_CONFIG: &str = "application/node.eks.aws";
const SHELL_SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";

pub(super) fn render(bootstrap: &Bootstrap<'_>) -> Result<String, UserDataError> {
    let mut parts = custom_parts(bootstrap.custom.unwrap_or_default())?;
    let config = node_config(bootstrap)?;
    // Long scalars stay on one line, so that no reader has to unfold them.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let yaml =
        serde_saphyr::to_string_with_options(&config, options).map_err(|error| UserDataError::Custom {
            reason: format!("NodeConfig cannot be written: {error}"),
        })?;
    parts.push(Part::new(NODE_CONFIG, yaml));
    Ok(mime::write(&parts))
}

fn custom_parts(custom: &str) -> Result<Vec<Part>, UserDataError> {
    if custom.trim().is_empty() {
        return Ok(Vec::new());
    }
    match form(custom) {
        Form::Archive => mime::read(custom).map_err(|reason| UserDataError::Custom { reason }),
        Form::NodeConfig(_) => Ok(vec![Part::new(NODE_CONFIG, custom)]),
        Form::Script => Ok(vec![Part::new(SHELL_SCRIPT, custom)]),
    }
}

/// What the user's part of the user data of AL2023 is taken for.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A MIME multi-part archive of several parts.
    Archive,
    /// A NodeConfig, as which every mapping in YAML or JSON counts.
    NodeConfig(Value),
    /// A script: everything else, and one that reads as a mapping too.
    Script,
}

/// What the user's part of the user data of AL2023 is taken for.
pub fn form(custom: &str) -> Form {
    if mime::is_archive(custom) {
        return Form::Archive;
    }
    let is_script = custom.trim_start().starts_with("#!");
    match serde_saphyr::from_str::<Value>(custom) {
        Ok(config @ Value::Object(_)) if !is_script => Form::NodeConfig(config),
        _ => Form::Script,
    }
}

fn node_config(bootstrap: &Bootstrap<'_>) -> Result<Value, UserDataError> {
    let cluster = bootstrap.cluster;
    if cluster.service_cidr.is_empty() {
        return Err(UserDataError::NoServiceCidr);
    }
    let mut details = json!({
        "name": cluster.name,
        "apiServerEndpoint": cluster.endpoint,
        "cidr": cluster.service_cidr,
    });
    if !cluster.ca_bundle.is_empty() {
        details["certificateAuthority"] = json!(cluster.ca_bundle);
    }
    let mut spec = json!({ "cluster": details, "kubelet": { "config": kubelet_config(bootstrap) } });
    if bootstrap.striped_local_disks {
        spec["instance"] = json!({ "localStorage": { "strategy": "RAID0" } });
    }
    if let Some(flag) = bootstrap.labels_flag() {
        spec["kubelet"]["flags"] = json!([flag]);
    }
    Ok(json!({ "apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec }))
}

fn kubelet_config(bootstrap: &Bootstrap<'_>) -> Value {
    let mut config = serde_json::to_value(bootstrap.kubelet).unwrap_or_else(|_| json!({}));
    config["maxPods"] = json!(bootstrap.pods());
    let dns = bootstrap.dns();
    if !dns.is_empty() {
        config["clusterDNS"] = json!(dns);
    }
    config["registerWithTaints"] = bootstrap
        .all_taints()
        .iter()
        .map(|taint| {
            let mut written = json!({ "key": &*taint.key, "effect": taint.effect.as_str() });
            if !taint.value.is_empty() {
                written["value"] = json!(&*taint.value);
            }
            written
        })
        .collect();
    config
}
