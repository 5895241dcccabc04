//! An EC2NodeClass: what its selectors find, its instance profile, conditions, and its end.

mod end;
mod resolve;
mod validate;

use std::collections::BTreeMap;
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use joiner_api::labels::{AWS_TERMINATION_FINALIZER, EC2_NODE_CLASS_HASH, EC2_NODE_CLASS_HASH_VERSION};
use joiner_api::{EC2NodeClass, hash};
use joiner_core::conditions::{DRIFTED, READY};
use joiner_core::text::{Labels, Text};
use tracing::info;

use super::keyed::Done;
pub(super) use validate::DryRun;
use validate::Validated;

use crate::act::{Act, Failed};

/// How soon a class that is not ready is looked at again: somebody is mending it.
const UNREADY: SignedDuration = SignedDuration::from_secs(5);
/// The longest that a class with capacity reservations waits: what they hold changes. Karpenter's value.
const RESERVED: SignedDuration = SignedDuration::from_mins(1);
/// And how soon while nothing is known of what EC2 sells.
const SOON: SignedDuration = SignedDuration::from_millis(200);

/// How classes are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// How often a class that is ready is resolved again.
    pub refresh: SignedDuration,
    /// Whether launches are tried.
    pub dry_run: DryRun,
}

/// What is remembered of classes.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// When each class is to be resolved again, by uid; for which generation.
    due: Mutex<BTreeMap<String, (i64, Timestamp)>>,
    validated: Validated,
}

impl Resolved {
    /// When the class is to be resolved: now where it has changed.
    fn due(&self, class: &EC2NodeClass, now: Timestamp) -> Timestamp {
        let known = self.due.lock().ok().and_then(|all| all.get(uid(class)).copied());
        match known {
            Some((generation, due)) if generation == generation_of(class) => due,
            _ => now,
        }
    }

    fn done(&self, class: &EC2NodeClass, due: Timestamp) {
        if let Ok(mut all) = self.due.lock() {
            all.insert(uid(class).to_owned(), (generation_of(class), due));
        }
    }
}

/// Brings one class up to date.
pub(super) async fn step(act: Act, resolved: &Resolved, settings: Settings, name: Text) -> Done {
    // Observe.
    let now = Timestamp::now();
    let Some(class) = act.index.class_entry(&name) else {
        act.cloud.forget(&name);
        return Ok(None);
    };
    if class.metadata.deletion_timestamp.is_some() {
        return end::step(&act, &class, now).await;
    }
    if !finalizers(&class)
        .iter()
        .any(|it| it == AWS_TERMINATION_FINALIZER)
    {
        let mut all = finalizers(&class).to_vec();
        all.push(AWS_TERMINATION_FINALIZER.to_owned());
        act.set_class_finalizers(&class, &all).await?;
    }
    hash_of(&act, &class).await?;
    let Some(class) = act.index.class_entry(&name) else {
        return Ok(None);
    };
    let due = resolved.due(&class, now);
    if due > now {
        // Its instance types, so that the first pod need not wait for them.
        act.cloud.types(&class, now);
        return Ok(Some(due));
    }
    // Decide.
    let known = act.cloud.knows_types();
    let status = resolve::status(&act, &class, &resolved.validated, settings.dry_run, now).await?;
    // Act.
    if class.status.as_ref() != Some(&status) {
        act.set_class_status(&class, &status).await?;
        info!(
            EC2NodeClass = %name, subnets = status.subnets.len(), security_groups = status.security_groups.len(),
            amis = status.amis.len(), instance_profile = status.instance_profile.as_deref().unwrap_or_default(),
            "resolved ec2nodeclass"
        );
    }
    let ready = joiner_api::conditions::is_true(&status.conditions, READY);
    let pause = match (ready, known) {
        (true, _) if class.spec.capacity_reservation_selector_terms.is_empty() => settings.refresh,
        (true, _) => settings.refresh.min(RESERVED),
        (false, true) => UNREADY,
        // It may wait for the instance types alone.
        (false, false) => SOON,
    };
    let due = now.saturating_add(pause).unwrap_or(Timestamp::MAX);
    resolved.done(&class, due);
    Ok(Some(due))
}

/// Keeps the hash of the class' static fields on it; where the rule of hashing has changed, on its claims, too.
async fn hash_of(act: &Act, class: &EC2NodeClass) -> Result<(), Failed> {
    let name = class.metadata.name.as_deref().unwrap_or_default();
    let value = hash::ec2_node_class(class);
    let written = |key: &str| {
        class
            .metadata
            .annotations
            .as_ref()
            .and_then(|all| all.get(key))
            .map(String::as_str)
    };
    let same_rule = written(EC2_NODE_CLASS_HASH_VERSION) == Some(hash::VERSION);
    if same_rule && written(EC2_NODE_CLASS_HASH) == Some(&value) {
        return Ok(());
    }
    if !same_rule {
        let annotations: Labels = [
            (Text::from(EC2_NODE_CLASS_HASH), Text::from(value.as_str())),
            (Text::from(EC2_NODE_CLASS_HASH_VERSION), Text::from(hash::VERSION)),
        ]
        .into();
        let outdated = act.index.claim_entries().into_iter().filter(|entry| {
            let claim = &entry.claim;
            *claim.class.name == *name
                && claim
                    .annotations
                    .get(EC2_NODE_CLASS_HASH_VERSION)
                    .is_none_or(|it| **it != *hash::VERSION)
                && !claim.conditions.is_true(DRIFTED)
        });
        for entry in outdated {
            act.label_claim(&entry.claim.name, &Labels::new(), &annotations)
                .await?;
        }
    }
    act.annotate_class(
        name,
        &[
            (EC2_NODE_CLASS_HASH, &value),
            (EC2_NODE_CLASS_HASH_VERSION, hash::VERSION),
        ],
    )
    .await
}

fn finalizers(class: &EC2NodeClass) -> &[String] {
    class.metadata.finalizers.as_deref().unwrap_or_default()
}

fn uid(class: &EC2NodeClass) -> &str {
    class.metadata.uid.as_deref().unwrap_or_default()
}

fn generation_of(class: &EC2NodeClass) -> i64 {
    class.metadata.generation.unwrap_or_default()
}
