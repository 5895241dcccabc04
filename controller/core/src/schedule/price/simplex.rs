//! Linear programs of few rows whose columns come one at a time: the least cost of `x >= 0` with `A x = b`, by the revised
//! simplex method with the whole inverse of the basis. It begins with a basis that has one entry in each row.

/// A column of the basis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basic {
    /// What the caller calls the column.
    pub(super) id: usize,
    /// Its cost.
    pub(super) cost: f64,
    /// How much of it is taken.
    pub(super) value: f64,
    /// How much of it may be.
    pub(super) most: f64,
}

/// What came of a column that was to be taken more or less of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Nothing: it gains nothing.
    None,
    /// All of it is taken, or nothing any more; the basis is as it was.
    Whole,
    /// It is in the basis now, and this one is not.
    For(Basic),
}

/// The program as far as its columns are known.
#[derive(Clone, Debug)]
pub(super) struct Simplex {
    /// The inverse of the basis, row by row.
    inverse: Vec<f64>,
    basis: Vec<Basic>,
    /// What one more on the right-hand side of each row costs.
    prices: Vec<f64>,
}

/// Gains and entries below this are none.
const TINY: f64 = 1e-9;

impl Simplex {
    /// From columns with one entry each: name, cost, entry and right-hand side, all of them positive, for each row.
    pub(super) fn new(start: &[(usize, f64, f64, f64)]) -> Simplex {
        let rows = start.len();
        let mut inverse = vec![0.0; rows * rows];
        for (row, (_, _, entry, _)) in start.iter().enumerate() {
            inverse[row * rows + row] = 1.0 / entry;
        }
        let basic = |(id, cost, entry, right): &(usize, f64, f64, f64)| Basic {
            id: *id,
            cost: *cost,
            value: right / entry,
            most: f64::INFINITY,
        };
        Simplex {
            inverse,
            basis: start.iter().map(basic).collect(),
            prices: start.iter().map(|(_, cost, entry, _)| cost / entry).collect(),
        }
    }

    /// What one more on the right-hand side of each row costs.
    pub(super) fn prices(&self) -> &[f64] {
        &self.prices
    }

    pub(super) fn basis(&self) -> &[Basic] {
        &self.basis
    }

    /// What all that is taken costs.
    pub(super) fn total(&self) -> f64 {
        self.basis.iter().map(|basic| basic.cost * basic.value).sum()
    }

    /// Gives the columns of the basis other costs.
    pub(super) fn reprice(&mut self, cost: impl Fn(usize) -> f64) {
        let rows = self.basis.len();
        self.prices.fill(0.0);
        for (basic, inverse) in self.basis.iter_mut().zip(self.inverse.chunks(rows.max(1))) {
            basic.cost = cost(basic.id);
            if basic.cost != 0.0 {
                add(&mut self.prices, inverse, basic.cost);
            }
        }
    }

    /// Takes a column into the basis, given as entries by row, if that lowers the cost; whether it did.
    pub(super) fn enter(&mut self, id: usize, cost: f64, column: &[(usize, f64)]) -> bool {
        let comes = Basic {
            id,
            cost,
            value: 0.0,
            most: f64::INFINITY,
        };
        !matches!(self.step(comes, column), Step::None)
    }

    /// Takes more of a column of which nothing is taken, or less of one that is taken whole, if that lowers the cost. The caller
    /// keeps in mind what is taken whole; that counts as taken off the right-hand side.
    pub(super) fn step(&mut self, comes: Basic, column: &[(usize, f64)]) -> Step {
        let rows = self.basis.len();
        let worth: f64 = column.iter().map(|(row, entry)| self.prices[*row] * entry).sum();
        let gain = comes.cost - worth;
        let more = if comes.value > 0.0 { -1.0 } else { 1.0 };
        if gain * more >= -TINY * comes.cost.abs().max(worth.abs()) {
            return Step::None;
        }
        let along: Vec<f64> = self
            .inverse
            .chunks(rows)
            .map(|inverse| column.iter().map(|(row, entry)| inverse[*row] * entry).sum())
            .collect();
        let mut leaves: Option<(f64, usize)> = None;
        for (row, (along_row, basic)) in along.iter().zip(&self.basis).enumerate() {
            let falls = along_row * more;
            let left = if falls > 0.0 {
                basic.value
            } else {
                basic.most - basic.value
            };
            if falls.abs() <= TINY || left == f64::INFINITY {
                continue;
            }
            let ratio = left.max(0.0) / falls.abs();
            // Of equals the one with the largest entry keeps the numbers sound.
            let first = leaves.is_none_or(|(least, at)| {
                ratio < least * (1.0 - TINY) || (ratio <= least && falls.abs() > along[at].abs())
            });
            if first {
                leaves = Some((ratio, row));
            }
        }
        let step = leaves.map_or(f64::INFINITY, |(step, _)| step).min(comes.most);
        if step == f64::INFINITY {
            return Step::None;
        }
        for (along_row, basic) in along.iter().zip(&mut self.basis) {
            basic.value -= along_row * more * step;
        }
        let Some((_, leaving)) = leaves.filter(|(least, _)| *least <= comes.most) else {
            return Step::Whole;
        };
        let mut turned = self.inverse[leaving * rows..(leaving + 1) * rows].to_vec();
        turned.iter_mut().for_each(|entry| *entry /= along[leaving]);
        for (row, (along_row, inverse)) in along.iter().zip(self.inverse.chunks_mut(rows)).enumerate() {
            if row == leaving {
                inverse.copy_from_slice(&turned);
            } else if *along_row != 0.0 {
                add(inverse, &turned, -along_row);
            }
        }
        add(&mut self.prices, &turned, gain);
        let value = comes.value + more * step;
        let mut gone = std::mem::replace(&mut self.basis[leaving], Basic { value, ..comes });
        gone.value = if along[leaving] * more > 0.0 {
            0.0
        } else {
            gone.most
        };
        Step::For(gone)
    }
}

fn add(to: &mut [f64], row: &[f64], times: f64) {
    for (to, one) in to.iter_mut().zip(row) {
        *to += one * times;
    }
}

#[cfg(test)]
mod tests {
    use super::Simplex;

    /// The most of `3 x + 2 y` with `x + y <= 4` and `x + 3 y <= 6` is 12, at `x = 4`.
    #[test]
    fn the_best_corner_is_found() {
        let mut simplex = Simplex::new(&[(8, 0.0, 1.0, 4.0), (9, 0.0, 1.0, 6.0)]);
        assert!(simplex.enter(1, -2.0, &[(0, 1.0), (1, 3.0)]));
        assert!(simplex.enter(0, -3.0, &[(0, 1.0), (1, 1.0)]));
        while simplex.enter(1, -2.0, &[(0, 1.0), (1, 3.0)])
            || simplex.enter(8, 0.0, &[(0, 1.0)])
            || simplex.enter(9, 0.0, &[(1, 1.0)])
        {}
        assert!((simplex.total() + 12.0).abs() < 1e-9, "{simplex:?}");
        assert!((simplex.prices()[0] + 3.0).abs() < 1e-9 && simplex.prices()[1].abs() < 1e-9);
    }

    /// Seven pods of 3 and four of 5 into nodes of 10 at 1: by hand 7 * 0.3 + 4 * 0.5 cannot be beaten, and is not.
    #[test]
    fn a_relaxation_of_packing_is_solved() {
        let mut simplex = Simplex::new(&[(0, 1.0, 10.0 / 3.0, 7.0), (1, 1.0, 2.0, 4.0)]);
        assert!(!simplex.enter(2, 1.0, &[(0, 5.0 / 3.0), (1, 1.0)]));
        assert!((simplex.total() - 4.1).abs() < 1e-9);
        simplex.reprice(|id| if id == 0 { 2.0 } else { 1.0 });
        assert!((simplex.total() - 6.2).abs() < 1e-9);
        assert!((simplex.prices()[0] - 0.6).abs() < 1e-9);
    }
}
