//! The cluster's instances: list, look up, end, tag.

use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::tags::{self, Tags};
use aws_sdk_ec2::operation::describe_instances::DescribeInstancesOutput;
use aws_sdk_ec2::types as ec2;
use jiff::Timestamp;
use joiner_core::catalogue::CapacityType;
use joiner_core::disrupt::drift::Machine;
use joiner_core::text::Text;

const DESCRIBE: &str = "ec2:DescribeInstances";
const TERMINATE: &str = "ec2:TerminateInstances";
const TAG: &str = "ec2:CreateTags";
/// Instances in one answer of a look at all that runs, and how many answers are looked at.
const RUNNING_PAGE: i32 = 200;
const RUNNING_PAGES: usize = 5;
/// EC2 accepts a thousand ids in one call; fewer keep an answer small.
const CHUNK: usize = 500;
/// So many values a filter may have.
const FILTER_VALUES: usize = 200;

/// States as EC2 names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Being started.
    Pending,
    /// Started.
    Running,
    /// On its way down, not to come back.
    ShuttingDown,
    /// Gone; still listed for about an hour.
    Terminated,
    /// On its way down, may come back.
    Stopping,
    /// Down, may come back.
    Stopped,
}

impl State {
    fn of(word: &str) -> Self {
        match word {
            "running" => Self::Running,
            "shutting-down" => Self::ShuttingDown,
            "terminated" => Self::Terminated,
            "stopping" => Self::Stopping,
            "stopped" => Self::Stopped,
            _ => Self::Pending,
        }
    }

    /// Ended, or about to be.
    pub fn is_ending(self) -> bool {
        matches!(self, Self::ShuttingDown | Self::Terminated)
    }
}

/// An instance, as much of it as decisions need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Such as `i-0123456789abcdef0`.
    pub id: String,
    /// State at the time of the call.
    pub state: State,
    /// Such as `m5.large`.
    pub instance_type: String,
    /// Such as `us-west-2a`.
    pub zone: String,
    /// How it is paid for.
    pub capacity_type: CapacityType,
    /// Such as `ami-0123`.
    pub image_id: String,
    /// Its subnet; empty once it is ended.
    pub subnet_id: String,
    /// Ids of its security groups, sorted.
    pub security_groups: Vec<String>,
    /// Name in the VPC's DNS, which is the Node's name; empty until it is known.
    pub private_dns_name: String,
    /// The capacity reservation that it was launched into on purpose; one that merely happens to count it is none.
    pub reservation: Option<String>,
    /// When it was launched.
    pub launched: Option<Timestamp>,
    /// Its tags.
    pub tags: Tags,
}

impl Instance {
    /// As in the Node's `spec.providerID`.
    pub fn provider_id(&self) -> String {
        provider_id(&self.zone, &self.id)
    }

    /// What drift compares of it.
    pub fn machine(&self) -> Machine {
        let known = |id: &str| (!id.is_empty()).then(|| Text::from(id));
        let groups = || {
            self.security_groups
                .iter()
                .map(|id| Text::from(id.as_str()))
                .collect()
        };
        Machine {
            image: known(&self.image_id),
            subnet: known(&self.subnet_id),
            security_groups: (!self.security_groups.is_empty()).then(groups),
            reservation: self.reservation.as_deref().map(Text::from),
        }
    }

    /// Name of the NodeClaim it was launched for.
    pub fn node_claim(&self) -> Option<&str> {
        self.tags.get(tags::NODE_CLAIM).map(String::as_str)
    }

    /// Name of its NodePool.
    pub fn node_pool(&self) -> Option<&str> {
        self.tags.get(tags::NODE_POOL).map(String::as_str)
    }
}

/// `aws:///<zone>/<instance id>`
pub fn provider_id(zone: &str, instance_id: &str) -> String {
    format!("aws:///{zone}/{instance_id}")
}

/// The instance id in a provider id; `None` for one that is not of EC2.
pub fn instance_id(provider_id: &str) -> Option<&str> {
    let (_, id) = provider_id.strip_prefix("aws:///")?.rsplit_once('/')?;
    id.starts_with("i-").then_some(id)
}

/// All instances of a cluster that a controller launched, in any state but terminated, sorted by id.
pub async fn list(aws: &Aws, cluster: &str) -> Result<Vec<Instance>, Error> {
    let states = ["pending", "running", "stopping", "stopped", "shutting-down"];
    describe(
        aws,
        vec![
            filter("tag-key", &[tags::NODE_POOL]),
            filter("tag-key", &[tags::NODE_CLASS]),
            filter(&format!("tag:{}", tags::CLUSTER), &[cluster]),
            filter("instance-state-name", &states),
        ],
    )
    .await
}

/// What runs in the region or is about to, whoever launched it; `None` where that is more than a few answers hold: to look at all
/// of it would take longer than what it is for.
pub async fn running(aws: &Aws) -> Result<Option<Vec<Instance>>, Error> {
    let mut pages = aws
        .ec2()
        .await?
        .describe_instances()
        .filters(filter("instance-state-name", &["pending", "running"]))
        .into_paginator()
        .page_size(RUNNING_PAGE)
        .send();
    let mut found = Vec::new();
    for _ in 0..RUNNING_PAGES {
        let Some(page) = pages.next().await else {
            return Ok(Some(found));
        };
        let page = page.named(DESCRIBE)?;
        found.extend(instances(&page));
        if page.next_token().is_none() {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The instances of a cluster that one CreateFleet call launched, by the value of [`tags::LAUNCH`], sorted by id.
pub async fn of_launch(aws: &Aws, cluster: &str, launch: &str) -> Result<Vec<Instance>, Error> {
    describe(
        aws,
        vec![
            filter(&format!("tag:{}", tags::CLUSTER), &[cluster]),
            filter(&format!("tag:{}", tags::LAUNCH), &[launch]),
            filter(
                "instance-state-name",
                &["pending", "running", "stopping", "stopped"],
            ),
        ],
    )
    .await
}

/// Those of these ids that EC2 knows, in whatever state.
pub async fn of_ids(aws: &Aws, ids: &[&str]) -> Result<Vec<Instance>, Error> {
    let mut found = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(FILTER_VALUES) {
        // A filter, since one unknown id would fail a call that names them.
        found.extend(describe(aws, vec![filter("instance-id", chunk)]).await?);
    }
    Ok(found)
}

/// One instance in whatever state; `None` if EC2 does not know it.
pub async fn get(aws: &Aws, id: &str) -> Result<Option<Instance>, Error> {
    let output = aws
        .ec2()
        .await?
        .describe_instances()
        .instance_ids(id)
        .send()
        .await
        .named(DESCRIBE);
    let found = match output {
        Ok(output) => instances(&output).next(),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error),
    };
    Ok(found)
}

/// Ends instances. One that EC2 does not know counts as ended.
pub async fn terminate(aws: &Aws, ids: &[String]) -> Result<(), Error> {
    for chunk in ids.chunks(CHUNK) {
        match terminate_call(aws, chunk).await {
            Err(error) if error.is_not_found() && chunk.len() > 1 => {
                // One unknown id fails the whole call, and the message need not name them all.
                for id in chunk {
                    gone(terminate_call(aws, std::slice::from_ref(id)).await)?;
                }
            }
            result => gone(result)?,
        }
    }
    Ok(())
}

/// Puts tags on an instance; false if EC2 does not know it.
pub async fn tag(aws: &Aws, id: &str, tags: &Tags) -> Result<bool, Error> {
    let result = aws
        .ec2()
        .await?
        .create_tags()
        .resources(id)
        .set_tags(Some(ec2_tags(tags)))
        .send()
        .await
        .named(TAG);
    match result {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

async fn terminate_call(aws: &Aws, ids: &[String]) -> Result<(), Error> {
    aws.ec2()
        .await?
        .terminate_instances()
        .set_instance_ids(Some(ids.to_vec()))
        .send()
        .await
        .named(TERMINATE)?;
    Ok(())
}

fn gone(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(error) if error.is_not_found() => Ok(()),
        other => other,
    }
}

async fn describe(aws: &Aws, filters: Vec<ec2::Filter>) -> Result<Vec<Instance>, Error> {
    let mut pages = aws
        .ec2()
        .await?
        .describe_instances()
        .set_filters(Some(filters))
        .into_paginator()
        .page_size(1000)
        .send();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        found.extend(instances(&page.named(DESCRIBE)?));
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

fn instances(page: &DescribeInstancesOutput) -> impl Iterator<Item = Instance> {
    let reservations = page.reservations().iter();
    reservations
        .flat_map(ec2::Reservation::instances)
        .filter_map(instance)
}

/// A filter of EC2's Describe calls; values are alternatives.
pub(crate) fn filter(name: &str, values: &[&str]) -> ec2::Filter {
    ec2::Filter::builder()
        .name(name)
        .set_values(Some(values.iter().map(|value| (*value).to_owned()).collect()))
        .build()
}

/// Tags as EC2 takes them.
pub(crate) fn ec2_tags(tags: &Tags) -> Vec<ec2::Tag> {
    tags.iter()
        .map(|(key, value)| ec2::Tag::builder().key(key).value(value).build())
        .collect()
}

/// Tags as EC2 gives them.
pub(crate) fn from_ec2_tags(tags: &[ec2::Tag]) -> Tags {
    tags.iter()
        .filter_map(|tag| Some((tag.key()?.to_owned(), tag.value().unwrap_or_default().to_owned())))
        .collect()
}

/// A time as AWS gives it, to the second.
pub(crate) fn timestamp(time: &aws_smithy_types::DateTime) -> Option<Timestamp> {
    Timestamp::from_second(time.secs()).ok()
}

fn instance(answer: &ec2::Instance) -> Option<Instance> {
    let mut security_groups: Vec<String> = answer
        .security_groups()
        .iter()
        .filter_map(|group| group.group_id().map(str::to_owned))
        .collect();
    security_groups.sort();
    Some(Instance {
        id: answer.instance_id()?.to_owned(),
        state: State::of(
            answer
                .state()
                .and_then(|state| state.name())
                .map_or("", |name| name.as_str()),
        ),
        instance_type: answer
            .instance_type()
            .map(|kind| kind.as_str().to_owned())
            .unwrap_or_default(),
        zone: answer
            .placement()
            .and_then(|place| place.availability_zone())
            .unwrap_or_default()
            .to_owned(),
        capacity_type: capacity_type(answer),
        reservation: reservation(answer).map(str::to_owned),
        image_id: answer.image_id().unwrap_or_default().to_owned(),
        subnet_id: answer.subnet_id().unwrap_or_default().to_owned(),
        security_groups,
        private_dns_name: answer.private_dns_name().unwrap_or_default().to_owned(),
        launched: answer.launch_time().and_then(timestamp),
        tags: from_ec2_tags(answer.tags()),
    })
}

fn capacity_type(answer: &ec2::Instance) -> CapacityType {
    let spot = answer.instance_lifecycle() == Some(&ec2::InstanceLifecycleType::Spot)
        || answer.spot_instance_request_id().is_some();
    if spot {
        CapacityType::Spot
    } else if reservation(answer).is_some() {
        CapacityType::Reserved
    } else {
        CapacityType::OnDemand
    }
}

/// An instance that names no reservation may still fill an open one, and is on demand to us.
fn reservation(answer: &ec2::Instance) -> Option<&str> {
    let asked = answer
        .capacity_reservation_specification()
        .and_then(|it| it.capacity_reservation_preference());
    let named = asked == Some(&ec2::CapacityReservationPreference::CapacityReservationsOnly);
    answer.capacity_reservation_id().filter(|_| named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reservation_that_was_asked_for_counts() {
        use ec2::CapacityReservationPreference::{CapacityReservationsOnly, Open};
        for (preference, id, want) in [
            (CapacityReservationsOnly, Some("cr-1"), CapacityType::Reserved),
            (Open, Some("cr-1"), CapacityType::OnDemand),
            // It has ended, and the instance runs on.
            (CapacityReservationsOnly, None, CapacityType::OnDemand),
        ] {
            let asked = ec2::CapacityReservationSpecificationResponse::builder()
                .capacity_reservation_preference(preference)
                .build();
            let answer = ec2::Instance::builder()
                .instance_id("i-1")
                .capacity_reservation_specification(asked)
                .set_capacity_reservation_id(id.map(str::to_owned))
                .build();
            let found = instance(&answer).unwrap();
            assert_eq!(found.capacity_type, want, "{found:?}");
            assert_eq!(
                found.machine().reservation.is_some(),
                want == CapacityType::Reserved
            );
        }
    }

    #[test]
    fn a_provider_id_names_zone_and_instance() {
        assert_eq!(provider_id("us-west-2a", "i-1"), "aws:///us-west-2a/i-1");
        for (text, want) in [
            ("aws:///us-west-2a/i-0123", Some("i-0123")),
            ("aws:///us-west-2a/eni-0123", None),
            ("kind://docker/kind/kind-worker", None),
            ("", None),
        ] {
            assert_eq!(instance_id(text), want, "{text}");
        }
    }

    #[test]
    fn states_are_ec2s() {
        for (word, state, ending) in [
            ("pending", State::Pending, false),
            ("running", State::Running, false),
            ("shutting-down", State::ShuttingDown, true),
            ("terminated", State::Terminated, true),
            ("stopped", State::Stopped, false),
        ] {
            assert_eq!(State::of(word), state);
            assert_eq!(state.is_ending(), ending);
        }
    }
}
