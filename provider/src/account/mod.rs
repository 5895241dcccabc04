//! An account in memory, for tests: a server on loopback that speaks what the resources need of IAM, STS, EKS, EC2, SQS and EventBridge.

mod ec2;
mod eks;
mod events;
mod iam;
mod queues;
mod world;

pub(crate) use ec2::Ec2;
pub(crate) use eks::{Association, Clusters, Entry};
pub(crate) use events::Rule;
pub(crate) use iam::{Profile, Role};
pub(crate) use queues::Queue;
pub(crate) use world::World;

use crate::provider::{Fakes, JoinerProvider};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use joiner_aws::StaticCredentials;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;

/// The account.
#[derive(Default)]
pub(crate) struct Account {
    roles: Mutex<BTreeMap<String, Role>>,
    profiles: Mutex<BTreeMap<String, Profile>>,
    clusters: Mutex<Clusters>,
    queues: Mutex<BTreeMap<String, Queue>>,
    rules: Mutex<BTreeMap<String, Rule>>,
    ec2: Mutex<Ec2>,
    calls: Mutex<Vec<String>>,
    made: Mutex<u32>,
    failing: Mutex<Option<String>>,
}

type Form = BTreeMap<String, String>;
/// A service's answer, or its refusal.
type Answer<T = String> = Result<T, Refused>;

/// What a service says no with.
struct Refused {
    status: StatusCode,
    code: &'static str,
}

fn refused(status: StatusCode, code: &'static str) -> Refused {
    Refused { status, code }
}

impl Account {
    /// Starts the server; answers its URL, too. It ends with the test's runtime.
    pub(crate) async fn start() -> (Arc<Self>, String) {
        let account = Arc::new(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&account));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (account, url)
    }

    /// A provider that has credentials for it.
    pub(crate) fn provider() -> JoinerProvider {
        JoinerProvider::new().with(Self::fakes())
    }

    /// The credentials for it.
    pub(crate) fn fakes() -> Fakes {
        let credentials = StaticCredentials {
            access_key_id: "AKIA".into(),
            secret_access_key: "secret".into(),
            session_token: None,
        };
        Fakes {
            credentials: Some(credentials),
            ..Fakes::default()
        }
    }

    /// The provider's `aws` block that leads to it.
    pub(crate) fn settings(url: &str) -> Json {
        json!({ "region": "eu-central-1", "endpoints": { "all": url }, "default_tags": { "team": "a" } })
    }

    /// The roles, to look at and to change as someone else would.
    pub(crate) fn roles(&self) -> MutexGuard<'_, BTreeMap<String, Role>> {
        locked(&self.roles)
    }

    /// The instance profiles.
    pub(crate) fn profiles(&self) -> MutexGuard<'_, BTreeMap<String, Profile>> {
        locked(&self.profiles)
    }

    /// What EKS knows of clusters.
    pub(crate) fn clusters(&self) -> MutexGuard<'_, Clusters> {
        locked(&self.clusters)
    }

    /// The queues.
    pub(crate) fn queues(&self) -> MutexGuard<'_, BTreeMap<String, Queue>> {
        locked(&self.queues)
    }

    /// The rules of the default bus.
    pub(crate) fn rules(&self) -> MutexGuard<'_, BTreeMap<String, Rule>> {
        locked(&self.rules)
    }

    /// Instances, interfaces and templates.
    pub(crate) fn ec2(&self) -> MutexGuard<'_, Ec2> {
        locked(&self.ec2)
    }

    /// The actions since the last look.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.calls))
    }

    /// Refuses the next call of this action.
    pub(crate) fn refuse(&self, action: &str) {
        *locked(&self.failing) = Some(action.to_owned());
    }

    /// A number that no other thing in the account has.
    fn made(&self) -> u32 {
        let mut made = locked(&self.made);
        *made += 1;
        *made
    }

    /// Notes a call; refuses it if a test asked for that.
    fn enter(&self, action: &str) -> Answer<()> {
        locked(&self.calls).push(action.to_owned());
        match locked(&self.failing).take_if(|failing| failing == action) {
            Some(_) => Err(refused(StatusCode::FORBIDDEN, "AccessDenied")),
            None => Ok(()),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    State(account): State<Arc<Account>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = String::from_utf8_lossy(&body).into_owned();
    if let Some(target) = headers.get("x-amz-target").and_then(|value| value.to_str().ok()) {
        return by_target(&account, target, &text);
    }
    if uri.path() != "/" {
        let parsed = serde_json::from_str(&text).unwrap_or(Json::Null);
        let answered = eks::answer(&account, &method, uri.path(), &parsed);
        return json_response(answered, "application/json");
    }
    let form: Form = url::form_urlencoded::parse(text.as_bytes())
        .into_owned()
        .collect();
    by_form(&account, &form)
}

fn by_target(account: &Account, target: &str, body: &str) -> Response {
    let input: Json = serde_json::from_str(body).unwrap_or(Json::Null);
    let (service, action) = target.split_once('.').unwrap_or_default();
    let answered = account.enter(action).and_then(|()| match service {
        "AmazonSQS" => queues::answer(account, action, &input),
        "AWSEvents" => events::answer(account, action, &input),
        // The base64 of AWS:token.
        "AmazonEC2ContainerRegistry_V20150921" => Ok(json!({ "authorizationData": [{
            "authorizationToken": "QVdTOnRva2Vu", "expiresAt": 1.8e9,
            "proxyEndpoint": "https://123456789012.dkr.ecr.eu-central-1.amazonaws.com",
        }] })),
        _ => Err(refused(StatusCode::BAD_REQUEST, "UnknownService")),
    });
    json_response(answered, "application/x-amz-json-1.1")
}

fn json_response(answered: Answer<Json>, kind: &'static str) -> Response {
    let (status, body) = match answered {
        Ok(body) => (StatusCode::OK, body),
        Err(Refused { status, code }) => (
            status,
            json!({ "__type": code, "message": "it was refused", "code": code }),
        ),
    };
    (status, [("content-type", kind)], body.to_string()).into_response()
}

fn by_form(account: &Account, form: &Form) -> Response {
    let action = form.get("Action").cloned().unwrap_or_default();
    let version = form.get("Version").map_or("", String::as_str);
    let answered = account.enter(&action).and_then(|()| match version {
        "2016-11-15" => ec2::answer(account, &action, form),
        "2011-06-15" => Ok(
            "<Arn>arn:aws:iam::123456789012:user/u</Arn><UserId>U</UserId><Account>123456789012</Account>"
                .to_owned(),
        ),
        _ => iam::answer(account, &action, form),
    });
    let is_ec2 = version == "2016-11-15";
    let (status, xml) = match answered {
        Ok(result) if is_ec2 => (
            StatusCode::OK,
            format!(
                "<{action}Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">{result}</{action}Response>"
            ),
        ),
        Ok(result) => (
            StatusCode::OK,
            format!(
                "<{action}Response xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><{action}Result>{result}</{action}Result>\
                 <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></{action}Response>"
            ),
        ),
        Err(Refused { status, code }) if is_ec2 => (
            status,
            format!(
                "<Response><Errors><Error><Code>{code}</Code><Message>{action} was refused</Message></Error></Errors>\
                 <RequestID>r</RequestID></Response>"
            ),
        ),
        Err(Refused { status, code }) => (
            status,
            format!(
                "<ErrorResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><Error><Type>Sender</Type><Code>{code}</Code>\
                 <Message>{action} was refused</Message></Error><RequestId>r</RequestId></ErrorResponse>"
            ),
        ),
    };
    (status, [("content-type", "text/xml")], xml).into_response()
}
