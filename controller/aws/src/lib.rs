//! Everything that Joiner asks of AWS, and the only crate that knows the SDK.
//!
//! Pure parts (catalogue, user data, policies, launch plans) take facts and return data; the parts that call AWS are thin
//! and are methods of [`Aws`] or take one.

mod connect;
mod error;
pub mod tags;
pub mod unavailable;

pub use connect::{AssumeRole, Aws, Endpoints, Settings};
pub use error::{Answer, Error};
