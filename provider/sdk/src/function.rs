//! Functions: pure, of their arguments alone, callable in any expression.

use std::fmt;

use crate::model::{AttributeValue, ConvertError};
use crate::path::AttributePath;
use crate::value::{Type, Value};

/// A function that configurations call as `provider::NAME::FUNCTION(...)`.
pub trait Function: Send + Sync + 'static {
    /// The name after the provider's.
    fn name(&self) -> &'static str;

    /// Parameters, result and documentation.
    fn signature(&self) -> Signature;

    /// Computes the result. The same arguments give the same result, always.
    ///
    /// # Errors
    /// A text for the user, and which argument is to blame.
    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError>;
}

/// How a function is called.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// A last parameter that takes any number of arguments.
    pub variadic: Option<Parameter>,
    /// The type of the result.
    pub returns: Type,
    /// One line.
    pub summary: String,
    /// Markdown.
    pub description: String,
    /// Why not to use it any more.
    pub deprecated: Option<String>,
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, for messages and documentation.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Markdown.
    pub description: String,
    /// Whether it may be null; else a core refuses null by itself.
    pub allow_null: bool,
    /// Whether it may be unknown, wholly or in part; else a core does not call and takes the result as unknown.
    pub allow_unknown: bool,
}

impl Parameter {
    /// A parameter that is neither null nor unknown.
    #[must_use]
    pub fn new(name: impl Into<String>, ty: Type, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ty,
            description: description.into(),
            allow_null: false,
            allow_unknown: false,
        }
    }
}

/// The arguments of one call.
#[derive(Clone, Debug)]
pub struct Arguments(Vec<Value>);

impl Arguments {
    /// Arguments in order, variadic ones last.
    #[must_use]
    pub fn new(values: Vec<Value>) -> Self {
        Self(values)
    }

    /// All of them.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// The argument at `position` (from 0) as a Rust type.
    ///
    /// # Errors
    /// A text naming the argument when it is missing or does not fit.
    pub fn get<T: AttributeValue>(&self, position: usize) -> Result<T, FunctionError> {
        let value = self.0.get(position).unwrap_or(&Value::Null);
        T::from_value(value, &AttributePath::root()).map_err(|error| {
            let text = match error {
                ConvertError::Unknown => "the value is not known yet".to_owned(),
                ConvertError::Misfit(diagnostics) => diagnostics
                    .iter()
                    .map(|diagnostic| diagnostic.detail.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            FunctionError::argument(position, text)
        })
    }
}

/// Why a function has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// For the user.
    pub text: String,
    /// The argument to blame, from 0.
    pub argument: Option<usize>,
}

impl FunctionError {
    /// An error of the whole call.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            argument: None,
        }
    }

    /// An error of one argument.
    #[must_use]
    pub fn argument(position: usize, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            argument: Some(position),
        }
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.argument {
            Some(position) => write!(f, "argument {}: {}", position + 1, self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for FunctionError {}
