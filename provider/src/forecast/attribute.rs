//! The attributes `nodes_drifted` and `forecast`.
//!
//! Both change by themselves in the cluster, so neither may ever be the reason for a change: `nodes_drifted` is counted by a refresh and
//! never planned; `forecast` is planned only together with a change, and kept in the state afterwards. What is planned as known must be what
//! the apply comes to, however long it waits.

use super::subject::Reach;
use joiner_core::disrupt::drift::Drift;
use joiner_core::disrupt::forecast::{Forecast as Told, Homeless};
use joiner_core::money::Price;
use tfplugin::{Field, Model};

/// How many pods are listed.
const MOST_PODS: usize = 100;

/// What a resource tells of nodes that run.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Outlook {
    /// How many nodes still ran an older spec at the last refresh. A plan never changes it, and an apply leaves it as it is: it goes up
    /// with the first refresh after a change, and back to 0 while the controller replaces the nodes. Null where NodeClaims may not be
    /// listed.
    #[tf(json_skip, computed, use_state_for_unknown)]
    pub nodes_drifted: Field<i64>,
    /// What the last change of the spec does to nodes that run, by the controller's own decisions. The plan of a change knows `replaces`,
    /// and tells all else as warnings; the apply stores it, as of the moment before it. Null until there was a change.
    #[tf(json_skip, computed, use_state_for_unknown)]
    pub forecast: Field<Forecast>,
}

/// What a change does to nodes that run.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Forecast {
    /// Which nodes of the pool or class the change replaces: `all`, `some` (those that do not meet what is asked for now) or `none`. Known
    /// in the plan, so that a policy can look at it.
    #[tf(computed)]
    pub replaces: Field<String>,
    /// The nodes that are not as the changed spec says, and so are replaced. Null, as what follows, where there was no forecast.
    #[tf(computed)]
    pub nodes: Field<Vec<ForecastNode>>,
    /// How many pods move to other nodes.
    #[tf(computed)]
    pub pods_moving: Field<i64>,
    /// Pods that would find no node, the first 100. They keep theirs, which is not replaced.
    #[tf(computed)]
    pub pods_without_node: Field<Vec<ForecastPod>>,
    /// In how many waves the nodes go, within the pool's budgets.
    #[tf(computed)]
    pub waves: Field<i64>,
    /// How many seconds it takes until the last wave has ended, by what the cluster's nodes took so far to start.
    #[tf(computed)]
    pub seconds: Field<i64>,
    /// US dollars an hour that all nodes of the cluster cost before, such as `0.192`, by the built-in catalogue. Null where no node is
    /// replaced.
    #[tf(computed)]
    pub cost_per_hour_before: Field<String>,
    /// US dollars an hour that they cost afterwards.
    #[tf(computed)]
    pub cost_per_hour_after: Field<String>,
}

/// A node that is replaced.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ForecastNode {
    /// Its name; the NodeClaim's while it has not joined.
    #[tf(computed)]
    pub name: Field<String>,
    /// Its NodeClaim.
    #[tf(computed)]
    pub node_claim: Field<String>,
    /// Why, in Karpenter's word, such as `NodePoolDrifted`, `RequirementsDrifted`, `NodeClassDrift` or `AMIDrift`.
    #[tf(computed)]
    pub reason: Field<String>,
    /// What was and what is.
    #[tf(computed)]
    pub message: Field<String>,
}

/// A pod that would find no node.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ForecastPod {
    /// The pod, as `NAMESPACE/NAME`.
    #[tf(computed)]
    pub pod: Field<String>,
    /// Why, pool by pool.
    #[tf(computed)]
    pub reason: Field<String>,
}

impl Outlook {
    /// That of an object that has just been made: there are no nodes.
    pub(crate) fn none_yet() -> Self {
        Self {
            nodes_drifted: Field::Known(0),
            forecast: Field::Null,
        }
    }

    /// Fills in what the plan left open. `told` is what was forecast in this apply.
    pub(crate) fn settle(&mut self, told: Option<&Told>) {
        if !self.nodes_drifted.is_known() {
            self.nodes_drifted = Field::Known(0);
        }
        match &mut self.forecast {
            Field::Known(forecast) => forecast.settle(told),
            Field::Unknown => self.forecast = Field::from_option(told.map(Forecast::of)),
            Field::Null => {}
        }
    }
}

impl Forecast {
    /// What a plan says of it: what the change alone tells. All else follows from the cluster, in which nodes and pods come and go until
    /// the apply, and a core, which plans again then, refuses another value than was planned.
    pub(super) fn at_plan(reach: Reach) -> Self {
        let replaces = reach.as_str().into();
        match reach {
            Reach::None => Self {
                replaces,
                ..Self::of(&Told::default())
            },
            Reach::All | Reach::Some => Self {
                replaces,
                nodes: Field::Unknown,
                pods_moving: Field::Unknown,
                pods_without_node: Field::Unknown,
                waves: Field::Unknown,
                seconds: Field::Unknown,
                cost_per_hour_before: Field::Unknown,
                cost_per_hour_after: Field::Unknown,
            },
        }
    }

    fn of(told: &Told) -> Self {
        let nodes = told.nodes.iter();
        Self {
            replaces: Field::Null,
            nodes: Field::Known(
                nodes
                    .map(|it| ForecastNode::new(&it.node, &it.claim, &it.drift))
                    .collect(),
            ),
            pods_moving: number(told.moving()),
            pods_without_node: Field::Known(
                told.homeless
                    .iter()
                    .take(MOST_PODS)
                    .map(ForecastPod::of)
                    .collect(),
            ),
            waves: number(told.waves),
            seconds: Field::from_option(told.lasts.map(|lasts| lasts.as_secs())),
            cost_per_hour_before: dollars(told.before),
            cost_per_hour_after: dollars(told.after),
        }
    }

    fn settle(&mut self, told: Option<&Told>) {
        let told = told.map(Self::of).unwrap_or_default();
        fill(&mut self.nodes, told.nodes);
        fill(&mut self.pods_moving, told.pods_moving);
        fill(&mut self.pods_without_node, told.pods_without_node);
        fill(&mut self.waves, told.waves);
        fill(&mut self.seconds, told.seconds);
        fill(&mut self.cost_per_hour_before, told.cost_per_hour_before);
        fill(&mut self.cost_per_hour_after, told.cost_per_hour_after);
    }
}

impl ForecastNode {
    fn new(node: &str, claim: &str, drift: &Drift) -> Self {
        Self {
            name: node.into(),
            node_claim: claim.into(),
            reason: drift.reason.as_str().into(),
            message: (&*drift.message).into(),
        }
    }
}

impl ForecastPod {
    fn of(homeless: &Homeless) -> Self {
        Self {
            pod: homeless.pod.to_string().into(),
            reason: (&*homeless.why).into(),
        }
    }
}

fn fill<T>(field: &mut Field<T>, with: Field<T>) {
    if field.is_unknown() {
        *field = with;
    }
}

fn number(count: usize) -> Field<i64> {
    Field::from_option(i64::try_from(count).ok())
}

/// Dollars an hour as text: a number with a fraction would come back from a state as another one.
fn dollars(price: Price) -> Field<String> {
    let text = price.to_string();
    match price {
        Price::ZERO => Field::Null,
        _ => text.trim_start_matches('$').trim_end_matches("/h").into(),
    }
}
