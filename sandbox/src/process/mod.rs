//! Processes of the sandbox: who they are (`identity`), how they are started so that none outlives the supervisor
//! (`spawn`, `launcher`), and what their logs say last (`tail`).

pub mod identity;
pub mod launcher;
pub(crate) mod spawn;
pub(crate) mod tail;
