//! The loops: each observes, decides and acts on one screen, and each is woken by what concerns it.

mod provision;

use std::sync::Arc;
use std::time::Duration;

use crate::act::Act;
use crate::options::Options;
