//! Amazon Linux 2: the user's parts first, then a call of `/etc/eks/bootstrap.sh`.

use super::mime::{self, Part};
use super::{Bootstrap, UserDataError};
use joiner_api::KubeletConfiguration;
use std::collections::BTreeMap;

const SHELL_SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";

pub(super) fn render(bootstrap: &Bootstrap<'_>) -> Result<String, UserDataError> {
    let custom = bootstrap.custom.unwrap_or_default();
    let mut parts = if custom.trim().is_empty() {
        Vec::new()
    } else if mime::is_archive(custom) {
        mime::read(custom).map_err(|reason| UserDataError::Custom { reason })?
    } else {
        vec![Part::new(SHELL_SCRIPT, custom)]
    };
    parts.push(Part::new(SHELL_SCRIPT, script(bootstrap)));
    Ok(mime::write(&parts))
}

fn script(bootstrap: &Bootstrap<'_>) -> String {
    let cluster = bootstrap.cluster;
    let mut call = vec![format!(
        "/etc/eks/bootstrap.sh '{}' --apiserver-endpoint '{}'",
        cluster.name, cluster.endpoint
    )];
    if !cluster.ca_bundle.is_empty() {
        call.push(format!("--b64-cluster-ca '{}'", cluster.ca_bundle));
    }
    if let Some(dns) = bootstrap.dns().first() {
        if dns.contains(':') {
            call.push("--ip-family ipv6".to_owned());
        }
        call.push(format!("--dns-cluster-ip '{dns}'"));
    }
    call.push("--use-max-pods false".to_owned());
    call.push(format!("--kubelet-extra-args '{}'", flags(bootstrap).join(" ")));
    if bootstrap.striped_local_disks {
        call.push("--local-disks raid0".to_owned());
    }
    format!(
        "#!/bin/bash -xe\nexec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n{}\n",
        call.join(" \\\n")
    )
}

fn flags(bootstrap: &Bootstrap<'_>) -> Vec<String> {
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
        pods_per_core,
        system_reserved,
        other: _,
    } = bootstrap.kubelet;
    let taints: Vec<String> = bootstrap
        .all_taints()
        .iter()
        .map(|taint| match &*taint.value {
            "" => format!("{}:{}", taint.key, taint.effect.as_str()),
            value => format!("{}={value}:{}", taint.key, taint.effect.as_str()),
        })
        .collect();
    let mut flags: Vec<String> = bootstrap.labels_flag().into_iter().collect();
    flags.push(format!("--register-with-taints=\"{}\"", taints.join(",")));
    flags.push(format!("--max-pods={}", bootstrap.pods()));
    let number = |name: &str, value: &Option<i32>| value.map(|value| format!("--{name}={value}"));
    flags.extend(number("pods-per-core", pods_per_core));
    flags.extend(map("system-reserved", system_reserved, "="));
    flags.extend(map("kube-reserved", kube_reserved, "="));
    flags.extend(map("eviction-hard", eviction_hard, "<"));
    flags.extend(map("eviction-soft", eviction_soft, "<"));
    flags.extend(map("eviction-soft-grace-period", eviction_soft_grace_period, "="));
    flags.extend(number(
        "eviction-max-pod-grace-period",
        eviction_max_pod_grace_period,
    ));
    flags.extend(number("image-gc-high-threshold", image_gc_high_threshold_percent));
    flags.extend(number("image-gc-low-threshold", image_gc_low_threshold_percent));
    flags.extend(cpu_cfs_quota.map(|quota| format!("--cpu-cfs-quota={quota}")));
    flags
}

fn map(name: &str, values: &BTreeMap<String, String>, separator: &str) -> Option<String> {
    let pairs: Vec<String> = values
        .iter()
        .map(|(key, value)| format!("{key}{separator}{value}"))
        .collect();
    (!pairs.is_empty()).then(|| format!("--{name}=\"{}\"", pairs.join(",")))
}
