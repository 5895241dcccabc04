//! The instance types of every pool, by the built-in catalogue.

use super::controller::Controller;
use super::trouble::Trouble;
use super::world::World;
use crate::feasible::Types;
use joiner_api::EC2NodeClass;
use joiner_aws::catalogue::builtin;
use joiner_core::catalogue::{Catalogue, InstanceType};
use joiner_core::snapshot::Snapshot;
use joiner_core::text::Text;
use joiner_core::well_known;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The types of each pool's class, corrected by the cluster's overlays where the controller looks at them. The region is that of the cluster's nodes, `otherwise` where none
/// says it.
pub(super) fn catalogue(
    world: &World,
    snapshot: &Snapshot,
    classes: &BTreeMap<Text, Arc<EC2NodeClass>>,
    controller: &Controller,
    otherwise: Option<String>,
) -> Result<Catalogue, Trouble> {
    let region = region(snapshot)
        .or(otherwise)
        .filter(|region| builtin::regions().contains(&region.as_str()))
        .ok_or_else(|| {
            Trouble::Failed(
                "the cluster's region is not known, or the built-in catalogue of instance types does not have it; aws.region in the \
                 provider block says it"
                    .to_owned(),
            )
        })?;
    let mut made: BTreeMap<&Text, Arc<[InstanceType]>> = BTreeMap::new();
    let mut catalogue = Catalogue::default();
    for pool in &snapshot.pools {
        let of_class = made.entry(&pool.class.name).or_insert_with(|| {
            let class = classes.get(&pool.class.name);
            Types::under(&controller.catalogue, Some(&region), class.map(AsRef::as_ref)).all()
        });
        catalogue.pools.insert(pool.name.clone(), Arc::clone(of_class));
    }
    if !controller.node_overlays {
        return Ok(catalogue);
    }
    for (overlay, why) in joiner_map::apply_overlays(&world.overlays, &snapshot.pools, &mut catalogue) {
        tracing::info!(%overlay, %why, "the forecast leaves out a NodeOverlay");
    }
    Ok(catalogue)
}

fn region(snapshot: &Snapshot) -> Option<String> {
    let nodes = snapshot.nodes.iter();
    let mut named = nodes.filter_map(|node| node.labels()?.get(well_known::REGION));
    named.next().map(|region| region.to_string())
}
