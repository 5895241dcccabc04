//! Bottlerocket: TOML with a table `settings.kubernetes`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Bootstrap, Taint};

/// Reads Bottlerocket user data.
pub(super) fn read(text: &str) -> Result<Bootstrap, String> {
    let document: Table = text
        .parse()
        .map_err(|error| format!("it is not valid TOML: {error}"))?;
    let settings = document
        .get("settings")
        .and_then(|settings| settings.get("kubernetes"))
        .and_then(Value::as_table)
        .ok_or("it has no table settings.kubernetes")?;
    let get = |name: &str| {
        settings
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let number = |name: &str| {
        let value = settings.get(name)?;
        let number = value.as_integer().or_else(|| value.as_str()?.parse().ok())?;
        u32::try_from(number).ok()
    };
    Ok(Bootstrap {
        cluster: get("cluster-name"),
        endpoint: get("api-server"),
        authority: get("cluster-certificate"),
        labels: map(settings.get("node-labels")),
        taints: taints(settings.get("node-taints")),
        max_pods: number("max-pods"),
        pods_per_core: number("pods-per-core"),
        kube_reserved: map(settings.get("kube-reserved")),
        system_reserved: map(settings.get("system-reserved")),
        eviction_hard: map(settings.get("eviction-hard")),
    })
}

fn map(value: Option<&Value>) -> BTreeMap<String, String> {
    let table = value.and_then(Value::as_table);
    table
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A taint's value is `value:Effect` or a list of such.
fn taints(value: Option<&Value>) -> Vec<Taint> {
    let table = value.and_then(Value::as_table);
    let mut taints = Vec::new();
    for (key, value) in table.into_iter().flatten() {
        match value {
            Value::Array(list) => taints.extend(list.iter().map(|item| super::taint(key, &text(item)))),
            one => taints.push(super::taint(key, &text(one))),
        }
    }
    taints
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER_DATA: &str = r#"
[settings]
[settings.kubernetes]
api-server = 'https://127.0.0.1:6443'
cluster-certificate = 'Q0E='
cluster-name = 'sandbox'
cluster-dns-ip = '172.20.0.10'
max-pods = 58

[settings.kubernetes.node-labels]
'karpenter.sh/capacity-type' = 'spot'
'karpenter.sh/nodepool' = 'batch'

[settings.kubernetes.node-taints]
'karpenter.sh/unregistered' = [':NoExecute']
team = 'a:NoSchedule'

[settings.kubernetes.kube-reserved]
memory = '893Mi'

[settings.kubernetes.eviction-hard]
'memory.available' = '15%'
"#;

    #[test]
    fn what_the_controller_writes_is_read() {
        let bootstrap = read(USER_DATA).unwrap();
        assert_eq!(bootstrap.cluster, "sandbox");
        assert_eq!(bootstrap.max_pods, Some(58));
        assert_eq!(bootstrap.labels["karpenter.sh/nodepool"], "batch");
        let got: Vec<(&str, &str, &str)> = bootstrap
            .taints
            .iter()
            .map(|taint| (taint.key.as_str(), taint.value.as_str(), taint.effect.as_str()))
            .collect();
        assert_eq!(
            got,
            [
                ("karpenter.sh/unregistered", "", "NoExecute"),
                ("team", "a", "NoSchedule")
            ]
        );
        assert_eq!(bootstrap.kube_reserved["memory"], "893Mi");
        assert_eq!(bootstrap.eviction_hard["memory.available"], "15%");
    }

    #[test]
    fn other_texts_are_refused() {
        assert!(read("a = ").unwrap_err().contains("TOML"));
        assert!(
            read("[settings.host]\na = 1\n")
                .unwrap_err()
                .contains("settings.kubernetes")
        );
    }
}
