//! Bundles side by side, so that several are looked at in one step: which is worth most for what it takes of what is left of a
//! node, and which is worth more than a pod that is there. Amounts are rounded here; whoever takes a pod asks exactly.

/// So many bundles are looked at in one step.
pub(super) const WIDE: usize = 8;

/// One number of each of them.
type Lanes = [f32; WIDE];

/// What was rounded on the way makes nothing too large.
const ROUNDING: f32 = 1.0 + 1e-6;
/// Numbers near this are whole: what is added to it and taken off again is rounded.
const WHOLE: f32 = 12_582_912.0;
/// What is worth nothing is still better on a node that is bought than on one of its own.
const TRIFLE: f32 = 1e-3;
/// More pods than go on a node.
const MANY: f32 = 1e6;

/// A bundle.
pub(super) struct Lane<'a> {
    pub(super) bundle: usize,
    /// What a pod takes of each resource.
    pub(super) takes: &'a [f32],
    /// What it is worth.
    pub(super) worth: f32,
    /// How much more it counts for being large.
    pub(super) bonus: f32,
}

/// Bundles, and which of them may be on the node in question.
#[derive(Default)]
pub(super) struct Shelf {
    dims: usize,
    bundles: Vec<usize>,
    /// What a pod of each takes, by step and resource.
    takes: Vec<Lanes>,
    /// How often that goes into one.
    times: Vec<Lanes>,
    worth: Vec<Lanes>,
    bonus: Vec<Lanes>,
    /// The worth of those that may be on the node, nothing for others.
    here: Vec<Lanes>,
    /// That with the bonus, of those that may still come.
    value: Vec<Lanes>,
    /// The steps in which some may.
    open: Vec<usize>,
    /// How many may be on the node.
    count: usize,
}

/// A pod that goes, and what comes in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The pod, by its place in the load.
    pub(super) goes: usize,
    /// The bundle that comes, by its place on the shelf.
    pub(super) comes: usize,
    /// How many of its pods fit.
    pub(super) count: usize,
}

/// A pod of a load: its bundle and what it takes and is worth.
pub(super) type Loaded<'a> = (usize, &'a [f32], f32);

impl Shelf {
    /// Puts up bundles anew.
    pub(super) fn put_up<'a>(&mut self, dims: usize, lanes: impl Iterator<Item = Lane<'a>>) {
        self.dims = dims;
        self.bundles.clear();
        for list in [&mut self.takes, &mut self.times, &mut self.worth, &mut self.bonus] {
            list.clear();
        }
        for lane in lanes {
            let at = self.bundles.len() % WIDE;
            if at == 0 {
                // What is not there takes nothing and is worth nothing.
                self.takes.resize(self.takes.len() + dims, [0.0; WIDE]);
                self.times.resize(self.times.len() + dims, [0.0; WIDE]);
                self.worth.push([0.0; WIDE]);
                self.bonus.push([0.0; WIDE]);
            }
            let step = self.worth.len() - 1;
            for (dim, takes) in lane.takes.iter().enumerate() {
                self.takes[step * dims + dim][at] = *takes;
                self.times[step * dims + dim][at] = 1.0 / takes;
            }
            self.worth[step][at] = lane.worth.max(TRIFLE);
            self.bonus[step][at] = lane.bonus;
            self.bundles.push(lane.bundle);
        }
    }

    /// Asks from now on about a node on which those bundles may be that `serves` says.
    pub(super) fn ask(&mut self, serves: impl Fn(usize) -> bool) {
        self.here.clone_from(&self.worth);
        self.count = 0;
        for (step, bundles) in self.here.iter_mut().zip(self.bundles.chunks(WIDE)) {
            for (worth, bundle) in step.iter_mut().zip(bundles) {
                if serves(*bundle) {
                    self.count += 1;
                } else {
                    *worth = 0.0;
                }
            }
        }
    }

    pub(super) fn bundle(&self, lane: usize) -> usize {
        self.bundles[lane]
    }

    /// How many bundles may be on the node.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Lets all come that may be on the node.
    pub(super) fn reopen(&mut self) {
        self.value.clear();
        let pairs = self.here.iter().zip(&self.bonus);
        self.value.extend(pairs.map(|(here, bonus)| {
            let mut value = *here;
            value
                .iter_mut()
                .zip(bonus)
                .for_each(|(value, bonus)| *value *= bonus);
            value
        }));
        self.open.clear();
        self.open.extend(0..self.value.len());
    }

    /// How many looks it takes to find the best.
    pub(super) fn looks(&self) -> usize {
        self.open.len() * WIDE
    }

    /// The one whose pods are worth most for their share of what is left, of those that may still come, and that share; `inverse`
    /// is one by what is left of each resource. Steps of which nothing fits any more are not looked at again.
    pub(super) fn best(&mut self, inverse: &[f32]) -> Option<(usize, f32)> {
        let mut best = (0.0f32, None);
        let mut at = 0;
        while at < self.open.len() {
            let step = self.open[at];
            let (mut cost, mut most) = ([1e-12f32; WIDE], [0.0f32; WIDE]);
            for (takes, inverse) in self.takes[step * self.dims..][..self.dims].iter().zip(inverse) {
                for lane in 0..WIDE {
                    let share = takes[lane] * inverse;
                    cost[lane] += share;
                    most[lane] = if share > most[lane] { share } else { most[lane] };
                }
            }
            let mut score = [0.0f32; WIDE];
            for lane in 0..WIDE {
                let of = self.value[step][lane] / cost[lane];
                score[lane] = if most[lane] <= ROUNDING { of } else { 0.0 };
            }
            let top = score
                .iter()
                .copied()
                .fold(0.0, |top, one| if one > top { one } else { top });
            if top <= 0.0 {
                self.open.swap_remove(at);
                continue;
            }
            if top > best.0
                && let Some(lane) = score.iter().position(|one| *one == top)
            {
                best = (top, Some((step * WIDE + lane, most[lane])));
            }
            at += 1;
        }
        best.1
    }

    /// One that may come no more.
    pub(super) fn shut(&mut self, lane: usize) {
        self.value[lane / WIDE][lane % WIDE] = 0.0;
    }

    /// One that may not be on the node after all.
    pub(super) fn refuse(&mut self, lane: usize) {
        self.here[lane / WIDE][lane % WIDE] = 0.0;
    }

    /// The exchange that gains the most, and more than `enough`, as far as amounts go: of a pod of the load for pods of another
    /// bundle.
    pub(super) fn exchange<'a>(
        &self,
        free: &[f32],
        load: impl Iterator<Item = Loaded<'a>>,
        enough: f32,
    ) -> Option<Exchange> {
        let mut room = vec![0.0f32; self.dims];
        let (mut most, mut best) = (enough, None);
        for (goes, (out, takes, lost)) in load.enumerate() {
            for ((room, free), takes) in room.iter_mut().zip(free).zip(takes) {
                *room = (free + takes).max(0.0);
            }
            for (step, (worth, times)) in self
                .here
                .iter()
                .zip(self.times.chunks_exact(self.dims.max(1)))
                .enumerate()
            {
                let mut fits = [MANY; WIDE];
                for (times, room) in times.iter().zip(&room) {
                    for lane in 0..WIDE {
                        // What is not taken goes in endlessly, and into nothing in no number of times, which counts for nothing.
                        let here = room * times[lane];
                        fits[lane] = if here < fits[lane] { here } else { fits[lane] };
                    }
                }
                let mut gain = [0.0f32; WIDE];
                for lane in 0..WIDE {
                    fits[lane] = (fits[lane] * ROUNDING - 0.5 + WHOLE) - WHOLE;
                    gain[lane] = fits[lane] * worth[lane] - lost;
                }
                let top = gain
                    .iter()
                    .copied()
                    .fold(most, |top, one| if one > top { one } else { top });
                if top <= most {
                    continue;
                }
                for lane in 0..WIDE {
                    let comes = step * WIDE + lane;
                    if gain[lane] > most && self.bundles[comes] != out {
                        most = gain[lane];
                        best = Some(Exchange {
                            goes,
                            comes,
                            count: fits[lane] as usize,
                        });
                    }
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, Lane, Shelf};

    /// Pods of 4 cores and 4 GiB, of 2 and 3, of 1 and 5, and of 6 cores alone, after so many others that are in the way.
    const TAKES: [[f32; 2]; 4] = [[4.0, 4.0], [2.0, 3.0], [1.0, 5.0], [6.0, 0.0]];
    const WORTH: [f32; 4] = [4.0, 2.5, 3.0, 5.5];

    fn shelf(before: usize) -> Shelf {
        let mut shelf = Shelf::default();
        let all = (0..before + 4).map(|bundle| {
            let one = bundle.saturating_sub(before);
            Lane {
                bundle,
                takes: &TAKES[one],
                worth: WORTH[one],
                bonus: 1.0,
            }
        });
        shelf.put_up(2, all);
        shelf
    }

    #[test]
    fn the_best_exchange_uses_what_is_left() {
        for before in [0, 3, 4, 13] {
            let exchange = |goes, comes, count| {
                Some(Exchange {
                    goes,
                    comes: before + comes,
                    count,
                })
            };
            for (free, load, open, want) in [
                // Without a rest one for one: nothing is worth more than it takes.
                ([0.0, 0.0], &[0][..], &[0, 1, 2, 3][..], None),
                // Two of the second fit into what the first leaves.
                ([0.0, 2.0], &[0], &[0, 1, 2, 3], exchange(0, 1, 2)),
                // And beside two free cores the one that takes no memory.
                ([2.0, 0.0], &[2, 0], &[1, 3], exchange(1, 3, 1)),
                // It is the more worthwhile pod that stays.
                ([5.0, 0.0], &[0, 1], &[3], exchange(1, 3, 1)),
                // None but its own kind would come.
                ([9.0, 9.0], &[2], &[2], None),
            ] {
                let mut shelf = shelf(before);
                shelf.ask(|bundle| bundle >= before && open.contains(&(bundle - before)));
                assert_eq!(shelf.len(), open.len());
                let pods = load
                    .iter()
                    .map(|one| (before + one, &TAKES[*one][..], WORTH[*one]));
                let found = shelf.exchange(&free, pods, 0.1);
                assert_eq!(found, want, "{before} before {free:?} {load:?} {open:?}");
            }
        }
    }

    #[test]
    fn the_best_is_worth_most_for_its_share_of_what_is_left() {
        let mut shelf = shelf(9);
        shelf.ask(|bundle| bundle > 9);
        shelf.reopen();
        // Cores are short: of memory there is plenty.
        let inverse = [0.25, 0.01];
        assert_eq!(shelf.best(&inverse), Some((11, 0.25)));
        shelf.shut(11);
        assert_eq!(shelf.best(&inverse), Some((10, 0.5)));
        shelf.shut(10);
        assert_eq!(shelf.best(&inverse), None, "six cores do not go into four");
        assert_eq!(shelf.looks(), 0);
        shelf.reopen();
        assert_eq!(
            shelf.best(&[1.0 / 6.0, 1e30]),
            Some((12, 1.0)),
            "no memory is left"
        );
    }
}
