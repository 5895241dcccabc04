//! Static pools: so many nodes, whatever pods want.
//!
//! Input: the snapshot and the catalogue. Output: for every static pool that has fewer nodes than it wants how many to make,
//! and of what kind. Pods are not looked at: a static pool's node takes them once it is there.

use super::MAX_TYPES;
use super::build::labels;
use super::flexibility::keep;
use super::misfit::Misfit;
use super::outcome::NewClaim;
use super::problem::{bears, closed_pool, terms};
use super::refuse::refuse_types;
use crate::catalogue::{Catalogue, InstanceType};
use crate::money::Price;
use crate::requirements::Requirements;
use crate::resources::{ResourceName, Resources};
use crate::snapshot::{Pool, Snapshot};
use crate::text::Text;

/// A static pool that has fewer nodes than it wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Lack {
    /// The pool.
    pub pool: Text,
    /// How many nodes it wants: `spec.replicas`.
    pub replicas: u32,
    /// How many it has or has ordered; those that go are not counted.
    pub there: u32,
    /// How many to make now: what lacks, as far as the limit of nodes goes.
    pub missing: u32,
    /// The claim to make for each of them; none where nothing can be bought.
    pub claim: Option<NewClaim>,
    /// Why fewer are made than lack.
    pub held_back: Option<Misfit>,
}

/// Every static pool that has fewer nodes than it wants, by name.
pub fn lacks(snapshot: &Snapshot, catalogue: &Catalogue) -> Vec<Lack> {
    let mut all: Vec<Lack> = snapshot
        .pools
        .iter()
        .filter_map(|pool| lack(pool, snapshot, catalogue))
        .collect();
    all.sort_by(|a, b| a.pool.cmp(&b.pool));
    all
}

fn lack(pool: &Pool, snapshot: &Snapshot, catalogue: &Catalogue) -> Option<Lack> {
    let replicas = pool.replicas?;
    let own = snapshot
        .nodes
        .iter()
        .filter(|node| node.pool() == Some(&pool.name) && !node.is_going());
    let there = u32::try_from(own.count()).unwrap_or(u32::MAX);
    let wanted = replicas.checked_sub(there).filter(|wanted| *wanted > 0)?;
    let mut lack = Lack {
        pool: pool.name.clone(),
        replicas,
        there,
        missing: 0,
        claim: None,
        held_back: closed_pool(pool),
    };
    if lack.held_back.is_some() {
        return Some(lack);
    }
    let nodes = ResourceName::nodes();
    let room = match pool.limits.get(&nodes) {
        Some(limit) => u32::try_from(limit.saturating_sub(i64::from(there)).max(0)).unwrap_or(u32::MAX),
        None => u32::MAX,
    };
    if room < wanted {
        lack.held_back = Some(Misfit::Limit {
            limit: pool.limits.get(&nodes).unwrap_or_default(),
            resource: nodes,
            used: i64::from(there),
            needed: i64::from(wanted),
        });
    }
    match claim(pool, snapshot, catalogue) {
        Ok(claim) => {
            lack.missing = wanted.min(room);
            lack.claim = Some(claim);
        }
        Err(why) => lack.held_back = Some(why),
    }
    Some(lack)
}

/// The claim for one node: any type that suits the pool and carries its daemons.
fn claim(pool: &Pool, snapshot: &Snapshot, catalogue: &Catalogue) -> Result<NewClaim, Misfit> {
    let requirements = pool.template_requirements();
    let types = catalogue.types(&pool.name);
    let mut on_sale: Vec<(Price, &InstanceType)> = types
        .iter()
        .filter(|it| it.suits(&requirements))
        .filter(|it| daemons(pool, it, &requirements, snapshot).fits(&it.allocatable()))
        .filter_map(|it| Some((it.cheapest(&requirements)?, it)))
        .collect();
    on_sale.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
    let Some(price) = on_sale.first().map(|(price, _)| *price) else {
        return Err(refuse_types(types, &requirements, &Resources::new()));
    };
    let all: Vec<&InstanceType> = on_sale.into_iter().map(|(_, it)| it).collect();
    let kept = keep(&all, &requirements, MAX_TYPES);
    let requests = kept
        .iter()
        .map(|it| daemons(pool, it, &requirements, snapshot))
        .reduce(|all, one| all.lower(&one));
    Ok(NewClaim {
        pool: pool.name.clone(),
        pool_uid: pool.uid.clone(),
        class: pool.class.clone(),
        pods: Vec::new(),
        instance_types: kept.iter().map(|it| it.name.clone()).collect(),
        requests: requests.unwrap_or_default(),
        price,
        labels: labels(pool.template_labels(), &requirements),
        annotations: super::build::annotations(pool),
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace_period: pool.termination_grace_period,
        min_values_relaxed: false,
        requirements,
    })
}

/// What the daemons take that land on a node of this type.
fn daemons(pool: &Pool, it: &InstanceType, template: &Requirements, snapshot: &Snapshot) -> Resources {
    let lands = |one: &Requirements| template.intersects(one) && it.suits(one);
    snapshot
        .daemon_sets
        .iter()
        .filter(|daemon| bears(&daemon.placement, &pool.taints) && terms(&daemon.placement).iter().any(lands))
        .map(|daemon| &daemon.requests)
        .sum()
}
