//! Reading: the barrier is nowhere but in the state.

use super::identity::TeardownIdentity;
use super::schema::Teardown;
use crate::provider::Joiner;
use tfplugin::{Context, Diagnostics, Field, State};

/// The state as it is, with what an import leaves to the defaults.
pub(super) async fn read(
    _: &Context<Joiner>,
    mut state: State<Teardown, TeardownIdentity>,
) -> Result<Option<State<Teardown, TeardownIdentity>>, Diagnostics> {
    if state.model.terminate_orphans.is_null() {
        state.model.terminate_orphans = Field::Known(false);
    }
    Ok(Some(state))
}
