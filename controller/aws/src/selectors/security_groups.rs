//! Security groups by id, name or tags.

use super::Matches;
use super::find::{Found, find};
use super::query::Query;
use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::instances::{filter, from_ec2_tags};
use crate::tags::Tags;
use aws_sdk_ec2::types as ec2;
use joiner_api::{SecurityGroup, SecurityGroupSelectorTerm};

const DESCRIBE: &str = "ec2:DescribeSecurityGroups";

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

/// As a class' status has it.
impl From<FoundGroup> for SecurityGroup {
    fn from(it: FoundGroup) -> Self {
        Self {
            id: it.id,
            name: (!it.name.is_empty()).then_some(it.name),
        }
    }
}

/// What the terms find, by id.
pub async fn security_groups(
    aws: &Aws,
    terms: &[SecurityGroupSelectorTerm],
) -> Result<Matches<FoundGroup>, Error> {
    find(aws, queries(terms)).await
}

impl Found for FoundGroup {
    const LIST: &'static str = "securityGroupSelectorTerms";
    const KIND: &'static str = "security groups";

    async fn describe(aws: &Aws, filters: &[(String, String)]) -> Result<Vec<Self>, Error> {
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

    fn id(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> &Tags {
        &self.tags
    }
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

fn group(answer: &ec2::SecurityGroup) -> Option<FoundGroup> {
    Some(FoundGroup {
        id: answer.group_id()?.to_owned(),
        name: answer.group_name().unwrap_or_default().to_owned(),
        vpc_id: answer.vpc_id().unwrap_or_default().to_owned(),
        tags: from_ec2_tags(answer.tags()),
    })
}
