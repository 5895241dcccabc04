//! Why a term found nothing, from what there is.

use super::query::{Query, TagMatch};
use std::collections::BTreeSet;
use std::fmt;

/// How many existing values a message shows.
const SHOWN: usize = 5;

/// A term that found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Name of the list in the EC2NodeClass, such as `subnetSelectorTerms`.
    pub list: &'static str,
    /// Place of the term in its list, from 0.
    pub term: usize,
    /// The term in words.
    pub wanted: String,
    /// What there is instead.
    pub instead: String,
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            list,
            term,
            wanted,
            instead,
        } = self;
        write!(f, "{list}[{term}] ({wanted}) matches nothing: {instead}")
    }
}

/// What is there for one tag of a query: the values under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagSurvey {
    pub(super) tag: TagMatch,
    /// Values that exist under the key, on any thing of the kind.
    pub(super) values: BTreeSet<String>,
}

/// Explains from a survey of each tag; `kind` in the plural, such as `subnets`.
pub(super) fn explain(
    list: &'static str,
    kind: &str,
    region: &str,
    query: &Query,
    surveys: &[TagSurvey],
) -> Unmatched {
    let gap = surveys.iter().find_map(|survey| missing(kind, region, survey));
    let instead = match (gap, query.tags.len()) {
        (Some(gap), _) => gap,
        (None, 0) => {
            format!("no such {kind} in region {region}; check the value, the account and the region")
        }
        (None, 1) => format!("no {kind} in region {region} match"),
        (None, _) => format!(
            "there are {kind} for each of the tags in region {region}, but none has all; split the term, or tag the {kind}"
        ),
    };
    Unmatched {
        list,
        term: query.term,
        wanted: query.describe(),
        instead,
    }
}

fn missing(kind: &str, region: &str, survey: &TagSurvey) -> Option<String> {
    let TagSurvey {
        tag: TagMatch { key, value },
        values,
    } = survey;
    if values.is_empty() {
        return Some(format!(
            "no {kind} in region {region} have a tag {key}; tag them, or correct the key"
        ));
    }
    let value = value.as_ref()?;
    if values.contains(value) || value.contains(['*', '?']) {
        return None;
    }
    let mut shown: Vec<&str> = values.iter().take(SHOWN).map(String::as_str).collect();
    if values.len() > SHOWN {
        shown.push("...");
    }
    Some(format!(
        "{kind} in region {region} have tag {key} with {}, none with {value}",
        shown.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(key: &str, value: Option<&str>, values: &[&str]) -> TagSurvey {
        TagSurvey {
            tag: TagMatch {
                key: key.to_owned(),
                value: value.map(str::to_owned),
            },
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    #[test]
    fn the_first_tag_that_nothing_carries_is_the_reason() {
        for (surveys, want) in [
            (
                vec![],
                "no such subnets in region r; check the value, the account and the region",
            ),
            (
                vec![survey("k", Some("v"), &[])],
                "no subnets in region r have a tag k; tag them, or correct the key",
            ),
            (
                vec![survey("k", Some("v"), &["a", "b"])],
                "subnets in region r have tag k with a, b, none with v",
            ),
            (
                vec![survey("k", Some("v"), &["1", "2", "3", "4", "5", "6"])],
                "subnets in region r have tag k with 1, 2, 3, 4, 5, ..., none with v",
            ),
            (
                vec![survey("k", Some("v"), &["v"]), survey("l", None, &["w"])],
                "there are subnets for each of the tags in region r, but none has all; split the term, or tag the subnets",
            ),
        ] {
            let query = Query {
                tags: surveys.iter().map(|survey| survey.tag.clone()).collect(),
                ..Query::default()
            };
            assert_eq!(
                explain("subnetSelectorTerms", "subnets", "r", &query, &surveys).instead,
                want
            );
        }
    }

    #[test]
    fn a_sentence_names_list_place_and_term() {
        let query = Query {
            term: 1,
            ..Query::default()
        }
        .and("subnet-id", "subnet-1");
        assert_eq!(
            explain("subnetSelectorTerms", "subnets", "r", &query, &[]).to_string(),
            "subnetSelectorTerms[1] (id subnet-1) matches nothing: no such subnets in region r; check the value, the \
             account and the region"
        );
    }
}
