//! What the cluster would say to an object: a server-side apply that stores nothing.

use super::apply::explain;
use super::custom::Custom;
use super::foresee::Foreseen;
use super::live::Target;
use crate::cluster::{ApplyOptions, ClusterError};
use crate::provider::{Joiner, Level, Part};
use tfplugin::{Context, Diagnostic, Diagnostics, Severity};

/// Asks the cluster about a planned object, as the setting says. Nothing is told while the cluster, or a part of the object, is unknown, or
/// the cluster does not serve the kind yet: the same apply may install it.
pub(super) async fn ask<M: Custom>(
    ctx: &Context<Joiner>,
    data: &Joiner,
    planned: &M,
    is_new: bool,
) -> Result<(), Diagnostics> {
    let level = data.checks.cluster;
    let Part::Known(cluster) = &data.cluster else {
        return Ok(());
    };
    let object = Foreseen::of(planned)?;
    if level == Level::Off || !object.is_known() {
        return Ok(());
    }
    let common = planned.common();
    let target = Target {
        cluster,
        kind: M::kind(),
        name: common.name(),
    };
    let options = ApplyOptions {
        field_manager: data.field_manager.clone(),
        force_conflicts: common
            .force_conflicts
            .known()
            .copied()
            .unwrap_or(data.force_conflicts),
        dry_run: true,
    };
    let adopts = common.adopt.known() == Some(&true);
    let error = match target.try_out(&object.json, &options, is_new && !adopts).await {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    let told = match &error {
        ClusterError::Invalid(_) | ClusterError::Conflict(_) | ClusterError::OtherObject(_) => {
            explain::<M>(common.name(), &error)
        }
        other => {
            tracing::info!(error = %other, "the cluster was not asked about the plan");
            return Ok(());
        }
    };
    match level {
        Level::Error => Err(told),
        Level::Warning | Level::Off => {
            ctx.report_all(told.into_iter().map(softened).collect());
            Ok(())
        }
    }
}

fn softened(diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        ..diagnostic
    }
}
