//! How many tests stand on a sandbox at once.
//!
//! They wait most of their time for real parts, so there are more of them than cores; but each brings a control plane along, and
//! on a machine that is far too busy real parts miss deadlines of their own.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::{Semaphore, SemaphorePermit};

static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Semaphore::new(places(cores))
});

/// The right to stand on a sandbox, given back when dropped.
pub(crate) struct Place {
    _permit: Option<SemaphorePermit<'static>>,
}

impl Place {
    /// Waits for a free place.
    pub(crate) async fn take() -> Self {
        Self {
            // Nobody closes the semaphore.
            _permit: PLACES.acquire().await.ok(),
        }
    }
}

/// Places on a machine of so many cores.
fn places(cores: usize) -> usize {
    (2 * cores).max(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_more_places_than_cores_and_never_just_one() {
        for (cores, want) in [(1, 3), (2, 4), (16, 32)] {
            assert_eq!(places(cores), want, "{cores} cores");
        }
    }
}
