//! What of a cluster's nodes is still in the account: instances, network interfaces, launch templates, instance profiles.
//!
//! A network cannot be deleted while an interface lies in it, and what a controller left behind when it ended costs money.

use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::instances::{self, Instance, filter, timestamp};
use crate::{profiles, tags};
use aws_sdk_ec2::types as ec2;
use jiff::Timestamp;
use std::collections::BTreeMap;

const INTERFACES: &str = "ec2:DescribeNetworkInterfaces";
const DELETE_INTERFACE: &str = "ec2:DeleteNetworkInterface";
const TEMPLATES: &str = "ec2:DescribeLaunchTemplates";
const DELETE_TEMPLATE: &str = "ec2:DeleteLaunchTemplate";
/// The tag that the VPC CNI puts on the interfaces that it makes; value: the cluster's name.
const CNI_CLUSTER: &str = "cluster.k8s.amazonaws.com/name";
/// The tag in which it says when it made one.
const CNI_CREATED: &str = "node.k8s.amazonaws.com/createdAt";

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interface {
    /// Its ID.
    pub id: String,
    /// The subnet that it lies in.
    pub subnet_id: String,
    /// The instance that it is attached to.
    pub instance_id: Option<String>,
    /// Whether nothing holds it: it can be deleted.
    pub is_free: bool,
    /// When it was made, as the VPC CNI tags it, or else when it was attached.
    pub made: Option<Timestamp>,
}

/// What is left of a cluster's nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Instances in any state but terminated, by ID.
    pub instances: Vec<Instance>,
    /// Interfaces that are not those of the instances, by ID.
    pub interfaces: Vec<Interface>,
    /// Names of launch templates.
    pub templates: Vec<String>,
    /// Names of instance profiles.
    pub profiles: Vec<String>,
}

impl Leftovers {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        let Self {
            instances,
            interfaces,
            templates,
            profiles,
        } = self;
        instances.is_empty() && interfaces.is_empty() && templates.is_empty() && profiles.is_empty()
    }

    /// Whether what is left gets less without anybody's doing: instances are ending.
    pub fn goes_by_itself(&self) -> bool {
        self.instances.iter().any(|instance| instance.state.is_ending())
    }

    /// What is left, in words, one sentence for each kind.
    pub fn sentences(&self) -> Vec<String> {
        let instances: Vec<String> = self
            .instances
            .iter()
            .map(|instance| match instance.node_claim() {
                Some(claim) => format!("{} ({:?}, NodeClaim {claim})", instance.id, instance.state),
                None => format!("{} ({:?})", instance.id, instance.state),
            })
            .collect();
        let interfaces: Vec<String> = self
            .interfaces
            .iter()
            .map(|interface| match &interface.instance_id {
                Some(instance) => format!("{} (attached to {instance})", interface.id),
                None => format!("{} (in {})", interface.id, interface.subnet_id),
            })
            .collect();
        [
            ("instances", &instances),
            ("network interfaces", &interfaces),
            ("launch templates", &self.templates),
            ("instance profiles", &self.profiles),
        ]
        .into_iter()
        .filter(|(_, items)| !items.is_empty())
        .map(|(kind, items)| sentence(kind, items))
        .collect()
    }
}

/// How many of a kind are named.
const MOST: usize = 5;

fn sentence(kind: &str, items: &[String]) -> String {
    let named = items[..items.len().min(MOST)].join(", ");
    match items.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} {kind}: {named} and {more} more", items.len()),
        _ => format!("{} {kind}: {named}", items.len()),
    }
}

/// Looks for all of it. With `before` only for what is older: what an earlier cluster of the name left; what does not tell its age counts
/// as younger.
pub async fn find(aws: &Aws, cluster: &str, before: Option<Timestamp>) -> Result<Leftovers, Error> {
    let region = aws.region().await?;
    let path = profiles::cluster_path(&region, cluster);
    let (instances, interfaces, templates, profiles) = futures::try_join!(
        instances::list(aws, cluster),
        interfaces(aws, cluster),
        templates(aws, cluster),
        profiles::list(aws, &path),
    )?;
    let of_instances = |interface: &Interface| {
        let owner = interface.instance_id.as_deref();
        instances
            .iter()
            .any(|instance| Some(instance.id.as_str()) == owner)
    };
    let is_old = |made: Option<Timestamp>| before.is_none_or(|before| made.is_some_and(|made| made < before));
    Ok(Leftovers {
        interfaces: interfaces
            .into_iter()
            .filter(|interface| !of_instances(interface) && is_old(interface.made))
            .collect(),
        templates: templates
            .into_iter()
            .filter(|(_, made)| is_old(*made))
            .map(|(name, _)| name)
            .collect(),
        profiles: profiles
            .into_iter()
            .filter(|profile| is_old(profile.created))
            .map(|profile| profile.name)
            .collect(),
        instances: instances
            .into_iter()
            .filter(|instance| is_old(instance.launched))
            .collect(),
    })
}

/// Ends and deletes what can be: instances are terminated, free interfaces, templates and profiles are deleted. What instances hold goes
/// with them, so repeat this until nothing is [found](find).
pub async fn remove(aws: &Aws, left: &Leftovers) -> Result<(), Error> {
    let ids: Vec<String> = left
        .instances
        .iter()
        .filter(|instance| !instance.state.is_ending())
        .map(|instance| instance.id.clone())
        .collect();
    if !ids.is_empty() {
        instances::terminate(aws, &ids).await?;
    }
    let client = aws.ec2().await?;
    for interface in left.interfaces.iter().filter(|interface| interface.is_free) {
        let call = client
            .delete_network_interface()
            .network_interface_id(&interface.id);
        found(call.send().await.named(DELETE_INTERFACE))?;
    }
    for name in &left.templates {
        let call = client.delete_launch_template().launch_template_name(name);
        found(call.send().await.named(DELETE_TEMPLATE))?;
    }
    // An instance that is ending may still ask for the credentials of its profile.
    if left.instances.is_empty() {
        for name in &left.profiles {
            profiles::delete(aws, name).await?;
        }
    }
    Ok(())
}

async fn templates(aws: &Aws, cluster: &str) -> Result<BTreeMap<String, Option<Timestamp>>, Error> {
    let mut pages = aws
        .ec2()
        .await?
        .describe_launch_templates()
        .filters(filter(&format!("tag:{}", tags::CLUSTER), &[cluster]))
        .into_paginator()
        .send();
    let mut all = BTreeMap::new();
    while let Some(page) = pages.next().await {
        let page = page.named(TEMPLATES)?;
        let templates = page.launch_templates().iter();
        all.extend(templates.filter_map(|template| {
            let made = template.create_time().and_then(timestamp);
            Some((template.launch_template_name()?.to_owned(), made))
        }));
    }
    Ok(all)
}

async fn interfaces(aws: &Aws, cluster: &str) -> Result<Vec<Interface>, Error> {
    let mut all = BTreeMap::new();
    for tag in [tags::CLUSTER, CNI_CLUSTER] {
        let mut pages = aws
            .ec2()
            .await?
            .describe_network_interfaces()
            .filters(filter(&format!("tag:{tag}"), &[cluster]))
            .into_paginator()
            .send();
        while let Some(page) = pages.next().await {
            let page = page.named(INTERFACES)?;
            let found = page.network_interfaces().iter().filter_map(interface);
            all.extend(found.map(|interface| (interface.id.clone(), interface)));
        }
    }
    Ok(all.into_values().collect())
}

/// Interfaces that a service manages, such as those of the control plane and of load balancers, are no node's.
fn interface(answer: &ec2::NetworkInterface) -> Option<Interface> {
    if answer.requester_managed() == Some(true) {
        return None;
    }
    let attachment = answer.attachment();
    let tagged = instances::from_ec2_tags(answer.tag_set())
        .get(CNI_CREATED)
        .and_then(|text| text.parse().ok());
    Some(Interface {
        id: answer.network_interface_id()?.to_owned(),
        subnet_id: answer.subnet_id().unwrap_or_default().to_owned(),
        instance_id: attachment.and_then(|attachment| attachment.instance_id().map(str::to_owned)),
        is_free: answer.status() == Some(&ec2::NetworkInterfaceStatus::Available),
        made: tagged.or_else(|| timestamp(attachment?.attach_time()?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_named_by_kind() {
        let left = Leftovers {
            interfaces: vec![Interface {
                id: "eni-1".into(),
                subnet_id: "subnet-a".into(),
                instance_id: None,
                is_free: true,
                made: None,
            }],
            templates: (1..=7).map(|n| format!("t{n}")).collect(),
            ..Leftovers::default()
        };
        assert!(!left.is_empty() && Leftovers::default().is_empty());
        assert_eq!(
            left.sentences(),
            [
                "1 network interfaces: eni-1 (in subnet-a)",
                "7 launch templates: t1, t2, t3, t4, t5 and 2 more"
            ]
        );
    }
}
