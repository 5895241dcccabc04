//! Importing the set of definitions.

use super::ID;
use super::schema::Crds;
use crate::objects::ObjectIdentity;
use crate::provider::Joiner;
use tfplugin::{Context, Diagnostics, ImportBy, State};

/// A state with the one name that there is; the core reads the rest, and says so when none of the definitions is there.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<ObjectIdentity>,
) -> Result<Vec<State<Crds, ObjectIdentity>>, Diagnostics> {
    let id = match by {
        ImportBy::Id(id) => id,
        ImportBy::Identity(identity) => identity.name.known_or_default(),
    };
    if id != ID {
        return Err(Diagnostics::error(
            format!("There are no definitions {id:?}"),
            format!("A cluster has one set of definitions. The ID, and the identity's name, is {ID}."),
        ));
    }
    ctx.ready()?.cluster()?;
    let model = Crds {
        id: ID.into(),
        ..Crds::default()
    };
    Ok(vec![
        State::new(model).with_identity(ObjectIdentity { name: ID.into() }),
    ])
}
