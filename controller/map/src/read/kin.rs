//! Pods of one template say the same: what is known of one, the next points to.

use std::collections::BTreeSet;

use joiner_core::snapshot::{Placement, Pod};
use joiner_core::text::{Labels, Text};

/// So many of each are remembered.
const MOST: usize = 1000;

/// What pods said so far.
#[derive(Debug, Default)]
pub(super) struct Kin {
    placements: BTreeSet<Placement>,
    labels: BTreeSet<Labels>,
    namespaces: BTreeSet<Text>,
}

impl Kin {
    /// Lets a pod point to what others said, where it says the same.
    pub(super) fn share(&mut self, pod: &mut Pod) {
        shared(&mut self.placements, &mut pod.placement);
        shared(&mut self.labels, &mut pod.labels);
        shared(&mut self.namespaces, &mut pod.key.namespace);
    }
}

fn shared<T: Clone + Ord>(known: &mut BTreeSet<T>, one: &mut T) {
    match known.get(one) {
        Some(there) => *one = there.clone(),
        None if known.len() < MOST => drop(known.insert(one.clone())),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Kin, MOST};
    use joiner_core::snapshot::{Pod, PodKey};
    use joiner_core::text::{Text, labels};

    #[test]
    fn pods_that_say_the_same_share_it() {
        let pod = |name: &str, app: &str| {
            let mut pod = Pod::new(
                PodKey::new("default", name),
                Default::default(),
                Default::default(),
            );
            pod.labels = labels([("app", app)]);
            pod
        };
        let app = |pod: &Pod| -> Text { pod.labels["app"].clone() };
        let mut kin = Kin::default();
        let mut all: Vec<Pod> = (0..2).map(|index| pod(&format!("p{index}"), "web")).collect();
        all.extend((0..MOST).map(|index| pod("other", &index.to_string())));
        all.push(pod("last", "web"));
        let before = all.clone();
        all.iter_mut().for_each(|pod| kin.share(pod));
        assert_eq!(all, before, "nothing else changes");
        let (first, last) = (app(&all[0]), app(&all[MOST + 2]));
        assert!(Arc::ptr_eq(&first, &app(&all[1])) && Arc::ptr_eq(&first, &last));
        assert!(!Arc::ptr_eq(&first, &app(&all[2])));
        assert_eq!(kin.labels.len(), MOST, "there is an end to what is remembered");
    }
}
