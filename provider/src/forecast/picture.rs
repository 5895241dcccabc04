//! The cluster with the change made, as decisions look at it.

use super::controller::Controller;
use super::subject::{Change, RESOLVED, Subject, Translation, typed};
use super::trouble::Trouble;
use super::types;
use super::world::World;
use joiner_api::{EC2NodeClass, NodePool};
use joiner_core::catalogue::Catalogue;
use joiner_core::disrupt::drift::Facts;
use joiner_core::snapshot::Snapshot;
use joiner_core::text::Text;
use joiner_map::drift;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All that a forecast needs.
pub(super) struct Picture {
    /// The cluster, with the change made.
    pub snapshot: Snapshot,
    /// The types of every pool.
    pub catalogue: Catalogue,
    /// What claims are compared with.
    pub facts: Facts,
    /// The pools that the change reaches.
    pub pools: BTreeSet<Text>,
    /// Those of which the controller would replace no node.
    pub left_alone: BTreeSet<Text>,
}

/// Whether the selectors of a class change, so that what they find has to be asked.
pub(super) fn is_resolved_anew(change: &Change) -> bool {
    change.subject == Subject::Class && change.changes(&RESOLVED)
}

/// The picture with `object` in place of the live one. `region` is the provider's, for where no node says it.
pub(super) fn of_change(
    world: &World,
    change: &Change,
    object: &Json,
    controller: &Controller,
    region: Option<String>,
) -> Result<Picture, Trouble> {
    let unreadable = || Trouble::Failed(format!("{} cannot be read as the API has it", change.name));
    let mut snapshot = world.decided_by(controller);
    let mut classes = world.classes.clone();
    let name = Text::from(change.name.as_str());
    let mut pools: BTreeSet<Text> = match change.subject {
        Subject::Pool => {
            let pool = joiner_map::pool(&typed::<NodePool>(object).ok_or_else(unreadable)?);
            let others = snapshot.pools.into_iter().filter(|other| other.name != name);
            snapshot.pools = others.chain([Arc::new(pool)]).collect();
            snapshot.pools.sort_by(|a, b| a.name.cmp(&b.name));
            [name].into()
        }
        Subject::Class => {
            let class = typed::<EC2NodeClass>(object).ok_or_else(unreadable)?;
            classes.insert(name.clone(), Arc::new(class));
            let of_class = snapshot.pools.iter().filter(|pool| pool.class.name == name);
            of_class.map(|pool| pool.name.clone()).collect()
        }
    };
    if let Some(live) = world.live(change.subject, &change.name) {
        translate(&mut snapshot, change, live);
    }
    let catalogue = types::catalogue(world, &snapshot, &classes, controller, region)?;
    let mut left_alone = BTreeSet::new();
    if !controller.static_capacity {
        let of_static = snapshot.pools.iter().filter(|pool| pool.replicas.is_some());
        left_alone = of_static.filter_map(|pool| pools.take(&pool.name)).collect();
    }
    let facts = Facts {
        classes: classes
            .iter()
            .map(|(name, class)| (name.clone(), Arc::new(drift::class(class))))
            .collect(),
        machines: world.machines.clone(),
    };
    Ok(Picture {
        snapshot,
        catalogue,
        facts,
        pools,
        left_alone,
    })
}

/// Lets the claims of the changed object speak of it in our words.
fn translate(snapshot: &mut Snapshot, change: &Change, live: &Json) {
    let Some(translation) = Translation::of(change.subject, live) else {
        return;
    };
    let label = change.subject.label();
    for claim in snapshot.nodes.iter_mut().filter_map(|node| node.claim.as_mut()) {
        if claim.labels.get(label).is_some_and(|own| **own == *change.name) {
            translation.translate(claim);
        }
    }
}
