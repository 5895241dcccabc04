//! What a kind must tell so that everything else can be shared.

use crate::cluster::Kind;
use joiner_api::rules;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tfplugin::json::{JsonDocument, JsonStep, to_json};
use tfplugin::validate::{duration, parse_duration};
use tfplugin::{Diagnostics, Field, Model, Timeouts};

/// How to wait for readiness when nothing is said.
const WAIT: Duration = Duration::from_secs(60);

/// How to wait for the object after a change.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Wait {
    /// Whether to wait until the object is ready.
    #[tf(default = true)]
    pub ready: Field<bool>,
    /// How long, such as `1m`. When it is not ready by then, a warning says why; the apply goes on.
    #[tf(default = "1m", validate = duration)]
    pub timeout: Field<String>,
}

/// A kind of cluster-wide object that is a resource. Its attributes that are not skipped in JSON are the spec.
pub(crate) trait Custom: Model + Default + PartialEq {
    /// The rules that its objects must keep.
    const RULES: rules::Kind;

    /// The kind as the API server has it.
    fn kind() -> Kind;

    /// The label selector of the NodeClaims that must go before an object of this name.
    fn claims(name: &str) -> String;

    /// The attributes that every such resource has.
    fn common(&self) -> Common<'_>;

    /// The same, to be changed.
    fn common_mut(&mut self) -> CommonMut<'_>;

    /// Fills in what a plan will: a configuration is checked before its defaults are known to it.
    fn complete(&mut self) {}

    /// The spec from the attributes' JSON.
    fn to_spec(json: Json) -> Json {
        json
    }

    /// The attributes' JSON from a spec.
    fn from_spec(spec: Json) -> Json {
        spec
    }
}

/// Attributes of every resource of a [`Custom`] kind.
pub(crate) struct Common<'a> {
    pub name: &'a Field<String>,
    pub labels: &'a Field<BTreeMap<String, String>>,
    pub annotations: &'a Field<BTreeMap<String, String>>,
    pub wait: &'a Field<Wait>,
    pub adopt: &'a Field<bool>,
    pub force_conflicts: &'a Field<bool>,
    pub timeouts: &'a Field<Timeouts>,
    pub uid: &'a Field<String>,
    pub cluster_uid: &'a Field<String>,
}

/// The same, to be changed.
pub(crate) struct CommonMut<'a> {
    pub name: &'a mut Field<String>,
    pub labels: &'a mut Field<BTreeMap<String, String>>,
    pub annotations: &'a mut Field<BTreeMap<String, String>>,
    pub wait: &'a mut Field<Wait>,
    pub adopt: &'a mut Field<bool>,
    pub force_conflicts: &'a mut Field<bool>,
    pub timeouts: &'a mut Field<Timeouts>,
    pub id: &'a mut Field<String>,
    pub uid: &'a mut Field<String>,
    pub cluster_uid: &'a mut Field<String>,
    pub ready: &'a mut Field<bool>,
}

/// Implements [`Custom::common`] and [`Custom::common_mut`] for a model with these attributes.
macro_rules! common_fields {
    () => {
        fn common(&self) -> $crate::objects::Common<'_> {
            let Self {
                name,
                labels,
                annotations,
                wait,
                adopt,
                force_conflicts,
                timeouts,
                uid,
                cluster_uid,
                ..
            } = self;
            $crate::objects::Common {
                name,
                labels,
                annotations,
                wait,
                adopt,
                force_conflicts,
                timeouts,
                uid,
                cluster_uid,
            }
        }

        fn common_mut(&mut self) -> $crate::objects::CommonMut<'_> {
            let Self {
                name,
                labels,
                annotations,
                wait,
                adopt,
                force_conflicts,
                timeouts,
                id,
                uid,
                cluster_uid,
                ready,
                ..
            } = self;
            $crate::objects::CommonMut {
                name,
                labels,
                annotations,
                wait,
                adopt,
                force_conflicts,
                timeouts,
                id,
                uid,
                cluster_uid,
                ready,
            }
        }
    };
}
pub(crate) use common_fields;

impl<'a> Common<'a> {
    /// The object's name, "" while it is unknown.
    pub(crate) fn name(&self) -> &'a str {
        self.name.as_str().unwrap_or_default()
    }

    /// How long to wait for readiness; `None` when not at all.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let Some(wait) = self.wait.known() else {
            return Some(WAIT);
        };
        let limit = wait
            .timeout
            .as_str()
            .and_then(|text| parse_duration(text).ok())
            .unwrap_or(WAIT);
        wait.ready.known().copied().unwrap_or(true).then_some(limit)
    }
}

/// A whole object as JSON, and where in it something is unknown.
pub(crate) struct Object {
    /// The object, without its unknown parts.
    pub json: Json,
    /// Paths from the object's root.
    pub unknown: Vec<Vec<JsonStep>>,
}

/// The object that a model stands for.
pub(crate) fn object_of<M: Custom>(model: &M) -> Result<Object, Diagnostics> {
    let JsonDocument { value, unknown } = to_json(model)?;
    let kind = M::kind();
    let common = model.common();
    let mut metadata = Map::new();
    let mut unknown: Vec<Vec<JsonStep>> = unknown.into_iter().map(|steps| below("spec", steps)).collect();
    let mut put = |key: &str, field: Field<Json>| match field {
        Field::Known(value) => {
            metadata.insert(key.to_owned(), value);
        }
        Field::Unknown => unknown.push(below("metadata", vec![key.into()])),
        Field::Null => {}
    };
    put("name", common.name.as_ref().map(|name| json!(name)));
    put("labels", common.labels.as_ref().map(|labels| json!(labels)));
    put(
        "annotations",
        common.annotations.as_ref().map(|annotations| json!(annotations)),
    );
    let json = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind(),
        "metadata": metadata,
        "spec": M::to_spec(value),
    });
    Ok(Object { json, unknown })
}

fn below(root: &str, mut steps: Vec<JsonStep>) -> Vec<JsonStep> {
    steps.insert(0, root.into());
    steps
}
