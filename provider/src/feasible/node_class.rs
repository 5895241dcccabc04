//! An EC2NodeClass: user data that its image family would refuse.

use super::finding::{Finding, spec};
use joiner_api::{AmiFamily, EC2NodeClass};
use joiner_aws::node_class::family;
use joiner_aws::userdata::{Bootstrap, Cluster, UserDataError, render};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What of the class can never work. `unknown` tells whether something at or below a path of fields is not known yet.
pub(crate) fn node_class(object: &Json, unknown: &dyn Fn(&[&str]) -> bool) -> Vec<Finding> {
    let parts = ["userData", "kubelet", "amiFamily", "amiSelectorTerms"];
    if parts.iter().any(|part| unknown(&["spec", *part])) {
        return Vec::new();
    }
    let Ok(class) = serde_json::from_value::<EC2NodeClass>(object.clone()) else {
        return Vec::new();
    };
    let Some(family) = family(&class.spec) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(text) = class.spec.user_data.as_deref() {
        found.extend(foreign(family, text));
    }
    if found.is_empty() {
        found.extend(refused(family, &class));
    }
    found
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
    Some(Finding::wrong(
        spec(&[place]),
        "The image would not understand it",
        format!("{error}."),
    ))
}

/// User data in the words of another family: it would be taken for a script, and fail on the node.
fn foreign(family: AmiFamily, text: &str) -> Option<Finding> {
    let text = text.trim_start();
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
    let is_node_config = text.contains("kind: NodeConfig") && text.contains("node.eks.aws");
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
        () => return bare_script(family, text, expected),
    };
    Some(Finding::wrong(
        spec(&["userData"]),
        "The image would not understand it",
        format!(
            "The user data is {meant}, and the image family is {family}. Write {expected}, or choose another family."
        ),
    ))
}

/// A text that Amazon Linux takes for a script and cannot run.
fn bare_script(family: AmiFamily, text: &str, expected: &str) -> Option<Finding> {
    let is_linux = matches!(family, AmiFamily::AL2023 | AmiFamily::AL2);
    let runs = ["#!", "MIME-Version:", "Content-Type:", "apiVersion:"]
        .iter()
        .any(|beginning| text.starts_with(beginning));
    let mentions_kind = text.contains("kind: NodeConfig");
    (is_linux && !runs && !mentions_kind && !text.is_empty()).then(|| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(alias: &str, user_data: &str) -> Vec<Finding> {
        let object = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": "c" },
            "spec": {
                "amiSelectorTerms": [{ "alias": alias }], "subnetSelectorTerms": [], "securityGroupSelectorTerms": [],
                "userData": user_data,
            },
        });
        node_class(&object, &|_| false)
    }

    #[test]
    fn user_data_of_another_family_is_found() {
        for (alias, text, fine) in [
            ("al2023@latest", "#!/bin/bash\necho hello\n", true),
            ("al2023@latest", "echo hello\n", false),
            ("al2023@latest", "<powershell>ls</powershell>", false),
            ("al2023@latest", "[settings.kubernetes]\nmax-pods = 10\n", false),
            (
                "bottlerocket@latest",
                "[settings.kubernetes]\nmax-pods = 10\n",
                true,
            ),
            ("bottlerocket@latest", "#!/bin/bash\necho hello\n", false),
            ("bottlerocket@latest", "settings = ", false),
            ("windows2022@latest", "#!/bin/bash\n", false),
            ("windows2022@latest", "<powershell>ls</powershell>", true),
        ] {
            let found = find(alias, text);
            assert_eq!(found.is_empty(), fine, "{alias} {text:?}: {found:?}");
            assert!(
                found.iter().all(|it| it.path.to_string() == "spec.userData"),
                "{found:?}"
            );
        }
        let long = format!("#!/bin/bash\n{}", "x".repeat(20_000));
        assert!(find("al2023@latest", &long)[0].detail.contains("16384"));
    }
}
