//! What is worked out once and looked up from then on: which kinds of a pool suit requirements, and at what price.

use super::atoms::Bits;
use super::problem::{Kind, Problem};
use super::sets::{PairMap, SetId, Sets};

/// How a claim is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Payment {
    /// By any offer that no reservation stands behind.
    Market,
    /// By this reservation.
    Reserved(usize),
}

/// What is left of a pool under requirements.
pub(super) struct Profile {
    /// The kinds on sale.
    pub(super) kinds: Bits,
    /// The lowest price of each kind; [`u64::MAX`] for those that are not on sale.
    pub(super) prices: Vec<u64>,
    /// The kinds on sale, the cheapest first.
    pub(super) by_price: Vec<usize>,
}

/// Everything looked up.
pub(super) struct Desk {
    pub(super) sets: Sets,
    profiles: Vec<Profile>,
    index: PairMap,
    implied: PairMap,
}

impl Desk {
    pub(super) fn new(sets: Sets) -> Desk {
        Desk {
            sets,
            profiles: Vec::new(),
            index: PairMap::default(),
            implied: PairMap::default(),
        }
    }

    /// What is left of a pool under requirements.
    pub(super) fn profile(
        &mut self,
        problem: &Problem<'_>,
        pool: usize,
        set: SetId,
        payment: Payment,
    ) -> usize {
        let way = match payment {
            Payment::Market => 0,
            Payment::Reserved(reservation) => 1 + reservation,
        };
        let group = (pool * (problem.reservations.len() + 1) + way) as u64;
        let key = group << 32 | set.index() as u64;
        if let Some(known) = self.index.get(key) {
            return known as usize;
        }
        let made = self.make(problem, pool, set, payment);
        let id = self.profiles.len();
        self.profiles.push(made);
        self.index.insert(key, u32::try_from(id).unwrap_or(u32::MAX));
        id
    }

    pub(super) fn get(&self, profile: usize) -> &Profile {
        &self.profiles[profile]
    }

    fn make(&self, problem: &Problem<'_>, pool: usize, set: SetId, payment: Payment) -> Profile {
        let pool = &problem.pools[pool];
        let wanted = self.sets.get(set);
        let mut kinds = Bits::none(pool.kinds.len());
        let mut prices = vec![u64::MAX; pool.kinds.len()];
        for (index, kind) in pool.kinds.iter().enumerate() {
            if let Some(price) = price(kind, wanted, payment) {
                kinds.set(index);
                prices[index] = price;
            }
        }
        let mut by_price: Vec<usize> = kinds.iter().collect();
        by_price.sort_by_key(|kind| (prices[*kind], *kind));
        Profile {
            by_price,
            kinds,
            prices,
        }
    }

    /// Whether all that `a` may be satisfies `wanted`.
    pub(super) fn implies(&mut self, a: SetId, wanted: SetId) -> bool {
        let key = (a.index() as u64) << 32 | wanted.index() as u64;
        match self.implied.get(key) {
            Some(known) => known == 1,
            None => {
                let holds = self.sets.implies(a, wanted);
                self.implied.insert(key, u32::from(holds));
                holds
            }
        }
    }
}

/// The lowest price of a kind under requirements; none where it does not suit or is not on sale.
fn price(kind: &Kind<'_>, wanted: &[(usize, Bits)], payment: Payment) -> Option<u64> {
    let suits = |(key, bits): &(usize, Bits)| kind.bits[*key].as_ref().is_none_or(|mine| mine.meets(bits));
    if !wanted.iter().all(suits) {
        return None;
    }
    let paid = |reservation: Option<usize>| match payment {
        Payment::Market => reservation.is_none(),
        Payment::Reserved(wanted) => reservation == Some(wanted),
    };
    let on_sale = kind.offers.iter().filter(|offer| {
        paid(offer.reservation)
            && offer.bits.iter().all(|(key, said)| {
                wanted
                    .binary_search_by_key(key, |(key, _)| *key)
                    .map_or(true, |found| wanted[found].1.meets(said))
            })
    });
    on_sale.map(|offer| offer.price).min()
}
