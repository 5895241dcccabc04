//! Resource identities: what tells one object from all others, for import and for the life of a state.

use crate::model::{Empty, Model};

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
