//! What two answers to one snapshot differ in.

use std::collections::BTreeSet;
use std::fmt;

use crate::answer::{Answer, Shop};

/// A difference, or something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub kind: Kind,
    /// Our strategy.
    pub strategy: &'static str,
    /// In words.
    pub words: String,
}

/// Kinds of findings, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Ours did not answer.
    Silence,
    /// Ours breaks a rule.
    OursBreaks,
    /// The peer keeps all rules and places more pods than ours.
    Lacking,
    /// Both place as many pods, the peer's nodes cost less, and it keeps all rules.
    Dearer,
    /// Both place as many pods, ours with more nodes, and `first-fit` should not.
    MoreNodes,
    /// The peer breaks a rule.
    PeerBreaks,
    /// The peer did not answer.
    PeerFails,
    /// Ours places more pods.
    Better,
    /// Both place as many pods, but others.
    Others,
    /// Both place the same pods; ours is cheaper.
    Cheaper,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 10] = [
        Kind::Silence,
        Kind::OursBreaks,
        Kind::Lacking,
        Kind::Dearer,
        Kind::MoreNodes,
        Kind::PeerBreaks,
        Kind::PeerFails,
        Kind::Better,
        Kind::Others,
        Kind::Cheaper,
    ];

    /// Whether it may be a defect of ours.
    pub fn is_ours(self) -> bool {
        self <= Kind::MoreNodes
    }

    /// In a word, for file names and tables.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Silence => "no-answer",
            Kind::OursBreaks => "ours-breaks-a-rule",
            Kind::Lacking => "peer-places-more",
            Kind::Dearer => "ours-is-dearer",
            Kind::MoreNodes => "ours-has-more-nodes",
            Kind::PeerBreaks => "peer-breaks-a-rule",
            Kind::PeerFails => "peer-fails",
            Kind::Better => "ours-places-more",
            Kind::Others => "other-pods",
            Kind::Cheaper => "ours-is-cheaper",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.kind.word(), self.strategy, self.words)
    }
}

impl Finding {
    /// Ours did not answer.
    pub fn silence(strategy: &'static str, words: String) -> Finding {
        Finding {
            kind: Kind::Silence,
            strategy,
            words,
        }
    }
}

/// Two answers and what the checker says of them.
pub struct Sides<'a> {
    /// Our strategy.
    pub strategy: &'static str,
    /// Our answer.
    pub ours: &'a Answer,
    /// The rules it breaks.
    pub our_violations: Vec<String>,
    /// The peer's answer.
    pub theirs: &'a Answer,
    /// The rules it breaks.
    pub their_violations: Vec<String>,
}

/// The findings, the worst first.
pub fn compare(sides: &Sides<'_>, shop: &Shop) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut find = |kind, words: String| {
        found.push(Finding {
            kind,
            strategy: sides.strategy,
            words,
        });
    };
    if let Some(first) = sides.our_violations.first() {
        find(Kind::OursBreaks, first.clone());
    }
    if let Some(error) = &sides.theirs.error {
        find(Kind::PeerFails, error.clone());
        return found;
    }
    let sound = sides.their_violations.is_empty();
    if let Some(first) = sides.their_violations.first() {
        find(Kind::PeerBreaks, first.clone());
    }
    let (ours, theirs) = (sides.ours.placed(), sides.theirs.placed());
    let names = |of: &BTreeSet<&str>, but: &BTreeSet<&str>| -> String {
        of.difference(but).copied().take(6).collect::<Vec<_>>().join(", ")
    };
    if theirs.len() > ours.len() {
        if sound {
            find(
                Kind::Lacking,
                format!(
                    "{} of theirs to {} of ours; not {}",
                    theirs.len(),
                    ours.len(),
                    names(&theirs, &ours)
                ),
            );
        }
        return found;
    }
    if ours.len() > theirs.len() {
        find(
            Kind::Better,
            format!(
                "{} of ours to {} of theirs; {}",
                ours.len(),
                theirs.len(),
                names(&ours, &theirs)
            ),
        );
        return found;
    }
    if ours != theirs {
        find(
            Kind::Others,
            format!("ours {}; theirs {}", names(&ours, &theirs), names(&theirs, &ours)),
        );
        return found;
    }
    let (our_price, their_price) = (shop.total(sides.ours), shop.total(sides.theirs));
    if sound && our_price > their_price * 1.000_001 + 1e-9 {
        find(Kind::Dearer, format!("{our_price:.6} to {their_price:.6} $/h"));
    }
    let (our_nodes, their_nodes) = (sides.ours.new_nodes.len(), sides.theirs.new_nodes.len());
    if sound && sides.strategy == "first-fit" && our_nodes > their_nodes {
        find(Kind::MoreNodes, format!("{our_nodes} to {their_nodes} new nodes"));
    }
    if our_price < their_price * 0.999_999 {
        find(Kind::Cheaper, format!("{our_price:.6} to {their_price:.6} $/h"));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Kind, Sides, compare};
    use crate::answer::{Answer, Shop};
    use crate::generate::{catalogue, offering};

    fn answer(nodes: &[(&str, &[&str])]) -> Answer {
        let nodes: Vec<_> = nodes
            .iter()
            .map(|(kind, pods)| json!({"instanceTypes": [kind], "pods": pods}))
            .collect();
        serde_json::from_value(json!({"newNodes": nodes})).unwrap()
    }

    #[test]
    fn answers_are_compared_by_pods_then_price_then_nodes() {
        let kind =
            |name: &str, price: f64| json!({"name": name, "offerings": [offering("a", "spot", price)]});
        let shop = Shop::new(&catalogue(&[], vec![kind("small", 0.1), kind("large", 0.3)]));
        let both: &[&str] = &["a/1", "a/2"];
        let rows: &[(Answer, Answer, &[&str], &[Kind])] = &[
            (answer(&[("small", both)]), answer(&[("small", both)]), &[], &[]),
            (
                answer(&[("small", &["a/1"])]),
                answer(&[("small", both)]),
                &[],
                &[Kind::Lacking],
            ),
            (
                answer(&[("small", &["a/1"])]),
                answer(&[("small", both)]),
                &["it leans"],
                &[Kind::PeerBreaks],
            ),
            (
                answer(&[("small", both)]),
                answer(&[("small", &["a/1"])]),
                &[],
                &[Kind::Better],
            ),
            (
                answer(&[("large", both)]),
                answer(&[("small", both)]),
                &[],
                &[Kind::Dearer],
            ),
            (
                answer(&[("small", both)]),
                answer(&[("large", both)]),
                &[],
                &[Kind::Cheaper],
            ),
            (
                answer(&[("small", &["a/1"])]),
                answer(&[("small", &["a/2"])]),
                &[],
                &[Kind::Others],
            ),
            (
                answer(&[("small", &["a/1"]), ("small", &["a/2"])]),
                answer(&[("large", both)]),
                &[],
                &[Kind::MoreNodes, Kind::Cheaper],
            ),
        ];
        for (ours, theirs, against, want) in rows {
            let sides = Sides {
                strategy: "first-fit",
                ours,
                our_violations: Vec::new(),
                theirs,
                their_violations: against.iter().map(|it| (*it).to_owned()).collect(),
            };
            let kinds: Vec<Kind> = compare(&sides, &shop).iter().map(|it| it.kind).collect();
            assert_eq!(kinds, *want, "{ours:?} beside {theirs:?}");
        }
    }
}
