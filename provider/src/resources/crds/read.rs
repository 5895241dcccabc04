//! Reading: which definitions are as they should be.

use super::ID;
use super::definitions::{OURS, is_as_wanted, is_newer, version_of, wanted};
use super::schema::Crds;
use crate::cluster::{ADDRESS, ClusterError, Objects, definition_kind, name_of};
use crate::objects::ObjectIdentity;
use crate::provider::Joiner;
use crate::report;
use std::collections::BTreeSet;
use tfplugin::{Context, Diagnostics, Field, State};

/// The state of the definitions now; `None` when all are gone. While the cluster is unknown the state stays as it is.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    state: State<Crds, ObjectIdentity>,
) -> Result<Option<State<Crds, ObjectIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.cluster.is_unknown() {
        return Ok(Some(state));
    }
    let cluster = data.cluster()?;
    let failed = |error: ClusterError| report::cluster(&error);
    let mut private = state.private;
    let address = private.get::<String>(ADDRESS);
    let compared = cluster
        .compare(state.model.cluster_uid.as_str(), address.as_deref())
        .await
        .map_err(failed)?;
    if let Some(warning) = report::elsewhere("The set of definitions", compared)? {
        ctx.report(warning);
        return Ok(None);
    }
    let objects = Objects::all(cluster, definition_kind()).await.map_err(failed)?;
    let (mut right, mut versions, mut found) = (BTreeSet::new(), BTreeSet::new(), 0);
    for definition in wanted() {
        let name = name_of(&definition);
        let Some(live) = objects.get(name).await.map_err(failed)? else {
            continue;
        };
        found += 1;
        let is_right = is_as_wanted(&live, &definition);
        // Those of a release, or of another program, carry no version: they are ours when they say what ours do.
        let unsaid = if is_right { OURS } else { "" };
        versions.insert(version_of(&live).unwrap_or(unsaid).to_owned());
        if is_right {
            right.insert(name.to_owned());
        }
    }
    if found == 0 {
        return Ok(None);
    }
    private.set(ADDRESS, &cluster.address().await.map_err(failed)?)?;
    let cluster_uid = cluster.uid().await.map_err(failed)?.map(str::to_owned);
    // One that is newer, else one that is older or has none: that is what the plan must know.
    let version = versions
        .iter()
        .find(|version| is_newer(version, OURS))
        .or_else(|| versions.iter().find(|version| *version != OURS))
        .map_or(OURS, String::as_str);
    let mut model = state.model;
    if model.on_destroy.is_null() {
        // An import: what a plan would have set.
        model.on_destroy = "retain".into();
        model.adopt = Field::Known(true);
    }
    let model = Crds {
        id: ID.into(),
        version: if version.is_empty() {
            Field::Null
        } else {
            version.into()
        },
        names: Field::Known(right),
        cluster_uid: Field::from_option(cluster_uid),
        ..model
    };
    Ok(Some(State {
        model,
        private,
        identity: Some(ObjectIdentity { name: ID.into() }),
    }))
}
