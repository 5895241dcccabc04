//! Bottlerocket: the user's settings as TOML with ours laid over them.

use super::{Bootstrap, UserDataError};
use joiner_api::KubeletConfiguration;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// From this version on the image knows which folders live on local disks.
const DEFAULT_BIND_SINCE: (u64, u64) = (1, 46);

pub(super) fn render(bootstrap: &Bootstrap<'_>) -> Result<String, UserDataError> {
    let mut document = read(bootstrap.custom.unwrap_or_default())?;
    let settings = table(&mut document, "settings")?;
    let kubernetes = table(settings, "kubernetes")?;
    identity(kubernetes, bootstrap)?;
    kubelet(kubernetes, bootstrap);
    if bootstrap.striped_local_disks {
        let commands = table(settings, "bootstrap-commands")?;
        commands.insert(
            "000-mount-instance-storage".to_owned(),
            mount_local_disks(bootstrap.image_version),
        );
    }
    Ok(document.to_string())
}

/// The tables of the user's part that Bottlerocket does not know: it reads `settings` alone.
pub fn foreign_tables(custom: &str) -> Vec<String> {
    let document = read(custom).unwrap_or_default();
    document
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name != "settings")
        .collect()
}

fn read(custom: &str) -> Result<Table, UserDataError> {
    custom.parse::<Table>().map_err(|error| UserDataError::Custom {
        reason: format!(
            "Bottlerocket's user data is TOML, and this is none: {}",
            error.message()
        ),
    })
}

fn table<'a>(parent: &'a mut Table, name: &str) -> Result<&'a mut Table, UserDataError> {
    parent
        .entry(name)
        .or_insert_with(|| Value::Table(Table::new()))
        .as_table_mut()
        .ok_or_else(|| UserDataError::Custom {
            reason: format!("{name:?} is no table; expected [settings] and [settings.kubernetes]"),
        })
}

fn identity(kubernetes: &mut Table, bootstrap: &Bootstrap<'_>) -> Result<(), UserDataError> {
    let cluster = bootstrap.cluster;
    kubernetes.insert("cluster-name".to_owned(), cluster.name.clone().into());
    kubernetes.insert("api-server".to_owned(), cluster.endpoint.clone().into());
    if !cluster.ca_bundle.is_empty() {
        kubernetes.insert("cluster-certificate".to_owned(), cluster.ca_bundle.clone().into());
    }
    if let Some(dns) = bootstrap.dns().into_iter().next() {
        kubernetes.insert("cluster-dns-ip".to_owned(), dns.into());
    }
    let labels = table(kubernetes, "node-labels")?;
    for (key, value) in bootstrap.allowed_labels() {
        labels.insert(key.to_owned(), value.into());
    }
    let mut taints: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for taint in bootstrap.all_taints() {
        let entry = format!("{}:{}", taint.value, taint.effect.as_str());
        taints
            .entry(taint.key.to_string())
            .or_default()
            .push(entry.into());
    }
    let taints: Table = taints
        .into_iter()
        .map(|(key, entries)| (key, Value::Array(entries)))
        .collect();
    kubernetes.insert("node-taints".to_owned(), taints.into());
    Ok(())
}

fn kubelet(kubernetes: &mut Table, bootstrap: &Bootstrap<'_>) {
    let KubeletConfiguration {
        cluster_dns: _,
        cpu_cfs_quota,
        eviction_hard,
        eviction_max_pod_grace_period,
        eviction_soft,
        eviction_soft_grace_period,
        image_gc_high_threshold_percent,
        image_gc_low_threshold_percent,
        kube_reserved,
        max_pods: _,
        // Bottlerocket has no such setting; the catalogue does not count on it either.
        pods_per_core: _,
        system_reserved,
        other: _,
    } = bootstrap.kubelet;
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            kubernetes.insert(name.to_owned(), value);
        }
    };
    set("max-pods", Some(bootstrap.pods().into()));
    set("system-reserved", map(system_reserved));
    set("kube-reserved", map(kube_reserved));
    set("eviction-hard", map(eviction_hard));
    set("eviction-soft", map(eviction_soft));
    set("eviction-soft-grace-period", map(eviction_soft_grace_period));
    set(
        "eviction-max-pod-grace-period",
        eviction_max_pod_grace_period.map(|seconds| i64::from(seconds).into()),
    );
    // Percentages are text in this API.
    set(
        "image-gc-high-threshold-percent",
        image_gc_high_threshold_percent.map(|percent| percent.to_string().into()),
    );
    set(
        "image-gc-low-threshold-percent",
        image_gc_low_threshold_percent.map(|percent| percent.to_string().into()),
    );
    set("cpu-cfs-quota-enforced", cpu_cfs_quota.map(Value::from));
}

fn map(values: &BTreeMap<String, String>) -> Option<Value> {
    let table: Table = values
        .iter()
        .map(|(key, value)| (key.clone(), value.clone().into()))
        .collect();
    (!table.is_empty()).then(|| table.into())
}

fn mount_local_disks(version: &str) -> Value {
    let words = |words: &[&str]| Value::Array(words.iter().map(|word| (*word).into()).collect());
    let bind = if binds_by_default(version) {
        words(&["apiclient", "ephemeral-storage", "bind"])
    } else {
        words(&[
            "apiclient",
            "ephemeral-storage",
            "bind",
            "--dirs",
            "/var/lib/containerd",
            "/var/lib/kubelet",
            "/var/log/pods",
        ])
    };
    let mut command = Table::new();
    let commands = vec![words(&["apiclient", "ephemeral-storage", "init"]), bind];
    command.insert("commands".to_owned(), Value::Array(commands));
    command.insert("essential".to_owned(), true.into());
    command.insert("mode".to_owned(), "always".into());
    command.into()
}

/// True for `latest` and for versions that are known to; false where the version is not known.
fn binds_by_default(version: &str) -> bool {
    if version == "latest" {
        return true;
    }
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= DEFAULT_BIND_SINCE,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_bind_depends_on_the_version() {
        for (version, want) in [
            ("latest", true),
            ("v1.46.0", true),
            ("1.50.1", true),
            ("v1.45.9", false),
            ("v2.0.0", true),
            ("", false),
        ] {
            assert_eq!(binds_by_default(version), want, "{version}");
        }
    }
}
