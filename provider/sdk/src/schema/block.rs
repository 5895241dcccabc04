//! Nested blocks: `name { ... }` in a configuration. Kept for schemas that need them; nothing in a block is computed as a whole.

use std::collections::BTreeMap;

use super::Attribute;
use crate::value::Type;

/// A block type within a schema or another block.
#[derive(Clone, Debug)]
pub struct NestedBlock {
    /// Its name in configurations: lowercase letters, digits, underscores.
    pub name: String,
    /// Markdown for the documentation.
    pub description: String,
    /// How often it may occur.
    pub nesting: BlockNesting,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Blocks within it.
    pub blocks: Vec<NestedBlock>,
}

/// How often a block may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockNesting {
    /// At most once; absent is null.
    Single,
    /// Always there, its attributes null when it is not written.
    Group,
    /// In order, between `min` and `max` times (`max` 0 is without limit).
    List {
        /// At least so often.
        min: i64,
        /// At most so often; 0 is without limit.
        max: i64,
    },
    /// Without order, between `min` and `max` times (`max` 0 is without limit).
    Set {
        /// At least so often.
        min: i64,
        /// At most so often; 0 is without limit.
        max: i64,
    },
    /// By label.
    Map,
}

impl NestedBlock {
    /// The type of the whole: an object, or a collection of objects.
    #[must_use]
    pub fn ty(&self) -> Type {
        let object = block_type(&self.attributes, &self.blocks);
        match self.nesting {
            BlockNesting::Single | BlockNesting::Group => object,
            BlockNesting::List { .. } => Type::list(object),
            BlockNesting::Set { .. } => Type::set(object),
            BlockNesting::Map => Type::map(object),
        }
    }
}

pub(super) fn block_type(attributes: &[Attribute], blocks: &[NestedBlock]) -> Type {
    let attributes = attributes
        .iter()
        .map(|attribute| (attribute.name.clone(), attribute.ty()));
    let blocks = blocks.iter().map(|block| (block.name.clone(), block.ty()));
    Type::Object(attributes.chain(blocks).collect::<BTreeMap<_, _>>())
}
