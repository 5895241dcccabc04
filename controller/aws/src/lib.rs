//! Everything that Joiner asks of AWS, and the only crate that knows the SDK.
//!
//! Pure parts (catalogue, user data, policies, launch plans) take facts and return data; the parts that call AWS are thin
//! and take an [`Aws`].

pub mod catalogue;
mod connect;
pub mod ecr;
pub mod eks;
mod error;
pub mod events;
pub mod family;
pub mod iam;
pub mod instances;
pub mod interruption;
mod json_call;
pub mod launch;
pub mod leftovers;
pub mod node_class;
pub mod policy;
pub mod profiles;
pub mod queue;
pub mod queues;
pub mod quotas;
pub mod selectors;
pub mod sts;
pub mod tags;
pub mod unavailable;
pub mod userdata;

#[cfg(test)]
mod testing;

pub use connect::{AssumeRole, Aws, Endpoints, Settings, StaticCredentials};
pub use error::{Answer, Error};
