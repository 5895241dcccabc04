//! Taints, tolerations and who tolerates whom.

use std::fmt;

use crate::text::Text;

/// What a taint does to a pod that does not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// New pods stay away.
    NoSchedule,
    /// New pods stay away where they can.
    PreferNoSchedule,
    /// New pods stay away and running ones are evicted.
    NoExecute,
}

impl Effect {
    /// Reads Kubernetes' spelling.
    pub fn parse(text: &str) -> Option<Effect> {
        [Effect::NoSchedule, Effect::PreferNoSchedule, Effect::NoExecute]
            .into_iter()
            .find(|it| it.as_str() == text)
    }

    /// Kubernetes' spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Effect::NoSchedule => "NoSchedule",
            Effect::PreferNoSchedule => "PreferNoSchedule",
            Effect::NoExecute => "NoExecute",
        }
    }
}

/// A taint; two are the same taint when key and effect agree, whatever the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// The key.
    pub key: Text,
    /// The value, empty where none was written.
    pub value: Text,
    /// The effect.
    pub effect: Effect,
}

impl Taint {
    /// A taint from its three parts.
    pub fn new(key: impl Into<Text>, value: impl Into<Text>, effect: Effect) -> Taint {
        Taint {
            key: key.into(),
            value: value.into(),
            effect,
        }
    }

    /// Whether both name the same taint: one key, one effect.
    pub fn is_same(&self, other: &Taint) -> bool {
        self.key == other.key && self.effect == other.effect
    }

    /// Whether the taint keeps a pod away for good rather than by preference.
    pub fn is_hard(&self) -> bool {
        self.effect != Effect::PreferNoSchedule
    }

    /// Whether nodes carry this taint only while they start: the kubelet's and the cloud controller's own taints,
    /// the one that marks an unregistered node, and the family of the node readiness controller.
    pub fn is_ephemeral(&self) -> bool {
        let known = match &*self.key {
            "node.kubernetes.io/not-ready" => self.effect != Effect::PreferNoSchedule,
            "node.kubernetes.io/unreachable" => self.effect == Effect::NoSchedule,
            "node.cloudprovider.kubernetes.io/uninitialized" => self.effect == Effect::NoSchedule,
            "karpenter.sh/unregistered" => self.effect == Effect::NoExecute,
            _ => false,
        };
        known || self.key.starts_with("readiness.k8s.io/")
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.value {
            "" => write!(f, "{}:{}", self.key, self.effect.as_str()),
            value => write!(f, "{}={value}:{}", self.key, self.effect.as_str()),
        }
    }
}

/// How a toleration compares its value with a taint's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TolerationOperator {
    /// The values are equal; what an absent operator means.
    #[default]
    Equal,
    /// Any value.
    Exists,
    /// The taint's value is an integer below the toleration's.
    Lt,
    /// The taint's value is an integer above the toleration's.
    Gt,
}

/// A pod's permission to run beside a taint.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Toleration {
    /// The taint's key; every key where absent.
    pub key: Option<Text>,
    /// How values are compared.
    pub operator: TolerationOperator,
    /// The value to compare with.
    pub value: Text,
    /// The taint's effect; every effect where absent.
    pub effect: Option<Effect>,
}

impl Toleration {
    /// Tolerates every taint.
    pub fn everything() -> Toleration {
        Toleration {
            operator: TolerationOperator::Exists,
            ..Toleration::default()
        }
    }

    /// Whether a pod with this toleration may run beside `taint`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if self.effect.is_some_and(|effect| effect != taint.effect) {
            return false;
        }
        if self.key.as_ref().is_some_and(|key| *key != taint.key) {
            return false;
        }
        let numbers = || Some((decimal(&taint.value)?, decimal(&self.value)?));
        match self.operator {
            TolerationOperator::Equal => self.value == taint.value,
            TolerationOperator::Exists => true,
            TolerationOperator::Lt => numbers().is_some_and(|(taint, own)| taint < own),
            TolerationOperator::Gt => numbers().is_some_and(|(taint, own)| taint > own),
        }
    }
}

/// A decimal integer as Kubernetes accepts it here: no plus sign, no leading zeros.
fn decimal(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain =
        digits == "0" && text == "0" || digits.starts_with(|first: char| ('1'..='9').contains(&first));
    if plain { text.parse().ok() } else { None }
}

/// The taints that `tolerations` do not cover, in the order given.
pub fn untolerated<'a>(taints: &'a [Taint], tolerations: &[Toleration]) -> impl Iterator<Item = &'a Taint> {
    taints
        .iter()
        .filter(move |taint| !tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}

/// Both lists, where a taint that is already there is not added again.
pub fn merge(taints: &[Taint], with: &[Taint]) -> Vec<Taint> {
    let mut merged = taints.to_vec();
    for taint in with {
        if !merged.iter().any(|there| there.is_same(taint)) {
            merged.push(taint.clone());
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::{Effect, Taint, Toleration, TolerationOperator, untolerated};

    fn toleration(
        key: &str,
        operator: TolerationOperator,
        value: &str,
        effect: Option<Effect>,
    ) -> Toleration {
        Toleration {
            key: (!key.is_empty()).then(|| key.into()),
            operator,
            value: value.into(),
            effect,
        }
    }

    #[test]
    fn a_toleration_covers_what_kubernetes_says() {
        use TolerationOperator::{Equal, Exists, Gt, Lt};
        let team = Taint::new("team", "a", Effect::NoSchedule);
        let level = Taint::new("level", "10", Effect::NoExecute);
        for (row, taint, want) in [
            (toleration("team", Equal, "a", None), &team, true),
            (toleration("team", Equal, "b", None), &team, false),
            (
                toleration("team", Equal, "a", Some(Effect::NoExecute)),
                &team,
                false,
            ),
            (
                toleration("team", Exists, "", Some(Effect::NoSchedule)),
                &team,
                true,
            ),
            (toleration("", Exists, "", None), &team, true),
            (toleration("other", Exists, "", None), &team, false),
            (toleration("level", Lt, "11", None), &level, true),
            (toleration("level", Lt, "10", None), &level, false),
            (toleration("level", Gt, "9", None), &level, true),
            (toleration("level", Gt, "09", None), &level, false),
            (toleration("team", Gt, "9", None), &team, false),
        ] {
            assert_eq!(row.tolerates(taint), want, "{row:?} and {taint}");
        }
    }

    #[test]
    fn only_uncovered_taints_are_named() {
        let taints = [
            Taint::new("a", "", Effect::NoSchedule),
            Taint::new("b", "x", Effect::PreferNoSchedule),
        ];
        let left: Vec<_> =
            untolerated(&taints, &[toleration("a", TolerationOperator::Exists, "", None)]).collect();
        assert_eq!(left, [&taints[1]]);
        assert_eq!(taints[1].to_string(), "b=x:PreferNoSchedule");
    }

    #[test]
    fn ephemeral_taints_are_known_with_their_effects() {
        for (key, effect, want) in [
            ("node.kubernetes.io/not-ready", Effect::NoExecute, true),
            ("node.kubernetes.io/unreachable", Effect::NoSchedule, true),
            ("node.kubernetes.io/unreachable", Effect::NoExecute, false),
            ("karpenter.sh/unregistered", Effect::NoExecute, true),
            ("karpenter.sh/disrupted", Effect::NoSchedule, false),
            ("readiness.k8s.io/network", Effect::NoSchedule, true),
            ("node.kubernetes.io/unschedulable", Effect::NoSchedule, false),
        ] {
            assert_eq!(Taint::new(key, "", effect).is_ephemeral(), want, "{key}");
        }
    }
}
