//! Importing by name.

use super::custom::Custom;
use super::live::Target;
use crate::provider::Joiner;
use crate::report;
use tfplugin::{Context, Diagnostics, Field, Identity, State};

/// A state with the name; the core reads the rest.
pub(crate) async fn import<M: Custom, I: Identity>(
    ctx: &Context<Joiner>,
    id: &str,
) -> Result<Vec<State<M, I>>, Diagnostics> {
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let target = Target {
        cluster,
        kind: M::kind(),
        name: id,
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
                "{} has none of this name. The ID is the object's name.",
                cluster.label()
            ),
        ));
    }
    let mut model = M::default();
    let common = model.common_mut();
    *common.id = Field::Known(id.to_owned());
    *common.name = Field::Known(id.to_owned());
    Ok(vec![State::new(model)])
}
