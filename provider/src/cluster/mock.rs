//! An API server in memory, for tests: get, list, server-side apply, delete. Knows no schema.

use kube::Client;
use kube::client::Body;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The server's memory.
#[derive(Default)]
pub(crate) struct MockApi {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Json>,
    /// Collections that are not served.
    unserved: BTreeSet<String>,
    /// Collections that may not be listed.
    forbidden: BTreeSet<String>,
    /// Fields that another manager owns: an apply without force is refused.
    owned: Vec<(String, String)>,
    /// Objects that a delete only marks.
    sticky: BTreeSet<String>,
    calls: Vec<String>,
    made: u32,
}

impl MockApi {
    /// A server with the namespace `kube-system` of the given uid.
    pub(crate) fn new(cluster_uid: &str) -> Arc<Self> {
        let api = Arc::new(Self::default());
        api.put("/api/v1/namespaces/kube-system", json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "kube-system", "uid": cluster_uid },
        }));
        api
    }

    /// A client of it.
    pub(crate) fn client(self: &Arc<Self>) -> Client {
        let api = Arc::clone(self);
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let api = Arc::clone(&api);
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                let (code, answer) = api.answer(&parts.method, &parts.uri, &body);
                let mut response = http::Response::new(Body::from(answer.to_string().into_bytes()));
                *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
                Ok::<_, kube::Error>(response)
            }
        });
        Client::new(service, "default")
    }

    /// Puts an object there, as someone else would.
    pub(crate) fn put(&self, path: &str, object: Json) {
        self.state().objects.insert(path.to_owned(), object);
    }

    /// Takes an object away, as someone else would.
    pub(crate) fn remove(&self, path: &str) {
        self.state().objects.remove(path);
    }

    /// The object at a path.
    pub(crate) fn get(&self, path: &str) -> Option<Json> {
        self.state().objects.get(path).cloned()
    }

    /// Changes the object at a path.
    pub(crate) fn change(&self, path: &str, change: impl FnOnce(&mut Json)) {
        if let Some(object) = self.state().objects.get_mut(path) {
            change(object);
        }
    }

    /// Serves a namespaced kind to those who discover it.
    pub(crate) fn serve(&self, api_version: &str, kind: &str, plural: &str) {
        let resource = json!({
            "name": plural, "singularName": plural, "namespaced": true, "kind": kind, "verbs": ["get", "list", "patch"],
        });
        let path = format!("/apis/{api_version}");
        self.put(
            &path,
            json!({ "kind": "APIResourceList", "groupVersion": api_version, "resources": [resource] }),
        );
    }

    /// Stops serving a collection.
    pub(crate) fn unserve(&self, collection: &str) {
        self.state().unserved.insert(collection.to_owned());
    }

    /// Refuses to list a collection.
    pub(crate) fn forbid(&self, collection: &str) {
        self.state().forbidden.insert(collection.to_owned());
    }

    /// Lets it be listed again.
    pub(crate) fn allow(&self, collection: &str) {
        self.state().forbidden.remove(collection);
    }

    /// Lets another manager own a field.
    pub(crate) fn own(&self, manager: &str, field: &str) {
        self.state().owned.push((manager.to_owned(), field.to_owned()));
    }

    /// Lets a delete of this object only mark it.
    pub(crate) fn hold(&self, path: &str) {
        self.state().sticky.insert(path.to_owned());
    }

    /// The calls so far, `METHOD PATH`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, method: &http::Method, uri: &http::Uri, body: &[u8]) -> (u16, Json) {
        let path = uri.path().to_owned();
        let query: BTreeMap<String, String> =
            url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
                .map(|(key, value)| (key.into_owned(), value.into_owned()))
                .collect();
        let mut state = self.state();
        state.calls.push(format!("{method} {path}"));
        let (collection, name) = path.rsplit_once('/').unwrap_or_default();
        if state.unserved.contains(collection) || state.unserved.contains(&path) {
            return status(
                404,
                "NotFound",
                "the server could not find the requested resource",
                json!({}),
            );
        }
        if state.forbidden.contains(&path) {
            let message = format!(
                "{name} is forbidden: User \"someone\" cannot list resource \"{name}\" at the cluster scope"
            );
            return status(403, "Forbidden", &message, json!({ "kind": name }));
        }
        let absent = status(
            404,
            "NotFound",
            &format!("{path} not found"),
            json!({ "name": name }),
        );
        match *method {
            http::Method::GET => match state.objects.get(&path) {
                Some(object) => (200, object.clone()),
                None if is_collection(&path) => (200, list(&state, &path, query.get("labelSelector"))),
                None => absent,
            },
            http::Method::PATCH => {
                let patch: Json = serde_json::from_slice(body).unwrap_or_default();
                let force = query.get("force").is_some_and(|force| force == "true");
                if !state.owned.is_empty() && !force {
                    let causes: Vec<Json> = state
                        .owned
                        .iter()
                        .map(|(manager, field)| json!({
                            "reason": "FieldManagerConflict", "field": field, "message": format!("conflict with {manager:?} using v1"),
                        }))
                        .collect();
                    return status(
                        409,
                        "Conflict",
                        "Apply failed",
                        json!({ "name": name, "causes": causes }),
                    );
                }
                state.made += 1;
                let uid = format!("uid-{}", state.made);
                let mut object = state
                    .objects
                    .get(&path)
                    .cloned()
                    .unwrap_or_else(|| json!({ "metadata": { "uid": uid } }));
                merge(&mut object, &patch);
                object["metadata"]["managedFields"] =
                    json!([{ "manager": query.get("fieldManager"), "operation": "Apply" }]);
                if object["kind"] == "CustomResourceDefinition" {
                    object["status"] = json!({ "conditions": [{ "type": "Established", "status": "True" }] });
                }
                if !query.contains_key("dryRun") {
                    state.objects.insert(path, object.clone());
                }
                (200, object)
            }
            http::Method::DELETE => {
                if state.sticky.contains(&path) {
                    if let Some(object) = state.objects.get_mut(&path) {
                        object["metadata"]["deletionTimestamp"] = json!("2026-11-30T08:00:00Z");
                    }
                    return (
                        200,
                        json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }),
                    );
                }
                match state.objects.remove(&path) {
                    Some(object) => (200, object),
                    None => absent,
                }
            }
            _ => status(405, "MethodNotAllowed", "not here", json!({})),
        }
    }
}

fn status(code: u16, reason: &str, message: &str, details: Json) -> (u16, Json) {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message, "details": details,
    });
    (code, status)
}

/// A path that ends with a plural.
fn is_collection(path: &str) -> bool {
    let steps = path.split('/').filter(|step| !step.is_empty()).count();
    let namespaced = path.contains("/namespaces/");
    let base = if path.starts_with("/api/") { 3 } else { 4 };
    steps == if namespaced { base + 2 } else { base }
}

fn list(state: &State, path: &str, selector: Option<&String>) -> Json {
    let (root, plural) = path.rsplit_once('/').unwrap_or_default();
    let items: Vec<&Json> = state
        .objects
        .iter()
        .filter(|(key, _)| {
            let (collection, _) = key.rsplit_once('/').unwrap_or_default();
            collection == path
                || (collection.starts_with(root) && collection.ends_with(&format!("/{plural}")))
        })
        .map(|(_, object)| object)
        .filter(|object| selector.is_none_or(|selector| selects(selector, &object["metadata"]["labels"])))
        .collect();
    json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": items })
}

fn selects(selector: &str, labels: &Json) -> bool {
    selector.split(',').all(|pair| {
        pair.split_once('=')
            .is_none_or(|(key, value)| labels[key] == value)
    })
}

fn merge(object: &mut Json, patch: &Json) {
    match (object, patch) {
        (Json::Object(object), Json::Object(patch)) => {
            for (key, patch) in patch {
                merge(object.entry(key.clone()).or_insert(Json::Null), patch);
            }
        }
        (object, patch) => *object = patch.clone(),
    }
}
