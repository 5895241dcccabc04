//! Which kinds are watched beside those that every decision needs: only what a feature that is on looks at, since a role grants
//! no more than that.

use crate::options::Options;

/// What is looked at beside the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// NodeOverlays.
    pub overlays: bool,
    /// CapacityBuffers, and the templates and workloads that they name.
    pub buffers: bool,
    /// Services and StatefulSets, whose selectors cluster-wide spread constraints use.
    pub services: bool,
    /// Resource claims and their templates, device classes and resource slices.
    pub devices: bool,
}

impl Wanted {
    pub(crate) fn of(options: &Options) -> Wanted {
        let gates = options.feature_gates;
        Wanted {
            overlays: gates.node_overlay,
            buffers: gates.capacity_buffer,
            services: !options.default_spread.0.is_empty(),
            devices: !options.ignore_dra_requests,
        }
    }
}
