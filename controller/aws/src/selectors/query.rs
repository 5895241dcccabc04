//! A selector term as filters of EC2's Describe calls.

use std::collections::BTreeMap;

/// One term, ready to be asked: fields are joined by "and".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Place of the term in its list, from 0.
    pub term: usize,
    /// Filter name and value, such as `subnet-id`.
    pub fields: Vec<(&'static str, String)>,
    /// Tags.
    pub tags: Vec<TagMatch>,
    /// Owners of images; empty: all that the caller may see.
    pub owners: Vec<String>,
}

/// A tag that must be there, with a value or with any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagMatch {
    /// The key.
    pub key: String,
    /// The value; none: any.
    pub value: Option<String>,
}

impl Query {
    /// A query of the tags of a term; the value `*` matches any.
    pub fn of_tags(term: usize, tags: Option<&BTreeMap<String, String>>) -> Self {
        let tags = tags
            .into_iter()
            .flatten()
            .map(|(key, value)| TagMatch {
                key: key.clone(),
                value: (value != "*").then(|| value.clone()),
            })
            .collect();
        Self {
            term,
            tags,
            ..Self::default()
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn and(mut self, name: &'static str, value: &str) -> Self {
        self.fields.push((name, value.to_owned()));
        self
    }

    /// Name and value of each filter.
    pub fn filters(&self) -> Vec<(String, String)> {
        let fields = self
            .fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        let tags = self.tags.iter().map(|tag| match &tag.value {
            Some(value) => (format!("tag:{}", tag.key), value.clone()),
            None => ("tag-key".to_owned(), tag.key.clone()),
        });
        fields.chain(tags).collect()
    }

    /// The term in words: `id subnet-1`, `tag team=a and tag karpenter.sh/discovery`.
    pub fn describe(&self) -> String {
        let fields = self.fields.iter().map(|(name, value)| {
            let name = match *name {
                "subnet-id" | "group-id" | "image-id" | "capacity-reservation-id" => "id",
                "group-name" => "name",
                "owner-id" => "owner",
                other => other,
            };
            format!("{name} {value}")
        });
        let tags = self.tags.iter().map(|tag| match &tag.value {
            Some(value) => format!("tag {}={value}", tag.key),
            None => format!("tag {}", tag.key),
        });
        let owners = (!self.owners.is_empty()).then(|| format!("owner {}", self.owners.join(" or ")));
        fields.chain(tags).chain(owners).collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_asks_for_the_key_alone() {
        let tags = [("a".to_owned(), "*".to_owned()), ("b".to_owned(), "1".to_owned())].into();
        let query = Query::of_tags(2, Some(&tags));
        assert_eq!(
            query.filters(),
            [
                ("tag-key".to_owned(), "a".to_owned()),
                ("tag:b".to_owned(), "1".to_owned())
            ]
        );
        assert_eq!(query.describe(), "tag a and tag b=1");
        assert_eq!(query.term, 2);
    }

    #[test]
    fn an_id_is_a_field() {
        let query = Query::default().and("subnet-id", "subnet-1");
        assert_eq!(query.filters(), [("subnet-id".to_owned(), "subnet-1".to_owned())]);
        assert_eq!(query.describe(), "id subnet-1");
    }
}
