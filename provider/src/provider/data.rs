//! What resources get of the provider.

use super::checks::Checks;
use super::found::Found;
use crate::cluster::{Cluster, Kind};
use crate::forecast::{Coming, Environment, Seen, Trouble, World};
use crate::helm::{self, HelmError, Program, Registries};
use crate::resources::Demands;
use crate::roles::Accounts;
use joiner_api::EC2NodeClass;
use joiner_aws::Aws;
use joiner_aws::tags::Tags;
use joiner_core::disrupt::forecast::Forecast;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tfplugin::{Diagnostics, Field};
use tokio::sync::OnceCell;

/// A part of the provider's settings: resources need some of them, and each can be unknown by itself.
pub(crate) enum Part<T> {
    /// Nothing is set.
    Absent,
    /// Something of it is known only at apply.
    Unknown,
    /// Known.
    Known(T),
    /// Known, and of no use; what is wrong with it is told to the first resource that needs it.
    Broken(String),
}

impl<T> Part<T> {
    /// Whether it is known only at apply.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

/// The provider's settings as its resources use them. Nothing in it is connected before it is used.
pub(crate) struct Joiner {
    pub cluster: Part<Cluster>,
    pub aws: Part<Aws>,
    /// The tags on everything that is made in AWS; they may be known while the rest of the settings for AWS is not.
    pub default_tags: Field<Tags>,
    pub field_manager: String,
    pub force_conflicts: bool,
    pub helm_path: Part<Option<PathBuf>>,
    pub registries: Part<Registries>,
    pub checks: Checks,
    /// What was found out in this process of the account and the cluster's definitions.
    pub found: Found,
    /// The service accounts of the roles and releases that were planned in this process.
    pub accounts: Accounts,
    /// What the pools that were planned in this process may buy.
    pub demands: Demands,
    #[cfg(test)]
    pub fake_helm: Option<std::sync::Arc<helm::FakeHelm>>,
    /// Uids of the objects that were read in this process, by kind and name: a plan need not look again.
    seen: Mutex<HashMap<(String, String), Option<String>>>,
    /// The node classes that were planned in this process and are wholly known, by name.
    classes: Mutex<HashMap<String, EC2NodeClass>>,
    /// The names of all that were planned in this process.
    class_names: Mutex<BTreeSet<String>>,
    /// The overlays that were planned in this process and are wholly known, and whether the plan changes them.
    overlays: Mutex<Vec<(Json, bool)>>,
    /// The zones of their subnets, where the account told them.
    zones: Mutex<HashMap<String, BTreeSet<String>>>,
    /// The cluster's NodeClaims, where they may be listed.
    claims: OnceCell<Option<Vec<Seen>>>,
    /// What was forecast in this process, by kind and name.
    forecasts: Mutex<HashMap<(String, String), Arc<Forecast>>>,
    /// The pools whose end was planned in this process.
    going: Mutex<BTreeSet<String>>,
    /// The releases of this configuration, `NAMESPACE/NAME`.
    releases: Mutex<BTreeSet<String>>,
    /// The controller's settings by its release that was planned in this process.
    planned_controller: Mutex<Option<Environment>>,
    /// The pools that were planned in this process.
    pub coming: Coming,
    /// The cluster as forecasts see it, read once.
    world: OnceCell<Result<Arc<World>, Trouble>>,
    /// Whether a forecast could not be had.
    left_out: AtomicBool,
}

impl Joiner {
    /// Data with these parts.
    pub(crate) fn new(cluster: Part<Cluster>, aws: Part<Aws>) -> Self {
        Self {
            cluster,
            aws,
            default_tags: Field::Null,
            field_manager: super::configure::FIELD_MANAGER.to_owned(),
            force_conflicts: false,
            helm_path: Part::Known(None),
            registries: Part::Known(Registries::default()),
            checks: Checks::default(),
            found: Found::default(),
            accounts: Accounts::default(),
            demands: Demands::default(),
            #[cfg(test)]
            fake_helm: None,
            seen: Mutex::default(),
            classes: Mutex::default(),
            class_names: Mutex::default(),
            overlays: Mutex::default(),
            zones: Mutex::default(),
            claims: OnceCell::new(),
            forecasts: Mutex::default(),
            going: Mutex::default(),
            releases: Mutex::default(),
            planned_controller: Mutex::default(),
            coming: Coming::default(),
            world: OnceCell::new(),
            left_out: AtomicBool::new(false),
        }
    }

    /// The cluster, for an operation that needs it now.
    pub(crate) fn cluster(&self) -> Result<&Cluster, Diagnostics> {
        match &self.cluster {
            Part::Known(cluster) => Ok(cluster),
            Part::Unknown => Err(unknown("the cluster", "kubernetes or eks")),
            Part::Broken(problem) => Err(Diagnostics::error(
                "The provider's cluster settings cannot be used",
                problem,
            )),
            Part::Absent => Err(Diagnostics::error(
                "The provider has no cluster",
                "This resource lives in a cluster, and the provider block names none. Set kubernetes = { host = ... }, \
                 kubernetes = { config_path = ... } or eks = { cluster_name = ... }.",
            )),
        }
    }

    /// The AWS connection, for an operation that needs it now.
    pub(crate) fn aws(&self) -> Result<&Aws, Diagnostics> {
        match &self.aws {
            Part::Known(aws) => Ok(aws),
            Part::Unknown => Err(unknown("how to reach AWS", "aws")),
            Part::Broken(problem) => Err(Diagnostics::error(
                "The provider's AWS settings cannot be used",
                problem,
            )),
            // Without a block the standard chain is used, so this is never absent.
            Part::Absent => Err(Diagnostics::error(
                "The provider has no AWS settings",
                "Set aws = {} in the provider block.",
            )),
        }
    }

    /// The Helm program. While its path is unknown, the one that would be found without it.
    pub(crate) fn helm(&self) -> Result<Program, HelmError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake_helm {
            return Ok(Program::Fake(std::sync::Arc::clone(fake)));
        }
        let setting = match &self.helm_path {
            Part::Known(Some(path)) => Some(path.to_string_lossy()),
            _ => None,
        };
        helm::find(setting.as_deref()).map(Program::File)
    }

    /// What is known of OCI registries, for an operation that pulls now.
    pub(crate) fn registries(&self) -> Result<&Registries, HelmError> {
        let problem = match &self.registries {
            Part::Known(registries) => return Ok(registries),
            Part::Broken(problem) => problem.clone(),
            Part::Unknown | Part::Absent => {
                "registries in the provider block depends on something that is created only at apply. Apply that first".to_owned()
            }
        };
        Err(HelmError::Registry { problem })
    }

    /// Keeps in mind what a read found: a uid, or that the object is gone.
    pub(crate) fn saw(&self, kind: &Kind, name: &str, uid: Option<&str>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert((kind.kind().to_owned(), name.to_owned()), uid.map(str::to_owned));
    }

    /// Keeps a planned node class in mind, for the pools that are planned after it.
    pub(crate) fn planned_class(&self, class: EC2NodeClass) {
        let name = class.metadata.name.clone().unwrap_or_default();
        let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        classes.insert(name, class);
    }

    /// Keeps in mind that a node class of this name is planned, whatever of it is known.
    pub(crate) fn plans_class(&self, name: &str) {
        let mut names = self.class_names.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name.to_owned());
    }

    /// Whether a node class of this name was planned before.
    pub(crate) fn is_class_planned(&self, name: &str) -> bool {
        let names = self.class_names.lock().unwrap_or_else(PoisonError::into_inner);
        names.contains(name)
    }

    /// Keeps a planned overlay in mind. Returns those before it that it is to be compared with: where it changes all, else those that do.
    pub(crate) fn plans_overlay(&self, object: &Json, changes: bool) -> Vec<Json> {
        let mut overlays = self.overlays.lock().unwrap_or_else(PoisonError::into_inner);
        let before = overlays.iter().filter(|(_, changed)| changes || *changed);
        let before = before.map(|(other, _)| other.clone()).collect();
        overlays.push((object.clone(), changes));
        before
    }

    /// Keeps in mind in which zones a planned node class has subnets.
    pub(crate) fn found_zones(&self, class: &str, found: BTreeSet<String>) {
        let mut zones = self.zones.lock().unwrap_or_else(PoisonError::into_inner);
        zones.insert(class.to_owned(), found);
    }

    /// The zones in which a node class has subnets, if the account was asked for it before.
    pub(crate) fn zones(&self, class: &str) -> Option<BTreeSet<String>> {
        let zones = self.zones.lock().unwrap_or_else(PoisonError::into_inner);
        zones.get(class).cloned()
    }

    /// The node class of this name, if it was planned before.
    pub(crate) fn class(&self, name: &str) -> Option<EC2NodeClass> {
        let classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        classes.get(name).cloned()
    }

    /// The cluster's NodeClaims, listed at the first call; `None` where that is not possible.
    pub(crate) async fn claims<F>(&self, list: impl FnOnce() -> F) -> Option<&[Seen]>
    where
        F: Future<Output = Option<Vec<Seen>>>,
    {
        self.claims.get_or_init(list).await.as_deref()
    }

    /// Keeps in mind what was forecast, for the apply that stores it.
    pub(crate) fn told(&self, kind: &Kind, name: &str, forecast: Forecast) {
        let mut forecasts = self.forecasts.lock().unwrap_or_else(PoisonError::into_inner);
        forecasts.insert((kind.kind().to_owned(), name.to_owned()), Arc::new(forecast));
    }

    /// What was forecast for an object.
    pub(crate) fn forecast(&self, kind: &Kind, name: &str) -> Option<Arc<Forecast>> {
        let forecasts = self.forecasts.lock().unwrap_or_else(PoisonError::into_inner);
        forecasts.get(&(kind.kind().to_owned(), name.to_owned())).cloned()
    }

    /// Keeps in mind that the end of a pool is planned; returns it with those of which that is so already.
    pub(crate) fn goes(&self, pool: &str) -> BTreeSet<String> {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        going.insert(pool.to_owned());
        going.clone()
    }

    /// Keeps a release in mind; whether it was there already.
    pub(crate) fn has_release_twice(&self, id: &str) -> bool {
        let mut releases = self.releases.lock().unwrap_or_else(PoisonError::into_inner);
        !releases.insert(id.to_owned())
    }

    /// Keeps in mind what settings a planned release gives the controller.
    pub(crate) fn plans_controller(&self, environment: Environment) {
        let mut planned = self
            .planned_controller
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *planned = Some(environment);
    }

    /// What settings a planned release gives the controller.
    pub(crate) fn planned_controller(&self) -> Option<Environment> {
        let planned = self
            .planned_controller
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        planned.clone()
    }

    /// The claims that [`Joiner::claims`] has listed, when it was asked.
    pub(crate) fn listed_claims(&self) -> Option<&[Seen]> {
        self.claims.get()?.as_deref()
    }

    /// The cluster as forecasts see it, read at the first call.
    pub(crate) async fn world<F>(&self, read: impl FnOnce() -> F) -> Result<Arc<World>, Trouble>
    where
        F: Future<Output = Result<World, Trouble>>,
    {
        let world = self
            .world
            .get_or_init(move || async move { read().await.map(Arc::new) });
        world.await.clone()
    }

    /// From now on no forecast is asked for.
    pub(crate) fn leave_forecasts_out(&self) {
        self.left_out.store(true, Ordering::Relaxed);
    }

    /// Whether no forecast is asked for any more.
    pub(crate) fn are_forecasts_left_out(&self) -> bool {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Whether an object was read in this process.
    pub(crate) fn has_seen(&self, kind: &Kind, name: &str) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.contains_key(&(kind.kind().to_owned(), name.to_owned()))
    }
}

fn unknown(what: &str, setting: &str) -> Diagnostics {
    Diagnostics::error(
        "The provider's configuration is not known yet",
        format!(
            "This operation needs to know {what}, but {setting} in the provider block depends on something that is created only at \
             apply. Apply that first, or run this operation again after the apply."
        ),
    )
}
