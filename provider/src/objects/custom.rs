//! What a kind must tell so that everything else can be shared.

use crate::cluster::Kind;
use crate::forecast::{Outlook, Subject};
use joiner_api::rules;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tfplugin::json::{JsonDocument, JsonStep, to_json};
use tfplugin::validate::{duration, parse_duration};
use tfplugin::{Diagnostics, Field, Model};

/// How long to wait for readiness when nothing is said.
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
    /// The API's type of the kind: it knows, for example, that a quantity may be written as a number.
    type Object: Serialize + DeserializeOwned;

    /// The rules that its objects must keep.
    const RULES: rules::Kind;

    /// The kind as the API server has it.
    fn kind() -> Kind;

    /// The label selector of the NodeClaims that must go before an object of this name; `None` when none must.
    fn claims(name: &str) -> Option<String>;

    /// What it is to nodes, when a change of it can replace them.
    const NODES: Option<Subject> = None;

    /// What it tells of nodes.
    fn outlook(&self) -> Option<&Outlook> {
        None
    }

    /// The same, to be changed.
    fn outlook_mut(&mut self) -> Option<&mut Outlook> {
        None
    }

    /// Whether the change to `planned` replaces the object.
    fn is_replaced_by(&self, planned: &Self) -> bool {
        self.common().name != planned.common().name
    }

    /// The attributes that every such resource has.
    fn common(&self) -> &Common;

    /// The same, to be changed.
    fn common_mut(&mut self) -> &mut Common;

    /// How long to wait for readiness when nothing is said.
    const WAIT: Option<Duration> = Some(WAIT);

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

/// Time limits of the operations, such as `30m`.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Limits {
    /// How long a create may take, its wait included (10 minutes).
    #[tf(validate = duration)]
    pub create: Field<String>,
    /// How long an update may take, its wait included (10 minutes).
    #[tf(validate = duration)]
    pub update: Field<String>,
    /// How long a delete may take, the draining of nodes included (30 minutes).
    #[tf(validate = duration)]
    pub delete: Field<String>,
}

/// The attributes of every resource of a [`Custom`] kind.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Common {
    /// Name of the object; also the import ID. A change replaces it.
    #[tf(json_skip, required, requires_replace)]
    pub name: Field<String>,
    /// Labels of the object itself.
    #[tf(json_skip)]
    pub labels: Field<BTreeMap<String, String>>,
    /// Annotations of the object itself.
    #[tf(json_skip)]
    pub annotations: Field<BTreeMap<String, String>>,
    /// How to wait for the object after a change.
    #[tf(json_skip)]
    pub wait: Field<Wait>,
    /// Take over an object of this name that exists but is not in the state, instead of an error.
    #[tf(json_skip, default = false)]
    pub adopt: Field<bool>,
    /// Take over fields that other field managers own, instead of an error that names them. The provider's setting when left out.
    #[tf(json_skip)]
    pub force_conflicts: Field<bool>,
    /// Time limits of the operations.
    #[tf(json_skip)]
    pub timeouts: Field<Limits>,
    /// The same as `name`.
    #[tf(json_skip, use_state_for_unknown, computed)]
    pub id: Field<String>,
    /// The uid that the API server gave the object.
    #[tf(json_skip, use_state_for_unknown, computed)]
    pub uid: Field<String>,
    /// The cluster's identity: the uid of its namespace `kube-system`. Null when it may not be read.
    #[tf(json_skip, use_state_for_unknown, computed)]
    pub cluster_uid: Field<String>,
    /// Whether the object was ready when it was last looked at.
    #[tf(json_skip, computed)]
    pub ready: Field<bool>,
}

impl Common {
    /// The object's name, "" while it is unknown.
    pub(crate) fn name(&self) -> &str {
        self.name.as_str().unwrap_or_default()
    }

    /// How long to wait for readiness; `None` when not at all, `unsaid` when nothing is said.
    pub(crate) fn wait(&self, unsaid: Option<Duration>) -> Option<Duration> {
        let Some(wait) = self.wait.known() else {
            return unsaid;
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
