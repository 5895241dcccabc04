//! The emulator's feed of instances.

use std::time::Duration;

use http::Method;
use serde::Deserialize;

use crate::error::Result;
use crate::supervisor::Emulator;

/// Instances that changed, terminated ones included.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Changes {
    pub(super) seq: u64,
    pub(super) instances: Vec<Instance>,
}

/// An instance as the feed shows it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Instance {
    pub(super) id: String,
    pub(super) state: String,
    #[serde(rename = "type")]
    pub(super) type_: String,
    /// EC2's name: `x86_64`, `arm64`.
    pub(super) arch: String,
    pub(super) zone: String,
    pub(super) zone_id: String,
    pub(super) private_ip: String,
    pub(super) private_dns_name: String,
    /// Decoded.
    pub(super) user_data: String,
    pub(super) image_name: String,
    pub(super) ami_family: String,
    pub(super) launch_time: String,
    pub(super) vcpu: u32,
    #[serde(rename = "memoryMiB")]
    pub(super) memory_mib: u64,
    pub(super) cluster: Option<String>,
    /// The size of the volume that holds the pods' files; 20 when the feed does not say.
    #[serde(rename = "rootVolumeGiB")]
    pub(super) root_volume_gib: Option<u64>,
}

/// What changed after `seen`; waits for a change.
pub(super) async fn changes(emulator: &Emulator, seen: u64) -> Result<Changes> {
    let path = format!("/_sandbox/instances?after={seen}&wait=25");
    emulator
        .ask(Method::GET, &path, None, Duration::from_secs(35))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feeds_names_are_read() {
        let text = r#"{"id":"i-1","state":"running","seq":3,"type":"m5.large","arch":"x86_64","zone":"us-west-2a",
            "zoneId":"usw2-az1","privateIp":"10.0.1.5","privateDnsName":"ip-10-0-1-5.us-west-2.compute.internal",
            "userData":"x","imageId":"ami-1","imageName":"al2023","amiFamily":"AL2023",
            "launchTime":"2026-01-01T00:00:00Z","lifecycle":"spot","tags":{},"vcpu":2,"memoryMiB":8192,
            "instanceProfile":"p","cluster":"c"}"#;
        let instance: Instance = serde_json::from_str(text).unwrap();
        assert_eq!(
            (instance.type_.as_str(), instance.vcpu, instance.memory_mib),
            ("m5.large", 2, 8192)
        );
        assert_eq!(instance.cluster.as_deref(), Some("c"));
        assert_eq!(instance.root_volume_gib, None);
    }
}
