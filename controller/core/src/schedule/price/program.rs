//! The program of loads: what pods are worth at most, if no load that is known is worth more than its node costs.

use super::knapsack::Takes;
use super::simplex::Simplex;
use super::table::cost;

/// The program with its answer. It is solved from the other side: how often each load is bought so that all pods are carried
/// for the least.
pub(super) struct Program {
    simplex: Simplex,
    /// The loads that joined, with the prices of their nodes: one that is of no use now may be later.
    known: Vec<(f64, Takes)>,
    /// How many steps were taken.
    steps: usize,
}

/// A load is of use if it is worth so much of its node's price or more.
const USEFUL: f64 = 1.0 + 1e-6;

impl Program {
    /// For kinds of pods that there are so many of and that are each worth at most so much.
    pub(super) fn new(kinds: &[(f64, f64)]) -> Program {
        let alone: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(kind, (count, worth))| (kind, *worth, 1.0, *count))
            .collect();
        Program {
            simplex: Simplex::new(&alone),
            known: Vec::new(),
            steps: 0,
        }
    }

    /// What a pod of each kind is worth.
    pub(super) fn worth(&self) -> &[f64] {
        self.simplex.prices()
    }

    /// What all pods are worth.
    pub(super) fn total(&self) -> f64 {
        self.simplex.total()
    }

    /// How many numbers were changed on the way here.
    pub(super) fn work(&self) -> usize {
        self.steps * self.worth().len() * self.worth().len()
    }

    /// A load that is worth no more than its node's price; whether that was news.
    pub(super) fn join(&mut self, price: f64, load: Takes) -> bool {
        let joined = self.enter(price, &load);
        self.known.push((price, load));
        joined
    }

    /// Looks again at the loads that are known, the most useful first, as long as one is of use and at most so often.
    pub(super) fn settle(&mut self, most: usize) {
        for _ in 0..most {
            let worth = self.worth();
            let of = |(price, load): &(f64, Takes)| cost(load, worth) / price;
            let best = self.known.iter().map(of).enumerate();
            let best = best.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((at, _)) = best.filter(|(_, share)| *share > USEFUL) else {
                return;
            };
            let (price, load) = std::mem::take(&mut self.known[at]);
            let entered = self.enter(price, &load);
            self.known[at] = (price, load);
            if !entered {
                return;
            }
        }
    }

    fn enter(&mut self, price: f64, load: &[(usize, f64)]) -> bool {
        let entered = self.simplex.enter(usize::MAX, price, load);
        if entered {
            self.steps += 1;
            for kind in 0..self.worth().len() {
                // More of a kind than there is may be carried.
                if self.worth()[kind] < 0.0 && self.simplex.enter(usize::MAX, 0.0, &[(kind, -1.0)]) {
                    self.steps += 1;
                }
            }
        }
        entered
    }
}

#[cfg(test)]
mod tests {
    use super::Program;

    /// Four of one kind and two of another, worth 3 each alone. A node of 4 carries two of the first or one of each; once one of 5
    /// carries four of the first, the node of one each is of use for the second, and what is known is enough to say so.
    #[test]
    fn a_load_that_is_known_is_of_use_later() {
        let mut program = Program::new(&[(4.0, 3.0), (2.0, 3.0)]);
        assert!(program.join(4.0, vec![(0, 2.0)]));
        assert!(program.join(4.0, vec![(0, 1.0), (1, 1.0)]));
        assert!((program.total() - 12.0).abs() < 1e-9, "{}", program.total());
        assert!(program.join(5.0, vec![(0, 4.0)]));
        program.settle(9);
        assert!((program.total() - 10.5).abs() < 1e-9, "{}", program.total());
        assert!(!program.join(9.0, vec![(0, 4.0)]));
    }
}
