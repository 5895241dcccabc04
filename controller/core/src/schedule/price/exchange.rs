//! Makes the load of a node better by exchanges. Pods that are worth most for what they take do not always go together without a
//! rest: one of them gives way to others where these are worth more together.

use super::fill::Trial;
use super::pack::Packer;
use crate::schedule::state::Round;

/// The most exchanges on one node.
const MOST: usize = 10;
/// An exchange gains so much of the node's price or more.
const ENOUGH: f64 = 1e-4;

/// A pod that goes, and what comes in its place.
#[derive(Debug, PartialEq, Eq)]
struct Exchange {
    /// The pod, by its place in the load.
    goes: usize,
    /// The bundle that comes, by its place among those that may.
    comes: usize,
    /// How many of its pods fit.
    count: usize,
}

/// What pods of bundles take, one bundle after the other.
struct Sizes<'a> {
    takes: &'a [f64],
    /// How often that goes into one.
    times: &'a [f64],
}

impl Packer {
    /// Exchanges pods of a node for others as long as that makes its load worth more; how many looks at pods it took.
    pub(super) fn exchange(&mut self, round: &Round<'_, '_>, trial: &mut Trial) -> usize {
        let column = trial.fill.column;
        let worth = |packer: &Packer, bundle: usize| packer.worth[packer.bundles[bundle][0]];
        let mut open = self.active.clone();
        open.retain(|bundle| self.serves(column, *bundle) && worth(self, *bundle) > 0.0);
        let enough = self.columns.all[column].price * ENOUGH;
        let mut looks = 0;
        for _ in 0..MOST {
            let load = trial
                .fill
                .counts
                .iter()
                .map(|(demand, _)| self.bundle_of[*demand]);
            let load: Vec<usize> = load.collect();
            let free: Vec<f64> = self.taken.iter().map(|dim| trial.free[*dim]).collect();
            let sizes = Sizes {
                takes: &self.takes,
                times: &self.times,
            };
            looks += load.len() * open.len();
            let Some(best) = best(&free, &load, &open, &sizes, |bundle| worth(self, bundle), enough) else {
                break;
            };
            if self.swap(round, trial, &best, open[best.comes], enough) {
                looks += self.top_up(round, trial);
            } else {
                open.swap_remove(best.comes);
            }
        }
        looks
    }

    /// Makes an exchange, unless there are too few pods that may come or rules keep them away; whether it was made.
    fn swap(
        &self,
        round: &Round<'_, '_>,
        trial: &mut Trial,
        exchange: &Exchange,
        bundle: usize,
        enough: f64,
    ) -> bool {
        let before = trial.worth;
        let (gone, _) = trial.fill.counts[exchange.goes];
        self.take_off(round, gone, 1, trial);
        let (mut missing, mut come) = (exchange.count, Vec::new());
        for demand in &self.bundles[bundle] {
            let count = self.more(round, *demand, trial).min(missing);
            if count > 0 {
                self.take(round, *demand, count, trial);
                come.push((*demand, count));
                missing -= count;
            }
            if missing == 0 {
                break;
            }
        }
        if trial.worth >= before + enough {
            return true;
        }
        for (demand, count) in come {
            self.take_off(round, demand, count, trial);
        }
        self.take(round, gone, 1, trial);
        false
    }
}

/// The exchange that gains the most, and more than `enough`, as far as amounts go: of a pod of some bundle of the `load` for
/// pods of another that is `open`.
fn best(
    free: &[f64],
    load: &[usize],
    open: &[usize],
    sizes: &Sizes<'_>,
    worth: impl Fn(usize) -> f64,
    enough: f64,
) -> Option<Exchange> {
    let dims = free.len();
    let mut room = vec![0.0f64; dims];
    let (mut most, mut best) = (enough, None);
    for (goes, out) in load.iter().enumerate() {
        let takes = &sizes.takes[out * dims..][..dims];
        for ((room, free), takes) in room.iter_mut().zip(free).zip(takes) {
            *room = (free + takes).max(0.0);
        }
        let lost = worth(*out);
        for (comes, bundle) in open.iter().enumerate() {
            let mut fits = 1e6f64;
            for (room, times) in room.iter().zip(&sizes.times[bundle * dims..][..dims]) {
                // What is not taken goes in endlessly, and into nothing in no number of times, which counts for nothing.
                fits = fits.min(room * times);
            }
            let fits = (fits + 1e-9).floor();
            let gain = fits * worth(*bundle) - lost;
            if gain > most && bundle != out {
                most = gain;
                best = Some(Exchange {
                    goes,
                    comes,
                    count: fits as usize,
                });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{Exchange, Sizes, best};

    /// Pods of 4 cores and 4 GiB, of 2 and 3, of 1 and 5, and of 6 cores alone.
    #[test]
    fn the_best_exchange_uses_what_is_left() {
        let takes = [4.0, 4.0, 2.0, 3.0, 1.0, 5.0, 6.0, 0.0];
        let times = takes.map(|takes: f64| 1.0 / takes);
        let sizes = Sizes {
            takes: &takes,
            times: &times,
        };
        let worth = |bundle: usize| [4.0, 2.5, 3.0, 5.5][bundle];
        let exchange = |goes, comes, count| Some(Exchange { goes, comes, count });
        for (free, load, open, want) in [
            // Without a rest one for one: nothing is worth more than it takes.
            ([0.0, 0.0], &[0][..], &[0, 1, 2, 3][..], None),
            // Two of the second fit into what the first leaves.
            ([0.0, 2.0], &[0], &[0, 1, 2, 3], exchange(0, 1, 2)),
            // And beside two free cores the one that takes no memory.
            ([2.0, 0.0], &[2, 0], &[1, 3], exchange(1, 1, 1)),
            // It is the more worthwhile pod that stays.
            ([5.0, 0.0], &[0, 1], &[3], exchange(1, 0, 1)),
            // None but its own kind would come.
            ([9.0, 9.0], &[2], &[2], None),
        ] {
            assert_eq!(
                best(&free, load, open, &sizes, worth, 0.1),
                want,
                "{free:?} {load:?} {open:?}"
            );
        }
    }
}
