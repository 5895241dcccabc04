//! What has happened so far on the way from pending pods to running ones.
//!
//! Input: pictures of the cluster, each with the seconds since the scaling. Output: a line when something changed, and the
//! seconds at which each stage was reached. Pure: it reads no clock and no cluster.

use std::collections::BTreeMap;

/// One look at the cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Picture {
    /// The Deployment's pods without a node or not yet running.
    pub(crate) pending: usize,
    /// The Deployment's running pods.
    pub(crate) running: usize,
    /// NodeClaims by name.
    pub(crate) claims: BTreeMap<String, Claim>,
    /// Ready nodes that a NodeClaim made.
    pub(crate) ready_nodes: usize,
}

/// A NodeClaim as a person wants to see it; empty texts are not known yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Claim {
    pub(crate) instance_type: String,
    pub(crate) zone: String,
    pub(crate) capacity_type: String,
    /// Dollars per hour as the controller saw it when it launched.
    pub(crate) price: String,
    pub(crate) stage: Stage,
}

/// How far a NodeClaim has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The object exists.
    #[default]
    Created,
    /// EC2 has launched its instance.
    Launched,
    /// Its node has joined.
    Registered,
    /// Its node takes pods.
    Initialized,
}

impl Stage {
    /// The stage as `kubectl` users know its condition.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Created => "created",
            Stage::Launched => "launched",
            Stage::Registered => "registered",
            Stage::Initialized => "initialized",
        }
    }
}

/// Seconds since the scaling at which each stage was first seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Milestones {
    pub(crate) first_pod: Option<f64>,
    pub(crate) first_claim: Option<f64>,
    pub(crate) first_launch: Option<f64>,
    pub(crate) first_registered: Option<f64>,
    pub(crate) first_ready: Option<f64>,
    pub(crate) first_running: Option<f64>,
    pub(crate) all_running: Option<f64>,
}

/// Follows the pictures.
#[derive(Debug)]
pub(crate) struct Progress {
    wanted: usize,
    last: Option<Picture>,
    milestones: Milestones,
}

impl Progress {
    /// Waits for `wanted` running pods.
    pub(crate) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            last: None,
            milestones: Milestones::default(),
        }
    }

    /// Takes a picture made `at` seconds after the scaling; answers a line to show when it differs from the last.
    pub(crate) fn observe(&mut self, picture: Picture, at: f64) -> Option<String> {
        self.mark(&picture, at);
        if self.last.as_ref() == Some(&picture) {
            return None;
        }
        let line = line(&picture, at);
        self.last = Some(picture);
        Some(line)
    }

    /// Whether all pods run.
    pub(crate) fn is_done(&self) -> bool {
        self.milestones.all_running.is_some()
    }

    /// The stages reached so far.
    pub(crate) fn milestones(&self) -> &Milestones {
        &self.milestones
    }

    /// The last picture.
    pub(crate) fn last(&self) -> Option<&Picture> {
        self.last.as_ref()
    }

    fn mark(&mut self, picture: &Picture, at: f64) {
        let reached = |stage: Stage| picture.claims.values().any(|claim| claim.stage >= stage);
        let marks = &mut self.milestones;
        for (slot, now) in [
            (&mut marks.first_pod, picture.pending + picture.running > 0),
            (&mut marks.first_claim, !picture.claims.is_empty()),
            (&mut marks.first_launch, reached(Stage::Launched)),
            (&mut marks.first_registered, reached(Stage::Registered)),
            (&mut marks.first_ready, picture.ready_nodes > 0),
            (&mut marks.first_running, picture.running > 0),
            (
                &mut marks.all_running,
                picture.running >= self.wanted && picture.pending == 0,
            ),
        ] {
            if now {
                slot.get_or_insert(at);
            }
        }
    }
}

fn line(picture: &Picture, at: f64) -> String {
    let claims: Vec<String> = picture.claims.values().map(describe).collect();
    let claims = if claims.is_empty() {
        "none".to_owned()
    } else {
        claims.join(", ")
    };
    format!(
        "{at:7.2}s  pods {} pending {} running | nodes {} ready | nodeclaims {claims}",
        picture.pending, picture.running, picture.ready_nodes
    )
}

/// A NodeClaim in a few words: `c7g.large us-west-2a spot $0.0290/h launched`.
pub(crate) fn describe(claim: &Claim) -> String {
    [
        &claim.instance_type,
        &claim.zone,
        &claim.capacity_type,
        &claim.price,
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .map(String::as_str)
    .chain([claim.stage.name()])
    .collect::<Vec<_>>()
    .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(pending: usize, running: usize, stage: Option<Stage>, ready_nodes: usize) -> Picture {
        let claim = |stage| Claim {
            instance_type: "c7g.large".to_owned(),
            stage,
            ..Claim::default()
        };
        let claims = stage
            .map(|stage| ("default-abcde".to_owned(), claim(stage)))
            .into_iter()
            .collect();
        Picture {
            pending,
            running,
            claims,
            ready_nodes,
        }
    }

    #[test]
    fn stages_are_marked_once_and_in_order() {
        let mut progress = Progress::new(2);
        assert!(progress.observe(picture(2, 0, None, 0), 0.1).is_some());
        assert_eq!(
            progress.observe(picture(2, 0, None, 0), 0.2),
            None,
            "an equal picture is not shown again"
        );
        let line = progress
            .observe(picture(2, 0, Some(Stage::Launched), 0), 0.3)
            .unwrap();
        assert!(line.contains("c7g.large launched"), "{line}");
        progress.observe(picture(1, 1, Some(Stage::Initialized), 1), 1.0);
        assert!(!progress.is_done(), "one of two pods runs");
        progress.observe(picture(0, 2, Some(Stage::Initialized), 1), 1.5);
        assert!(progress.is_done());
        let marks = progress.milestones();
        assert_eq!(
            (
                marks.first_pod,
                marks.first_claim,
                marks.first_launch,
                marks.first_registered
            ),
            (Some(0.1), Some(0.3), Some(0.3), Some(1.0))
        );
        assert_eq!(
            (marks.first_ready, marks.first_running, marks.all_running),
            (Some(1.0), Some(1.0), Some(1.5))
        );
    }
}
