//! What one node can carry at most, pods being divisible: the load that is worth most, and at which prices of its
//! resources the node is worth just that.

use super::simplex::Simplex;

/// A pod that may be on a node: what it takes, by resource; nothing it does not take is listed.
pub(super) type Takes = Vec<(usize, f64)>;

/// The question for one node; asked again with other worths it starts from the last answer.
#[derive(Clone, Debug)]
pub(super) struct Knapsack {
    simplex: Simplex,
    /// How many kinds of pods there are; columns from here on stand for resources that are left.
    pods: usize,
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
        }
    }

    /// What the best load is worth, for pods of `kinds` that each fit. [`Knapsack::prices`] and [`Knapsack::load`] say more.
    pub(super) fn solve(&mut self, kinds: &[usize], takes: &[Takes], worth: &[f64]) -> f64 {
        let pods = self.pods;
        self.simplex
            .reprice(|id| if id < pods { -worth[id] } else { 0.0 });
        for _ in 0..STEPS {
            let prices = self.simplex.prices();
            let mut best: Option<(f64, usize)> = None;
            for kind in kinds {
                let worth = worth[*kind];
                if worth <= 0.0 || takes[*kind].is_empty() {
                    continue;
                }
                let cost: f64 = takes[*kind]
                    .iter()
                    .map(|(dim, takes)| -prices[*dim] * takes)
                    .sum();
                // Relative, for it does not matter in how large pieces something divisible comes.
                let share = cost / worth;
                if share < best.map_or(1.0 - 1e-7, |(least, _)| least) {
                    best = Some((share, *kind));
                }
            }
            let entered = match best {
                Some((_, kind)) => self.simplex.enter(kind, -worth[kind], &takes[kind]),
                // A resource whose price has become negative is left over.
                None => match prices.iter().position(|price| *price > 1e-9) {
                    Some(dim) => self.simplex.enter(pods + dim, 0.0, &[(dim, 1.0)]),
                    None => break,
                },
            };
            if !entered {
                break;
            }
        }
        -self.simplex.total()
    }

    /// As [`Knapsack::solve`], and no load is worth more whatever was rounded on the way: prices of resources that make no
    /// pod worth more than it takes say so.
    pub(super) fn most(&mut self, kinds: &[usize], takes: &[Takes], worth: &[f64], room: &[f64]) -> f64 {
        self.solve(kinds, takes, worth);
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
    pub(super) fn load(&self) -> Vec<(usize, f64)> {
        let mut load: Vec<(usize, f64)> = self
            .simplex
            .basis()
            .iter()
            .filter(|basic| basic.id < self.pods && basic.value > 1e-9)
            .map(|basic| (basic.id, basic.value))
            .collect();
        load.sort_by_key(|(kind, _)| *kind);
        load
    }
}

#[cfg(test)]
mod tests {
    use super::Knapsack;

    /// One kind takes all of the cores, another all of the memory: half of each is worth more than either.
    #[test]
    fn the_best_load_uses_all_resources() {
        let takes = vec![
            vec![(0, 2.0), (1, 1.0)],
            vec![(0, 1.0), (1, 2.0)],
            vec![(0, 3.0), (1, 3.0)],
        ];
        let mut node = Knapsack::new(&[6.0, 6.0], 3);
        let worth = node.solve(&[0, 1, 2], &takes, &[1.0, 1.0, 1.0]);
        assert!((worth - 4.0).abs() < 1e-6, "{worth}");
        assert_eq!(node.load().len(), 2);
        let prices = node.prices();
        assert!((prices[0] - 1.0 / 3.0).abs() < 1e-6 && (prices[1] - 1.0 / 3.0).abs() < 1e-6);
        // The third becomes the best, and then the first alone.
        let worth = node.solve(&[0, 1, 2], &takes, &[1.0, 1.0, 4.0]);
        assert!((worth - 8.0).abs() < 1e-6, "{worth}");
        let worth = node.solve(&[0], &takes, &[1.0, 0.0, 0.0]);
        assert!((worth - 3.0).abs() < 1e-6, "{worth}");
    }
}
