//! Images of a class: a family without terms is an alias now.

use std::collections::BTreeMap;

use joiner_api::AmiFamily;
use serde_json::{Value as Json, json};

use super::piece::{Piece, put as put_member};

/// The variable that stands for an image whose parameter nobody knows here.
const UBUNTU: &str = "ubuntu_ami_parameter";

/// Puts family and terms into a class.
pub(super) fn put(
    piece: &mut Piece,
    family: Option<&str>,
    terms: Option<Json>,
    variables: &mut BTreeMap<String, String>,
) {
    let word = AmiFamily::ALIASES
        .iter()
        .find(|(_, known)| Some(known.as_str()) == family)
        .map(|(word, _)| *word);
    let (field, terms_field) = (
        piece.written("spec.amiFamily"),
        piece.written("spec.amiSelectorTerms"),
    );
    let spec = &mut piece.manifest["spec"];
    match (family, terms) {
        (Some("Ubuntu"), Some(terms)) => {
            piece.remarks.push(format!(
                "{field} Ubuntu is gone: AL2 is written, whose user data is the same"
            ));
            put_member(spec, "amiFamily", Some(json!("AL2")));
            put_member(spec, "amiSelectorTerms", Some(terms));
        }
        (Some("Ubuntu"), None) => {
            piece.remarks.push(format!(
                "{field} Ubuntu is gone: set the variable {UBUNTU} to the SSM parameter of the image"
            ));
            put_member(spec, "amiFamily", Some(json!("AL2")));
            put_member(spec, "amiSelectorTerms", Some(json!([{ "ssmParameter": "" }])));
            let path = ["ami_selector_terms", "0", "ssm_parameter"];
            let path = path.iter().map(|step| (*step).to_owned()).collect();
            piece.references.push((path, format!("var.{UBUNTU}")));
            variables.insert(
                UBUNTU.to_owned(),
                "SSM parameter of an Ubuntu image for EKS, below /aws/service/canonical/ubuntu/eks/"
                    .to_owned(),
            );
        }
        (family, Some(terms)) => {
            put_member(spec, "amiFamily", family.map(|family| json!(family)));
            put_member(spec, "amiSelectorTerms", Some(terms));
        }
        (family, None) => {
            if let (Some(family), None) = (family, word) {
                piece.remarks.push(format!(
                    "{field} {family} without {terms_field} names no image: choose one in ami_selector_terms"
                ));
                put_member(spec, "amiFamily", Some(json!(family)));
            }
            if family.is_none() {
                piece
                    .remarks
                    .push(format!("{field} was AL2 by default, and is said now"));
            }
            let word = if family.is_none() { Some("al2") } else { word };
            let terms = word.map_or_else(
                || json!([]),
                |word| json!([{ "alias": format!("{word}@latest") }]),
            );
            put_member(spec, "amiSelectorTerms", Some(terms));
        }
    }
}
