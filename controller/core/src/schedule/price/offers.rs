//! Which columns are worth trying for a pod.

use std::collections::BTreeMap;

use super::columns::Columns;
use super::dual::Dual;
use crate::schedule::atoms::Bits;

/// What columns can be worth.
pub(super) struct Offers {
    /// What a load of each column is worth at most, for its price.
    ceiling: Vec<f64>,
    /// The column at whose prices of resources that is so.
    like: Vec<usize>,
    /// What was found out, by bundle.
    known: BTreeMap<usize, Vec<usize>>,
}

/// How many columns of one price range are tried for a pod.
const PER_RANGE: usize = 3;

impl Offers {
    pub(super) fn new(columns: &Columns, dual: &Dual) -> Offers {
        let priced: Vec<(usize, &Vec<f64>)> = dual
            .prices
            .iter()
            .enumerate()
            .filter_map(|(id, prices)| Some((id, prices.as_ref()?)))
            .collect();
        // Prices that hold for all that a service asks for hold for all that a part of it does.
        let serving: Vec<Vec<(usize, &Vec<f64>)>> = columns
            .services
            .iter()
            .map(|service| {
                let holds = |(id, _): &&(usize, &Vec<f64>)| {
                    service.is_subset(&columns.services[columns.service[*id]])
                };
                priced.iter().filter(holds).copied().collect()
            })
            .collect();
        let (mut ceiling, mut like) = (Vec::with_capacity(columns.all.len()), Vec::new());
        for (id, column) in columns.all.iter().enumerate() {
            let mut least = (1.0, id);
            for (other, prices) in &serving[columns.service[id]] {
                let worth: f64 = prices
                    .iter()
                    .zip(&column.holds)
                    .map(|(price, holds)| price * holds)
                    .sum();
                if worth / column.price < least.0 {
                    least = (worth / column.price, *other);
                }
            }
            ceiling.push(least.0);
            like.push(least.1);
        }
        Offers {
            ceiling,
            like,
            known: BTreeMap::new(),
        }
    }

    /// Columns worth trying for a pod of a bundle: in every range of prices those whose loads with such a pod can be worth
    /// most for their price.
    pub(super) fn of(
        &mut self,
        bundle: usize,
        takes: &[f64],
        worth: f64,
        served: &Bits,
        columns: &Columns,
        dual: &Dual,
    ) -> Vec<usize> {
        if let Some(known) = self.known.get(&bundle) {
            return known.clone();
        }
        let score = |column: usize| {
            let cost = dual.prices[self.like[column]].as_ref().map_or(worth, |prices| {
                prices.iter().zip(takes).map(|(price, takes)| price * takes).sum()
            });
            self.ceiling[column] - (cost - worth).max(0.0) / columns.all[column].price
        };
        let mut ranges: BTreeMap<i64, Vec<(f64, usize)>> = BTreeMap::new();
        for column in served.iter() {
            let range = columns.all[column].price.log2().round() as i64;
            ranges.entry(range).or_default().push((score(column), column));
        }
        let mut some = Vec::new();
        for mut range in ranges.into_values() {
            range.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            some.extend(range.into_iter().take(PER_RANGE).map(|(_, column)| column));
        }
        self.known.insert(bundle, some.clone());
        some
    }
}
