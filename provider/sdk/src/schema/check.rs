//! The rules that both cores apply to a schema before they load a provider, and some of ours.

use super::{Attribute, BlockNesting, Mode, NestedBlock, Nesting, Schema, Shape, object_type};

/// Every way in which a core would refuse this schema, or in which the SDK could not serve it. Empty means fit.
#[must_use]
pub fn check_schema(schema: &Schema) -> Vec<String> {
    let mut problems = Vec::new();
    if schema.version < 0 {
        problems.push(format!("the version is {}, below 0", schema.version));
    }
    check_block(&schema.attributes, &schema.blocks, "", true, &mut problems);
    problems
}

fn check_block(
    attributes: &[Attribute],
    blocks: &[NestedBlock],
    prefix: &str,
    root: bool,
    problems: &mut Vec<String>,
) {
    check_attributes(attributes, prefix, root, problems);
    for block in blocks {
        let path = format!("{prefix}{}", block.name);
        if attributes.iter().any(|attribute| attribute.name == block.name) {
            problems.push(format!("{path}: the name is both an attribute and a block"));
        }
        if !is_valid_name(&block.name) {
            problems.push(format!(
                "{path}: a block's name has lowercase letters, digits and underscores only"
            ));
        }
        match block.nesting {
            BlockNesting::List { min, max } | BlockNesting::Set { min, max } => {
                if min < 0 || max < 0 || (max != 0 && min > max) {
                    problems.push(format!("{path}: between {min} and {max} blocks is no range"));
                }
            }
            BlockNesting::Single | BlockNesting::Group | BlockNesting::Map => {}
        }
        if matches!(block.nesting, BlockNesting::Set { .. }) && block.ty().has_dynamic() {
            problems.push(format!(
                "{path}: a set of blocks cannot hold attributes of any type"
            ));
        }
        check_block(
            &block.attributes,
            &block.blocks,
            &format!("{path}."),
            false,
            problems,
        );
    }
}

fn check_attributes(attributes: &[Attribute], prefix: &str, root: bool, problems: &mut Vec<String>) {
    const RESERVED: [&str; 7] = [
        "connection",
        "count",
        "depends_on",
        "for_each",
        "lifecycle",
        "provider",
        "provisioner",
    ];
    for (position, attribute) in attributes.iter().enumerate() {
        let path = format!("{prefix}{}", attribute.name);
        if !is_valid_name(&attribute.name) || attribute.name.starts_with(|first: char| first.is_ascii_digit())
        {
            problems.push(format!(
                "{path}: a name has lowercase letters, digits and underscores only"
            ));
        }
        if root && RESERVED.contains(&attribute.name.as_str()) {
            problems.push(format!("{path}: the name is reserved for configurations"));
        }
        if attributes[..position]
            .iter()
            .any(|other| other.name == attribute.name)
        {
            problems.push(format!("{path}: the name is used twice"));
        }
        check_modes(attribute, &path, problems);
        match &attribute.shape {
            Shape::Plain(crate::Type::Set(element)) if element.has_dynamic() => {
                problems.push(format!("{path}: a set cannot hold elements of any type"));
            }
            Shape::Plain(_) => {}
            Shape::Nested(nesting, nested) => {
                if *nesting == Nesting::Set && object_type(nested).has_dynamic() {
                    problems.push(format!("{path}: a set cannot hold attributes of any type"));
                }
                if *nesting == Nesting::Set && holds_write_only(nested) {
                    problems.push(format!("{path}: a set cannot hold write-only attributes"));
                }
                check_attributes(nested, &format!("{path}."), false, problems);
            }
        }
    }
}

fn check_modes(attribute: &Attribute, path: &str, problems: &mut Vec<String>) {
    if attribute.write_only && attribute.mode.is_computed() {
        problems.push(format!(
            "{path}: a write-only attribute cannot be computed or have a default"
        ));
    }
    let has_default = attribute.behaviour.default.is_some();
    if has_default && attribute.mode != Mode::OptionalComputed {
        problems.push(format!(
            "{path}: an attribute with a default must be optional and computed"
        ));
    }
    if attribute.behaviour.use_state_for_unknown && !attribute.mode.is_computed() {
        problems.push(format!(
            "{path}: use_state_for_unknown is for computed attributes"
        ));
    }
    if let Some(default) = &attribute.behaviour.default
        && let Err(error) = crate::value::wire::encode(default, &attribute.ty())
    {
        problems.push(format!("{path}: the default does not fit: {error}"));
    }
}

fn holds_write_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.write_only
            || matches!(&attribute.shape, Shape::Nested(_, nested) if holds_write_only(nested))
    })
}

fn is_valid_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}
