//! Importing by name.

use super::custom::Custom;
use super::identity::ObjectIdentity;
use super::live::Target;
use crate::provider::Joiner;
use crate::report;
use tfplugin::{Context, Diagnostics, Field, ImportBy, State};

/// A state with the name; the core reads the rest.
pub(crate) async fn import<M: Custom>(
    ctx: &Context<Joiner>,
    by: ImportBy<ObjectIdentity>,
) -> Result<Vec<State<M, ObjectIdentity>>, Diagnostics> {
    let id = match by {
        ImportBy::Id(id) => id,
        ImportBy::Identity(identity) => identity.name.known_or_default(),
    };
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let target = Target {
        cluster,
        kind: M::kind(),
        name: &id,
    };
    if target
        .get()
        .await
        .map_err(|error| report::cluster(&error))?
        .is_none()
    {
        return Err(Diagnostics::error(
            format!("There is no {} {id:?}", M::kind().kind()),
            format!(
                "{} has none of this name. The ID, and the identity's name, is the object's name.",
                cluster.label()
            ),
        ));
    }
    let mut model = M::default();
    let common = model.common_mut();
    common.id = Field::Known(id.clone());
    common.name = Field::Known(id.clone());
    Ok(vec![
        State::new(model).with_identity(ObjectIdentity { name: id.into() }),
    ])
}
