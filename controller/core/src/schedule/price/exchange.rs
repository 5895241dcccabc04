//! Makes the load of a node better by exchanges. Pods that are worth most for what they take do not always go together without a
//! rest: one of them gives way to others where these are worth more together.

use super::fill::Trial;
use super::pack::Packer;
use super::shelf::{Exchange, Shelf};
use crate::schedule::state::Round;

/// The most exchanges on one node.
const MOST: usize = 10;
/// An exchange gains so much of the node's price or more.
const ENOUGH: f64 = 1e-4;

impl Packer {
    /// Exchanges pods of a node for others as long as that makes its load worth more; how many looks at pods it took.
    pub(super) fn exchange(&self, round: &Round<'_, '_>, trial: &mut Trial, shelf: &mut Shelf) -> usize {
        let enough = self.columns.all[trial.fill.column].price * ENOUGH;
        let mut looks = 0;
        for _ in 0..MOST {
            let free: Vec<f32> = self.taken.iter().map(|dim| trial.free[*dim] as f32).collect();
            let load = trial.fill.counts.iter().map(|(demand, _)| {
                let bundle = self.bundle_of[*demand];
                (bundle, self.takes_of(bundle), self.worth[*demand] as f32)
            });
            looks += load.len() * shelf.len();
            let Some(best) = shelf.exchange(&free, load, enough as f32) else {
                break;
            };
            if self.swap(round, trial, &best, shelf.bundle(best.comes), enough) {
                looks += self.top_up(round, trial, shelf);
            } else {
                shelf.refuse(best.comes);
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
