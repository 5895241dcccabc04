//! Objects of one kind as last seen, from two sources: the watch, and the answers to our own writes.
//!
//! Both carry the object's resource version, a number that only grows; what is older than what is known is dropped. So the
//! process reads its own writes at once, and a watch that lags behind cannot take them back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many deletions are remembered, against late answers.
const GRAVES: usize = 4096;

/// Objects by key.
#[derive(Debug)]
pub(super) struct Store<K, V> {
    items: BTreeMap<K, (u64, V)>,
    /// Deleted objects and the version they were deleted at.
    graves: BTreeMap<K, u64>,
    order: VecDeque<K>,
    /// Keys seen since a list began.
    listed: Option<BTreeSet<K>>,
    synced: bool,
}

impl<K, V> Default for Store<K, V> {
    fn default() -> Self {
        Store {
            items: BTreeMap::new(),
            graves: BTreeMap::new(),
            order: VecDeque::new(),
            listed: None,
            synced: false,
        }
    }
}

impl<K: Ord + Clone, V> Store<K, V> {
    /// Takes an object in. False: something newer is known already.
    pub(super) fn apply(&mut self, key: K, version: u64, value: V) -> bool {
        if let Some(listed) = &mut self.listed {
            listed.insert(key.clone());
        }
        let newest = self
            .items
            .get(&key)
            .map(|(known, _)| *known)
            .or_else(|| self.graves.get(&key).copied());
        if newest.is_some_and(|newest| newest > version) {
            return false;
        }
        self.graves.remove(&key);
        self.items.insert(key, (version, value));
        true
    }

    /// An object is gone.
    pub(super) fn delete(&mut self, key: &K, version: u64) -> Option<V> {
        if self.graves.insert(key.clone(), version).is_none() {
            self.order.push_back(key.clone());
        }
        while self.order.len() > GRAVES {
            if let Some(oldest) = self.order.pop_front() {
                self.graves.remove(&oldest);
            }
        }
        self.items.remove(key).map(|(_, value)| value)
    }

    /// A full list begins.
    pub(super) fn begin(&mut self) {
        self.listed = Some(BTreeSet::new());
    }

    /// The list is complete: what was not in it is gone. Returns that.
    pub(super) fn finish(&mut self) -> Vec<(K, V)> {
        let listed = self.listed.take().unwrap_or_default();
        self.synced = true;
        let gone: Vec<K> = self
            .items
            .keys()
            .filter(|key| !listed.contains(key))
            .cloned()
            .collect();
        gone.into_iter()
            .filter_map(|key| self.items.remove(&key).map(|(_, value)| (key, value)))
            .collect()
    }

    pub(super) fn synced(&self) -> bool {
        self.synced
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.items.get(key).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.items.iter().map(|(key, (_, value))| (key, value))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.items.values().map(|(_, value)| value)
    }

    /// Every object, to be changed in place; its version stays.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.items.values_mut().map(|(_, value)| value)
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newer_of_watch_and_own_write_wins() {
        let mut store = Store::default();
        assert!(store.apply("a", 5, "written"));
        assert!(!store.apply("a", 4, "late watch"));
        assert_eq!(store.get("a"), Some(&"written"));
        assert!(store.apply("a", 6, "newer watch"));
        assert_eq!(store.get("a"), Some(&"newer watch"));
    }

    #[test]
    fn a_late_answer_does_not_raise_the_dead() {
        let mut store = Store::default();
        store.apply("a", 5, ());
        store.delete(&"a", 8);
        assert!(!store.apply("a", 7, ()), "a patch answered before the deletion");
        assert!(store.apply("a", 9, ()), "made again under the same name");
    }

    #[test]
    fn a_list_replaces_all_but_what_was_written_meanwhile() {
        let mut store = Store::default();
        store.apply("old", 1, ());
        store.begin();
        store.apply("listed", 2, ());
        store.apply("written", 9, ());
        assert!(!store.synced());
        assert_eq!(store.finish(), [("old", ())]);
        assert!(store.synced());
        assert_eq!(store.values().count(), 2);
    }
}
