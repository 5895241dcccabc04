//! Carries an order out: templates, fleet, and one more try where a template was gone or the order was given before.

use super::addresses::FreeAddresses;
use super::error::LaunchError;
use super::group::{Group, groups, groups_of_first};
use super::lost::{MAX_BATCH, launch_tag};
use super::order::Order;
use super::outcome::{FleetError, FleetInstance, Launched, again, merge, outcome, refused};
use super::request::create_fleet;
use super::templates::Templates;
use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::instances;
use crate::selectors::FoundSubnet;
use crate::unavailable::{Shortage, Unavailable};
use aws_sdk_ec2::operation::create_fleet::CreateFleetOutput;
use aws_sdk_ec2::types as ec2;
use jiff::Timestamp;
use joiner_core::resources::ResourceName;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::RwLock;

pub(super) const CREATE_FLEET: &str = "ec2:CreateFleet";

/// How many templates are made ahead of time at once: nobody waits for them, and EC2 counts calls that make something.
const WIDTH: usize = 4;

/// Buys instances for one cluster. Share it: it remembers templates and free addresses.
#[derive(Debug)]
pub struct Launcher {
    pub(super) aws: Aws,
    cluster: String,
    pub(super) templates: Templates,
    addresses: Mutex<FreeAddresses>,
    /// Read while templates are made ahead of time, written while those of a class are deleted: none comes after that.
    preparing: RwLock<()>,
}

impl Launcher {
    /// A launcher for the cluster of that name. Makes no call.
    pub fn new(aws: Aws, cluster: &str) -> Self {
        Self {
            aws,
            cluster: cluster.to_owned(),
            templates: Templates::default(),
            addresses: Mutex::default(),
            preparing: RwLock::default(),
        }
    }

    /// Takes over a count of free addresses, from resolving a node class.
    pub fn count_addresses(&self, subnets: &[FoundSubnet]) {
        self.addresses().count(subnets);
    }

    /// Buys an instance for each claim of the order. `unavailable` is read only; mark what the result calls short, in
    /// success as in [`LaunchError::InsufficientCapacity`]. An order for more than [`MAX_BATCH`] claims becomes several
    /// calls; it fails only where all of them do.
    pub async fn launch(
        &self,
        order: &Order<'_>,
        unavailable: &Unavailable,
        now: Timestamp,
    ) -> Result<Launched, LaunchError> {
        let subnets = self.addresses().choose(order.class, unavailable, now);
        let groups = groups(order, &subnets)?;
        let parts: Vec<Order<'_>> = order
            .claims
            .chunks(MAX_BATCH)
            .map(|claims| Order {
                claims,
                ..order.clone()
            })
            .collect();
        let results =
            futures::future::join_all(parts.iter().map(|part| self.launch_part(part, &groups, now))).await;
        let result = merge(parts.iter().zip(results));
        self.account(order, &result);
        result
    }

    /// Makes launch templates for all choices of an order ahead of time, so that a launch of some of them is one call, and
    /// keeps those that are there from being taken for unused. At most so many, those with the most choices first; returns how
    /// many. None where the class is no more `wanted` when its turn has come.
    pub async fn prepare(
        &self,
        order: &Order<'_>,
        most: usize,
        unavailable: &Unavailable,
        now: Timestamp,
        wanted: impl Fn() -> bool,
    ) -> Result<usize, LaunchError> {
        let subnets = self.addresses().choose(order.class, unavailable, now);
        let mut groups = groups_of_first(usize::MAX, order, &subnets)?;
        groups.sort_by_key(|group| std::cmp::Reverse(group.overrides.len()));
        groups.truncate(most);
        let _held = self.preparing.read().await;
        if !wanted() {
            return Ok(0);
        }
        for some in groups.chunks(WIDTH) {
            self.ensure_templates(some, now).await?;
        }
        Ok(groups.len())
    }

    /// Takes over launch templates of an earlier controller; call it once the lease is held.
    pub async fn hydrate(&self, now: Timestamp) -> Result<usize, Error> {
        self.templates.hydrate(&self.aws, &self.cluster, now).await
    }

    /// Deletes launch templates that were not used for 30 minutes; returns their names. Only while holding the lease.
    pub async fn sweep(&self, now: Timestamp) -> Result<Vec<String>, Error> {
        self.templates.sweep(&self.aws, now).await
    }

    /// Deletes all launch templates of a node class that goes away, once none is being prepared; returns their names.
    pub async fn delete_templates(&self, node_class: &str) -> Result<Vec<String>, Error> {
        let _held = self.preparing.write().await;
        self.templates
            .delete_of_class(&self.aws, &self.cluster, node_class)
            .await
    }

    async fn launch_part(
        &self,
        order: &Order<'_>,
        groups: &[Group],
        now: Timestamp,
    ) -> Result<Launched, LaunchError> {
        match self.attempt(order, groups, 0, now).await {
            Err(LaunchError::LaunchTemplateNotFound { cause }) => {
                tracing::info!(error = %cause, "launch template is gone, making it again");
                for group in groups {
                    self.templates.forget(&group.template.name());
                }
                self.attempt(order, groups, 1, now).await
            }
            Err(LaunchError::Other { cause }) if cause.code() == "IdempotentParameterMismatch" => {
                self.given_before(order, groups, now).await
            }
            result => result,
        }
    }

    async fn attempt(
        &self,
        order: &Order<'_>,
        groups: &[Group],
        attempt: u32,
        now: Timestamp,
    ) -> Result<Launched, LaunchError> {
        self.ensure_templates(groups, now).await?;
        let client = self.aws.ec2().await.map_err(LaunchError::of)?;
        let tags = self.aws.with_default_tags(&order.tags());
        let answer = create_fleet(client, order, groups, &tags, attempt)
            .send()
            .await
            .named(CREATE_FLEET);
        let answer = answer.map_err(|cause| refused(order, cause))?;
        outcome(order, instances_in(&answer), &errors_in(&answer))
    }

    async fn ensure_templates(&self, groups: &[Group], now: Timestamp) -> Result<(), LaunchError> {
        let made = groups
            .iter()
            .map(|group| self.templates.ensure(&self.aws, &group.template, now));
        futures::future::try_join_all(made)
            .await
            .map_err(LaunchError::of)?;
        Ok(())
    }

    /// The same claims were ordered before with other offerings, and the answer was lost: what that order bought is
    /// found by its tag; if it bought nothing, this is a new order.
    async fn given_before(
        &self,
        order: &Order<'_>,
        groups: &[Group],
        now: Timestamp,
    ) -> Result<Launched, LaunchError> {
        let tag = launch_tag(order.claims);
        let found = instances::of_launch(&self.aws, &self.cluster, &tag)
            .await
            .map_err(LaunchError::of)?;
        if found.is_empty() {
            return self.attempt(order, groups, 1, now).await;
        }
        outcome(order, found.iter().map(again).collect(), &[])
    }

    fn account(&self, order: &Order<'_>, result: &Result<Launched, LaunchError>) {
        let mut addresses = self.addresses();
        let shortages = match result {
            Ok(launched) => {
                for bought in &launched.bought {
                    let kind = order.types.iter().find(|kind| *kind.name == bought.instance_type);
                    let pods = kind.map_or(0, |kind| kind.capacity.get(&ResourceName::Pods));
                    addresses.take(&bought.subnet_id, pods);
                }
                &launched.shortages
            }
            Err(LaunchError::InsufficientCapacity { shortages, .. }) => shortages,
            Err(_) => return,
        };
        for (shortage, _) in shortages {
            if let Shortage::Subnet { id } = shortage {
                addresses.exhausted(id);
            }
        }
    }

    pub(super) fn addresses(&self) -> MutexGuard<'_, FreeAddresses> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn instances_in(answer: &CreateFleetOutput) -> Vec<FleetInstance> {
    let mut all = Vec::new();
    for entry in answer.instances() {
        let choice = entry
            .launch_template_and_overrides()
            .and_then(|used| used.overrides());
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        let kind = entry
            .instance_type()
            .or_else(|| choice.and_then(|choice| choice.instance_type()));
        for id in entry.instance_ids() {
            all.push(FleetInstance {
                id: id.clone(),
                instance_type: kind.map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
                zone: text(choice.and_then(|choice| choice.availability_zone())),
                image_id: text(choice.and_then(|choice| choice.image_id())),
                subnet_id: text(choice.and_then(|choice| choice.subnet_id())),
            });
        }
    }
    all
}

fn errors_in(answer: &CreateFleetOutput) -> Vec<FleetError> {
    answer
        .errors()
        .iter()
        .map(|error| {
            let choice = error
                .launch_template_and_overrides()
                .and_then(|used| used.overrides());
            let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
            FleetError {
                code: text(error.error_code()),
                message: text(error.error_message()),
                instance_type: text(
                    choice
                        .and_then(|choice| choice.instance_type())
                        .map(ec2::InstanceType::as_str),
                ),
                zone: text(choice.and_then(|choice| choice.availability_zone())),
                subnet: text(choice.and_then(|choice| choice.subnet_id())),
            }
        })
        .collect()
}
