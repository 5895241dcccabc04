//! The program of loads: what pods are worth at most, if no load that is known is worth more than its node costs.

use super::simplex::Simplex;

/// The program with its answer. It is solved from the other side: how often each load is bought so that all pods are carried
/// for the least.
pub(super) struct Program(Simplex);

impl Program {
    /// For kinds of pods that there are so many of and that are each worth at most so much.
    pub(super) fn new(kinds: &[(f64, f64)]) -> Program {
        let alone: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(kind, (count, worth))| (kind, *worth, 1.0, *count))
            .collect();
        Program(Simplex::new(&alone))
    }

    /// What a pod of each kind is worth.
    pub(super) fn worth(&self) -> &[f64] {
        self.0.prices()
    }

    /// What all pods are worth.
    pub(super) fn total(&self) -> f64 {
        self.0.total()
    }

    /// A load that is worth no more than its node's price; whether that was news.
    pub(super) fn join(&mut self, price: f64, load: &[(usize, f64)]) -> bool {
        let joined = self.0.enter(usize::MAX, price, load);
        if joined {
            for kind in 0..self.0.prices().len() {
                if self.0.prices()[kind] < 0.0 {
                    // More of a kind than there is may be carried.
                    self.0.enter(usize::MAX, 0.0, &[(kind, -1.0)]);
                }
            }
        }
        joined
    }
}
