//! An SDK for Terraform and OpenTofu providers in Rust: protocol 6, typed models, and a fake core for tests.
//!
//! A provider implements [`Provider`] and, for each thing it offers, [`Resource`], [`DataSource`], [`EphemeralResource`] or
//! [`Function`]. Models are structs of [`Field`]s with `#[derive(Model)]`. `main` calls [`serve`](fn@serve).
//!
//! The README beside this crate shows a whole resource.

// The derive names this crate from outside; so it can be used inside too.
extern crate self as tfplugin;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod context;
mod data_source;
mod diagnostics;
mod ephemeral;
mod erased;
mod field;
mod function;
mod identity;
pub mod json;
pub mod model;
mod path;
mod prepare;
mod private;
mod provider;
mod resource;
mod rpc;
pub mod rules;
pub mod schema;
mod serve;
pub mod testing;
mod timeouts;
pub mod validate;
pub mod value;

pub use async_trait::async_trait;
pub use context::{ClientCapabilities, Configured, Context, DeferReason};
pub use data_source::DataSource;
pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use ephemeral::{EphemeralResource, Opened, Renewed};
pub use field::Field;
pub use function::{Arguments, Function, FunctionError, Parameter, Signature};
pub use identity::{Identity, NoIdentity};
pub use model::Set;
pub use model::{AttributeValue, ConvertError, Empty, Model};
pub use path::{AttributePath, Step};
pub use private::Private;
pub use provider::{Offers, Provider};
pub use resource::{ApplyRequest, ImportBy, MoveRequest, Plan, PlanRequest, RawPlan, Resource, State};
pub use schema::{Attribute, Mode, Nesting, Schema, Shape, check_schema};
pub use serve::{ServeOptions, serve};
pub use tfplugin_derive::Model;
pub use timeouts::{Timeouts, timeout_or};
pub use tokio_util::sync::CancellationToken;
pub use value::{Number, Refinements, Type, Value};
