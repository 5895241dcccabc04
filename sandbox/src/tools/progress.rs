//! Telling whoever waits what is being done.

use std::time::Duration;

/// One thing that happened to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The step began.
    Started {
        /// The step's name, the same in all its events.
        step: &'a str,
    },
    /// The step is done.
    Finished {
        /// The step's name.
        step: &'a str,
        /// How long it took.
        took: Duration,
    },
    /// The step failed; the error follows by another way.
    Failed {
        /// The step's name.
        step: &'a str,
    },
}

/// Who is told.
pub trait Progress: Sync {
    /// Takes one event.
    fn tell(&self, event: Event<'_>);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn tell(&self, _event: Event<'_>) {}
}
