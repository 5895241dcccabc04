//! Which objects were read, and from where: a name stands for one object.

use std::collections::BTreeMap;
use std::fmt;

use joiner_core::text::Text;

/// Kind, namespace and name; the namespace is empty for kinds that have none.
pub(crate) type Key = (&'static str, Text, Text);

/// Where an object stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    pub(crate) file: &'a str,
    /// The document's number in the file, from 1.
    pub(crate) document: usize,
    /// The object's place in a list, from 0.
    pub(crate) item: Option<usize>,
}

impl Spot<'_> {
    /// The place of one of the list that stands here.
    pub(crate) fn of_item(self, index: usize) -> Self {
        Spot {
            item: Some(index),
            ..self
        }
    }
}

/// A spot that outlives the text, with the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    file: Text,
    document: usize,
    item: Option<usize>,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, document {}", self.file, self.document)?;
        match self.item {
            Some(item) => write!(f, ", item {item}"),
            None => Ok(()),
        }
    }
}

/// Where each object was read.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The file that was read last: its objects share its name.
    file: Option<Text>,
    spots: BTreeMap<Key, Known>,
}

impl Seen {
    /// Where the object of this name was read, if it was.
    pub(crate) fn get(&self, key: &Key) -> Option<&Known> {
        self.spots.get(key)
    }

    /// Notes an object.
    pub(crate) fn add(&mut self, key: Key, spot: Spot<'_>) {
        let file = match &self.file {
            Some(last) if **last == *spot.file => last.clone(),
            _ => self.file.insert(Text::from(spot.file)).clone(),
        };
        let known = Known {
            file,
            document: spot.document,
            item: spot.item,
        };
        self.spots.insert(key, known);
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }
}

/// `Kind namespace/name`, for messages.
pub(crate) fn title((kind, namespace, name): &Key) -> String {
    match &**namespace {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}
