//! Pools that may grow beyond what the account may run, by its quotas on vCPUs: each by itself, and all together that share quotas, beside
//! what others run already.
//!
//! Quotas are asked for one by one, and no more of them than it takes to know that all is well: for most pools that is one.

mod demand;
mod judge;

use crate::feasible::{Finding, buyable};
use crate::objects::Foreseen;
use crate::provider::{Joiner, Part};
use demand::Demand;
pub(crate) use demand::Demands;
use joiner_aws::Aws;
use judge::{Account, Taken, Wanted};
use std::time::Duration;

/// How long the account gets to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Notes a pool that does not change, for the sum of those that share its quotas. It is compared with them only where one that does change
/// was compared before it.
pub(super) async fn note(data: &Joiner, object: Foreseen, region: Option<&str>) -> Vec<Finding> {
    let Some((aws, name)) = askable(data, &object) else {
        return Vec::new();
    };
    data.demands.note(&name, object);
    match data.demands.were_compared() {
        true => ask(data, together(data, aws, &name, region)).await,
        false => Vec::new(),
    }
}

/// Compares a pool that is made or changed.
pub(super) async fn check(data: &Joiner, object: &Foreseen, region: Option<&str>) -> Vec<Finding> {
    let Some((aws, name)) = askable(data, object) else {
        return Vec::new();
    };
    let own = demand(data, object, region);
    data.demands.know(&name, own.clone());
    let wanted = Wanted::alone(&name, own);
    let asked = async {
        let quotas = wanted.quotas();
        let Some(account) = Account::of(wanted) else {
            return Vec::new();
        };
        let findings = told(data, aws, account).await.findings();
        if findings.is_empty() {
            return together(data, aws, &name, region).await;
        }
        data.demands.tell(quotas);
        findings
    };
    ask(data, asked).await
}

async fn ask(data: &Joiner, asked: impl Future<Output = Vec<Finding>>) -> Vec<Finding> {
    data.demands.compare();
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(findings) => findings,
        Err(_) => {
            tracing::info!("the account's quotas were not told in time");
            Vec::new()
        }
    }
}

/// How to ask for a pool, and its name; `None` where the account cannot be asked, or what the pool may buy is not known.
fn askable<'a>(data: &'a Joiner, object: &Foreseen) -> Option<(&'a Aws, String)> {
    let (Part::Known(_), Part::Known(aws)) = (&data.cluster, &data.aws) else {
        return None;
    };
    let is_known = !object.is_unknown(&["spec", "template", "spec", "requirements"])
        && !object.is_unknown(&["spec", "limits"]);
    let name = object.json["metadata"]["name"].as_str()?;
    (is_known && aws.has_credentials_at_hand()).then(|| (aws, name.to_owned()))
}

fn demand(data: &Joiner, object: &Foreseen, region: Option<&str>) -> Demand {
    let buyable = buyable(&object.json, region, &|name| data.class(name));
    Demand::new(demand::limit(&object.json["spec"]["limits"]), &buyable)
}

/// Compares the pools that can buy nothing beyond the same quotas, with the pool `name` among them; each such set once in a process.
async fn together(data: &Joiner, aws: &Aws, name: &str, region: Option<&str>) -> Vec<Finding> {
    let demands = data.demands.all(|object| demand(data, object, region));
    for wanted in demand::sharing(&demands, name) {
        let quotas = wanted.quotas();
        if data.demands.was_told(&quotas) {
            continue;
        }
        let Some(account) = Account::of(wanted) else {
            continue;
        };
        let findings = told(data, aws, account).await.findings();
        if !findings.is_empty() && data.demands.tell(quotas) {
            return findings;
        }
    }
    Vec::new()
}

/// Asks until enough is known.
async fn told(data: &Joiner, aws: &Aws, mut account: Account) -> Account {
    if account.needs_to_know_what_runs() {
        let running = data.found.running(aws).await;
        account.runs(Taken::by_others(running, &data.demands.names()));
    }
    while let Some(quota) = account.next() {
        let vcpus = data.found.quota(aws, quota).await;
        account.told(vcpus);
    }
    account
}
