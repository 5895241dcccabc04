//! How long operations may take, as users set it: `timeouts = { create = "30m" }`.

use std::time::Duration;

use crate::field::Field;
use crate::validate::{duration, parse_duration};

/// How long each operation may take, as durations such as `30m` or `1h30m`.
///
/// Put it into a model as `timeouts: Field<Timeouts>`. A resource that does not limit all of them has a model of its own instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, tfplugin_derive::Model)]
pub struct Timeouts {
    /// How long a create may take.
    #[tf(optional, validate = duration)]
    pub create: Field<String>,
    /// How long a read may take.
    #[tf(optional, validate = duration)]
    pub read: Field<String>,
    /// How long an update may take.
    #[tf(optional, validate = duration)]
    pub update: Field<String>,
    /// How long a delete may take.
    #[tf(optional, validate = duration)]
    pub delete: Field<String>,
}

/// The duration that the user set with one of the fields of [`Timeouts`], or of a model of fewer limits, or `default`.
#[must_use]
pub fn timeout_or<T>(timeouts: &Field<T>, field: fn(&T) -> &Field<String>, default: Duration) -> Duration {
    let set = timeouts
        .known()
        .and_then(|timeouts| field(timeouts).as_str().map(parse_duration));
    match set {
        Some(Ok(duration)) => duration,
        _ => default,
    }
}
