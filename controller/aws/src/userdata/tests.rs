//! User data of each family as text.

use super::*;
use joiner_core::taints::Effect;
use proptest::prelude::*;

fn cluster() -> Cluster {
    Cluster {
        name: "dev".to_owned(),
        endpoint: "https://api.dev".to_owned(),
        ca_bundle: "Q0E=".to_owned(),
        service_cidr: "10.100.0.0/16".to_owned(),
        dns: None,
    }
}

fn kubelet() -> KubeletConfiguration {
    serde_json::from_value(serde_json::json!({
        "kubeReserved": {"cpu": "200m"},
        "evictionHard": {"memory.available": "5%"},
        "evictionSoft": {"memory.available": "10%"},
        "evictionSoftGracePeriod": {"memory.available": "1m"},
        "imageGCHighThresholdPercent": 85,
        "cpuCFSQuota": true
    }))
    .unwrap()
}

fn labels() -> BTreeMap<String, String> {
    [
        ("karpenter.sh/nodepool", "default"),
        ("karpenter.sh/capacity-type", "spot"),
        ("team", "a"),
        ("kubernetes.io/os", "linux"),
        ("node.kubernetes.io/instance-type", "m5.large"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

fn text(family: AmiFamily, custom: Option<&str>, striped: bool) -> Result<String, UserDataError> {
    let (cluster, kubelet, labels) = (cluster(), kubelet(), labels());
    let taints = [Taint::new("team", "a", Effect::NoSchedule)];
    let bootstrap = Bootstrap {
        cluster: &cluster,
        kubelet: &kubelet,
        max_pods: 29,
        taints: &taints,
        labels: &labels,
        striped_local_disks: striped,
        custom,
        image_version: "v1.45.0",
    };
    render(family, &bootstrap).map(|data| data.text().to_owned())
}

#[test]
fn al2023_gets_a_node_config_after_the_users_parts() {
    insta::assert_snapshot!(
        "al2023",
        text(AmiFamily::AL2023, Some("#!/bin/bash\nmodprobe ip_vs\n"), true).unwrap()
    );
}

#[test]
fn al2023_takes_a_node_config_and_an_archive_of_the_user() {
    let config = text(
        AmiFamily::AL2023,
        Some("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"),
        false,
    )
    .unwrap();
    assert_eq!(
        config.matches("Content-Type: application/node.eks.aws").count(),
        2
    );
    let script = text(AmiFamily::AL2023, Some("#!/bin/sh\na: b\n"), false).unwrap();
    assert_eq!(
        script.matches("Content-Type: application/node.eks.aws").count(),
        1
    );
    let archive = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\nContent-Type: \
                   text/x-shellscript\n\n#!/bin/sh\n--B--\n";
    let merged = text(AmiFamily::AL2023, Some(archive), false).unwrap();
    assert!(
        merged.contains("--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--//\n"),
        "{merged}"
    );
}

#[test]
fn bottlerocket_gets_our_settings_over_the_users() {
    let custom = "[settings.kubernetes]\ncluster-name = \"other\"\nallowed-unsafe-sysctls = [\"net.*\"]\n\
                  [settings.kubernetes.node-labels]\nteam = \"b\"\nown = \"1\"\n[settings.ntp]\ntime-servers = []\n";
    insta::assert_snapshot!(
        "bottlerocket",
        text(AmiFamily::Bottlerocket, Some(custom), true).unwrap()
    );
}

#[test]
fn al2_gets_a_script() {
    insta::assert_snapshot!("al2", text(AmiFamily::AL2, None, true).unwrap());
}

#[test]
fn custom_is_passed_through() {
    assert_eq!(
        text(AmiFamily::Custom, Some("anything\r\n"), true).unwrap(),
        "anything\r\n"
    );
    assert_eq!(text(AmiFamily::Custom, None, true).unwrap(), "");
}

#[test]
fn what_cannot_be_made_is_explained() {
    let long = "#".repeat(LIMIT);
    for (family, custom, want) in [
        (AmiFamily::AL2023, long.as_str(), "expected at most 16384"),
        (
            AmiFamily::Bottlerocket,
            "no toml",
            "Bottlerocket's user data is TOML",
        ),
        (
            AmiFamily::Bottlerocket,
            "settings = 1",
            "\"settings\" is no table",
        ),
        (
            AmiFamily::AL2023,
            "Content-Type: text/plain\n\nx",
            "expected multipart/mixed",
        ),
        (
            AmiFamily::Windows2022,
            "",
            "image family Windows2022 is not supported yet",
        ),
    ] {
        let error = text(family, Some(custom), false).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn settings_without_words_are_refused_and_a_missing_cidr_is_waited_for() {
    let mut kubelet = kubelet();
    kubelet
        .other
        .insert("shutdownGracePeriod".to_owned(), "30s".into());
    let mut cluster = cluster();
    cluster.service_cidr.clear();
    let labels = BTreeMap::new();
    let bootstrap = Bootstrap {
        cluster: &cluster,
        kubelet: &kubelet,
        max_pods: 29,
        taints: &[],
        labels: &labels,
        striped_local_disks: false,
        custom: None,
        image_version: "",
    };
    let error = render(AmiFamily::Bottlerocket, &bootstrap).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("shutdownGracePeriod; remove them, or use AL2023"),
        "{error}"
    );
    assert_eq!(
        render(AmiFamily::AL2023, &bootstrap),
        Err(UserDataError::NoServiceCidr)
    );
}

#[test]
fn the_api_takes_it_encoded() {
    let (cluster, kubelet, labels) = (cluster(), KubeletConfiguration::default(), BTreeMap::new());
    let bootstrap = Bootstrap {
        cluster: &cluster,
        kubelet: &kubelet,
        max_pods: 1,
        taints: &[],
        labels: &labels,
        striped_local_disks: false,
        custom: Some("ab"),
        image_version: "",
    };
    assert_eq!(render(AmiFamily::Custom, &bootstrap).unwrap().base64(), "YWI=");
}

proptest! {
    #[test]
    fn labels_come_through_yaml_unchanged(value in "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?") {
        let (cluster, kubelet) = (cluster(), KubeletConfiguration::default());
        let labels = [("team".to_owned(), value.clone())].into();
        let bootstrap = Bootstrap {
            cluster: &cluster,
            kubelet: &kubelet,
            max_pods: 29,
            taints: &[],
            labels: &labels,
            striped_local_disks: false,
            custom: None,
            image_version: "",
        };
        let data = render(AmiFamily::AL2023, &bootstrap).unwrap();
        let parts = mime::read(data.text()).unwrap();
        let config: serde_json::Value = serde_saphyr::from_str(&parts[0].content).unwrap();
        prop_assert_eq!(&config["spec"]["kubelet"]["flags"][0], &format!("--node-labels=\"team={value}\""));
        prop_assert_eq!(&config["spec"]["cluster"]["certificateAuthority"], "Q0E=");
        let data = render(AmiFamily::Bottlerocket, &bootstrap).unwrap();
        let settings: toml::Table = data.text().parse().unwrap();
        prop_assert_eq!(settings["settings"]["kubernetes"]["node-labels"]["team"].as_str(), Some(value.as_str()));
    }
}
