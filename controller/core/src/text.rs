//! Shared text: names, label keys and label values are written once and pointed to from many places.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A name, label key or label value; cloning it copies a pointer.
pub type Text = Arc<str>;

/// Labels or annotations, by key.
pub type Labels = BTreeMap<Text, Text>;

/// Labels from anything that yields pairs of strings.
pub fn labels<K: Into<Text>, V: Into<Text>>(pairs: impl IntoIterator<Item = (K, V)>) -> Labels {
    pairs
        .into_iter()
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}
