//! Importing by the cluster's name.

use super::identity::TeardownIdentity;
use super::schema::Teardown;
use crate::provider::Joiner;
use tfplugin::{Context, Diagnostics, Field, ImportBy, State};

/// A barrier before the cluster whose name is the ID; whether there is such a cluster does not matter.
pub(super) async fn import(
    _: &Context<Joiner>,
    by: ImportBy<TeardownIdentity>,
) -> Result<Vec<State<Teardown, TeardownIdentity>>, Diagnostics> {
    let cluster_name = match by {
        ImportBy::Id(name) => Field::Known(name),
        ImportBy::Identity(identity) => identity.cluster_name,
    };
    let model = Teardown {
        id: cluster_name.clone(),
        cluster_name,
        terminate_orphans: Field::Known(false),
        ..Teardown::default()
    };
    Ok(vec![State {
        identity: TeardownIdentity::of(&model),
        ..State::new(model)
    }])
}
