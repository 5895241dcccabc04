//! What the SDK does with an attribute by itself: defaults, checks and plan modifiers.

use std::fmt;
use std::sync::Arc;

use crate::path::AttributePath;
use crate::value::Value;

/// Checks one known value; the error says what was found, what is expected and what to do.
pub type Validator = Arc<dyn Fn(&Value) -> Result<(), String> + Send + Sync>;

/// Whether two known values mean the same though they are spelled differently, as `"1h"` and `"60m"` do.
pub type Equivalence = Arc<dyn Fn(&Value, &Value) -> bool + Send + Sync>;

/// Changes the planned value of one attribute.
pub type Modifier = Arc<dyn Fn(&ModifyRequest<'_>) -> Value + Send + Sync>;

/// What a [`Modifier`] decides by.
#[derive(Debug)]
pub struct ModifyRequest<'a> {
    /// Where the attribute is.
    pub path: &'a AttributePath,
    /// What the configuration has there.
    pub config: &'a Value,
    /// What the state has there; null on create.
    pub prior: &'a Value,
    /// What is planned so far.
    pub planned: &'a Value,
    /// Whether the resource is being created.
    pub creating: bool,
}

/// The behaviour of one attribute.
#[derive(Clone, Default)]
pub struct Behaviour {
    /// The value when the configuration has none; makes the attribute optional and computed.
    pub default: Option<Value>,
    /// Checks of a known, non-null value.
    pub validators: Vec<Validator>,
    /// A change of this attribute replaces the resource.
    pub requires_replace: bool,
    /// A change of this attribute replaces the resource when it is configured; a change that the provider makes does not.
    pub requires_replace_if_configured: bool,
    /// When computed and not configured, an update keeps the state's value (unless that is null).
    pub use_state_for_unknown: bool,
    /// A configured or read value that means the same as the state's keeps the state's spelling.
    pub equivalent: Option<Equivalence>,
    /// Further changes of the planned value, in order.
    pub modifiers: Vec<Modifier>,
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Behaviour")
            .field("default", &self.default)
            .field("validators", &self.validators.len())
            .field("requires_replace", &self.requires_replace)
            .field(
                "requires_replace_if_configured",
                &self.requires_replace_if_configured,
            )
            .field("use_state_for_unknown", &self.use_state_for_unknown)
            .field("equivalent", &self.equivalent.is_some())
            .field("modifiers", &self.modifiers.len())
            .finish()
    }
}
