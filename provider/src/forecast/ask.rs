//! Asking the controller's own decisions, within a time.

use super::claims::has_claims;
use super::picture::{is_resolved_anew, of_change};
use super::resolve;
use super::subject::{Change, Subject};
use super::trouble::Trouble;
use super::types;
use super::world::World;
use crate::cluster::Cluster;
use crate::provider::{Joiner, Part};
use futures::future::BoxFuture;
use jiff::Timestamp;
use joiner_core::disrupt::forecast::{Asked, Forecast, Gone, forecast, gone};
use joiner_core::text::Text;
use std::collections::BTreeSet;
use std::time::Duration;

/// How many waves are looked ahead.
const MOST_WAVES: usize = 100;

/// What a change does, and what of it could not be found out. `None` where the object is not there.
pub(super) async fn change(
    data: &Joiner,
    cluster: &Cluster,
    change: Change,
    region: Option<String>,
) -> Result<Option<(Forecast, Vec<String>)>, Trouble> {
    if !has_claims(data, change.subject, &change.name) {
        return Ok(Some((Forecast::default(), Vec::new())));
    }
    let work = Box::pin(async {
        let world = data.world(|| World::read(cluster)).await?;
        let Some(live) = world.live(change.subject, &change.name) else {
            return Ok(None);
        };
        if !world.has_claims(change.subject, &change.name) {
            return Ok(Some((Forecast::default(), Vec::new())));
        }
        let mut object = change.made_on(live);
        let mut notes = Vec::new();
        if is_resolved_anew(&change) {
            let aws = match &data.aws {
                Part::Known(aws) if aws.has_credentials_at_hand() => Some(aws),
                _ => None,
            };
            notes = resolve::selectors(aws, cluster, &change, &mut object).await;
        }
        let told = computed(move || {
            let picture = of_change(&world, &change, &object, region)?;
            let asked = Asked {
                catalogue: &picture.catalogue,
                facts: &picture.facts,
                pools: &picture.pools,
                most_waves: MOST_WAVES,
            };
            Ok(forecast(picture.snapshot, &asked, Timestamp::now()))
        })
        .await?;
        Ok(Some((told, notes)))
    });
    in_time(data.checks.forecast_timeout, work).await
}

/// What becomes of pods when pools go with their nodes.
pub(super) async fn destroy(
    data: &Joiner,
    cluster: &Cluster,
    pools: BTreeSet<String>,
    region: Option<String>,
) -> Result<Gone, Trouble> {
    if !pools.iter().any(|pool| has_claims(data, Subject::Pool, pool)) {
        return Ok(Gone::default());
    }
    let work = Box::pin(async {
        let world = data.world(|| World::read(cluster)).await?;
        if !pools.iter().any(|pool| world.has_claims(Subject::Pool, pool)) {
            return Ok(Gone::default());
        }
        computed(move || {
            let catalogue = types::catalogue(&world, &world.snapshot, &world.classes, region)?;
            let pools = pools.iter().map(|pool| Text::from(pool.as_str())).collect();
            Ok(gone(&world.snapshot, &catalogue, &pools, Timestamp::now()))
        })
        .await
    });
    in_time(data.checks.forecast_timeout, work).await
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
