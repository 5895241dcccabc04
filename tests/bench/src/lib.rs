//! Makes snapshots, runs Karpenter's scheduler and ours on them side by side, judges both, and writes the page that says
//! what came out.
//!
//! [`generate`] -> [`compare`] (through [`measure`] and [`judge`]) -> [`outcome`] -> [`report`]; beside it [`differ`], which
//! looks for differences in thousands of small snapshots. [`runs`] has one function for each command of [`arguments`].

pub mod answer;
pub mod arguments;
pub mod carriers;
pub mod cases;
pub mod compare;
pub mod differ;
pub mod draw;
pub mod generate;
pub mod judge;
pub mod measure;
pub mod objects;
pub mod outcome;
pub mod picture;
pub mod report;
pub mod runs;
pub mod tools;
