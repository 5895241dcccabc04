//! Why there is no forecast.

use std::time::Duration;

/// Why there is no forecast.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// These kinds may not be listed, by their plurals.
    Forbidden(Vec<String>),
    /// It was not there in time, after so long.
    Late(Duration),
    /// Something else, in words.
    Failed(String),
}
