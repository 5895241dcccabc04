//! Lists of names that many rows share: two thousand nodes may list the same hundred instance types.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use joiner_core::text::Text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names in order; cloning the list copies a pointer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Names(Arc<[Text]>);

impl Names {
    /// The list itself.
    pub fn shared(&self) -> Arc<[Text]> {
        Arc::clone(&self.0)
    }
}

impl Deref for Names {
    type Target = [Text];

    fn deref(&self) -> &[Text] {
        &self.0
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl From<Arc<[Text]>> for Names {
    fn from(names: Arc<[Text]>) -> Names {
        Names(names)
    }
}

impl FromIterator<Text> for Names {
    fn from_iter<I: IntoIterator<Item = Text>>(names: I) -> Names {
        Names(names.into_iter().collect())
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|name| &**name))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(names.into_iter().map(Text::from).collect())
    }
}
