//! Planning: offline, but for one look at the identity of a cluster that was unknown when the plan was made.

use super::ID;
use super::definitions::{OURS, is_newer, names};
use super::schema::Crds;
use crate::objects::ObjectIdentity;
use crate::provider::{Joiner, Part};
use crate::report;
use tfplugin::{Configured, Context, Diagnostics, Field, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<Crds>,
    plan: &mut Plan<Crds, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    let planned = &mut plan.planned;
    planned.id = ID.into();
    plan.identity = Some(ObjectIdentity { name: ID.into() });
    if let Some(prior) = &request.prior {
        if let Some(newer) = prior.version.as_str().filter(|version| is_newer(version, OURS)) {
            let mut found = Diagnostics::new();
            found.error_at(
                "version",
                "The cluster has newer definitions",
                format!(
                    "They are those of version {newer} of the provider, and this is {OURS}. Older ones would lose fields of objects that are \
                     there. Use version {newer} or later; to go back in spite of that, remove the annotation joiner.dev/crds-version from the \
                     definitions."
                ),
            );
            return Err(found);
        }
        if !is_same_cluster(ctx, prior).await? {
            planned.cluster_uid = Field::Unknown;
        }
    }
    let (version, names) = (OURS.into(), Field::Known(names()));
    let as_it_was = request.prior.as_ref().is_some_and(|prior| {
        prior.version == version && prior.names == names && !planned.cluster_uid.is_unknown()
    });
    if let Configured::Ready(data) = ctx.provider()
        && !as_it_was
    {
        data.found.will_bring_definitions();
    }
    planned.version = version;
    planned.names = names;
    Ok(())
}

/// Whether the cluster is the one of the state, as far as it is known. One that is unknown may be another after the apply.
async fn is_same_cluster(ctx: &Context<Joiner>, prior: &Crds) -> Result<bool, Diagnostics> {
    let Configured::Ready(data) = ctx.provider() else {
        return Ok(true);
    };
    match &data.cluster {
        Part::Unknown => Ok(false),
        Part::Known(cluster) => {
            let found = cluster.uid().await.map_err(|error| report::cluster(&error))?;
            Ok(found.is_none()
                || prior
                    .cluster_uid
                    .as_str()
                    .is_none_or(|known| Some(known) == found))
        }
        Part::Absent | Part::Broken(_) => Ok(true),
    }
}
