//! A core in process, for unit tests of providers: it drives resources over the protocol's own messages, without gRPC and
//! processes, and judges every answer by the rules of Terraform and OpenTofu.
//!
//! ```text
//! let core = Core::new(Example).await?;                    // schemas are checked
//! core.configure(json!({ "folder": UNKNOWN })).await?;     // as in a first plan
//! let mut bucket = core.resource("example_bucket")?;
//! let planned = bucket.plan(json!({ "name": "a" })).await?;
//! assert_eq!(planned.action, Action::Create);
//! core.configure(json!({ "folder": "/tmp/x" })).await?;    // as in the apply
//! bucket.apply_plan(planned, json!({ "name": "a" })).await?;
//! assert_eq!(bucket.plan(json!({ "name": "a" })).await?.action, Action::NoOp);
//! bucket.destroy().await?;
//! ```

mod config;
mod core;
mod failure;
mod session;
mod state_json;

pub use self::core::Core;
pub use config::{UNKNOWN, value_from_json};
pub use failure::Failure;
pub use session::{Action, Planned, Session, Stored};
