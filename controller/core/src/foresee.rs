//! Pods that are sure to come, so that they are decided on together with those that are there.
//!
//! When a workload is scaled, its controller makes pods in growing lots, and the scheduler looks at one after the other. A
//! decision on the first few would buy small nodes for them and others for the rest. So two kinds of pods count as waiting for
//! a node before the scheduler says so: those it has not looked at yet although it has found no node for one just like them, and
//! those that are not made yet, as far as their workload wants them, nothing keeps them from being made, and they come
//! before a node that is ordered now can take them ([`AHEAD`]).
//!
//! Input: the pods of one workload, and how many it wants. Output: pods. An announced pod has a name that no real one can
//! have ([`is_announced`]); it is gone as soon as the real one is there.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::snapshot::{Pod, PodKey, PodState};
use crate::text::Text;

/// How far ahead is bought: about what a node takes from its order until pods run on it. Pods that come later, at the pace at
/// which they are coming now, find their node ordered in time when they are there.
pub const AHEAD: SignedDuration = SignedDuration::from_secs(20);
/// A workload of which no pod has been made for so long is not being scaled now, whatever keeps it from it.
pub const STALLED: SignedDuration = SignedDuration::from_secs(2);
/// The pace is that of the pods made in so long.
const PACE: SignedDuration = SignedDuration::from_secs(5);
/// The shortest time over which a pace is measured.
const LEAST: SignedDuration = SignedDuration::from_millis(100);
/// What no name of a Kubernetes object holds.
const MARK: char = '#';

/// A workload with pods that wait.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its namespace.
    pub namespace: Text,
    /// Its name, unique in the namespace among workloads.
    pub name: Text,
    /// How many pods it wants; none where that is not known, or where something may keep them from being made: a quota in the
    /// namespace, a failure that the workload's status tells of.
    pub wanted: Option<u32>,
    /// Its pods, those that are going left out.
    pub members: Vec<Member>,
}

/// A pod of a workload.
#[derive(Clone, Debug)]
pub struct Member {
    /// The pod.
    pub pod: Arc<Pod>,
    /// When it was first seen.
    pub seen: Timestamp,
    /// What the scheduler says.
    pub verdict: Verdict,
}

/// What the scheduler says of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet, and nothing else holds the pod back.
    None,
    /// No node fits.
    NoNode,
    /// Anything else: the pod is bound, or held back.
    Other,
}

/// What is sure to come.
#[derive(Clone, Debug, Default)]
pub struct Foreseen {
    /// Pods that are there, as the scheduler will judge them.
    pub early: Vec<Arc<Pod>>,
    /// Pods that are not made yet.
    pub announced: Vec<Arc<Pod>>,
}

/// Whether this is the key of a pod that is not made yet.
pub fn is_announced(key: &PodKey) -> bool {
    key.name.contains(MARK)
}

/// What is sure to come of a workload; nothing where the scheduler has found a node for every pod it has looked at.
pub fn foresee(workload: &Workload, now: Timestamp) -> Foreseen {
    let members = &workload.members;
    let refused: Vec<&Pod> = of(members, Verdict::NoNode).collect();
    let Some(pattern) = refused.first() else {
        return Foreseen::default();
    };
    let early = of(members, Verdict::None)
        .filter(|pod| refused.iter().any(|known| is_alike(known, pod)))
        .map(|pod| {
            Arc::new(Pod {
                state: PodState::Unschedulable,
                ..pod.clone()
            })
        });
    let announced = (0..coming(workload, now)).map(|number| {
        Arc::new(Pod {
            key: PodKey::new(
                workload.namespace.clone(),
                format!("{}{MARK}{number:05}", workload.name),
            ),
            uid: "".into(),
            created: now,
            ..Pod::clone(pattern)
        })
    });
    Foreseen {
        early: early.collect(),
        announced: announced.collect(),
    }
}

fn of(members: &[Member], verdict: Verdict) -> impl Iterator<Item = &Pod> {
    let such = members.iter().filter(move |member| member.verdict == verdict);
    such.map(|member| &*member.pod)
}

/// How many pods are not made yet and come within [`AHEAD`] at the pace of late.
fn coming(workload: &Workload, now: Timestamp) -> u64 {
    let members = &workload.members;
    let there = u64::try_from(members.len()).unwrap_or(u64::MAX);
    let missing = u64::from(workload.wanted.unwrap_or(0)).saturating_sub(there);
    let age = |member: &Member| now.duration_since(member.seen).max(SignedDuration::ZERO);
    let late: Vec<SignedDuration> = members.iter().map(age).filter(|age| *age <= PACE).collect();
    let (Some(newest), Some(oldest)) = (late.iter().min(), late.iter().max()) else {
        return 0;
    };
    if *newest > STALLED {
        return 0;
    }
    let made = i128::try_from(late.len()).unwrap_or(i128::MAX);
    let in_time = made * AHEAD.as_millis() / (*oldest).max(LEAST).as_millis();
    missing.min(u64::try_from(in_time).unwrap_or(0))
}

/// Whether what holds for one of two pods of a workload holds for the other.
fn is_alike(a: &Pod, b: &Pod) -> bool {
    a.priority == b.priority && a.requests == b.requests && a.placement == b.placement
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Resources;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + millis).unwrap()
    }

    fn member(name: &str, seen: i64, verdict: Verdict) -> Member {
        let key = PodKey::new("shop", name);
        let mut pod = Pod::new(key, Resources::cpu_memory(100, 0), at(seen));
        pod.state = match verdict {
            Verdict::NoNode => PodState::Unschedulable,
            Verdict::None => PodState::Waiting,
            Verdict::Other => PodState::Bound { started: None },
        };
        Member {
            pod: Arc::new(pod),
            seen: at(seen),
            verdict,
        }
    }

    fn workload(wanted: Option<u32>, members: Vec<Member>) -> Workload {
        Workload {
            namespace: "shop".into(),
            name: "web".into(),
            wanted,
            members,
        }
    }

    /// How many of each kind.
    fn counts(it: &Workload, now: i64) -> (usize, usize) {
        let Foreseen { early, announced } = foresee(it, at(now));
        (early.len(), announced.len())
    }

    #[test]
    fn what_a_workload_wants_is_announced_while_its_pods_are_being_made() {
        use Verdict::{NoNode, None as Nothing, Other};
        let made = |verdicts: &[Verdict], every: i64| -> Vec<Member> {
            let one = |(index, verdict): (usize, &Verdict)| {
                let seen = every * i64::try_from(index).unwrap();
                member(&format!("web-{index}"), seen, *verdict)
            };
            verdicts.iter().enumerate().map(one).collect()
        };
        for (name, wanted, members, now, want) in [
            ("the first of many", Some(50), made(&[NoNode], 0), 50, (0, 49)),
            (
                "some not looked at",
                Some(50),
                made(&[NoNode, Nothing, Nothing], 0),
                50,
                (2, 47),
            ),
            (
                "no verdict yet",
                Some(50),
                made(&[Nothing, Nothing], 0),
                50,
                (0, 0),
            ),
            ("all have a node", Some(50), made(&[Other, Other], 0), 50, (0, 0)),
            (
                "room for the first",
                Some(4),
                made(&[Other, NoNode, Nothing], 0),
                50,
                (1, 1),
            ),
            ("all are there", Some(2), made(&[NoNode, NoNode], 0), 50, (0, 0)),
            (
                "more than are wanted",
                Some(1),
                made(&[NoNode, NoNode], 0),
                50,
                (0, 0),
            ),
            (
                "not known what is wanted",
                None,
                made(&[NoNode, Nothing], 0),
                50,
                (1, 0),
            ),
            ("stalled", Some(50), made(&[NoNode], 0), 2001, (0, 0)),
            // Two in a second: forty in twenty seconds.
            ("slowly", Some(500), made(&[NoNode, NoNode], 500), 1000, (0, 40)),
            // Hundreds in a second: the rest will be there long before a node is.
            ("in a burst", Some(5000), made(&[NoNode; 31], 5), 200, (0, 3100)),
        ] {
            assert_eq!(counts(&workload(wanted, members), now), want, "{name}");
        }
    }

    #[test]
    fn only_pods_of_the_same_shape_are_judged_early() {
        let mut other = member("web-1", 0, Verdict::None);
        let mut pod = Pod::clone(&other.pod);
        pod.requests = Resources::cpu_memory(50, 0).with("pods", 1);
        other.pod = Arc::new(pod);
        let it = workload(
            None,
            vec![
                member("web-0", 0, Verdict::NoNode),
                other,
                member("web-2", 0, Verdict::None),
            ],
        );
        let early = foresee(&it, at(0)).early;
        let names: Vec<&str> = early.iter().map(|pod| &*pod.key.name).collect();
        assert_eq!(names, ["web-2"]);
        assert!(early[0].is_provisionable());
    }

    #[test]
    fn announced_pods_are_like_the_others_under_names_of_their_own() {
        let it = workload(Some(3), vec![member("web-0", 0, Verdict::NoNode)]);
        let announced = foresee(&it, at(10)).announced;
        let names: Vec<String> = announced.iter().map(|pod| pod.key.to_string()).collect();
        assert_eq!(names, ["shop/web#00000", "shop/web#00001"]);
        assert!(
            announced
                .iter()
                .all(|pod| is_announced(&pod.key) && pod.is_provisionable())
        );
        assert_eq!(announced[0].requests, it.members[0].pod.requests);
        assert!(!is_announced(&it.members[0].pod.key));
    }
}
