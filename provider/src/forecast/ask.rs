//! Asking the controller's own decisions, within a time.

use super::claims::has_claims;
use super::controller::Controller;
use super::picture::{is_resolved_anew, of_change};
use super::resolve::{self, Resolved};
use super::subject::{Change, Subject};
use super::trouble::Trouble;
use super::types;
use super::world::World;
use crate::cluster::Cluster;
use crate::provider::{Joiner, Part};
use futures::future::BoxFuture;
use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_core::disrupt::forecast::{Asked, Forecast, Gone, forecast, gone};
use joiner_core::snapshot::Pool;
use joiner_core::text::Text;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How many waves are looked ahead.
const MOST_WAVES: usize = 100;
/// How long the plan of another pool is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether pools can still be planned that take the pods of those that go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// They can.
    Possible,
    /// They cannot: all goes.
    None,
}

/// What a forecast of a change comes with.
#[derive(Debug, Default)]
pub(super) struct Caveats {
    /// What could not be found out.
    pub notes: Vec<String>,
    /// The pools of which the controller would replace no node.
    pub left_alone: BTreeSet<Text>,
    /// What is not known of the controller, as a sentence.
    pub assumed: Option<String>,
}

/// What a change does. `None` where the object is not there.
pub(super) async fn change(
    data: &Joiner,
    cluster: &Cluster,
    change: Change,
    region: Option<String>,
) -> Result<Option<(Forecast, Caveats)>, Trouble> {
    if !has_claims(data, change.subject, &change.name) {
        return Ok(Some((Forecast::default(), Caveats::default())));
    }
    let work = Box::pin(async {
        let world = data.world(|| World::read(cluster)).await?;
        let Some(live) = world.live(change.subject, &change.name) else {
            return Ok(None);
        };
        if !world.has_claims(change.subject, &change.name) {
            return Ok(Some((Forecast::default(), Caveats::default())));
        }
        let by = controller(data, &world);
        let mut object = change.made_on(live);
        let mut resolved = Resolved::default();
        if is_resolved_anew(&change) {
            let aws = match &data.aws {
                Part::Known(aws) if aws.has_credentials_at_hand() => Some(aws),
                _ => None,
            };
            resolved = resolve::selectors(aws, cluster, &world, &change, &mut object).await;
        }
        let Resolved { machines, notes } = resolved;
        let (told, left_alone, assumed) = computed(move || {
            let mut picture = of_change(&world, &change, &object, &by, region)?;
            picture.facts.machines.extend(machines);
            let asked = Asked {
                catalogue: &picture.catalogue,
                facts: &picture.facts,
                pools: &picture.pools,
                most_waves: MOST_WAVES,
            };
            let told = forecast(picture.snapshot, &asked, Timestamp::now());
            Ok((told, picture.left_alone, by.assumed))
        })
        .await?;
        let caveats = Caveats {
            notes,
            left_alone,
            assumed,
        };
        Ok(Some((told, caveats)))
    });
    in_time(data.checks.forecast_timeout, work).await
}

/// What a forecast of an end comes with.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// The pools that may take pods, of which that is not known yet.
    pub unknown: Vec<String>,
    /// What is not known of the controller, as a sentence.
    pub assumed: Option<String>,
}

/// What becomes of pods when pools go with their nodes. Where pods would
/// find nothing, and `others` says that more pools may be planned, these are waited for a moment.
pub(super) async fn destroy(
    data: &Joiner,
    cluster: &Cluster,
    pools: BTreeSet<String>,
    others: Others,
    region: Option<String>,
) -> Result<(Gone, Doubts), Trouble> {
    if !pools.iter().any(|pool| has_claims(data, Subject::Pool, pool)) {
        return Ok((Gone::default(), Doubts::default()));
    }
    let limit = data.checks.forecast_timeout;
    let work = Box::pin(async move {
        let mut coming = data.coming.watch();
        let world = data.world(|| World::read(cluster)).await?;
        if !pools.iter().any(|pool| world.has_claims(Subject::Pool, pool)) {
            return Ok((Gone::default(), Doubts::default()));
        }
        let decides = Arc::new(controller(data, &world));
        let going: BTreeSet<Text> = pools.iter().map(|pool| Text::from(pool.as_str())).collect();
        loop {
            let planned = coming.now();
            let unknown: Vec<String> = planned
                .iter()
                .filter(|(_, pool)| pool.is_none())
                .map(|(name, _)| name.clone())
                .collect();
            let planned: Vec<Arc<Pool>> = planned.into_values().flatten().collect();
            let classes = classes(data, &world, &planned);
            let (world, going, region) = (Arc::clone(&world), going.clone(), region.clone());
            let by = Arc::clone(&decides);
            let told = computed(move || {
                let before = world.decided_by(&by);
                let mut snapshot = before.clone();
                snapshot
                    .pools
                    .retain(|pool| planned.iter().all(|it| it.name != pool.name));
                snapshot.pools.extend(planned.iter().cloned());
                let catalogue = types::catalogue(&world, &snapshot, &classes, &by, region)?;
                Ok(gone(&before, &catalogue, &going, &planned, Timestamp::now()))
            })
            .await?;
            let is_final = told.homeless.is_empty() || others == Others::None;
            if is_final || !coming.more(PATIENCE.min(limit / 2)).await {
                let assumed = decides.assumed.clone();
                return Ok((told, Doubts { unknown, assumed }));
            }
        }
    });
    in_time(limit, work).await
}

/// The controller that decides, as far as it is seen.
fn controller(data: &Joiner, world: &World) -> Controller {
    Controller::of(data.planned_controller().as_ref(), world.controller.as_ref())
}

/// The classes of the cluster, with those that are planned for pools that are planned.
fn classes(data: &Joiner, world: &World, planned: &[Arc<Pool>]) -> BTreeMap<Text, Arc<EC2NodeClass>> {
    let mut classes = world.classes.clone();
    for pool in planned {
        if let Some(class) = data.class(&pool.class.name) {
            classes.insert(pool.class.name.clone(), Arc::new(class));
        }
    }
    classes
}

/// Computes beside the calls of a core: other plans go on meanwhile.
async fn computed<T: Send + 'static>(
    decide: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    match tokio::task::spawn_blocking(decide).await {
        Ok(answer) => answer,
        Err(error) => Err(Trouble::Failed(error.to_string())),
    }
}

async fn in_time<T>(limit: Duration, work: BoxFuture<'_, Result<T, Trouble>>) -> Result<T, Trouble> {
    match tokio::time::timeout(limit, work).await {
        Ok(answer) => answer,
        Err(_) => Err(Trouble::Late(limit)),
    }
}
