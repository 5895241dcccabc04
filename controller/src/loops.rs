//! The loops: each observes, decides and acts on one screen, and each is woken by what concerns it.

mod buffers;
mod demoted;
mod disrupt;
mod garbage;
mod keyed;
mod launch;
mod lifecycle;
mod nodeclass;
mod nodepool;
mod overlays;
mod prepare;
mod provision;
mod rehearse;
mod static_pools;
mod terminate;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use joiner_core::batch;
use tracing::Instrument as _;

use crate::act::Act;
use crate::options::Options;

/// Starts every loop. Call it only while leading: from here on the process writes.
pub(crate) fn start(act: &Act, options: &Options) {
    let settings = batch::Settings {
        idle: signed(options.batch_idle_duration),
        max: signed(options.batch_max_duration),
    };
    let of_classes = nodeclass::Settings {
        refresh: signed(options.ami_refresh_interval.min(options.subnet_refresh_interval)),
        dry_run: match options.disable_dry_run {
            true => nodeclass::DryRun::Off,
            false => nodeclass::DryRun::On,
        },
    };
    spawn("provisioner", provision::run(act.clone(), settings));
    let static_capacity = match options.feature_gates.static_capacity {
        true => nodepool::StaticCapacity::On,
        false => nodepool::StaticCapacity::Off,
    };
    spawn("disruption", disrupt::run(act.clone(), static_capacity));
    spawn("instance.garbagecollection", garbage::run(act.clone()));
    let of = act.clone();
    spawn("nodeclaim.lifecycle", async move {
        keyed::run("nodeclaim.lifecycle", &of.index.changes.lifecycle, |name| {
            lifecycle::step(of.clone(), name)
        })
        .await;
    });
    let of = act.clone();
    spawn("node.termination", async move {
        keyed::run("node.termination", &of.index.changes.terminate, |name| {
            terminate::step(of.clone(), name)
        })
        .await;
    });
    if options.feature_gates.node_overlay {
        spawn("nodeoverlay", overlays::run(act.clone()));
    }
    if options.feature_gates.capacity_buffer {
        spawn("capacitybuffer", buffers::run(act.clone()));
    }
    let of = act.clone();
    spawn("nodepool", async move {
        let known = Arc::new(nodepool::Known::new(static_capacity));
        keyed::run("nodepool", &of.index.changes.pools, |name| {
            nodepool::step(of.clone(), known.clone(), name)
        })
        .await;
    });
    let of = act.clone();
    spawn("nodeclass", async move {
        let resolved = Arc::new(nodeclass::Resolved::default());
        let step = |name| {
            let (act, resolved) = (of.clone(), resolved.clone());
            async move { nodeclass::step(act, &resolved, of_classes, name).await }
        };
        keyed::run("nodeclass", &of.index.changes.classes, step).await;
    });
    // Whoever led before us may have rung the bells long ago; ring them all once.
    act.index.ring_all();
}

fn spawn(controller: &'static str, work: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(work.instrument(tracing::error_span!("loop", controller)));
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests;
