//! An AWSNodeTemplate as an EC2NodeClass.

use serde_json::{Value as Json, json};

use super::selectors::{image_terms, terms};
use crate::migrate::beta::metadata_options;
use crate::migrate::images;
use crate::migrate::piece::{Fields, Harvest, Piece, put};

/// The variable for the role of nodes, where a setting of the old controller said the instance profile.
const ROLE: &str = "node_role";

/// An EC2NodeClass.
pub(crate) fn node_template(source: &str, old: Json) -> Harvest {
    let mut remarks = Vec::new();
    let mut old = Fields::of("", Some(old));
    let metadata = old.take("metadata").unwrap_or_default();
    let mut spec = Fields::of("spec", old.take("spec"));
    spec.forget(&["apiVersion", "kind"]);
    let mut new = json!({});
    for name in [
        "userData",
        "tags",
        "blockDeviceMappings",
        "detailedMonitoring",
        "context",
        "instanceProfile",
        "role",
    ] {
        put(&mut new, name, spec.take(name));
    }
    for (selector, name) in [
        ("subnetSelector", "subnetSelectorTerms"),
        ("securityGroupSelector", "securityGroupSelectorTerms"),
    ] {
        let found = spec.take(selector).map(|selector| terms(&selector));
        if found.is_none() {
            remarks.push(format!(
                "spec.{selector} is not there: say which in {}",
                snake(name)
            ));
        }
        put(&mut new, name, Some(found.unwrap_or_else(|| json!([]))));
    }
    metadata_options(&mut spec, &mut new, &mut remarks);
    for name in ["launchTemplate", "launchTemplateName"] {
        if let Some(template) = spec.take(name) {
            remarks.push(format!(
                "spec.{name} ({template}) has no counterpart: the controller makes its own launch templates; what the template says belongs \
                 to the class"
            ));
        }
    }
    let family = spec.text("amiFamily");
    let images = spec.take("amiSelector").map(|selector| image_terms(&selector));
    spec.left(&mut remarks);
    let mut harvest = Harvest::default();
    let mut piece = Piece {
        remarks,
        ..Piece::new(source, crate::migrate::manifest("EC2NodeClass", &metadata, new))
    };
    images::put(&mut piece, family.as_deref(), images, &mut harvest.variables);
    let spec = &piece.manifest["spec"];
    if spec["role"].is_null() && spec["instanceProfile"].is_null() {
        piece.remarks.push(format!(
            "spec.instanceProfile is not there: it was the setting aws.defaultInstanceProfile of the controller. Set the variable {ROLE}"
        ));
        piece
            .references
            .push((vec!["role".to_owned()], format!("var.{ROLE}")));
        harvest
            .variables
            .insert(ROLE.to_owned(), "Name of the IAM role of the nodes".to_owned());
    }
    harvest.pieces.push(piece);
    harvest
}

fn snake(name: &str) -> &'static str {
    match name {
        "subnetSelectorTerms" => "subnet_selector_terms",
        _ => "security_group_selector_terms",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::current::settle;

    #[test]
    fn every_field_has_its_place() {
        let harvest = node_template(
            "AWSNodeTemplate t",
            json!({ "metadata": { "name": "t" }, "spec": {
            "amiFamily": "Bottlerocket", "instanceProfile": "i", "subnetSelector": { "team": "a" },
            "securityGroupSelector": { "aws-ids": "sg-1" }, "userData": "[settings]\n", "tags": { "x": "y" },
            "blockDeviceMappings": [{ "deviceName": "/dev/xvda", "ebs": { "volumeSize": "20Gi", "kmsKeyID": "k" } }],
            "detailedMonitoring": true, "metadataOptions": { "httpPutResponseHopLimit": 1 }, "context": "c",
            "launchTemplate": "lt", "surprise": 1,
        } }),
        );
        let piece = &harvest.pieces[0];
        let spec = &piece.manifest["spec"];
        assert_eq!(
            spec["amiSelectorTerms"],
            json!([{ "alias": "bottlerocket@latest" }])
        );
        assert_eq!(spec["securityGroupSelectorTerms"], json!([{ "id": "sg-1" }]));
        assert_eq!(spec["metadataOptions"]["httpPutResponseHopLimit"], 1);
        assert_eq!(spec["blockDeviceMappings"][0]["ebs"]["kmsKeyID"], "k");
        let said = piece.remarks.join("\n");
        assert!(
            said.contains("spec.launchTemplate (\"lt\")") && said.contains("spec.surprise (1)"),
            "{said}"
        );
        assert!(settle(piece).is_ok());
    }

    #[test]
    fn a_missing_profile_becomes_a_variable() {
        let harvest = node_template(
            "AWSNodeTemplate t",
            json!({ "metadata": { "name": "t" }, "spec": {
            "subnetSelector": { "team": "a" }, "securityGroupSelector": { "team": "a" }, "amiFamily": "Ubuntu",
        } }),
        );
        assert_eq!(
            harvest.variables.keys().collect::<Vec<_>>(),
            ["node_role", "ubuntu_ami_parameter"]
        );
        let references: Vec<&str> = harvest.pieces[0]
            .references
            .iter()
            .map(|(_, text)| text.as_str())
            .collect();
        assert_eq!(references, ["var.ubuntu_ami_parameter", "var.node_role"]);
    }
}
