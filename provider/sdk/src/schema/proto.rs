//! Schemas as the protocol spells them.

use tfplugin_proto::tfplugin6 as proto;

use super::{Attribute, BlockNesting, Mode, NestedBlock, Nesting, Schema, Shape};

impl Schema {
    pub(crate) fn to_proto(&self) -> proto::Schema {
        let block = block(
            &self.attributes,
            &self.blocks,
            &self.description,
            self.deprecated.as_deref(),
        );
        proto::Schema {
            version: self.version,
            block: Some(proto::schema::Block {
                version: self.version,
                ..block
            }),
        }
    }
}

fn block(
    attributes: &[Attribute],
    blocks: &[NestedBlock],
    description: &str,
    deprecated: Option<&str>,
) -> proto::schema::Block {
    proto::schema::Block {
        version: 0,
        attributes: attributes.iter().map(attribute).collect(),
        block_types: blocks.iter().map(nested_block).collect(),
        description: description.to_owned(),
        description_kind: proto::StringKind::Markdown as i32,
        deprecated: deprecated.is_some(),
        deprecation_message: deprecated.unwrap_or_default().to_owned(),
    }
}

fn attribute(attribute: &Attribute) -> proto::schema::Attribute {
    let (ty, nested_type) = match &attribute.shape {
        Shape::Plain(ty) => (ty.to_wire(), None),
        Shape::Nested(nesting, attributes) => (Vec::new(), Some(object(*nesting, attributes))),
    };
    proto::schema::Attribute {
        name: attribute.name.clone(),
        r#type: ty,
        nested_type,
        description: attribute.description.clone(),
        description_kind: proto::StringKind::Markdown as i32,
        required: attribute.mode == Mode::Required,
        optional: attribute.mode.is_optional(),
        computed: attribute.mode.is_computed(),
        sensitive: attribute.sensitive,
        write_only: attribute.write_only,
        deprecated: attribute.deprecated.is_some(),
        deprecation_message: attribute.deprecated.clone().unwrap_or_default(),
    }
}

fn object(nesting: Nesting, attributes: &[Attribute]) -> proto::schema::Object {
    use proto::schema::object::NestingMode;
    let nesting = match nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    proto::schema::Object {
        attributes: attributes.iter().map(attribute).collect(),
        nesting: nesting as i32,
        ..Default::default()
    }
}

fn nested_block(nested: &NestedBlock) -> proto::schema::NestedBlock {
    use proto::schema::nested_block::NestingMode;
    let (nesting, min_items, max_items) = match nested.nesting {
        BlockNesting::Single => (NestingMode::Single, 0, 0),
        BlockNesting::Group => (NestingMode::Group, 0, 0),
        BlockNesting::List { min, max } => (NestingMode::List, min, max),
        BlockNesting::Set { min, max } => (NestingMode::Set, min, max),
        BlockNesting::Map => (NestingMode::Map, 0, 0),
    };
    proto::schema::NestedBlock {
        type_name: nested.name.clone(),
        block: Some(block(
            &nested.attributes,
            &nested.blocks,
            &nested.description,
            None,
        )),
        nesting: nesting as i32,
        min_items,
        max_items,
    }
}
