//! User data that its image family would refuse, or take for something else than is meant.

use super::finding::{Finding, spec};
use joiner_api::rules::nearest;
use joiner_api::{AmiFamily, EC2NodeClass};
use joiner_aws::userdata::{Bootstrap, Cluster, Form, UserDataError, foreign_tables, form, render};
use serde_json::Value as Json;
use std::collections::BTreeMap;

const SUMMARY: &str = "The image would not understand it";

/// What is wrong with the user data of a class of this family.
pub(super) fn check(family: AmiFamily, class: &EC2NodeClass, found: &mut Vec<Finding>) {
    let before = found.len();
    if let Some(text) = class.spec.user_data.as_deref() {
        found.extend(foreign(family, text));
    }
    if found.len() == before {
        found.extend(refused(family, class));
    }
}

/// What the merge of user data says.
fn refused(family: AmiFamily, class: &EC2NodeClass) -> Option<Finding> {
    let cluster = Cluster {
        name: "cluster".to_owned(),
        endpoint: "https://cluster".to_owned(),
        ca_bundle: String::new(),
        service_cidr: "10.100.0.0/16".to_owned(),
        dns: None,
    };
    let kubelet = class.spec.kubelet.clone().unwrap_or_default();
    let bootstrap = Bootstrap {
        cluster: &cluster,
        kubelet: &kubelet,
        max_pods: 110,
        taints: &[],
        labels: &BTreeMap::new(),
        striped_local_disks: false,
        custom: class.spec.user_data.as_deref(),
        image_version: "",
    };
    let error = render(family, &bootstrap).err()?;
    let place = match &error {
        UserDataError::Custom { .. } | UserDataError::TooLong { .. } => "userData",
        UserDataError::Kubelet { .. } => "kubelet",
        // Not a matter of the configuration, or one of another controller.
        UserDataError::NoServiceCidr | UserDataError::Family { .. } => return None,
    };
    Some(Finding::wrong(spec(&[place]), SUMMARY, format!("{error}.")))
}

/// User data in the words of another family: it would be taken for a script, and fail on the node.
fn foreign(family: AmiFamily, whole: &str) -> Option<Finding> {
    let text = whole.trim_start();
    let is_windows = matches!(
        family,
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025
    );
    let is_linux = matches!(family, AmiFamily::AL2023 | AmiFamily::AL2);
    let says_powershell = ["<powershell>", "<script>"]
        .iter()
        .any(|tag| text.starts_with(tag));
    let is_toml = text.starts_with("[settings");
    let is_script = text.starts_with("#!");
    let is_node_config = matches!(form(whole), Form::NodeConfig(config) if config["kind"] == "NodeConfig");
    let expected = match family {
        AmiFamily::AL2023 => {
            "a shell script that begins with #!, a NodeConfig of node.eks.aws/v1alpha1, or both as MIME multi-part"
        }
        AmiFamily::AL2 => "a shell script that begins with #!, or MIME multi-part",
        AmiFamily::Bottlerocket => "TOML settings, such as [settings.kubernetes]",
        _ if is_windows => "PowerShell, with or without <powershell>",
        _ => return None,
    };
    let meant = match () {
        () if says_powershell && !is_windows => "PowerShell, which Windows images run",
        () if is_toml && family != AmiFamily::Bottlerocket => "TOML settings of Bottlerocket",
        () if is_script && !is_linux => "a shell script, which Amazon Linux images run",
        () if is_node_config && family != AmiFamily::AL2023 => "a NodeConfig, which AL2023 images read",
        () => {
            return match family {
                AmiFamily::AL2023 => of_al2023(whole, expected),
                AmiFamily::AL2 => bare_script(whole, expected),
                AmiFamily::Bottlerocket => foreign_settings(whole),
                _ => None,
            };
        }
    };
    Some(Finding::wrong(
        spec(&["userData"]),
        SUMMARY,
        format!(
            "The user data is {meant}, and the image family is {family}. Write {expected}, or choose another family."
        ),
    ))
}

/// By what the controller takes a text for.
fn of_al2023(text: &str, expected: &str) -> Option<Finding> {
    match form(text) {
        Form::Archive => None,
        Form::NodeConfig(config) => foreign_mapping(&config, expected),
        Form::Script => broken_node_config(text).or_else(|| bare_script(text, expected)),
    }
}

/// A mapping that is no NodeConfig, and is handed to the program that reads one.
fn foreign_mapping(config: &Json, expected: &str) -> Option<Finding> {
    let text = |field: &str| config[field].as_str().unwrap_or_default();
    let is_config = text("kind") == "NodeConfig" && text("apiVersion").starts_with("node.eks.aws/");
    (!is_config).then(|| {
        Finding::doubtful(
            spec(&["userData"]),
            "The image may not understand it",
            format!(
                "The user data is a YAML mapping, which is taken for a NodeConfig, and says apiVersion {:?} and kind {:?} instead of \
                 \"node.eks.aws/v1alpha1\" and \"NodeConfig\"; cloud-init settings belong into a part of a MIME multi-part text. Write \
                 {expected}.",
                text("apiVersion"),
                text("kind")
            ),
        )
    })
}

/// A NodeConfig that cannot be read, and is taken for a script therefore.
fn broken_node_config(text: &str) -> Option<Finding> {
    let is_remark = |line: &&str| line.is_empty() || line.starts_with('#') || *line == "---";
    let first = text.lines().map(str::trim).find(|line| !is_remark(line))?;
    let first = first.trim_start_matches(['{', '"', '\'', ' ']);
    let begins = ["apiVersion", "kind", "metadata", "spec"]
        .iter()
        .any(|key| first.starts_with(key))
        || first.is_empty();
    let is_meant = begins && !text.trim_start().starts_with("#!") && text.contains("node.eks.aws");
    let problem = crate::yaml::parse::<Json>(text).err().filter(|_| is_meant)?;
    Some(Finding::wrong(
        spec(&["userData"]),
        SUMMARY,
        format!(
            "The user data begins as a NodeConfig and cannot be read as YAML, so it would be run as a script: {problem}. Correct it; \
             yamlencode writes one that can be read."
        ),
    ))
}

/// A text that Amazon Linux takes for a script and cannot run.
fn bare_script(text: &str, expected: &str) -> Option<Finding> {
    let text = text.trim_start();
    let runs = ["#!", "MIME-Version:", "Content-Type:"]
        .iter()
        .any(|beginning| text.starts_with(beginning));
    (!runs && !text.is_empty()).then(|| {
        Finding::doubtful(
            spec(&["userData"]),
            "The image may not run it",
            format!(
                "The user data is taken for a script, and has no line #! that says which program runs it; cloud-init settings belong into a part \
                 of a MIME multi-part text. Write {expected}."
            ),
        )
    })
}

/// Settings that stand in no table which Bottlerocket reads.
fn foreign_settings(text: &str) -> Option<Finding> {
    let tables = foreign_tables(text);
    let [first, ..] = tables.as_slice() else {
        return None;
    };
    let meant = match nearest(first, ["settings"]) {
        Some(near) => format!("; did you mean {near:?}?"),
        None => String::new(),
    };
    Some(Finding::doubtful(
        spec(&["userData"]),
        "The image may not understand it",
        format!(
            "Bottlerocket reads the table \"settings\" alone, and the user data has {}{meant} Write every setting below it, such as \
             [settings.kubernetes].",
            tables
                .iter()
                .map(|name| format!("{name:?}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    ))
}
