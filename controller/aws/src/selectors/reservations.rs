//! Capacity reservations by id, tags, owner or match criteria. Only those that hold capacity now are found; a term all of whose
//! reservations have ended is explained by them.

use super::Matches;
use super::explain::{Unmatched, explain};
use super::find::{Found, survey};
use super::query::Query;
use crate::connect::Aws;
use crate::error::{Error, Named, found as if_found};
use crate::instances::{filter, from_ec2_tags};
use crate::tags::Tags;
use aws_sdk_ec2::types as ec2;
use jiff::{SignedDuration, Timestamp};
use joiner_api::{
    CapacityReservation, CapacityReservationSelectorTerm, CapacityReservationState, CapacityReservationType,
    InstanceMatchCriteria,
};
use serde_json::json;
use std::collections::BTreeMap;

const DESCRIBE: &str = "ec2:DescribeCapacityReservations";
const LIST: &str = "capacityReservationSelectorTerms";
/// EC2 has no filter for it: it goes as a parameter.
const ID: &str = "capacity-reservation-id";
/// How long before its end nothing is launched into a capacity block any more: EC2 takes its instances back 30 minutes before.
/// Karpenter's value.
const EXPIRING: SignedDuration = SignedDuration::from_mins(40);
/// How many that have ended a message names.
const SHOWN: usize = 3;

/// A capacity reservation that a term found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundReservation {
    /// Such as `cr-0123`.
    pub id: String,
    /// The type it holds, such as `m5.large`.
    pub instance_type: String,
    /// Such as `us-west-2a`.
    pub zone: String,
    /// The account that owns it: twelve digits.
    pub owner: String,
    /// Which launches it accepts.
    pub criteria: InstanceMatchCriteria,
    /// Whether it is a block for a set time.
    pub kind: CapacityReservationType,
    /// Whether AWS may take the capacity back.
    pub interruptible: bool,
    /// In EC2's words: `active`, `expired`, `cancelled`, `scheduled`, ...
    pub state: String,
    /// When it ends; none: when somebody ends it.
    pub end: Option<Timestamp>,
    /// How many more instances it holds.
    pub available: u32,
    /// Its tags.
    pub tags: Tags,
}

impl FoundReservation {
    /// Whether it holds capacity: active, and not past its end.
    pub fn is_usable(&self, now: Timestamp) -> bool {
        self.state == "active" && self.end.is_none_or(|end| end > now)
    }

    /// As a class' status has it.
    pub fn status(&self, now: Timestamp) -> CapacityReservation {
        let is_block = self.kind == CapacityReservationType::CapacityBlock;
        let nears_its_end = self.end.is_some_and(|end| end.duration_since(now) <= EXPIRING);
        CapacityReservation {
            availability_zone: self.zone.clone(),
            // The API's type of a time is read from what it is written as.
            end_time: self
                .end
                .and_then(|end| serde_json::from_value(json!(end.to_string())).ok()),
            id: self.id.clone(),
            instance_match_criteria: self.criteria,
            instance_type: self.instance_type.clone(),
            interruptible: self.interruptible.then_some(true),
            owner_id: self.owner.clone(),
            reservation_type: self.kind,
            state: if is_block && nears_its_end {
                CapacityReservationState::Expiring
            } else {
                CapacityReservationState::Active
            },
        }
    }
}

/// What the terms find that can be used at `now`, by id.
pub async fn reservations(
    aws: &Aws,
    terms: &[CapacityReservationSelectorTerm],
    now: Timestamp,
) -> Result<Matches<FoundReservation>, Error> {
    let mut found: BTreeMap<String, FoundReservation> = BTreeMap::new();
    let mut unmatched = Vec::new();
    for query in queries(terms) {
        let all = FoundReservation::describe(aws, &query.filters()).await?;
        let (usable, over): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.is_usable(now));
        if usable.is_empty() {
            unmatched.push(match over.is_empty() {
                false => ended(&query, &over),
                true => {
                    let survey = survey::<FoundReservation>(aws, &query).await?;
                    let region = aws.region().await?;
                    explain(LIST, FoundReservation::KIND, &region, &query, &survey)
                }
            });
        }
        found.extend(usable.into_iter().map(|one| (one.id.clone(), one)));
    }
    Ok(Matches {
        found: found.into_values().collect(),
        unmatched,
    })
}

impl Found for FoundReservation {
    const LIST: &'static str = LIST;
    const KIND: &'static str = "capacity reservations";

    async fn describe(aws: &Aws, filters: &[(String, String)]) -> Result<Vec<Self>, Error> {
        let (ids, others): (Vec<_>, Vec<_>) = filters.iter().partition(|(name, _)| name == ID);
        let call = aws.ec2().await?.describe_capacity_reservations();
        if let Some((_, id)) = ids.first() {
            let answer = call.capacity_reservation_ids(id).send().await.named(DESCRIBE);
            let answer = if_found(answer)?;
            let all = answer
                .as_ref()
                .map(|it| it.capacity_reservations())
                .unwrap_or_default();
            return Ok(all.iter().filter_map(reservation).collect());
        }
        let filters = others
            .iter()
            .map(|(name, value)| filter(name, &[value]))
            .collect();
        let mut pages = call
            .set_filters(Some(filters))
            .into_paginator()
            .page_size(1000)
            .send();
        let mut found = Vec::new();
        while let Some(page) = pages.next().await {
            found.extend(
                page.named(DESCRIBE)?
                    .capacity_reservations()
                    .iter()
                    .filter_map(reservation),
            );
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

fn queries(terms: &[CapacityReservationSelectorTerm]) -> Vec<Query> {
    terms
        .iter()
        .enumerate()
        .map(|(place, term)| {
            let CapacityReservationSelectorTerm {
                id,
                instance_match_criteria,
                owner_id,
                tags,
            } = term;
            if let Some(id) = id {
                let query = Query {
                    term: place,
                    ..Query::default()
                };
                return query.and(ID, id);
            }
            let mut query = Query::of_tags(place, tags.as_ref());
            if let Some(owner) = owner_id {
                query = query.and("owner-id", owner);
            }
            match instance_match_criteria {
                Some(InstanceMatchCriteria::Open) => query.and("instance-match-criteria", "open"),
                Some(InstanceMatchCriteria::Targeted) => query.and("instance-match-criteria", "targeted"),
                None => query,
            }
        })
        .collect()
}

/// A term that finds only what holds no capacity.
fn ended(query: &Query, over: &[FoundReservation]) -> Unmatched {
    let mut shown: Vec<String> = over.iter().take(SHOWN).map(in_words).collect();
    if over.len() > SHOWN {
        shown.push(format!("{} more", over.len() - SHOWN));
    }
    Unmatched {
        list: LIST,
        term: query.term,
        wanted: query.describe(),
        instead: format!(
            "{}, and only an active reservation holds capacity; name one, make a new one, or remove the term",
            shown.join(", ")
        ),
    }
}

fn in_words(it: &FoundReservation) -> String {
    // One past its end is said to be active for some minutes more.
    let state = match (it.state.as_str(), it.end) {
        ("active", Some(end)) => format!("over since {end}"),
        (state, _) => state.to_owned(),
    };
    format!("{} ({} in {}) is {state}", it.id, it.instance_type, it.zone)
}

/// None for one that says less than every reservation does, or whose kind is newer than this code.
fn reservation(answer: &ec2::CapacityReservation) -> Option<FoundReservation> {
    let criteria = match answer.instance_match_criteria()? {
        ec2::InstanceMatchCriteria::Open => InstanceMatchCriteria::Open,
        ec2::InstanceMatchCriteria::Targeted => InstanceMatchCriteria::Targeted,
        _ => return None,
    };
    let kind = match answer.reservation_type() {
        None | Some(ec2::CapacityReservationType::Default) => CapacityReservationType::Default,
        Some(ec2::CapacityReservationType::CapacityBlock) => CapacityReservationType::CapacityBlock,
        Some(_) => return None,
    };
    Some(FoundReservation {
        id: answer.capacity_reservation_id()?.to_owned(),
        instance_type: answer.instance_type()?.to_owned(),
        zone: answer.availability_zone()?.to_owned(),
        owner: answer.owner_id().unwrap_or_default().to_owned(),
        criteria,
        kind,
        interruptible: answer.interruptible().unwrap_or(false),
        state: answer.state().map_or("", |state| state.as_str()).to_owned(),
        end: answer
            .end_date()
            .and_then(|end| Timestamp::from_second(end.secs()).ok()),
        available: answer
            .available_instance_count()
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(0),
        tags: from_ec2_tags(answer.tags()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    fn found(id: &str, state: &str, end: Option<i64>) -> FoundReservation {
        FoundReservation {
            id: id.to_owned(),
            instance_type: "m5.large".to_owned(),
            zone: "us-west-2a".to_owned(),
            owner: "123456789012".to_owned(),
            criteria: InstanceMatchCriteria::Targeted,
            kind: CapacityReservationType::Default,
            interruptible: false,
            state: state.to_owned(),
            end: end.map(|minutes| now() + SignedDuration::from_mins(minutes)),
            available: 2,
            tags: Tags::new(),
        }
    }

    #[test]
    fn only_what_holds_capacity_is_usable() {
        for (state, end, usable) in [
            ("active", None, true),
            ("active", Some(10), true),
            ("active", Some(0), false),
            ("expired", None, false),
            ("cancelled", None, false),
            ("scheduled", Some(10), false),
        ] {
            assert_eq!(
                found("cr-1", state, end).is_usable(now()),
                usable,
                "{state} {end:?}"
            );
        }
    }

    #[test]
    fn a_block_expires_before_its_end() {
        for (kind, end, want) in [
            (
                CapacityReservationType::CapacityBlock,
                Some(41),
                CapacityReservationState::Active,
            ),
            (
                CapacityReservationType::CapacityBlock,
                Some(40),
                CapacityReservationState::Expiring,
            ),
            (
                CapacityReservationType::Default,
                Some(10),
                CapacityReservationState::Active,
            ),
            (
                CapacityReservationType::Default,
                None,
                CapacityReservationState::Active,
            ),
        ] {
            let it = FoundReservation {
                kind,
                ..found("cr-1", "active", end)
            };
            assert_eq!(it.status(now()).state, want, "{kind:?} {end:?}");
        }
    }

    #[test]
    fn terms_become_filters() {
        let term = |json: serde_json::Value| serde_json::from_value(json).unwrap();
        let all = queries(&[
            term(json!({ "id": "cr-1" })),
            term(json!({ "ownerID": "123456789012", "instanceMatchCriteria": "open", "tags": { "a": "*" } })),
        ]);
        assert_eq!(all[0].describe(), "id cr-1");
        assert_eq!(
            all[1].describe(),
            "owner 123456789012 and instance-match-criteria open and tag a"
        );
        assert_eq!((all[0].term, all[1].term), (0, 1));
    }

    #[test]
    fn what_has_ended_is_named() {
        let query = Query::default().and(ID, "cr-1");
        let told = ended(
            &query,
            &[found("cr-1", "cancelled", None), found("cr-2", "active", Some(0))],
        );
        assert_eq!(
            told.to_string(),
            "capacityReservationSelectorTerms[0] (id cr-1) matches nothing: cr-1 (m5.large in us-west-2a) is cancelled, cr-2 \
             (m5.large in us-west-2a) is over since 2027-01-15T08:00:00Z, and only an active reservation holds capacity; name \
             one, make a new one, or remove the term"
        );
    }
}
