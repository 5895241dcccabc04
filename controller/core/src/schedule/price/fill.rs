//! What one node of a column would carry: the pods that are worth most for what they take of what is left.

use super::pack::Packer;
use crate::schedule::problem::Where;
use crate::schedule::state::Round;

/// A node's load, as counts by demand.
#[derive(Clone, Debug, Default)]
pub(super) struct Fill {
    pub(super) column: usize,
    pub(super) counts: Vec<(usize, usize)>,
    /// What the load is worth for the column's price; 1 for a node without waste.
    pub(super) rank: f64,
}

/// So many looks at pods cost as much as a node filled on trial.
const LOOKS: u64 = 4096;

impl Packer {
    /// Fills a column, with at least one pod of `head`.
    pub(super) fn fill(&mut self, round: &Round<'_, '_>, column: usize, head: usize) -> Option<Fill> {
        self.spent += 1;
        let mut free = std::mem::take(&mut self.free);
        free.clone_from(&self.columns.all[column].holds);
        let mut hosts = std::mem::take(&mut self.hosts);
        hosts.clear();
        hosts.resize(round.problem.hosts, 0);
        let mut fill = Fill {
            column,
            counts: Vec::new(),
            rank: 0.0,
        };
        let mut worth = 0.0;
        if self.room(round, head, &free, &hosts) > 0 {
            self.take(round, head, 1, &mut fill, &mut free, &mut hosts);
            worth = self.worth[head];
            let (mut open, mut inverse) = (std::mem::take(&mut self.open), std::mem::take(&mut self.inverse));
            open.clear();
            let served = |bundle: &usize| {
                let first = self.bundles[*bundle][0];
                self.columns.served[self.columns.sort[first]].has(column)
            };
            open.extend(self.active.iter().copied().filter(served));
            let mut looks = 0;
            while let Some((bundle, at, most)) = self.best(&mut open, &free, &mut inverse) {
                looks += open.len();
                let found = self.bundles[bundle].iter().copied().find_map(|demand| {
                    let left = self.left[demand] - taken(&fill, demand);
                    let count = if left == 0 {
                        0
                    } else {
                        self.room(round, demand, &free, &hosts).min(left).min(most)
                    };
                    (count > 0).then_some((demand, count))
                });
                match found {
                    Some((demand, count)) => {
                        self.take(round, demand, count, &mut fill, &mut free, &mut hosts);
                        worth += self.worth[demand] * count as f64;
                    }
                    None => drop(open.swap_remove(at)),
                }
            }
            (self.open, self.inverse) = (open, inverse);
            self.spent += looks as u64 / LOOKS;
        }
        (self.free, self.hosts) = (free, hosts);
        if fill.counts.is_empty() {
            return None;
        }
        fill.rank = worth / self.columns.all[column].price;
        Some(fill)
    }

    fn take(
        &self,
        round: &Round<'_, '_>,
        demand: usize,
        count: usize,
        fill: &mut Fill,
        free: &mut [f64],
        hosts: &mut [u32],
    ) {
        for (free, takes) in free.iter_mut().zip(&self.demands[demand].takes) {
            *free -= takes * count as f64;
        }
        if self.bound[demand] {
            for group in &round.problem.classes[self.demands[demand].class].feeds {
                let group = &round.problem.groups[*group];
                if group.at == Where::Host {
                    hosts[group.host] += u32::try_from(count).unwrap_or(u32::MAX);
                }
            }
        }
        match fill.counts.iter_mut().find(|(of, _)| *of == demand) {
            Some((_, there)) => *there += count,
            None => fill.counts.push((demand, count)),
        }
    }

    /// The bundle whose pods are worth most for their share of what is left, its place in `open`, and how many of its pods
    /// to take at once. Bundles whose pods do not fit any more leave `open`.
    fn best(
        &self,
        open: &mut Vec<usize>,
        free: &[f64],
        inverse: &mut Vec<f64>,
    ) -> Option<(usize, usize, usize)> {
        // What takes nothing of a resource does not mind that there is none.
        inverse.clear();
        let one = |dim: &usize| {
            if free[*dim] > 0.0 { 1.0 / free[*dim] } else { 1e30 }
        };
        inverse.extend(self.taken.iter().map(one));
        let mut best: Option<(f64, usize, f64)> = None;
        let mut at = 0;
        while at < open.len() {
            let bundle = open[at];
            let takes = &self.takes[bundle * inverse.len()..][..inverse.len()];
            let (mut cost, mut most) = (0.0f64, 0.0f64);
            for (takes, inverse) in takes.iter().zip(inverse.iter()) {
                let share = takes * inverse;
                cost += share;
                if share > most {
                    most = share;
                }
            }
            if most > 1.0 + 1e-12 {
                open.swap_remove(at);
                continue;
            }
            // Of equal worth the larger goes first: small ones fill gaps.
            let first = self.bundles[bundle][0];
            let score = self.worth[first] / cost.max(1e-12) * self.bonus[bundle];
            if best.is_none_or(|(known, _, _)| score > known) {
                best = Some((score, at, most));
            }
            at += 1;
        }
        best.map(|(_, at, most)| {
            let fits = if most > 0.0 {
                (1.0 / most) as usize
            } else {
                usize::MAX
            };
            (open[at], at, fits.div_ceil(3).max(1))
        })
    }

    /// How many more pods of a demand go on a node on which so much is free and so many are counted.
    fn room(&self, round: &Round<'_, '_>, demand: usize, free: &[f64], hosts: &[u32]) -> usize {
        let it = &self.demands[demand];
        let mut room = usize::MAX;
        for (takes, free) in it.takes.iter().zip(free) {
            if *takes > 0.0 {
                room = room.min(if *free < *takes {
                    0
                } else {
                    (free / takes) as usize
                });
            }
        }
        if self.bound[demand] {
            room = room.min(round.host_room(it.class, it.level, hosts, true));
        }
        if self.ported[demand] { room.min(1) } else { room }
    }
}

fn taken(fill: &Fill, demand: usize) -> usize {
    fill.counts
        .iter()
        .find(|(of, _)| *of == demand)
        .map_or(0, |(_, count)| *count)
}
