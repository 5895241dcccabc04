//! A made-up API server for tests: it answers by a function and remembers what was asked.

use std::sync::{Arc, Mutex};

use http::{Request, Response};
use joiner_aws::Aws;
use joiner_core::snapshot::Settings;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::{Act, Events};
use crate::cloud::{Cloud, Cluster};
use crate::metrics::{Metrics, State};
use crate::observe::{Index, Wanted};

/// One request as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub method: String,
    pub path: String,
    pub body: Value,
}

/// What was asked, in order.
pub(crate) type Log = Arc<Mutex<Vec<Seen>>>;

/// A client whose every request is answered by `answer`: status and body.
pub(crate) fn client(answer: impl Fn(&Seen) -> (u16, Value) + Send + Sync + 'static) -> (Client, Log) {
    let log = Log::default();
    let (seen, answer) = (log.clone(), Arc::new(answer));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (seen, answer) = (seen.clone(), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect_bytes().await.unwrap_or_default();
            let asked = Seen {
                method: parts.method.to_string(),
                path: parts.uri.path().to_owned(),
                body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
            };
            let (status, body) = answer(&asked);
            seen.lock().unwrap().push(asked);
            let response = Response::builder()
                .status(status)
                .body(Body::from(serde_json::to_vec(&body).unwrap()));
            Ok::<_, std::convert::Infallible>(response.unwrap())
        }
    });
    (Client::new(service, "default"), log)
}

/// Commands against such a server. Events go to one that takes everything.
pub(crate) fn act(answer: impl Fn(&Seen) -> (u16, Value) + Send + Sync + 'static) -> (Act, Log) {
    let (client, log) = client(answer);
    let index = Arc::new(Index::new(Settings::default(), Wanted::default()));
    let aws = Aws::connect(joiner_aws::Settings {
        region: Some("us-west-2".to_owned()),
        ..Default::default()
    })
    .unwrap();
    let cluster = Cluster {
        name: "demo".to_owned(),
        region: "us-west-2".to_owned(),
        version: "1.37".to_owned(),
        join: joiner_aws::userdata::Cluster {
            name: "demo".to_owned(),
            endpoint: "https://127.0.0.1:1".to_owned(),
            ca_bundle: String::new(),
            service_cidr: String::new(),
            dns: None,
        },
    };
    let (events, _) = self::client(|_| (201, json!({})));
    let act = Act {
        client,
        metrics: Arc::new(Metrics::new(Box::new(State::new(index.clone(), false)))),
        index,
        cloud: Arc::new(Cloud::new(
            aws,
            cluster,
            joiner_aws::catalogue::Settings::default(),
        )),
        events: Events::start(events),
        stages: Arc::default(),
        health: Arc::default(),
        launching: Arc::default(),
    };
    (act, log)
}

/// The API server's words for a failure.
pub(crate) fn refusal(code: u16, reason: &str) -> (u16, Value) {
    (
        code,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason}),
    )
}

/// A merge patch applied to an object, as the API server answers it, one version later.
pub(crate) fn patched(object: &Value, patch: &Value) -> Value {
    let mut after = object.clone();
    json_patch::merge(&mut after, patch);
    let version: u64 = object["metadata"]["resourceVersion"]
        .as_str()
        .and_then(|it| it.parse().ok())
        .unwrap_or(1);
    after["metadata"]["resourceVersion"] = (version + 1).to_string().into();
    after
}
