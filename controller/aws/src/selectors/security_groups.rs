//! Security groups by id, name or tags.

use super::Matches;
use super::explain::{TagSurvey, explain};
use super::query::Query;
use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::instances::{filter, from_ec2_tags};
use crate::tags::Tags;
use aws_sdk_ec2::types as ec2;
use joiner_api::SecurityGroupSelectorTerm;
use std::collections::{BTreeMap, BTreeSet};

const DESCRIBE: &str = "ec2:DescribeSecurityGroups";
const LIST: &str = "securityGroupSelectorTerms";

/// A security group that a term found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGroup {
    /// Such as `sg-0123`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its VPC.
    pub vpc_id: String,
    /// Its tags.
    pub tags: Tags,
}

/// What the terms find, by id.
pub async fn security_groups(
    aws: &Aws,
    terms: &[SecurityGroupSelectorTerm],
) -> Result<Matches<FoundGroup>, Error> {
    let region = aws.region().await?;
    let mut found: BTreeMap<String, FoundGroup> = BTreeMap::new();
    let mut unmatched = Vec::new();
    for query in queries(terms) {
        let groups = describe(aws, &query.filters()).await?;
        if groups.is_empty() {
            unmatched.push(explain(
                LIST,
                "security groups",
                &region,
                &query,
                &survey(aws, &query).await?,
            ));
        }
        found.extend(groups.into_iter().map(|group| (group.id.clone(), group)));
    }
    Ok(Matches {
        found: found.into_values().collect(),
        unmatched,
    })
}

fn queries(terms: &[SecurityGroupSelectorTerm]) -> Vec<Query> {
    terms
        .iter()
        .enumerate()
        .map(
            |(term, SecurityGroupSelectorTerm { id, name, tags })| match (id, name) {
                (Some(id), _) => Query {
                    term,
                    ..Query::default()
                }
                .and("group-id", id),
                (None, Some(name)) => Query {
                    term,
                    ..Query::default()
                }
                .and("group-name", name),
                (None, None) => Query::of_tags(term, tags.as_ref()),
            },
        )
        .collect()
}

async fn survey(aws: &Aws, query: &Query) -> Result<Vec<TagSurvey>, Error> {
    let mut surveys = Vec::new();
    for tag in &query.tags {
        let with_key = describe(aws, &[("tag-key".to_owned(), tag.key.clone())]).await?;
        let values: BTreeSet<String> = with_key
            .iter()
            .filter_map(|group| group.tags.get(&tag.key).cloned())
            .collect();
        surveys.push(TagSurvey {
            tag: tag.clone(),
            values,
        });
    }
    Ok(surveys)
}

async fn describe(aws: &Aws, filters: &[(String, String)]) -> Result<Vec<FoundGroup>, Error> {
    let filters = filters
        .iter()
        .map(|(name, value)| filter(name, &[value]))
        .collect();
    let call = aws
        .ec2()
        .await?
        .describe_security_groups()
        .set_filters(Some(filters));
    let mut pages = call.into_paginator().page_size(500).send();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        found.extend(page.named(DESCRIBE)?.security_groups().iter().filter_map(group));
    }
    Ok(found)
}

fn group(answer: &ec2::SecurityGroup) -> Option<FoundGroup> {
    Some(FoundGroup {
        id: answer.group_id()?.to_owned(),
        name: answer.group_name().unwrap_or_default().to_owned(),
        vpc_id: answer.vpc_id().unwrap_or_default().to_owned(),
        tags: from_ec2_tags(answer.tags()),
    })
}
