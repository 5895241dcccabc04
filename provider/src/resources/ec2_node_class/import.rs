//! Importing by name.

use super::schema::Ec2NodeClass;
use crate::objects;
use crate::provider::Joiner;
use tfplugin::{Context, Diagnostics, ImportBy, NoIdentity, State};

/// The object with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<NoIdentity>,
) -> Result<Vec<State<Ec2NodeClass, NoIdentity>>, Diagnostics> {
    match by {
        ImportBy::Id(id) => objects::import(ctx, &id).await,
        ImportBy::Identity(_) => Err(Diagnostics::error("No ID", "Import by ID: the object's name.")),
    }
}
