//! Numbers by seed: the same seed and name give the same numbers on every machine and in every version.

/// A stream of numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The stream of `seed` that is called `name`; streams of other names do not disturb it.
    pub fn new(seed: u64, name: &str) -> Draw {
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        for byte in name.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut draw = Draw(state);
        draw.number();
        draw
    }

    /// The next number, any of 2^64.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to and without `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.number() % end).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of `words`, which must not be empty.
    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    /// Some of `items`, in their order, at least one.
    pub fn some<T: Clone>(&mut self, items: &[T]) -> Vec<T> {
        let mut chosen: Vec<T> = items.iter().filter(|_| self.chance(50)).cloned().collect();
        if chosen.is_empty() {
            chosen.push(self.pick(items).clone());
        }
        chosen
    }

    /// A fraction between `low` and `high`, in steps of a millionth.
    pub fn fraction(&mut self, low: f64, high: f64) -> f64 {
        let part = f64::from(u32::try_from(self.below(1_000_001)).unwrap_or(0)) / 1e6;
        low + (high - low) * part
    }
}

#[cfg(test)]
mod tests {
    use super::Draw;

    #[test]
    fn the_same_seed_and_name_give_the_same_numbers() {
        let take = |seed, name: &str| {
            let mut draw = Draw::new(seed, name);
            [draw.number(), draw.number(), draw.number()]
        };
        assert_eq!(take(1, "pods"), take(1, "pods"));
        assert_ne!(take(1, "pods"), take(2, "pods"));
        assert_ne!(take(1, "pods"), take(1, "types"));
    }

    #[test]
    fn numbers_stay_in_their_bounds() {
        let mut draw = Draw::new(7, "bounds");
        for _ in 0..1000 {
            assert!((3..=5).contains(&draw.between(3, 5)));
            assert!(draw.below(4) < 4);
            let part = draw.fraction(0.28, 0.75);
            assert!((0.28..=0.75).contains(&part), "{part}");
        }
    }
}
