//! Resource identities: what tells one object from all others, for import and for the life of a state.

use tfplugin_proto::tfplugin6 as proto;

use crate::model::{Empty, Model};
use crate::schema::{Mode, Schema};

/// A struct of plain attributes that identify an object; derive [`Model`] and implement this without methods.
///
/// `#[tf(required)]` attributes are required for import, optional ones may be left out.
pub trait Identity: Model {
    /// The version of the identity's schema.
    const VERSION: i64 = 0;
    /// Whether there is an identity at all.
    const PRESENT: bool = true;
}

/// No identity.
pub type NoIdentity = Empty;

impl Identity for Empty {
    const PRESENT: bool = false;
}

/// An identity's schema as the protocol spells it.
pub(crate) fn identity_to_proto(schema: &Schema) -> proto::ResourceIdentitySchema {
    let attributes =
        schema
            .attributes
            .iter()
            .map(|attribute| proto::resource_identity_schema::IdentityAttribute {
                name: attribute.name.clone(),
                r#type: attribute.ty().to_wire(),
                required_for_import: attribute.mode == Mode::Required,
                optional_for_import: attribute.mode != Mode::Required,
                description: attribute.description.clone(),
            });
    proto::ResourceIdentitySchema {
        version: schema.version,
        identity_attributes: attributes.collect(),
    }
}
