//! Schemas: what attributes a configuration may have and what the SDK does with each.

mod behaviour;
mod block;
mod check;
mod proto;

pub use behaviour::{Behaviour, Equivalence, Modifier, ModifyRequest, Validator};
pub use block::{BlockNesting, NestedBlock};
pub use check::check_schema;

use std::collections::BTreeMap;

use crate::value::Type;

/// A whole schema: of a provider, a resource, a data source or an ephemeral resource.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The version that a stored state carries; 0 until the first incompatible change.
    pub version: i64,
    /// Markdown for the documentation.
    pub description: String,
    /// Why not to use it any more.
    pub deprecated: Option<String>,
    /// The attributes in the order of their declaration.
    pub attributes: Vec<Attribute>,
    /// Nested blocks; new schemas use nested attributes.
    pub blocks: Vec<NestedBlock>,
}

impl Schema {
    /// The type of a whole value.
    #[must_use]
    pub fn ty(&self) -> Type {
        block::block_type(&self.attributes, &self.blocks)
    }

    /// The attribute of that name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// One attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name in configurations, snake case.
    pub name: String,
    /// Markdown for the documentation.
    pub description: String,
    /// What it holds.
    pub shape: Shape,
    /// Who sets it.
    pub mode: Mode,
    /// Whether its value is kept out of what a user sees.
    pub sensitive: bool,
    /// Whether its value is only in configurations, never in plans and states.
    pub write_only: bool,
    /// Why not to use it any more.
    pub deprecated: Option<String>,
    /// Its name in [JSON documents](crate::json): `None` is the name in camel case.
    pub json: JsonName,
    /// Default, validators, plan modifiers.
    pub behaviour: Behaviour,
}

impl Attribute {
    /// An attribute with nothing but name, shape and mode.
    #[must_use]
    pub fn new(name: impl Into<String>, shape: Shape, mode: Mode) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            shape,
            mode,
            sensitive: false,
            write_only: false,
            deprecated: None,
            json: JsonName::Camel,
            behaviour: Behaviour::default(),
        }
    }

    /// The type of its values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.shape.ty()
    }
}

/// The name of an attribute in JSON documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JsonName {
    /// The attribute's name in camel case.
    #[default]
    Camel,
    /// This name.
    Named(String),
    /// It is not in JSON documents.
    Skipped,
}

/// Who sets an attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The user must.
    Required,
    /// The user may.
    #[default]
    Optional,
    /// The provider does.
    Computed,
    /// The user may, else the provider does.
    OptionalComputed,
}

impl Mode {
    /// Whether the provider may set it when the user does not.
    #[must_use]
    pub fn is_computed(self) -> bool {
        matches!(self, Self::Computed | Self::OptionalComputed)
    }

    /// Whether the user may leave it out or set it.
    #[must_use]
    pub fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::OptionalComputed)
    }
}

/// What an attribute holds.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value of a plain type.
    Plain(Type),
    /// Nested attributes, once or several times.
    Nested(Nesting, Vec<Attribute>),
}

/// How often nested attributes occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// Once.
    Single,
    /// In order.
    List,
    /// Without order; diagnostics cannot point into it.
    Set,
    /// By key.
    Map,
}

impl Shape {
    /// The type of its values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Plain(ty) => ty.clone(),
            Self::Nested(nesting, attributes) => {
                let object = object_type(attributes);
                match nesting {
                    Nesting::Single => object,
                    Nesting::List => Type::list(object),
                    Nesting::Set => Type::set(object),
                    Nesting::Map => Type::map(object),
                }
            }
        }
    }

    /// The shape of a collection of this: nested attributes stay nested, one level deep.
    #[must_use]
    pub fn collected(self, nesting: Nesting) -> Self {
        match (self, nesting) {
            (shape, Nesting::Single) => shape,
            (Self::Nested(Nesting::Single, attributes), nesting) => Self::Nested(nesting, attributes),
            (shape, Nesting::List) => Self::Plain(Type::list(shape.ty())),
            (shape, Nesting::Set) => Self::Plain(Type::set(shape.ty())),
            (shape, Nesting::Map) => Self::Plain(Type::map(shape.ty())),
        }
    }
}

pub(crate) fn object_type(attributes: &[Attribute]) -> Type {
    let types: BTreeMap<String, Type> = attributes
        .iter()
        .map(|attribute| (attribute.name.clone(), attribute.ty()))
        .collect();
    Type::Object(types)
}
