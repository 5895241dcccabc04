//! Drift: nodes that are not what their pool and class say any more, and how they are replaced.
//!
//! The path in module names: `facts` (what nodes are compared with) -> `compare` (whether one has drifted, and by what) -> `mark`
//! (the condition Drifted) -> `roll` (which go now, within the budgets, and what is launched for them first; `simulate` finds their
//! pods places) -> `progress` (how far a replacement is). `waves` plays a whole roll-out on paper.

mod compare;
mod facts;
mod mark;
mod progress;
mod reason;
mod roll;
mod simulate;
mod waves;

pub use compare::{annotations, drift_of, drift_of_class};
pub use facts::{Class, Facts, Image, Machine};
pub use mark::{drifts, mark};
pub use progress::{PATIENCE, Progress, Rolling, Why, orphans, progress};
pub use reason::{Drift, Reason};
pub use roll::{Move, Place, Replace, Roll, roll};
pub use waves::{Pace, Wave, Waves, waves};
