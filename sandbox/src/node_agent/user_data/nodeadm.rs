//! AL2023: MIME parts of type `application/node.eks.aws`, or one bare document, each a `NodeConfig` in YAML; later ones are
//! merged over earlier ones, as nodeadm does.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Bootstrap, Taint, mime};

const MEDIA_TYPE: &str = "application/node.eks.aws";

/// Reads AL2023 user data.
pub(super) fn read(text: &str) -> Result<Bootstrap, String> {
    let documents: Vec<String> = match mime::parts(text) {
        Some(parts) => parts
            .into_iter()
            .filter(|part| part.media_type == MEDIA_TYPE)
            .map(|part| part.body)
            .collect(),
        None => vec![text.to_owned()],
    };
    let mut config = Value::Null;
    for document in &documents {
        let value: Value = serde_saphyr::from_str(document)
            .map_err(|error| format!("a NodeConfig is not valid YAML: {error}"))?;
        if value["kind"] != "NodeConfig" {
            return Err(format!(
                "a part of type {MEDIA_TYPE} is of kind {}, not NodeConfig",
                value["kind"]
            ));
        }
        merge(&mut config, value);
    }
    if config.is_null() {
        return Err(format!("no part is of type {MEDIA_TYPE}"));
    }
    bootstrap(&config)
}

fn bootstrap(config: &Value) -> Result<Bootstrap, String> {
    let cluster = &config["spec"]["cluster"];
    let kubelet = &config["spec"]["kubelet"];
    let settings = &kubelet["config"];
    let mut bootstrap = Bootstrap {
        cluster: required(cluster, "name")?,
        endpoint: required(cluster, "apiServerEndpoint")?,
        authority: required(cluster, "certificateAuthority")?,
        max_pods: number(&settings["maxPods"]),
        pods_per_core: number(&settings["podsPerCore"]),
        kube_reserved: map(&settings["kubeReserved"]),
        system_reserved: map(&settings["systemReserved"]),
        eviction_hard: map(&settings["evictionHard"]),
        ..Bootstrap::default()
    };
    for taint in settings["registerWithTaints"].as_array().into_iter().flatten() {
        bootstrap.taints.push(Taint {
            key: text(&taint["key"]),
            value: text(&taint["value"]),
            effect: text(&taint["effect"]),
        });
    }
    for flag in kubelet["flags"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        apply_flag(flag, &mut bootstrap);
    }
    Ok(bootstrap)
}

fn apply_flag(flag: &str, bootstrap: &mut Bootstrap) {
    let Some((name, value)) = flag.trim_start_matches('-').split_once('=') else {
        return;
    };
    let value = value.trim_matches('"');
    match name {
        "node-labels" => bootstrap.labels.extend(pairs(value)),
        "register-with-taints" => {
            let taints = value.split(',').filter_map(|item| {
                let (key, rest) = item.split_once('=').or_else(|| item.split_once(':'))?;
                Some(super::taint(key, rest))
            });
            bootstrap.taints.extend(taints);
        }
        "max-pods" => bootstrap.max_pods = value.parse().ok(),
        _ => {}
    }
}

fn pairs(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    text.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    })
}

fn required(cluster: &Value, name: &str) -> Result<String, String> {
    match &cluster[name] {
        Value::Null => Err(format!("NodeConfig has no spec.cluster.{name}")),
        value => Ok(text(value)),
    }
}

/// Objects are merged key by key; anything else is replaced.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn map(value: &Value) -> BTreeMap<String, String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER_DATA: &str = r#"MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
modprobe ip_vs

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      maxPods: 42
      kubeReserved:
        cpu: 100m

--//
Content-Type: application/node.eks.aws

# Karpenter Generated NodeConfig
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
metadata:
  creationTimestamp: null
spec:
  cluster:
    apiServerEndpoint: https://127.0.0.1:6443
    certificateAuthority: Q0E=
    cidr: 172.20.0.0/16
    name: sandbox
  containerd: {}
  instance:
    localStorage: {}
  kubelet:
    config:
      clusterDNS:
      - 172.20.0.10
      kubeReserved:
        memory: 1Gi
      registerWithTaints:
      - effect: NoExecute
        key: karpenter.sh/unregistered
      evictionHard:
        memory.available: 5%
    flags:
    - --node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=default"

--//--
"#;

    #[test]
    fn what_the_controller_writes_is_read_and_merged() {
        let bootstrap = read(USER_DATA).unwrap();
        assert_eq!(
            (bootstrap.cluster.as_str(), bootstrap.endpoint.as_str()),
            ("sandbox", "https://127.0.0.1:6443")
        );
        assert_eq!(bootstrap.max_pods, Some(42));
        assert_eq!(bootstrap.labels["karpenter.sh/nodepool"], "default");
        assert_eq!(bootstrap.labels["karpenter.sh/capacity-type"], "spot");
        let taint = Taint {
            key: "karpenter.sh/unregistered".into(),
            value: String::new(),
            effect: "NoExecute".into(),
        };
        assert_eq!(bootstrap.taints, [taint]);
        assert_eq!(bootstrap.kube_reserved["cpu"], "100m", "of the user's part");
        assert_eq!(
            bootstrap.kube_reserved["memory"], "1Gi",
            "of the controller's part"
        );
        assert_eq!(bootstrap.eviction_hard["memory.available"], "5%");
    }

    #[test]
    fn flags_may_hold_taints() {
        let text = "kind: NodeConfig\nspec:\n  cluster: {name: a, apiServerEndpoint: b, certificateAuthority: c}\n  kubelet:\n    flags: ['--register-with-taints=a=b:NoSchedule,c=:NoExecute,d:NoSchedule']\n";
        let taints = read(text).unwrap().taints;
        let got: Vec<(&str, &str, &str)> = taints
            .iter()
            .map(|taint| (taint.key.as_str(), taint.value.as_str(), taint.effect.as_str()))
            .collect();
        assert_eq!(
            got,
            [
                ("a", "b", "NoSchedule"),
                ("c", "", "NoExecute"),
                ("d", "", "NoSchedule")
            ]
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, want) in [
            ("kind: Other", "not NodeConfig"),
            ("kind: NodeConfig\nspec: {}", "spec.cluster.name"),
            ("kind: [", "not valid YAML"),
            (
                "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\na\n--x--\n",
                "no part",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(want), "{error}");
        }
    }
}
