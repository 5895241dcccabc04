//! Rules that bind pods to others, gathered: equal rules are one group.

use std::collections::BTreeMap;

use super::identity::Identities;
use super::{Filter, Group, Rule, Where};
use crate::schedule::atoms::{Bits, Keys};
use crate::snapshot::PodSelector;
use crate::text::Text;
use crate::well_known;

/// A group while groups are gathered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Draft<'a> {
    pub(super) rule: Rule,
    pub(super) key: &'a str,
    pub(super) who: Who<'a>,
    pub(super) filter: Option<Filter>,
    /// Of a spread over a label: the places among which pods are spread.
    pub(super) domains: Bits,
}

/// Whom a group is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who<'a> {
    /// Pods with these labels, in these namespaces or in all.
    Selected(&'a PodSelector, Option<Vec<&'a str>>),
    /// The replicas of a workload.
    Workload(&'a str),
}

/// All groups so far.
#[derive(Default)]
pub(super) struct Drafts<'a> {
    index: BTreeMap<Draft<'a>, usize>,
    all: Vec<Draft<'a>>,
}

impl<'a> Drafts<'a> {
    pub(super) fn add(&mut self, draft: Draft<'a>) -> usize {
        let next = self.all.len();
        let id = *self.index.entry(draft.clone()).or_insert(next);
        if id == next {
            self.all.push(draft);
        }
        id
    }

    /// For each group the identities it selects.
    pub(super) fn selected(&self, identities: &Identities<'_>) -> Vec<Vec<usize>> {
        let of = |draft: &Draft<'_>| match &draft.who {
            Who::Selected(selector, namespaces) => identities.selected(selector, namespaces.as_deref()),
            Who::Workload(_) => Vec::new(),
        };
        self.all.iter().map(of).collect()
    }

    /// The group that counts the replicas of a workload.
    pub(super) fn of_workload(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|draft| draft.who == Who::Workload(name))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Draft<'a>> {
        self.all.iter()
    }

    pub(super) fn finish(self, keys: &Keys) -> Vec<Group> {
        let mut hosts = 0;
        let group = |draft: Draft<'_>| {
            let at = match keys.id(draft.key) {
                Some(key) if draft.key != well_known::HOSTNAME => Where::Label(key),
                _ => Where::Host,
            };
            let places = match at {
                Where::Label(key) => keys.atoms(key).len(),
                Where::Host => 0,
            };
            let host = hosts;
            hosts += usize::from(at == Where::Host);
            Group {
                rule: draft.rule,
                at,
                host,
                domains: draft.domains,
                filter: draft.filter,
                counts: vec![0; places],
                anywhere: 0,
                fed: false,
                key: Text::from(draft.key),
            }
        };
        self.all.into_iter().map(group).collect()
    }
}
