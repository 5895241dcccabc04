//! What the audit finds wrong in a plan is taken out of it; the rest is carried out.
//!
//! Input: a plan and the audit. Output: the part of the plan that the audit has nothing against, and everything it said.
//! Invariant: a fault whose place is not found in the plan takes the whole plan with it, as nobody can tell what is behind it.

use std::collections::BTreeSet;

use joiner_core::check::Violation;
use joiner_core::schedule::Schedule;
use joiner_core::snapshot::PodKey;

/// Where a fault is, in the audit's words.
#[derive(Debug, PartialEq, Eq)]
enum Subject<'a> {
    /// `new claim 3 of default`
    Claim(usize),
    /// `pod shop/web-1`
    Pod(&'a str),
    /// `place ip-10-0-1-5`
    Place(&'a str),
    /// `pool default`
    Pool(&'a str),
    /// Anything else.
    Unknown,
}

/// Takes out of `plan` what `audit` complains about, and what it complains about once that is gone (a pod may have lost the
/// company it needs), until it is content.
pub(super) fn sound(
    mut plan: Schedule,
    audit: impl Fn(&Schedule) -> Vec<Violation>,
) -> (Schedule, Vec<Violation>) {
    let mut said = Vec::new();
    let mut dropped = BTreeSet::new();
    loop {
        let mut wrong = audit(&plan);
        // Whoever was taken out is missing, and that is no news.
        wrong.retain(|it| match subject(&it.place) {
            Subject::Pod(name) => !dropped.contains(name),
            _ => true,
        });
        if wrong.is_empty() {
            return (plan, said);
        }
        if plan.new_claims.is_empty() && plan.existing.is_empty() {
            return (plan, said);
        }
        let gone = take_out(&mut plan, &wrong);
        dropped.extend(gone.iter().map(ToString::to_string));
        dropped.extend(wrong.iter().filter_map(|it| match subject(&it.place) {
            Subject::Pod(name) => Some(name.to_owned()),
            _ => None,
        }));
        said.extend(wrong);
    }
}

fn subject(place: &str) -> Subject<'_> {
    match place.split_once(' ') {
        Some(("pod", name)) => Subject::Pod(name),
        Some(("place", name)) => Subject::Place(name),
        Some(("pool", name)) => Subject::Pool(name),
        Some(("new", rest)) => rest
            .strip_prefix("claim ")
            .and_then(|rest| rest.split_once(' ')?.0.parse().ok())
            .map_or(Subject::Unknown, Subject::Claim),
        _ => Subject::Unknown,
    }
}

/// Takes out what is named, or everything where something is not found; returns the pods that have lost their place, and those
/// that were named.
fn take_out(plan: &mut Schedule, wrong: &[Violation]) -> Vec<PodKey> {
    let (mut claims, mut places, mut pods) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut lost = false;
    for violation in wrong {
        match subject(&violation.place) {
            Subject::Claim(index) => {
                lost |= index >= plan.new_claims.len();
                claims.insert(index);
            }
            Subject::Pool(pool) => {
                let before = claims.len();
                let of_pool = plan.new_claims.iter().enumerate();
                claims.extend(
                    of_pool
                        .filter(|(_, it)| *it.pool == *pool)
                        .map(|(index, _)| index),
                );
                lost |= claims.len() == before;
            }
            Subject::Place(name) => {
                lost |= !plan.existing.contains_key(name);
                places.insert(name);
            }
            Subject::Pod(name) => drop(pods.insert(name)),
            Subject::Unknown => lost = true,
        }
    }
    let mut gone = Vec::new();
    let mut index = 0;
    plan.new_claims.retain_mut(|claim| {
        let named = lost || claims.contains(&index);
        index += 1;
        gone.extend(take(&mut claim.pods, |pod| {
            named || pods.contains(&*pod.to_string())
        }));
        !claim.pods.is_empty()
    });
    plan.existing.retain(|place, there| {
        let named = lost || places.contains(&**place);
        gone.extend(take(there, |pod| named || pods.contains(&*pod.to_string())));
        !there.is_empty()
    });
    gone
}

/// Takes the named ones out of a list.
fn take(pods: &mut Vec<PodKey>, named: impl Fn(&PodKey) -> bool) -> Vec<PodKey> {
    let (gone, kept) = std::mem::take(pods).into_iter().partition(named);
    *pods = kept;
    gone
}

#[cfg(test)]
mod tests {
    use joiner_core::schedule::NewClaim;

    use super::super::tests::claim;
    use super::*;

    /// Three claims for a pod each, and two places for two.
    fn plan() -> Schedule {
        let place = |name: &str, pod: &str| (name.into(), vec![PodKey::new("shop", pod)]);
        Schedule {
            new_claims: vec![
                claim(1, "a"),
                claim(2, "b"),
                NewClaim {
                    pool: "other".into(),
                    ..claim(3, "c")
                },
            ],
            existing: [place("n1", "d"), place("n2", "e")].into(),
            ..Schedule::default()
        }
    }

    fn found(places: &[&str]) -> Vec<Violation> {
        let violation = |place: &&str| Violation {
            place: (*place).to_owned(),
            rule: "is broken".to_owned(),
        };
        places.iter().map(violation).collect()
    }

    fn left(plan: &Schedule) -> String {
        let mut names: Vec<&str> = plan.placed().map(|pod| &*pod.name).collect();
        names.sort_unstable();
        names.concat()
    }

    #[test]
    fn only_what_is_named_is_taken_out() {
        for (places, want) in [
            (&["new claim 1 of default"][..], "acde"),
            (&["new claim 1 of default", "new claim 2 of other"], "ade"),
            (&["place n1", "place n1"], "abce"),
            (&["pod shop/b", "pod shop/e"], "acd"),
            (&["pool default"], "cde"),
            // A pod that has no place loses none.
            (&["pod shop/x"], "abcde"),
            // Nobody can tell what these mean for the rest.
            (&["new claim 7 of default"], ""),
            (&["place n9"], ""),
            (&["pool unheard-of"], ""),
            (&["the weather"], ""),
        ] {
            // As the audit does, complain about whoever has no place.
            let audit = |it: &Schedule| {
                let first = it.placed().count() == 5;
                let missing = plan()
                    .placed()
                    .filter(|pod| !it.placed().any(|there| there == *pod))
                    .map(|pod| format!("pod {pod}"))
                    .collect::<Vec<_>>();
                let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
                found(if first { places } else { &missing })
            };
            let (sound, said) = sound(plan(), audit);
            assert_eq!(
                (left(&sound).as_str(), said.len()),
                (want, places.len()),
                "{places:?}"
            );
        }
    }

    #[test]
    fn whoever_loses_company_goes_too() {
        let audit = |it: &Schedule| match it.placed().count() {
            5 => found(&["new claim 0 of default"]),
            4 => found(&["pod shop/a", "place n1"]),
            _ => Vec::new(),
        };
        let (sound, said) = sound(plan(), audit);
        assert_eq!((left(&sound).as_str(), said.len()), ("bce", 2));
    }

    #[test]
    fn an_audit_that_is_never_content_ends_with_nothing() {
        let (sound, said) = sound(plan(), |_| found(&["the weather"]));
        assert_eq!((left(&sound).as_str(), said.len()), ("", 1));
    }
}
