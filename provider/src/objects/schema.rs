//! Comparing by meaning, told to the SDK: a configured value that means what the state has keeps the state's spelling.

use super::meaning::{is_literal, same};
use crate::plain::json_of;
use std::sync::Arc;
use tfplugin::{Attribute, Schema, Shape};

/// The schema with an equivalence on each attribute whose values can be spelled in several ways.
pub(crate) fn with_meaning(mut schema: Schema) -> Schema {
    schema.attributes.iter_mut().for_each(add);
    schema
}

fn add(attribute: &mut Attribute) {
    let field = camel(&attribute.name);
    if !is_literal(&field) {
        attribute.behaviour.equivalent = Some(Arc::new(move |left, right| {
            match (json_of(left, camel), json_of(right, camel)) {
                (Some(left), Some(right)) => same(&field, &left, &right),
                _ => false,
            }
        }));
    }
    if let Shape::Nested(_, nested) = &mut attribute.shape {
        nested.iter_mut().for_each(add);
    }
}

/// The field that an attribute stands for, as far as meaning goes: how acronyms are written does not matter here.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut field = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        field.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        field.push_str(chars.as_str());
    }
    field
}
