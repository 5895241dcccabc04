//! Reading: the barrier is nowhere but in the state; what is looked up is which cluster has the name.

use super::identity::TeardownIdentity;
use super::schema::Teardown;
use super::successor;
use crate::provider::Joiner;
use tfplugin::{Configured, Context, Diagnostics, Field, State};

/// The state as it is, with what an import leaves to the defaults.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    mut state: State<Teardown, TeardownIdentity>,
) -> Result<Option<State<Teardown, TeardownIdentity>>, Diagnostics> {
    if state.model.terminate_orphans.is_null() {
        state.model.terminate_orphans = Field::Known(false);
    }
    if let (Configured::Ready(data), Some(name)) = (ctx.provider(), state.model.cluster_name.as_str()) {
        successor::note(data, name, &mut state.private).await?;
    }
    Ok(Some(state))
}
