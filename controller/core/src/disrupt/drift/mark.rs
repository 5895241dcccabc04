//! Which claims of a snapshot have drifted, and the condition that says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::compare::drift_of;
use super::facts::{Facts, Machine};
use super::reason::Drift;
use crate::catalogue::Catalogue;
use crate::conditions::DRIFTED;
use crate::snapshot::{Claim, Snapshot};
use crate::text::Text;

/// Every claim that has drifted, by name. Claims without an instance, those that are on their way out and those whose pool is gone
/// have not.
pub fn drifts(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    facts: &Facts,
    now: Timestamp,
) -> BTreeMap<Text, Drift> {
    let unknown = Machine::default();
    let of = |claim: &Claim| {
        if !claim.is_launched() || claim.deletion.is_some() {
            return None;
        }
        let pool = snapshot.pool(claim.pool()?)?;
        let machine = facts.machines.get(&claim.name).unwrap_or(&unknown);
        let class = facts.classes.get(&claim.class.name).map(Arc::as_ref);
        let types = catalogue.types(&pool.name);
        let drift = drift_of(claim, machine, pool, class, types, now)?;
        Some((claim.name.clone(), drift))
    };
    let claims = snapshot.nodes.iter().filter_map(|node| node.claim.as_deref());
    claims.filter_map(of).collect()
}

/// Puts the conditions Drifted into `snapshot` as the controller would write them, and returns what has drifted. A condition that
/// holds already keeps its time.
pub fn mark(
    snapshot: &mut Snapshot,
    catalogue: &Catalogue,
    facts: &Facts,
    now: Timestamp,
) -> BTreeMap<Text, Drift> {
    let drifts = drifts(snapshot, catalogue, facts, now);
    for node in &mut snapshot.nodes {
        let Some(claim) = &mut node.claim else { continue };
        match drifts.get(&claim.name).map(Drift::wanted) {
            Some(wanted) if claim.conditions.differs(&wanted) => {
                Arc::make_mut(claim).conditions.apply(&wanted, now);
            }
            None if claim.conditions.get(DRIFTED).is_some() => {
                Arc::make_mut(claim).conditions.remove(DRIFTED);
            }
            _ => {}
        }
    }
    drifts
}
