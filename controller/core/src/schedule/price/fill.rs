//! What one node of a column would carry: the pods that are worth most for what they take of what is left.

use super::pack::Packer;
use super::shelf::Shelf;
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

/// So many looks at pods are a step of the search.
const LOOKS: usize = 9216;
/// So many cost as much as a node on trial does in any case.
const TRIAL: usize = 1536;

/// A node on trial.
pub(super) struct Trial {
    pub(super) fill: Fill,
    /// What is left of it.
    pub(super) free: Vec<f64>,
    /// How many pods are counted by each group with a rule over hosts.
    hosts: Vec<u32>,
    /// What its load is worth.
    pub(super) worth: f64,
}

impl Packer {
    /// Fills a column, first with a pod of `head`. Exchanges are tried where the load's rank is `least` or more.
    pub(super) fn fill(
        &mut self,
        round: &Round<'_, '_>,
        column: usize,
        head: usize,
        least: f64,
    ) -> Option<Fill> {
        let price = self.columns.all[column].price;
        let mut trial = self.empty(round, column);
        let mut looks = TRIAL;
        if self.more(round, head, &trial) > 0 {
            let mut shelf = std::mem::take(&mut self.shelf);
            shelf.ask(|bundle| self.serves(column, bundle));
            self.take(round, head, 1, &mut trial);
            looks += self.top_up(round, &mut trial, &mut shelf);
            if trial.worth >= least * price {
                looks += self.exchange(round, &mut trial, &mut shelf);
            }
            self.shelf = shelf;
        }
        self.looks += looks;
        self.spent += (self.looks / LOOKS) as u64;
        self.looks %= LOOKS;
        (self.free, self.hosts) = (trial.free, trial.hosts);
        trial.fill.rank = trial.worth / price;
        (!trial.fill.counts.is_empty()).then_some(trial.fill)
    }

    fn empty(&mut self, round: &Round<'_, '_>, column: usize) -> Trial {
        let mut free = std::mem::take(&mut self.free);
        free.clone_from(&self.columns.all[column].holds);
        let mut hosts = std::mem::take(&mut self.hosts);
        hosts.clear();
        hosts.resize(round.problem.hosts, 0);
        Trial {
            fill: Fill {
                column,
                counts: Vec::new(),
                rank: 0.0,
            },
            free,
            hosts,
            worth: 0.0,
        }
    }

    /// Puts on a node what is worth most for what it takes of what is left; how many looks at pods it took.
    pub(super) fn top_up(&self, round: &Round<'_, '_>, trial: &mut Trial, shelf: &mut Shelf) -> usize {
        // What takes nothing of a resource does not mind that there is none.
        let one = |free: f64| if free > 0.0 { 1.0 / free as f32 } else { 1e30 };
        let (mut inverse, mut looks) = (Vec::with_capacity(self.taken.len()), 0);
        shelf.reopen();
        loop {
            inverse.clear();
            inverse.extend(self.taken.iter().map(|dim| one(trial.free[*dim])));
            let Some((lane, share)) = shelf.best(&inverse) else {
                return looks;
            };
            looks += shelf.looks();
            let fits = if share > 0.0 {
                (1.0 / share) as usize
            } else {
                usize::MAX
            };
            let most = fits.div_ceil(3).max(1);
            let found = self.bundles[shelf.bundle(lane)].iter().find_map(|demand| {
                let count = self.more(round, *demand, trial).min(most);
                (count > 0).then_some((*demand, count))
            });
            match found {
                Some((demand, count)) => self.take(round, demand, count, trial),
                None => shelf.shut(lane),
            }
        }
    }

    /// Whether pods of a bundle may be on a column, if they fit.
    pub(super) fn serves(&self, column: usize, bundle: usize) -> bool {
        let first = self.bundles[bundle][0];
        self.columns.served[self.columns.sort[first]].has(column)
    }

    /// Puts pods on a node.
    pub(super) fn take(&self, round: &Round<'_, '_>, demand: usize, count: usize, trial: &mut Trial) {
        for (free, takes) in trial.free.iter_mut().zip(&self.demands[demand].takes) {
            *free -= takes * count as f64;
        }
        let more = u32::try_from(count).unwrap_or(u32::MAX);
        self.count_hosts(round, demand, trial, |there| there.saturating_add(more));
        match trial.fill.counts.iter_mut().find(|(of, _)| *of == demand) {
            Some((_, there)) => *there += count,
            None => trial.fill.counts.push((demand, count)),
        }
        trial.worth += self.worth[demand] * count as f64;
    }

    /// Takes pods off a node.
    pub(super) fn take_off(&self, round: &Round<'_, '_>, demand: usize, count: usize, trial: &mut Trial) {
        for (free, takes) in trial.free.iter_mut().zip(&self.demands[demand].takes) {
            *free += takes * count as f64;
        }
        let fewer = u32::try_from(count).unwrap_or(u32::MAX);
        self.count_hosts(round, demand, trial, |there| there.saturating_sub(fewer));
        trial
            .fill
            .counts
            .iter_mut()
            .filter(|(of, _)| *of == demand)
            .for_each(|(_, there)| *there -= count);
        trial.fill.counts.retain(|(_, there)| *there > 0);
        trial.worth -= self.worth[demand] * count as f64;
    }

    /// Counts pods anew in the groups with a rule over hosts.
    fn count_hosts(
        &self,
        round: &Round<'_, '_>,
        demand: usize,
        trial: &mut Trial,
        count: impl Fn(u32) -> u32,
    ) {
        if !self.bound[demand] {
            return;
        }
        for group in &round.problem.classes[self.demands[demand].class].feeds {
            let group = &round.problem.groups[*group];
            if group.at == Where::Host {
                trial.hosts[group.host] = count(trial.hosts[group.host]);
            }
        }
    }

    /// How many more of the pods of a demand that are left go on a node.
    pub(super) fn more(&self, round: &Round<'_, '_>, demand: usize, trial: &Trial) -> usize {
        let left = self.left[demand] - taken(&trial.fill, demand);
        if left == 0 {
            return 0;
        }
        self.room(round, demand, trial).min(left)
    }

    /// How many more pods of a demand go on a node.
    fn room(&self, round: &Round<'_, '_>, demand: usize, trial: &Trial) -> usize {
        let it = &self.demands[demand];
        let mut room = usize::MAX;
        for (takes, free) in it.takes.iter().zip(&trial.free) {
            if *takes > 0.0 {
                room = room.min(if *free < *takes {
                    0
                } else {
                    (free / takes) as usize
                });
            }
        }
        if self.bound[demand] {
            room = room.min(round.host_room(it.class, it.level, &trial.hosts, true));
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
