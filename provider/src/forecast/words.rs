//! A forecast in words.

use super::ask::{Caveats, Doubts};
use super::trouble::Trouble;
use jiff::SignedDuration;
use joiner_core::disrupt::forecast::{Fate, Forecast, Gone, Homeless, Outdated};
use std::fmt::Write as _;

/// How many nodes are told one by one.
const MOST_NODES: usize = 20;
/// How many pods are told one by one.
const MOST_PODS: usize = 10;

/// What is told about one object: a title and the whole.
pub(super) struct Words {
    pub title: String,
    pub detail: String,
}

/// What a change of `what`, such as `NodePool general`, does to nodes; nothing where it does nothing to them.
pub(super) fn of_change(what: &str, told: &Forecast, caveats: &Caveats) -> Option<Words> {
    let Caveats {
        notes,
        left_alone,
        assumed,
    } = caveats;
    let replaced: Vec<&Outdated> = told.replaced().collect();
    let staying: Vec<&Outdated> = told
        .nodes
        .iter()
        .filter(|node| matches!(node.fate, Fate::Stays { .. }))
        .collect();
    if told.nodes.is_empty() && notes.is_empty() && left_alone.is_empty() {
        return None;
    }
    let mut detail = String::new();
    if !replaced.is_empty() {
        let waves = match told.waves {
            1 => "at once".to_owned(),
            waves => format!("in {waves} waves"),
        };
        let lasts = told
            .lasts
            .map_or_else(String::new, |lasts| format!(", about {} in all", spoken(lasts)));
        let _ = writeln!(
            detail,
            "The controller replaces, {waves} within the budgets{lasts}, successors first:"
        );
        listed(&mut detail, &replaced, MOST_NODES, |node| {
            let wave = match &node.fate {
                Fate::Goes { wave, .. } if told.waves > 1 => format!("wave {wave}, "),
                Fate::Later => "later, ".to_owned(),
                _ => String::new(),
            };
            format!(
                "{} ({wave}{}; {}){}",
                node.node,
                counted(node.pods.len(), "pod moves", "pods move"),
                node.drift.message,
                again(node)
            )
        });
    }
    if !staying.is_empty() {
        let _ = writeln!(
            detail,
            "Not as the new spec says, and not replaced while this lasts:"
        );
        listed(&mut detail, &staying, MOST_NODES, |node| {
            let why = match &node.fate {
                Fate::Stays { why } => why.to_string(),
                Fate::Goes { .. } | Fate::Later => String::new(),
            };
            format!(
                "{} ({}): {}{}",
                node.node,
                node.drift.reason,
                shortened(&why),
                again(node)
            )
        });
    }
    if !replaced.is_empty() {
        let _ = writeln!(
            detail,
            "All nodes of the cluster cost {} now and {} afterwards, by the built-in catalogue.",
            told.before, told.after
        );
    }
    for pool in left_alone {
        let _ = writeln!(
            detail,
            "Of NodePool {pool}, which has replicas, the controller replaces no node while its gate StaticCapacity is off."
        );
    }
    for note in notes {
        let _ = writeln!(detail, "Not foretold: {note}.");
    }
    if let Some(assumed) = assumed {
        let _ = writeln!(detail, "{assumed}");
    }
    let title = match (replaced.len(), staying.len()) {
        (0, 0) if notes.is_empty() => format!("The change of {what} does not reach its nodes"),
        (0, 0) => format!("What the change of {what} does to its nodes is not known"),
        (0, staying) => format!("The change of {what} does not reach {}", nodes(staying)),
        (replaced, _) => format!("The change of {what} replaces {}", nodes(replaced)),
    };
    Some(Words {
        title,
        detail: detail.trim_end().to_owned(),
    })
}

/// The pods that a change would leave without a node, and that so keep theirs.
pub(super) fn of_homeless(what: &str, homeless: &[Homeless]) -> Option<Words> {
    if homeless.is_empty() {
        return None;
    }
    let mut detail = "Their nodes are not replaced as long as that is so:\n".to_owned();
    pods(&mut detail, homeless);
    Some(Words {
        title: format!(
            "After the change of {what} {} would find no node",
            counted(homeless.len(), "pod", "pods")
        ),
        detail: detail.trim_end().to_owned(),
    })
}

/// What the end of `what` does to pods; nothing where all find another node.
pub(super) fn of_destroy(what: &str, told: &Gone, doubts: &Doubts) -> Option<Words> {
    let Doubts { unknown, assumed } = doubts;
    if told.homeless.is_empty() {
        return None;
    }
    let mut detail = format!(
        "With it go {}, which {} must leave. No other node takes these, and no other pool would buy them one:\n",
        nodes(told.nodes.len()),
        counted(told.pods, "pod", "pods")
    );
    pods(&mut detail, &told.homeless);
    if !unknown.is_empty() {
        let _ = writeln!(
            detail,
            "NodePool {} of the same plan may take them: it is not wholly known yet.",
            unknown.join(", NodePool ")
        );
    }
    if let Some(assumed) = assumed {
        let _ = writeln!(detail, "{assumed}");
    }
    Some(Words {
        title: format!(
            "Without {what} {} would have no node",
            counted(told.homeless.len(), "pod", "pods")
        ),
        detail: detail.trim_end().to_owned(),
    })
}

/// Why there is no forecast; `cluster` is what messages call the cluster.
pub(super) fn of_trouble(cluster: &str, trouble: &Trouble) -> Words {
    const OFF: &str = "checks = { forecast = \"off\" } in the provider block leaves it out without a word";
    match trouble {
        Trouble::Forbidden(kinds) => Words {
            title: "The forecast was left out: it may not read the cluster".to_owned(),
            detail: format!(
                "Which nodes a change replaces is not told: the provider's credentials may not list {} in {cluster}. Allow that, for all \
                 namespaces; {OFF}.",
                kinds.join(", ")
            ),
        },
        Trouble::Late(limit) => Words {
            title: "The forecast took too long and was left out".to_owned(),
            detail: format!(
                "Which nodes a change replaces is not told: it was not known after {} s. Allow more time with checks = {{ \
                 forecast_timeout = ... }} in the provider block; {OFF}.",
                limit.as_secs_f64()
            ),
        },
        Trouble::Failed(why) => Words {
            title: "The forecast was left out".to_owned(),
            detail: format!(
                "Which nodes a change replaces is not told: {why}. The change itself can be applied; {OFF}."
            ),
        },
    }
}

fn listed<T>(detail: &mut String, items: &[T], most: usize, line: impl Fn(&T) -> String) {
    for item in items.iter().take(most) {
        let _ = writeln!(detail, "  - {}", line(item));
    }
    if items.len() > most {
        let _ = writeln!(detail, "  - and {} more", items.len() - most);
    }
}

fn pods(detail: &mut String, homeless: &[Homeless]) {
    listed(detail, homeless, MOST_PODS, |it| {
        format!("{}: {}", it.pod, it.why)
    });
}

fn again(node: &Outdated) -> &'static str {
    match node.already {
        true => ", as before this change",
        false => "",
    }
}

fn shortened(why: &str) -> String {
    why.replacen("Failed to schedule pod: ", "", 1)
}

fn nodes(count: usize) -> String {
    counted(count, "node", "nodes")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// A length of time as one says it.
fn spoken(length: SignedDuration) -> String {
    match length.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_euclid(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_core::disrupt::Blocker;
    use joiner_core::disrupt::drift::{Drift, Reason};
    use joiner_core::money::Price;
    use joiner_core::snapshot::PodKey;

    fn node(name: &str, fate: Fate) -> Outdated {
        Outdated {
            node: name.into(),
            claim: name.into(),
            pool: "p".into(),
            drift: Drift {
                reason: Reason::NodePoolDrifted,
                message: "taints were [], are [a]".into(),
            },
            already: name == "old",
            pods: vec![PodKey::new("d", "x")],
            fate,
        }
    }

    fn told() -> Forecast {
        let goes = |wave| Fate::Goes {
            wave,
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let kept = Fate::Stays {
            why: Blocker::NodeAnnotation,
        };
        Forecast {
            nodes: vec![node("n1", goes(1)), node("old", goes(2)), node("n3", kept)],
            homeless: vec![Homeless {
                pod: PodKey::new("d", "lost"),
                why: "no pool".into(),
            }],
            waves: 2,
            lasts: Some(SignedDuration::from_secs(400)),
            before: Price::from_micros(200_000),
            after: Price::from_micros(100_000),
        }
    }

    #[test]
    fn a_change_is_told_in_full() {
        let caveats = Caveats {
            notes: vec!["what x finds is not known".to_owned()],
            assumed: Some("It is assumed.".to_owned()),
            ..Caveats::default()
        };
        let words = of_change("NodePool p", &told(), &caveats).expect("there is something");
        assert_eq!(words.title, "The change of NodePool p replaces 2 nodes");
        for part in [
            "in 2 waves within the budgets, about 6 min in all",
            "n1 (wave 1, 1 pod moves; taints were [], are [a])\n",
            "old (wave 2, 1 pod moves; taints were [], are [a]), as before this change",
            "n3 (NodePoolDrifted): disruption is blocked",
            "cost $0.20/h now and $0.10/h afterwards",
            "Not foretold: what x finds is not known.\nIt is assumed.",
        ] {
            assert!(
                words.detail.contains(part),
                "{part:?} is not in:\n{}",
                words.detail
            );
        }
        let homeless = of_homeless("NodePool p", &told().homeless).expect("there is one");
        assert!(
            homeless.title.contains("1 pod would find no node")
                && homeless.detail.contains("d/lost: no pool")
        );
        let assumed = Caveats {
            notes: Vec::new(),
            ..caveats
        };
        assert!(of_change("NodePool p", &Forecast::default(), &assumed).is_none());
        let left_alone = Caveats {
            left_alone: ["p".into()].into(),
            ..assumed
        };
        let words = of_change("NodePool p", &Forecast::default(), &left_alone).expect("that is something");
        assert_eq!(words.title, "The change of NodePool p does not reach its nodes");
        assert!(
            words.detail.contains("its gate StaticCapacity is off"),
            "{}",
            words.detail
        );
    }

    #[test]
    fn long_lists_are_cut() {
        let mut many = told();
        many.nodes = (0..30)
            .map(|index| node(&format!("n{index}"), Fate::Later))
            .collect();
        let words = of_change("NodePool p", &many, &Caveats::default()).expect("there is something");
        assert!(words.detail.contains("and 10 more"), "{}", words.detail);
    }

    #[test]
    fn a_destroy_speaks_of_pods_alone() {
        let mut gone = Gone {
            nodes: vec!["n".into()],
            pods: 3,
            homeless: told().homeless,
        };
        let words = of_destroy("NodePool p", &gone, &Doubts::default()).expect("there is one");
        assert_eq!(words.title, "Without NodePool p 1 pod would have no node");
        assert!(
            words.detail.contains("1 node, which 3 pods must leave"),
            "{}",
            words.detail
        );
        let doubts = Doubts {
            unknown: vec!["q".to_owned()],
            assumed: Some("It is assumed.".to_owned()),
        };
        let words = of_destroy("NodePool p", &gone, &doubts).expect("there is one");
        assert!(
            words.detail.contains("NodePool q of the same plan may take them")
                && words.detail.ends_with("It is assumed."),
            "{}",
            words.detail
        );
        gone.homeless.clear();
        assert!(of_destroy("NodePool p", &gone, &Doubts::default()).is_none());
    }

    #[test]
    fn lengths_are_spoken() {
        for (seconds, want) in [(90, "90 s"), (400, "6 min"), (7260, "2 h 1 min")] {
            assert_eq!(spoken(SignedDuration::from_secs(seconds)), want);
        }
    }
}
