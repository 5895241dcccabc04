//! An AWSNodeTemplate as an EC2NodeClass.

use serde_json::{Value as Json, json};

use super::selectors::{beside_ids, image_terms, terms};
use crate::migrate::beta::metadata_options;
use crate::migrate::images;
use crate::migrate::piece::{Fields, Harvest, Piece, Renamed, put};

/// The variable for the role of nodes, where a setting of the old controller said the instance profile.
const ROLE: &str = "node_role";

/// What an AWSNodeTemplate calls the fields of a class.
const RENAMED: Renamed = &[
    ("spec.subnetSelectorTerms", "spec.subnetSelector"),
    ("spec.securityGroupSelectorTerms", "spec.securityGroupSelector"),
    ("spec.amiSelectorTerms", "spec.amiSelector"),
];
/// What a Provisioner calls them that describes instances itself.
const RENAMED_INLINE: Renamed = &[
    ("spec", "spec.provider"),
    ("spec.subnetSelectorTerms", "spec.provider.subnetSelector"),
    (
        "spec.securityGroupSelectorTerms",
        "spec.provider.securityGroupSelector",
    ),
    ("spec.amiSelectorTerms", "spec.provider.amiSelector"),
];

/// An EC2NodeClass of an AWSNodeTemplate.
pub(crate) fn node_template(source: &str, old: Json) -> Harvest {
    let mut old = Fields::of("", Some(old));
    let metadata = old.take("metadata").unwrap_or_default();
    class(source, &metadata, Fields::of("spec", old.take("spec")), RENAMED)
}

/// An EC2NodeClass of what the Provisioner `name` says of instances itself.
pub(super) fn inline(source: &str, name: &str, provider: Json) -> Harvest {
    let spec = Fields::of("spec.provider", Some(provider));
    class(source, &json!({ "name": name }), spec, RENAMED_INLINE)
}

fn class(source: &str, metadata: &Json, mut spec: Fields, renamed: Renamed) -> Harvest {
    let mut remarks = Vec::new();
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
        let there = spec.take(selector);
        remarks.extend(
            there
                .as_ref()
                .and_then(|it| beside_ids(&spec.below(selector), it)),
        );
        let found = there.map(|selector| terms(&selector));
        if found.is_none() {
            remarks.push(format!(
                "{} is not there: say which in {}",
                spec.below(selector),
                snake(name)
            ));
        }
        put(&mut new, name, Some(found.unwrap_or_else(|| json!([]))));
    }
    metadata_options(&mut spec, &mut new, &mut remarks);
    for name in ["launchTemplate", "launchTemplateName"] {
        if let Some(template) = spec.take(name) {
            remarks.push(format!(
                "{} ({template}) has no counterpart: the controller makes its own launch templates; what the template says belongs to the \
                 class",
                spec.below(name)
            ));
        }
    }
    let family = spec.text("amiFamily");
    let images = spec.take("amiSelector");
    remarks.extend(
        images
            .as_ref()
            .and_then(|it| beside_ids(&spec.below("amiSelector"), it)),
    );
    let images = images.map(|selector| image_terms(&selector));
    spec.left(&mut remarks);
    let mut harvest = Harvest::default();
    let mut piece = Piece {
        remarks,
        renamed,
        ..Piece::new(source, crate::migrate::manifest("EC2NodeClass", metadata, new))
    };
    images::put(&mut piece, family.as_deref(), images, &mut harvest.variables);
    let spec = &piece.manifest["spec"];
    if spec["role"].is_null() && spec["instanceProfile"].is_null() {
        let field = piece.written("spec.instanceProfile");
        piece.remarks.push(format!(
            "{field} is not there: it was the setting aws.defaultInstanceProfile of the controller. Set the variable {ROLE}"
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
    fn tags_beside_ids_are_said() {
        let harvest = node_template(
            "AWSNodeTemplate t",
            json!({ "metadata": { "name": "t" }, "spec": {
                "instanceProfile": "i", "subnetSelector": { "aws-ids": "subnet-1", "team": "a" }, "securityGroupSelector": { "team": "a" },
                "amiSelector": { "aws::ids": "ami-1", "aws::owners": "self" },
            } }),
        );
        let said = harvest.pieces[0].remarks.join("\n");
        for part in [
            "spec.subnetSelector: team (\"a\")",
            "spec.amiSelector: aws::owners (\"self\")",
        ] {
            assert!(said.contains(part), "{said} lacks {part}");
        }
        assert!(!said.contains("spec.securityGroupSelector:"), "{said}");
    }

    #[test]
    fn fields_have_the_names_that_the_source_has() {
        let wrong = json!([{ "deviceName": 5 }]);
        let selector = json!({ "team": "a" });
        let spec = json!({
            "instanceProfile": "i", "subnetSelector": selector, "blockDeviceMappings": wrong, "surprise": 1,
        });
        let of_template = node_template("it", json!({ "metadata": { "name": "t" }, "spec": spec.clone() }));
        let in_place = inline("it", "t", spec);
        for (harvest, base) in [(of_template, "spec"), (in_place, "spec.provider")] {
            let piece = &harvest.pieces[0];
            let said = piece.remarks.join("\n");
            for part in [
                format!("{base}.surprise (1)"),
                format!("{base}.securityGroupSelector is not there"),
                format!("{base}.amiFamily was AL2"),
                format!("{base}.metadataOptions.httpPutResponseHopLimit was 2"),
            ] {
                assert!(said.contains(&part), "{said} lacks {part}");
            }
            let error = settle(piece).expect_err("a number").to_string();
            assert!(
                error.contains(&format!("it: {base}.blockDeviceMappings[0].deviceName: ")),
                "{error}"
            );
        }
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
