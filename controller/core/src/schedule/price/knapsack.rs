//! What one node can carry at most, pods being divisible: the load that is worth most, and at which prices of its
//! resources the node is worth just that.

use super::simplex::{Basic, Simplex, Step};

/// A pod that may be on a node: what it takes, by resource; nothing it does not take is listed.
pub(super) type Takes = Vec<(usize, f64)>;

/// The question for one node; asked again with other worths it starts from the last answer.
#[derive(Clone, Debug)]
pub(super) struct Knapsack {
    simplex: Simplex,
    /// How many kinds of pods there are; columns from here on stand for resources that are left.
    pods: usize,
    /// The kinds of which the node holds as many as it may.
    full: Vec<bool>,
}

/// What may be on a node: kinds of pods.
#[derive(Clone, Copy)]
pub(super) struct Goods<'a> {
    /// What each takes.
    pub(super) takes: &'a [Takes],
    /// How many of each a node holds at most, whatever its size.
    pub(super) caps: &'a [f64],
}

/// More steps than any program of so few rows takes.
const STEPS: usize = 60;

impl Knapsack {
    /// A node with so much of each resource, for `pods` kinds of pods.
    pub(super) fn new(room: &[f64], pods: usize) -> Knapsack {
        let left: Vec<_> = room
            .iter()
            .enumerate()
            .map(|(dim, room)| (pods + dim, 0.0, 1.0, room.max(0.0)))
            .collect();
        Knapsack {
            simplex: Simplex::new(&left),
            pods,
            full: vec![false; pods],
        }
    }

    /// What the best load is worth, for pods of `kinds` that each fit. [`Knapsack::prices`] and [`Knapsack::load`] say more.
    pub(super) fn solve(&mut self, kinds: &[usize], goods: Goods<'_>, worth: &[f64]) -> f64 {
        let pods = self.pods;
        self.simplex
            .reprice(|id| if id < pods { -worth[id] } else { 0.0 });
        for _ in 0..STEPS + 2 * kinds.len() {
            let prices = self.simplex.prices();
            let mut best: Option<(f64, usize)> = None;
            for kind in kinds {
                let (worth, full) = (worth[*kind], self.full[*kind]);
                if !full && worth <= 0.0 || goods.takes[*kind].is_empty() {
                    continue;
                }
                let cost: f64 = goods.takes[*kind]
                    .iter()
                    .map(|(dim, takes)| -prices[*dim] * takes)
                    .sum();
                let gain = if full { cost - worth } else { worth - cost };
                // Relative, for it does not matter in how large pieces something divisible comes.
                let share = gain / worth.max(cost);
                if share > best.map_or(1e-7, |(most, _)| most) {
                    best = Some((share, *kind));
                }
            }
            let step = match best {
                Some((_, kind)) => {
                    let comes = Basic {
                        id: kind,
                        cost: -worth[kind],
                        value: if self.full[kind] { goods.caps[kind] } else { 0.0 },
                        most: goods.caps[kind],
                    };
                    let step = self.simplex.step(comes, &goods.takes[kind]);
                    self.full[kind] = matches!(step, Step::Whole) && !self.full[kind];
                    step
                }
                // A resource whose price has become negative is left over.
                None => match prices.iter().position(|price| *price > 1e-9) {
                    Some(dim) => self.simplex.step(unused(pods + dim), &[(dim, 1.0)]),
                    None => break,
                },
            };
            match step {
                Step::None => break,
                Step::Whole => {}
                Step::For(gone) => {
                    if let Some(full) = self.full.get_mut(gone.id) {
                        *full = gone.value > 0.0;
                    }
                }
            }
        }
        let full = (0..pods).filter(|kind| self.full[*kind]);
        full.map(|kind| worth[kind] * goods.caps[kind]).sum::<f64>() - self.simplex.total()
    }

    /// As [`Knapsack::solve`], and no load is worth more whatever was rounded on the way: prices of resources that make no
    /// pod worth more than it takes say so.
    pub(super) fn most(&mut self, kinds: &[usize], takes: &[Takes], worth: &[f64], room: &[f64]) -> f64 {
        let caps = vec![f64::INFINITY; takes.len()];
        let goods = Goods { takes, caps: &caps };
        self.solve(kinds, goods, worth);
        let prices = self.prices();
        let mut lacks = 1.0f64;
        for kind in kinds.iter().filter(|kind| worth[**kind] > 0.0) {
            let cost: f64 = takes[*kind].iter().map(|(dim, takes)| prices[*dim] * takes).sum();
            lacks = lacks.max(worth[*kind] / cost);
        }
        let all: f64 = prices.iter().zip(room).map(|(price, room)| price * room).sum();
        all * lacks
    }

    /// The price of each resource.
    pub(super) fn prices(&self) -> Vec<f64> {
        self.simplex
            .prices()
            .iter()
            .map(|price| (-price).max(0.0))
            .collect()
    }

    /// The best load: kinds of pods, and how many of each.
    pub(super) fn load(&self, caps: &[f64]) -> Vec<(usize, f64)> {
        let mut load: Vec<(usize, f64)> = self
            .simplex
            .basis()
            .iter()
            .filter(|basic| basic.id < self.pods && basic.value > 1e-9)
            .map(|basic| (basic.id, basic.value))
            .collect();
        let full = (0..self.pods).filter(|kind| self.full[*kind]);
        load.extend(full.map(|kind| (kind, caps[kind])));
        load.sort_by_key(|(kind, _)| *kind);
        load
    }
}

/// Some of a resource that nothing takes.
const fn unused(id: usize) -> Basic {
    Basic {
        id,
        cost: 0.0,
        value: 0.0,
        most: f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::{Goods, Knapsack};

    /// One kind takes all of the cores, another all of the memory: half of each is worth more than either.
    #[test]
    fn the_best_load_uses_all_resources() {
        let takes = vec![
            vec![(0, 2.0), (1, 1.0)],
            vec![(0, 1.0), (1, 2.0)],
            vec![(0, 3.0), (1, 3.0)],
        ];
        let caps = [f64::INFINITY; 3];
        let goods = Goods {
            takes: &takes,
            caps: &caps,
        };
        let mut node = Knapsack::new(&[6.0, 6.0], 3);
        let worth = node.solve(&[0, 1, 2], goods, &[1.0, 1.0, 1.0]);
        assert!((worth - 4.0).abs() < 1e-6, "{worth}");
        assert_eq!(node.load(&caps).len(), 2);
        let prices = node.prices();
        assert!((prices[0] - 1.0 / 3.0).abs() < 1e-6 && (prices[1] - 1.0 / 3.0).abs() < 1e-6);
        // The third becomes the best, and then the first alone.
        let worth = node.solve(&[0, 1, 2], goods, &[1.0, 1.0, 4.0]);
        assert!((worth - 8.0).abs() < 1e-6, "{worth}");
        let worth = node.solve(&[0], goods, &[1.0, 0.0, 0.0]);
        assert!((worth - 3.0).abs() < 1e-6, "{worth}");
    }

    /// Of a node of six cores and as much memory at most one of the first kind is wanted, at most two of the second.
    #[test]
    fn a_node_holds_no_more_of_a_kind_than_it_may() {
        let takes = vec![vec![(0, 2.0)], vec![(0, 1.0), (1, 1.0)], vec![(1, 1.0)]];
        let mut node = Knapsack::new(&[6.0, 6.0], 3);
        for (caps, worth, want, load) in [
            (
                [1.0, 2.0, 9.0],
                [3.0, 1.0, 0.1],
                5.4,
                vec![(0, 1.0), (1, 2.0), (2, 4.0)],
            ),
            ([1.0, 2.0, 9.0], [0.1, 1.0, 2.0], 12.1, vec![(0, 1.0), (2, 6.0)]),
            (
                [1.0, 2.0, 9.0],
                [3.0, 9.0, 2.0],
                29.0,
                vec![(0, 1.0), (1, 2.0), (2, 4.0)],
            ),
        ] {
            let goods = Goods {
                takes: &takes,
                caps: &caps,
            };
            let most = node.solve(&[0, 1, 2], goods, &worth);
            assert!((most - want).abs() < 1e-9, "{most} and not {want} of {worth:?}");
            assert_eq!(node.load(&caps), load, "{worth:?}");
        }
    }
}
