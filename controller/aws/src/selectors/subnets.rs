//! Subnets by id or tags.

use super::Matches;
use super::find::{Found, find};
use super::query::Query;
use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::instances::{filter, from_ec2_tags};
use crate::tags::Tags;
use aws_sdk_ec2::types as ec2;
use joiner_api::{Subnet, SubnetSelectorTerm};

const DESCRIBE: &str = "ec2:DescribeSubnets";

/// A subnet that a term found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSubnet {
    /// Such as `subnet-0123`.
    pub id: String,
    /// Such as `us-west-2a`.
    pub zone: String,
    /// Such as `usw2-az1`.
    pub zone_id: String,
    /// Its VPC.
    pub vpc_id: String,
    /// Addresses that are free.
    pub free_addresses: u32,
    /// Its tags.
    pub tags: Tags,
}

/// As a class' status has it.
impl From<FoundSubnet> for Subnet {
    fn from(it: FoundSubnet) -> Self {
        Self {
            id: it.id,
            zone: it.zone,
            zone_id: (!it.zone_id.is_empty()).then_some(it.zone_id),
        }
    }
}

/// What the terms find, most free addresses first, then by id.
pub async fn subnets(aws: &Aws, terms: &[SubnetSelectorTerm]) -> Result<Matches<FoundSubnet>, Error> {
    let mut matches: Matches<FoundSubnet> = find(aws, queries(terms)).await?;
    // They are sorted by id, and stay so where the number is the same.
    matches
        .found
        .sort_by_key(|subnet| std::cmp::Reverse(subnet.free_addresses));
    Ok(matches)
}

impl Found for FoundSubnet {
    const LIST: &'static str = "subnetSelectorTerms";
    const KIND: &'static str = "subnets";

    async fn describe(aws: &Aws, filters: &[(String, String)]) -> Result<Vec<Self>, Error> {
        let filters = filters
            .iter()
            .map(|(name, value)| filter(name, &[value]))
            .collect();
        let call = aws.ec2().await?.describe_subnets().set_filters(Some(filters));
        let mut pages = call.into_paginator().page_size(500).send();
        let mut found = Vec::new();
        while let Some(page) = pages.next().await {
            found.extend(page.named(DESCRIBE)?.subnets().iter().filter_map(subnet));
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

fn queries(terms: &[SubnetSelectorTerm]) -> Vec<Query> {
    terms
        .iter()
        .enumerate()
        .map(|(term, SubnetSelectorTerm { id, tags })| match id {
            Some(id) => Query {
                term,
                ..Query::default()
            }
            .and("subnet-id", id),
            None => Query::of_tags(term, tags.as_ref()),
        })
        .collect()
}

fn subnet(answer: &ec2::Subnet) -> Option<FoundSubnet> {
    Some(FoundSubnet {
        id: answer.subnet_id()?.to_owned(),
        zone: answer.availability_zone()?.to_owned(),
        zone_id: answer.availability_zone_id().unwrap_or_default().to_owned(),
        vpc_id: answer.vpc_id().unwrap_or_default().to_owned(),
        free_addresses: answer
            .available_ip_address_count()
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(0),
        tags: from_ec2_tags(answer.tags()),
    })
}
