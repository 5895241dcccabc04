//! The catalogue with NodeOverlays applied: made when something it is made of has changed, and kept until then.

use std::sync::{Arc, Mutex, PoisonError};

use joiner_core::catalogue::{Catalogue, InstanceType};
use joiner_core::snapshot::Pool;
use joiner_core::text::{Labels, Text};

use crate::observe::map::{Overlay, apply_overlays};

/// The last one.
#[derive(Debug, Default)]
pub(super) struct Overlaid(Mutex<Option<Made>>);

/// A catalogue, the overlays that were left out with the reason, and what both were made of.
#[derive(Debug)]
struct Made {
    of: Vec<Of>,
    overlays: Vec<Overlay>,
    catalogue: Catalogue,
    left_out: Vec<(Text, Text)>,
}

/// What an overlay looks at of a pool.
#[derive(Debug)]
struct Of {
    pool: Text,
    labels: Labels,
    types: Option<Arc<[InstanceType]>>,
}

impl Of {
    fn is_same(&self, other: &Of) -> bool {
        let same_types = match (&self.types, &other.types) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_types && self.pool == other.pool && self.labels == other.labels
    }
}

impl Overlaid {
    /// Applies `overlays` to what is on sale for `pools`. Returns the overlays that were left out, too, each with the reason.
    pub(super) fn of(
        &self,
        plain: Catalogue,
        pools: &[Arc<Pool>],
        overlays: &[Overlay],
    ) -> (Catalogue, Vec<(Text, Text)>) {
        if overlays.is_empty() {
            return (plain, Vec::new());
        }
        let of = |pool: &Arc<Pool>| Of {
            pool: pool.name.clone(),
            labels: pool.labels.clone(),
            types: plain.pools.get(&pool.name).cloned(),
        };
        let of: Vec<Of> = pools.iter().map(of).collect();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*last {
            let same = made.of.len() == of.len() && made.of.iter().zip(&of).all(|(a, b)| a.is_same(b));
            if same && made.overlays == overlays {
                return (made.catalogue.clone(), made.left_out.clone());
            }
        }
        let mut catalogue = plain;
        let left_out = apply_overlays(overlays, pools, &mut catalogue);
        *last = Some(Made {
            of,
            overlays: overlays.to_vec(),
            catalogue: catalogue.clone(),
            left_out: left_out.clone(),
        });
        (catalogue, left_out)
    }
}

#[cfg(test)]
mod tests {
    use joiner_api::{NodeOverlay, NodePool};
    use joiner_core::catalogue::{CapacityType, Offering, Overhead};
    use joiner_core::money::Price;
    use joiner_core::requirements::{Requirement, Requirements};
    use joiner_core::resources::Resources;
    use serde_json::{Value, json};

    use super::*;
    use crate::observe::map;

    fn types() -> Arc<[InstanceType]> {
        let offering = Offering {
            zone: "us-west-2a".into(),
            zone_id: "usw2-az1".into(),
            capacity_type: CapacityType::OnDemand,
            price: Price::from_micros(100_000),
            available: true,
            reservation: None,
            extra: Requirements::new(),
        };
        let name = "m5.large";
        let it = InstanceType {
            name: name.into(),
            requirements: [Requirement::is("node.kubernetes.io/instance-type", name)]
                .into_iter()
                .collect(),
            capacity: Resources::cpu_memory(2000, 8 << 30),
            overhead: Overhead::default(),
            offerings: vec![offering],
            attach_limits: Default::default(),
            devices: Vec::new(),
        };
        vec![it].into()
    }

    fn overlay(name: &str, spec: Value) -> Overlay {
        let object = json!({"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": name}, "spec": spec});
        let object: NodeOverlay = serde_json::from_value(object).unwrap();
        map::overlay(&object).unwrap()
    }

    fn pools() -> Vec<Arc<Pool>> {
        let object = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
            "spec": {"template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}}},
        });
        let object: NodePool = serde_json::from_value(object).unwrap();
        vec![Arc::new(map::pool(&object))]
    }

    #[test]
    fn what_has_not_changed_is_not_made_again() {
        let (overlaid, pools, types) = (Overlaid::default(), pools(), types());
        let plain: Catalogue = [("default".into(), types.clone())].into_iter().collect();
        let all =
            json!([{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]}]);
        let dear = overlay("dear", json!({"requirements": all, "priceAdjustment": "+50%"}));
        let same = overlay("same", json!({"requirements": all, "price": "1"}));

        let (untouched, _) = overlaid.of(plain.clone(), &pools, &[]);
        assert!(Arc::ptr_eq(&untouched.pools["default"], &types));

        let (first, left_out) = overlaid.of(plain.clone(), &pools, std::slice::from_ref(&dear));
        assert_eq!(
            first.types("default")[0].offerings[0].price,
            Price::from_micros(150_000)
        );
        assert!(left_out.is_empty());
        let (again, _) = overlaid.of(plain.clone(), &pools, std::slice::from_ref(&dear));
        assert!(Arc::ptr_eq(&again.pools["default"], &first.pools["default"]));

        let (_, left_out) = overlaid.of(plain, &pools, &[dear, same]);
        assert_eq!(
            left_out.len(),
            1,
            "of two that say different things one is left out"
        );
    }
}
