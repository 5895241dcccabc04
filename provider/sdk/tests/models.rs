//! Models made by the derive, and resources under the fake core.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what a test needs and does not find fails the test"
)]

#[path = "models/derive.rs"]
mod derive;
#[path = "models/json.rs"]
mod json;
#[path = "models/life.rs"]
mod life;
#[path = "models/model.rs"]
mod model;
#[path = "models/wrong.rs"]
mod wrong;
