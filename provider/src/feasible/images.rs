//! Image terms that name no image, or do not mean what they seem to.

use super::finding::{Finding, element, spec};
use joiner_api::rules::JsonPath;
use joiner_api::{AmiFamily, EC2NodeClass};
use joiner_aws::node_class::alias;

/// Looks at the image terms of a class.
pub(super) fn check(class: &EC2NodeClass, found: &mut Vec<Finding>) {
    let list = spec(&["amiSelectorTerms"]);
    check_version(class, &list, found);
    for (index, term) in class.spec.ami_selector_terms.iter().enumerate() {
        let others = [
            ("id", term.id.is_some()),
            ("alias", term.alias.is_some()),
            ("name", term.name.is_some()),
            ("tags", term.tags.is_some()),
            ("owner", term.owner.is_some()),
        ];
        let others: Vec<&str> = others
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| name)
            .collect();
        if term.ssm_parameter.is_some() && !others.is_empty() {
            found.push(Finding::doubtful(
                element(&list, index, "ssmParameter"),
                "The term names images twice",
                format!(
                    "ssmParameter leads to one image by itself, and the term has {} as well; the controller goes by one of them alone. Keep one, \
                     or write two terms.",
                    others.join(", ")
                ),
            ));
        }
    }
}

/// The versions that AWS publishes have one form for each family (see `parameter_paths`).
fn check_version(class: &EC2NodeClass, list: &JsonPath, found: &mut Vec<Finding>) {
    let Some((family, version)) = alias(&class.spec).filter(|(_, version)| *version != "latest") else {
        return;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let (fits, example) = match family {
        AmiFamily::AL2 | AmiFamily::AL2023 => (
            version
                .strip_prefix('v')
                .is_some_and(|date| date.len() == 8 && digits(date)),
            "v20260101",
        ),
        AmiFamily::Bottlerocket => (
            version
                .trim_start_matches('v')
                .split('.')
                .filter(|part| digits(part))
                .count()
                == 3,
            "v1.50.0",
        ),
        _ => return,
    };
    let index = class
        .spec
        .ami_selector_terms
        .iter()
        .position(|term| term.alias.is_some());
    if let Some(index) = index.filter(|_| !fits) {
        found.push(Finding::wrong(
            element(list, index, "alias"),
            "There is no such version",
            format!(
                "{version:?} is no version of an image of {family}: they are written like {example}. Write one of these, or latest."
            ),
        ));
    }
}
