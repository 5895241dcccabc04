//! Terms, one after the other, with an explanation of each that finds nothing. What subnets and security groups share.

use super::Matches;
use super::explain::{TagSurvey, explain};
use super::query::Query;
use crate::connect::Aws;
use crate::error::Error;
use crate::tags::Tags;
use std::collections::BTreeMap;

/// A kind of thing that terms find.
pub(super) trait Found: Clone {
    /// The field that the terms are in.
    const LIST: &'static str;
    /// Several of them, in words.
    const KIND: &'static str;

    /// Those that all `filters` (name and value) let through.
    fn describe(
        aws: &Aws,
        filters: &[(String, String)],
    ) -> impl Future<Output = Result<Vec<Self>, Error>> + Send;

    /// Its id.
    fn id(&self) -> &str;

    /// Its tags.
    fn tags(&self) -> &Tags;
}

/// What the queries find, each once, by id.
pub(super) async fn find<F: Found>(aws: &Aws, queries: Vec<Query>) -> Result<Matches<F>, Error> {
    let region = aws.region().await?;
    let mut found: BTreeMap<String, F> = BTreeMap::new();
    let mut unmatched = Vec::new();
    for query in queries {
        let some = F::describe(aws, &query.filters()).await?;
        if some.is_empty() {
            let survey = survey::<F>(aws, &query).await?;
            unmatched.push(explain(F::LIST, F::KIND, &region, &query, &survey));
        }
        found.extend(some.into_iter().map(|one| (one.id().to_owned(), one)));
    }
    Ok(Matches {
        found: found.into_values().collect(),
        unmatched,
    })
}

/// The values that the tags of a query have in the account.
pub(super) async fn survey<F: Found>(aws: &Aws, query: &Query) -> Result<Vec<TagSurvey>, Error> {
    let mut surveys = Vec::new();
    for tag in &query.tags {
        let with_key = F::describe(aws, &[("tag-key".to_owned(), tag.key.clone())]).await?;
        let values = with_key
            .iter()
            .filter_map(|one| one.tags().get(&tag.key).cloned())
            .collect();
        surveys.push(TagSurvey {
            tag: tag.clone(),
            values,
        });
    }
    Ok(surveys)
}
