//! What a class asks for, step by step: first all its wishes as if they were needs, then one wish less at a time, in
//! Karpenter's order.

use super::groups::{Draft, Drafts, Who};
use super::{Filter, Level, Rule};
use crate::requirements::Requirements;
use crate::schedule::atoms::{Bits, Keys};
use crate::schedule::sets::{SetId, Sets};
use crate::snapshot::{
    DefaultSpread, InclusionPolicy, NodeTerm, Placement, Pod, PodTerm, PreferencePolicy, Preferred, Settings,
    Spread, Strength,
};
use crate::taints::{Taint, untolerated};
use crate::text::Text;
use crate::well_known;

/// Of a label the places that can be reached, by alternatives of labels and by lists of taints.
pub(super) type Reach<'r> = dyn FnMut(&mut Sets, usize, Option<&[SetId]>, Option<&Bits>) -> Bits + 'r;

/// What levels are made with.
pub(super) struct Maker<'p, 'a> {
    pub(super) settings: &'a Settings,
    pub(super) keys: &'p Keys,
    pub(super) sets: &'p mut Sets,
    /// The distinct lists of taints of pools and nodes.
    pub(super) taints: &'p [Vec<Taint>],
    pub(super) drafts: &'p mut Drafts<'a>,
    /// Of a label: the places that pods with these alternatives and tolerations could reach.
    pub(super) domains: &'p mut Reach<'p>,
}

/// The wishes that still stand at a level.
struct Wishes<'a> {
    beside: Vec<&'a Preferred<PodTerm>>,
    apart: Vec<&'a Preferred<PodTerm>>,
    node: Vec<&'a Preferred<NodeTerm>>,
    spread: Vec<Spreading<'a>>,
}

/// A spread constraint, the pod's own or one of the cluster's defaults.
#[derive(Clone)]
struct Spreading<'a> {
    shape: Shape,
    strength: Strength,
    key: &'a Text,
    who: Who<'a>,
}

impl<'a> Maker<'_, 'a> {
    /// All levels of pods like `pod`; empty where no node could ever satisfy its required node affinity.
    pub(super) fn levels(&mut self, pod: &'a Pod) -> Vec<Level> {
        let placement = &pod.placement;
        let respect = self.settings.preference_policy == PreferencePolicy::Respect;
        let mut wishes = Wishes {
            beside: heaviest_first(&placement.preferred_affinity),
            apart: heaviest_first(&placement.preferred_anti_affinity),
            node: heaviest_first(&placement.preferred_node_affinity),
            spread: self.spreads(pod, Strength::Preferred),
        };
        let mut dropped: Vec<Text> = Vec::new();
        if !respect {
            let count = wishes.beside.len() + wishes.apart.len() + wishes.node.len() + wishes.spread.len();
            if count > 0 {
                dropped.push("all preferences (by policy)".into());
            }
            wishes = Wishes {
                beside: Vec::new(),
                apart: Vec::new(),
                node: Vec::new(),
                spread: Vec::new(),
            };
        }
        let strict = self.strict(placement);
        if strict.is_empty() {
            return Vec::new();
        }
        let (hard, soft) = (self.bears(placement, false), self.bears(placement, true));
        let fixed = self.fixed_rules(pod, &strict, &hard);
        let mut levels = Vec::new();
        loop {
            levels.push(self.level(placement, &strict, &fixed, &wishes, &hard, &dropped));
            if let Some(gone) = first(&mut wishes.beside) {
                dropped.push(format!("preferred pod affinity on {}", gone.term.topology_key).into());
            } else if let Some(gone) = first(&mut wishes.apart) {
                dropped.push(format!("preferred pod anti-affinity on {}", gone.term.topology_key).into());
            } else if let Some(gone) = first(&mut wishes.node) {
                dropped.push(format!("preferred node affinity {}", gone.term.expressions).into());
            } else if let Some(gone) = first(&mut wishes.spread) {
                dropped.push(format!("topology spread over {} (ScheduleAnyway)", gone.key).into());
            } else {
                break;
            }
        }
        if soft != hard {
            dropped.push("taints with effect PreferNoSchedule".into());
            levels.push(self.level(placement, &strict, &fixed, &wishes, &soft, &dropped));
        }
        levels
    }

    fn level(
        &mut self,
        placement: &Placement,
        strict: &[SetId],
        fixed: &[usize],
        wishes: &Wishes<'a>,
        bears: &Bits,
        dropped: &[Text],
    ) -> Level {
        let mut rules = fixed.to_vec();
        for wish in &wishes.beside {
            rules.push(self.term(Rule::Together, &wish.term));
        }
        for wish in &wishes.apart {
            rules.push(self.term(Rule::Apart, &wish.term));
        }
        for spread in &wishes.spread {
            rules.push(self.spread(spread, strict, bears));
        }
        rules.sort_unstable();
        rules.dedup();
        let mut wanted = strict.to_vec();
        if let Some(wish) = wishes.node.first() {
            let wish = self.set(&wish.term.expressions);
            wanted = wanted
                .iter()
                .filter_map(|one| self.sets.and(*one, wish))
                .collect();
        }
        let wanted = self.with_volumes(placement, wanted);
        Level {
            wanted,
            bears: bears.clone(),
            rules,
            dropped: dropped.into(),
        }
    }

    /// The rules that no level gives up.
    fn fixed_rules(&mut self, pod: &'a Pod, strict: &[SetId], bears: &Bits) -> Vec<usize> {
        let placement = &pod.placement;
        let mut rules = Vec::new();
        for term in &placement.affinity {
            rules.push(self.term(Rule::Together, term));
        }
        for term in &placement.anti_affinity {
            rules.push(self.term(Rule::Apart, term));
        }
        for spread in self.spreads(pod, Strength::Required) {
            rules.push(self.spread(&spread, strict, bears));
        }
        if let (Some(percent), Some(workload)) = (self.settings.guards.max_replica_share, &pod.workload)
            && workload.replicas > 0
        {
            let most = (u64::from(workload.replicas) * u64::from(percent) / 100).max(1);
            rules.push(self.drafts.add(Draft {
                rule: Rule::Share {
                    most: u32::try_from(most).unwrap_or(u32::MAX),
                },
                key: well_known::HOSTNAME,
                who: Who::Workload(&workload.name),
                filter: None,
                domains: Bits::default(),
            }));
        }
        rules
    }

    fn term(&mut self, rule: Rule, term: &'a PodTerm) -> usize {
        self.drafts.add(Draft {
            rule,
            key: &term.topology_key,
            who: selected(term),
            filter: None,
            domains: Bits::default(),
        })
    }

    /// The spread constraints of a pod: its own, or where it has none the cluster's defaults for its workload.
    fn spreads(&self, pod: &'a Pod, strength: Strength) -> Vec<Spreading<'a>> {
        let namespaces = || Some(vec![&*pod.key.namespace]);
        let mut all: Vec<Spreading<'a>> = pod
            .placement
            .spread
            .iter()
            .map(|it| Spreading {
                shape: Shape::of(it),
                strength: it.strength,
                key: &it.topology_key,
                who: Who::Selected(&it.selector, namespaces()),
            })
            .collect();
        if all.is_empty()
            && let Some(selector) = pod.workload.as_ref().and_then(|it| it.selector.as_ref())
        {
            all.extend(self.settings.default_spread.iter().map(|it| Spreading {
                shape: Shape::of_default(it),
                strength: it.strength,
                key: &it.topology_key,
                who: Who::Selected(selector, namespaces()),
            }));
        }
        all.retain(|it| it.strength == strength);
        all
    }

    fn spread(&mut self, spread: &Spreading<'a>, strict: &[SetId], bears: &Bits) -> usize {
        let Spreading { shape, key, .. } = spread;
        let key: &'a Text = key;
        let honour = |policy| policy == InclusionPolicy::Honor;
        let asks = strict.iter().any(|one| !self.sets.get(*one).is_empty());
        let wanted = (honour(shape.affinity) && asks).then(|| strict.to_vec());
        let bears = honour(shape.taints).then(|| bears.clone());
        let domains = match self.keys.id(key) {
            Some(id) if **key != *well_known::HOSTNAME => {
                (self.domains)(self.sets, id, wanted.as_deref(), bears.as_ref())
            }
            _ => Bits::default(),
        };
        self.drafts.add(Draft {
            rule: Rule::Spread {
                skew: shape.skew.max(1),
                domains: shape.domains,
            },
            key,
            who: spread.who.clone(),
            filter: Some(Filter { wanted, bears }),
            domains,
        })
    }

    /// The selector with each term of the required node affinity that a node could match.
    fn strict(&mut self, placement: &Placement) -> Vec<SetId> {
        let selector = Requirements::from_labels(&placement.node_selector);
        let usable = |term: &&NodeTerm| term.fields.is_empty() && !term.expressions.is_empty();
        let mut all = Vec::new();
        match &placement.node_affinity {
            None => all.extend(self.possible(&selector)),
            Some(terms) => {
                for term in terms.iter().filter(usable) {
                    all.extend(self.possible(&selector.and(&term.expressions)));
                }
            }
        }
        all.dedup();
        all
    }

    fn with_volumes(&mut self, placement: &Placement, mut wanted: Vec<SetId>) -> Vec<SetId> {
        let volumes = placement.volumes.iter().map(|volume| &volume.alternatives);
        let devices = placement
            .devices
            .iter()
            .filter_map(|claim| claim.allocated.as_ref());
        for alternatives in volumes.chain(devices).filter(|all| !all.is_empty()) {
            let places: Vec<SetId> = alternatives.iter().filter_map(|one| self.possible(one)).collect();
            let mut both = Vec::new();
            for one in &wanted {
                for place in &places {
                    both.extend(self.sets.and(*one, *place).filter(|it| !both.contains(it)));
                }
            }
            wanted = both;
        }
        wanted
    }

    fn set(&mut self, wanted: &Requirements) -> SetId {
        let mut set: Vec<_> = wanted
            .iter()
            .filter_map(|one| {
                let key = self.keys.id(one.key())?;
                Some((key, self.keys.atoms(key).bits(one)))
            })
            .collect();
        set.sort_by_key(|(key, _)| *key);
        self.sets.intern(set)
    }

    /// As [`Maker::set`], unless nothing can satisfy it.
    fn possible(&mut self, wanted: &Requirements) -> Option<SetId> {
        let set = self.set(wanted);
        let empty = self.sets.get(set).iter().any(|(_, bits)| bits.is_empty());
        (!empty).then_some(set)
    }

    fn bears(&self, placement: &Placement, softly: bool) -> Bits {
        let mut borne = Bits::none(self.taints.len());
        for (index, taints) in self.taints.iter().enumerate() {
            if untolerated(taints, &placement.tolerations).all(|taint| softly && !taint.is_hard()) {
                borne.set(index);
            }
        }
        borne
    }
}

/// The numbers of a spread constraint.
#[derive(Clone, Copy)]
struct Shape {
    skew: u32,
    domains: u32,
    affinity: InclusionPolicy,
    taints: InclusionPolicy,
}

impl Shape {
    fn of(spread: &Spread) -> Shape {
        Shape {
            skew: spread.max_skew,
            domains: spread.min_domains.unwrap_or(0),
            affinity: spread.node_affinity_policy,
            taints: spread.node_taints_policy,
        }
    }

    fn of_default(spread: &DefaultSpread) -> Shape {
        Shape {
            skew: spread.max_skew,
            domains: spread.min_domains.unwrap_or(0),
            affinity: spread.node_affinity_policy,
            taints: spread.node_taints_policy,
        }
    }
}

/// Whom a term speaks of.
pub(super) fn selected(term: &PodTerm) -> Who<'_> {
    let namespaces = term
        .namespaces
        .as_ref()
        .map(|all| all.iter().map(|namespace| &**namespace).collect());
    Who::Selected(&term.selector, namespaces)
}

fn heaviest_first<T>(wishes: &[Preferred<T>]) -> Vec<&Preferred<T>> {
    let mut all: Vec<&Preferred<T>> = wishes.iter().collect();
    all.sort_by_key(|wish| std::cmp::Reverse(wish.weight));
    all
}

fn first<T>(all: &mut Vec<T>) -> Option<T> {
    (!all.is_empty()).then(|| all.remove(0))
}
