//! Buys an instance for a claim and notes it on the claim; and clears what a class has left in the account.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use joiner_api::labels::{
    EC2_NODE_CLASS_FIELDS, EC2_NODE_CLASS_HASH, EC2_NODE_CLASS_HASH_VERSION, HOURLY_PRICE,
    INSTANCE_PROFILE_NAME, PLACEMENT_GROUP_ID,
};
use joiner_api::{EC2NodeClass, hash};
use joiner_aws::instances::{Instance, provider_id};
use joiner_aws::launch::{Bought, ClaimKey, LaunchError, Launched, Order, Tenancy};
use joiner_aws::node_class::NodeClass;
use joiner_aws::{instances, profiles, tags};
use joiner_core::catalogue::{CapacityType, InstanceType, Offering};
use joiner_core::conditions::Wanted;
use joiner_core::launch::{Plan, labels_of};
use joiner_core::money::Price;
use joiner_core::text::{Labels, Text};

use super::{Act, ClaimStatus, Failed};
use crate::observe::ClaimEntry;

/// The claims for which a launch is under way in this process: none is launched twice at a time.
#[derive(Debug, Default)]
pub(crate) struct Launching(Mutex<BTreeSet<Text>>);

/// Holds a claim's place among those under way.
pub(crate) struct Under {
    all: Arc<Launching>,
    claim: Text,
}

impl Launching {
    /// Takes the claim's place; none if it is taken.
    pub(crate) fn begin(self: &Arc<Self>, claim: &Text) -> Option<Under> {
        let mut under = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under.insert(claim.clone()).then(|| Under {
            all: self.clone(),
            claim: claim.clone(),
        })
    }

    /// Whether the claim's place is taken.
    pub(crate) fn holds(&self, claim: &Text) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(claim)
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        self.all
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.claim);
    }
}

/// An instance that was bought for a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub instance_id: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: CapacityType,
    pub image_id: String,
    pub reservation: Option<String>,
}

impl From<&Bought> for Got {
    fn from(bought: &Bought) -> Got {
        Got {
            instance_id: bought.instance_id.clone(),
            instance_type: bought.instance_type.clone(),
            zone: bought.zone.clone(),
            capacity_type: bought.capacity_type,
            image_id: bought.image_id.clone(),
            reservation: bought.reservation.clone(),
        }
    }
}

impl From<&Instance> for Got {
    fn from(instance: &Instance) -> Got {
        Got {
            instance_id: instance.id.clone(),
            instance_type: instance.instance_type.clone(),
            zone: instance.zone.clone(),
            capacity_type: instance.capacity_type,
            image_id: instance.image_id.clone(),
            reservation: instance.reservation.clone(),
        }
    }
}

impl Act {
    /// Calls CreateFleet for claims that are equal but for their names, at least one. Their uids make the call's token, so that
    /// a call given again buys nothing twice.
    pub(crate) async fn buy(
        &self,
        entries: &[ClaimEntry],
        class: &NodeClass,
        plan: &Plan,
        types: &[InstanceType],
    ) -> Result<Launched, LaunchError> {
        let Some(ClaimEntry { claim, .. }) = entries.first() else {
            return Ok(Launched::default());
        };
        let key = |entry: &ClaimEntry| ClaimKey {
            name: entry.claim.name.to_string(),
            uid: entry.claim.uid.to_string(),
        };
        let keys: Vec<ClaimKey> = entries.iter().map(key).collect();
        let order = Order {
            claims: &keys,
            node_pool: claim.pool().map_or("", |pool| pool),
            cluster: &self.cloud.cluster.join,
            class,
            plan,
            types,
            labels: &claim.labels,
            taints: &claim.taints,
            startup_taints: &claim.startup_taints,
            requests: &claim.requests,
            tenancy: Tenancy::of(&claim.requirements),
        };
        let started = Instant::now();
        let answer = self
            .cloud
            .launcher
            .launch(&order, &self.cloud.shortages(), Timestamp::now())
            .await;
        let error = answer.as_ref().err().map(LaunchError::reason);
        self.metrics
            .cloud_call("nodeclaim.lifecycle", "Create", started.elapsed(), error);
        answer
    }

    /// Notes the instance on its claim: labels of what was bought, then provider id and `conditions`.
    pub(crate) async fn note_instance(
        &self,
        entry: &ClaimEntry,
        class: Option<&EC2NodeClass>,
        types: &[InstanceType],
        got: &Got,
        conditions: Vec<Wanted>,
    ) -> Result<(), Failed> {
        let reservation = got.reservation.as_deref();
        let known = labels_of(
            types,
            &got.instance_type,
            &got.zone,
            got.capacity_type,
            reservation,
        );
        // What pool and claim say themselves wins.
        let mut labels = known.unwrap_or_default();
        if let Some(group) = class.and_then(|class| self.cloud.placement_group(class)) {
            labels.insert(PLACEMENT_GROUP_ID.into(), group.as_str().into());
        }
        labels.extend(
            entry
                .claim
                .labels
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        let bought = types.iter().find(|it| *it.name == *got.instance_type);
        let mut annotations = annotations(class);
        if let Some(price) = bought.and_then(|it| price(it, got)) {
            annotations.insert(
                HOURLY_PRICE.into(),
                price
                    .to_string()
                    .trim_start_matches('$')
                    .trim_end_matches("/h")
                    .into(),
            );
        }
        let entry = self.label_claim(&entry.claim.name, &labels, &annotations).await?;
        let status = ClaimStatus {
            conditions,
            provider_id: Some(provider_id(&got.zone, &got.instance_id).into()),
            image_id: Some(got.image_id.as_str().into()),
            capacity: bought.map(|it| it.capacity.clone()),
            allocatable: bought.map(InstanceType::allocatable),
            ..ClaimStatus::default()
        };
        self.set_claim_status(&entry, &status, Timestamp::now())
            .await
            .map(drop)
    }

    /// Puts the claim's and the node's name on the instance, for people and for whoever lists instances.
    pub(crate) async fn tag_instance(
        &self,
        provider: &Text,
        claim: &Text,
        node: &Text,
    ) -> Result<(), Failed> {
        let Some(id) = instances::instance_id(provider) else {
            return Ok(());
        };
        let wanted: tags::Tags = [
            (tags::NODE_CLAIM.to_owned(), claim.to_string()),
            (tags::NAME.to_owned(), node.to_string()),
            (tags::CLUSTER.to_owned(), self.cloud.cluster.name.clone()),
        ]
        .into();
        let answer = instances::tag(&self.cloud.aws, id, &wanted).await;
        answer.map(drop).map_err(|cause| Failed::Cloud {
            what: format!("instance {id}"),
            cause,
        })
    }

    /// Deletes the launch templates of a class and the instance profile that was made for its role.
    pub(crate) async fn clear_class(&self, class: &EC2NodeClass) -> Result<(), Failed> {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        let failed = |cause| Failed::Cloud {
            what: format!("what EC2NodeClass {name} has in the account"),
            cause,
        };
        let templates = self.cloud.launcher.delete_templates(name).await.map_err(failed)?;
        let mut profile = false;
        if let Some(role) = &class.spec.role {
            let uid = class.metadata.uid.as_deref().unwrap_or_default();
            let cluster = &self.cloud.cluster;
            let made = profiles::name(&cluster.name, &cluster.region, uid, role);
            profile = profiles::delete(&self.cloud.aws, &made).await.map_err(failed)?;
        }
        tracing::info!(EC2NodeClass = %name, launch_templates = templates.len(), instance_profile = profile, "cleared account");
        Ok(())
    }
}

/// The price of the offering that was bought; none where none is known.
fn price(bought: &InstanceType, got: &Got) -> Option<Price> {
    let is_it = |offering: &&Offering| {
        let reservation = offering.reservation.as_ref().map(|it| &*it.id);
        *offering.zone == *got.zone
            && offering.capacity_type == got.capacity_type
            && reservation == got.reservation.as_deref()
    };
    let price = bought.offerings.iter().find(is_it)?.price;
    (price != Price::MAX).then_some(price)
}

/// What the claim remembers of the class it was launched with.
fn annotations(class: Option<&EC2NodeClass>) -> Labels {
    let Some(class) = class else { return Labels::new() };
    // The hash of the class as it was used, and not what its annotation says: an edit may just have come.
    let fields = hash::ec2_node_class_fields(class).into_iter();
    let fields: Vec<String> = fields.map(|(field, hash)| format!("{field}={hash}")).collect();
    let mut kept: Labels = [
        (EC2_NODE_CLASS_HASH, hash::ec2_node_class(class)),
        (EC2_NODE_CLASS_HASH_VERSION, hash::VERSION.to_owned()),
        (EC2_NODE_CLASS_FIELDS, fields.join(",")),
    ]
    .into_iter()
    .map(|(key, value)| (Text::from(key), Text::from(value)))
    .collect();
    if let Some(profile) = class
        .status
        .as_ref()
        .and_then(|status| status.instance_profile.as_deref())
    {
        kept.insert(INSTANCE_PROFILE_NAME.into(), profile.into());
    }
    kept
}
