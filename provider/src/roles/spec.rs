//! A role as it shall be, as plain data.

use super::attributes::RoleAttributes;
use joiner_aws::iam::Attachments;
use joiner_aws::policy::same_meaning;
use joiner_aws::tags::Tags;
use std::collections::{BTreeMap, BTreeSet};
use tfplugin::Field;

/// A role as it shall be, or as it was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RoleSpec {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: String,
    /// Its description.
    pub description: String,
    /// Its trust policy as JSON.
    pub trust: String,
    /// ARN of its permissions boundary.
    pub boundary: Option<String>,
    /// Its tags, the owner's among them.
    pub tags: Tags,
    /// Its inline policies, by name, as JSON.
    pub inline: BTreeMap<String, String>,
    /// ARNs of its attached policies.
    pub attached: BTreeSet<String>,
}

impl RoleSpec {
    /// The role of a resource's attributes.
    pub(crate) fn new(role: &RoleAttributes, description: &Field<String>, trust: &Field<String>) -> Self {
        Self {
            name: text(&role.name),
            path: text(&role.path),
            description: text(description),
            trust: text(trust),
            boundary: role.permissions_boundary.as_str().map(str::to_owned),
            tags: role.tags_all.known().cloned().unwrap_or_default(),
            inline: role.policies.known().cloned().unwrap_or_default(),
            attached: role.policy_arns.known().cloned().unwrap_or_default(),
        }
    }

    /// What hangs on the role by its resource.
    pub(crate) fn attachments(&self) -> Attachments {
        Attachments {
            inline: self.inline.clone(),
            policies: self.attached.clone(),
            ..Attachments::default()
        }
    }

    /// The same with one more inline policy, when there is one.
    pub(crate) fn with_inline(mut self, name: &str, document: &Field<String>) -> Self {
        if let Some(document) = document.as_str().filter(|document| !document.is_empty()) {
            self.inline.insert(name.to_owned(), document.to_owned());
        }
        self
    }
}

fn text(field: &Field<String>) -> String {
    field.as_str().unwrap_or_default().to_owned()
}

/// `planned`, in the words of `prior` when it means the same.
pub(crate) fn keep_words(planned: Field<String>, prior: &Field<String>) -> Field<String> {
    match (planned.as_str(), prior.as_str()) {
        (Some(new), Some(old)) if same_meaning(new, old) => prior.clone(),
        _ => planned,
    }
}

/// Whether two sets of named policies mean the same.
pub(super) fn same_documents(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .all(|(name, left)| right.get(name).is_some_and(|right| same_meaning(left, right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_is_no_change() {
        let old = Field::Known(
            r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"a:B","Resource":"*"}]}"#
                .to_owned(),
        );
        let new = Field::Known(
            r#"{"Statement":{"Resource":["*"],"Action":["a:B"],"Effect":"Allow"},"Version":"2012-10-17"}"#
                .to_owned(),
        );
        assert_eq!(keep_words(new, &old), old);
        assert_eq!(keep_words("x".into(), &old), "x".into());
    }

    #[test]
    fn all_tags_are_set_and_policies_come_from_two_sides() {
        let tags = Tags::from([("o".into(), "c".into()), ("team".into(), "a".into())]);
        let role = RoleAttributes {
            name: "r".into(),
            tags_all: Field::Known(tags.clone()),
            ..RoleAttributes::default()
        };
        let spec = RoleSpec::new(&role, &"d".into(), &"{}".into());
        assert_eq!(spec.tags, tags);
        assert!(spec.clone().with_inline("p", &Field::Null).inline.is_empty());
        assert_eq!(spec.with_inline("p", &"{}".into()).inline["p"], "{}");
    }
}
