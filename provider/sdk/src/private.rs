//! Data that a resource keeps beside its state, out of the user's sight: a JSON object keyed by name.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::diagnostics::Diagnostics;

/// Private state. Every read gets what the last operation left; every operation hands on what it wants to keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Private(BTreeMap<String, Json>);

impl Private {
    /// What is kept under `key`, if it is there and of that type.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.0
            .get(key)
            .and_then(|json| serde_json::from_value(json.clone()).ok())
    }

    /// Keeps `value` under `key`.
    ///
    /// # Errors
    /// A diagnostic when the value has no JSON form.
    pub fn set<T: Serialize>(&mut self, key: impl Into<String>, value: &T) -> Result<(), Diagnostics> {
        let key = key.into();
        let json = serde_json::to_value(value).map_err(|error| {
            Diagnostics::error(
                "Private state not kept",
                format!("The value of {key:?} has no JSON form: {error}."),
            )
        })?;
        self.0.insert(key, json);
        Ok(())
    }

    /// Forgets what is kept under `key`.
    pub fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads what a core hands back; bytes that are no JSON object (another provider's) count as nothing.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        serde_json::from_slice(bytes).map(Self).unwrap_or_else(|error| {
            tracing::warn!(%error, "private state is not a JSON object; it is ignored");
            Self::default()
        })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if self.0.is_empty() {
            Vec::new()
        } else {
            serde_json::to_vec(&self.0).unwrap_or_default()
        }
    }
}
