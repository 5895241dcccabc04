//! Feature gates: `NodeRepair=true,ReservedCapacity=false`.

use std::str::FromStr;

/// Which optional features are on. Defaults are Karpenter's: reserved capacity on, all others off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FeatureGates {
    pub node_repair: bool,
    pub reserved_capacity: bool,
    pub spot_to_spot_consolidation: bool,
    pub node_overlay: bool,
    pub static_capacity: bool,
    pub capacity_buffer: bool,
}

impl Default for FeatureGates {
    fn default() -> Self {
        FeatureGates {
            node_repair: false,
            reserved_capacity: true,
            spot_to_spot_consolidation: false,
            node_overlay: false,
            static_capacity: false,
            capacity_buffer: false,
        }
    }
}

impl FromStr for FeatureGates {
    type Err = String;

    /// Gates that are not named keep their default; a name that is not known is left alone, as a newer chart may pass it.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut gates = FeatureGates::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                format!("feature gate \"{pair}\" has no value: write \"{pair}=true\" or \"{pair}=false\"")
            })?;
            let value = match value.trim() {
                "true" => true,
                "false" => false,
                other => {
                    return Err(format!(
                        "feature gate \"{name}\" is \"{other}\": it must be true or false"
                    ));
                }
            };
            match name.trim() {
                "NodeRepair" => gates.node_repair = value,
                "ReservedCapacity" => gates.reserved_capacity = value,
                "SpotToSpotConsolidation" => gates.spot_to_spot_consolidation = value,
                "NodeOverlay" => gates.node_overlay = value,
                "StaticCapacity" => gates.static_capacity = value,
                "CapacityBuffer" => gates.capacity_buffer = value,
                _ => {}
            }
        }
        Ok(gates)
    }
}
