//! Kubernetes events, with Karpenter's reasons. They are written beside the work, never in its way: a queue takes them, and
//! where it is full they are dropped.
//!
//! The same words about the same object are written once in [`SILENCE`] (Karpenter: two minutes), those about pods that find no
//! place once in five.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use joiner_core::explain;
use joiner_core::schedule::Schedule;
use joiner_core::snapshot::{Pod, PodKey, Snapshot};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::mpsc;
use tracing::debug;

use crate::observe::Index;

const SILENCE: SignedDuration = SignedDuration::from_mins(2);
const SILENCE_UNSCHEDULABLE: SignedDuration = SignedDuration::from_mins(5);
const QUEUE: usize = 4096;

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub api_version: &'static str,
    pub kind: &'static str,
    pub namespace: Option<Text>,
    pub name: Text,
    pub uid: Text,
}

impl Object {
    pub(crate) fn pod(pod: &Pod) -> Object {
        let namespace = Some(pod.key.namespace.clone());
        Object {
            api_version: "v1",
            kind: "Pod",
            namespace,
            name: pod.key.name.clone(),
            uid: pod.uid.clone(),
        }
    }

    /// Events of nodes carry the name as uid: that is how `kubectl describe node` finds them.
    pub(crate) fn node(name: &Text) -> Object {
        Object {
            api_version: "v1",
            kind: "Node",
            namespace: None,
            name: name.clone(),
            uid: name.clone(),
        }
    }

    pub(crate) fn claim(claim: &joiner_core::snapshot::Claim) -> Object {
        Object {
            api_version: "karpenter.sh/v1",
            kind: "NodeClaim",
            namespace: None,
            name: claim.name.clone(),
            uid: claim.uid.clone(),
        }
    }

    pub(crate) fn pool(name: &str, uid: &str) -> Object {
        Object {
            api_version: "karpenter.sh/v1",
            kind: "NodePool",
            namespace: None,
            name: name.into(),
            uid: uid.into(),
        }
    }

    pub(crate) fn overlay(name: &str, uid: &str) -> Object {
        Object {
            api_version: "karpenter.sh/v1alpha1",
            kind: "NodeOverlay",
            namespace: None,
            name: name.into(),
            uid: uid.into(),
        }
    }

    pub(crate) fn class(name: &str, uid: &str) -> Object {
        Object {
            api_version: "karpenter.k8s.aws/v1",
            kind: "EC2NodeClass",
            namespace: None,
            name: name.into(),
            uid: uid.into(),
        }
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub about: Object,
    pub reason: Text,
    pub message: String,
    pub warning: bool,
}

impl Event {
    pub(crate) fn normal(about: Object, reason: impl Into<Text>, message: impl Into<String>) -> Event {
        Event {
            about,
            reason: reason.into(),
            message: message.into(),
            warning: false,
        }
    }

    pub(crate) fn warning(about: Object, reason: impl Into<Text>, message: impl Into<String>) -> Event {
        Event {
            about,
            reason: reason.into(),
            message: message.into(),
            warning: true,
        }
    }
}

/// Where events are handed in. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    queue: mpsc::Sender<Event>,
}

impl Events {
    /// Starts the writer.
    pub(crate) fn start(client: Client) -> Events {
        let (queue, handed_in) = mpsc::channel(QUEUE);
        tokio::spawn(write(client, handed_in));
        Events { queue }
    }

    pub(crate) fn publish(&self, event: Event) {
        if let Err(full) = self.queue.try_send(event) {
            debug!(error = %full, "event was dropped");
        }
    }
}

/// The events of a schedule: where pods are meant to go, and why others go nowhere.
pub(crate) fn of_schedule(events: &Events, snapshot: &Snapshot, plan: &Schedule) {
    // Nothing can be said about a pod that only stands for room.
    let made = snapshot.pending.iter().filter(|pod| !pod.is_virtual());
    let pods: BTreeMap<&PodKey, &Arc<Pod>> = made.map(|pod| (&pod.key, pod)).collect();
    for (place, keys) in &plan.existing {
        let kind = match snapshot.node(place) {
            Some(node) if node.object.as_ref().is_some_and(|object| object.name == *place) => "node",
            _ => "nodeclaim",
        };
        for pod in keys.iter().filter_map(|key| pods.get(key)) {
            events.publish(Event::normal(
                Object::pod(pod),
                "Nominated",
                format!("Pod should schedule on: {kind}/{place}"),
            ));
        }
    }
    for (key, refusal) in &plan.unschedulable {
        if let Some(pod) = pods.get(key) {
            events.publish(Event::warning(
                Object::pod(pod),
                "FailedScheduling",
                explain::refusal(refusal),
            ));
        }
    }
}

/// The events of pods that are meant for a claim that was just made.
pub(crate) fn nominated(events: &Events, index: &Index, pods: &[PodKey], claim: &Text) {
    for entry in pods.iter().filter_map(|key| index.pod_entry(key)) {
        let message = format!("Pod should schedule on: nodeclaim/{claim}");
        events.publish(Event::normal(Object::pod(&entry.pod), "Nominated", message));
    }
}

async fn write(client: Client, mut handed_in: mpsc::Receiver<Event>) {
    let mut said = Said::default();
    while let Some(event) = handed_in.recv().await {
        let now = Timestamp::now();
        if !said.is_new(&event, now) {
            continue;
        }
        let namespace = event.about.namespace.as_deref().unwrap_or("default").to_owned();
        let api: Api<k8s::Event> = Api::namespaced(client.clone(), &namespace);
        if let Err(error) = api
            .create(&PostParams::default(), &object(&event, &namespace, now))
            .await
        {
            debug!(error = %error, reason = %event.reason, "event was not written");
        }
    }
}

/// What has been said lately.
#[derive(Debug, Default)]
struct Said(BTreeMap<(Object, Text, String), Timestamp>);

impl Said {
    fn is_new(&mut self, event: &Event, now: Timestamp) -> bool {
        self.0.retain(|_, until| *until > now);
        let silence = if &*event.reason == "FailedScheduling" {
            SILENCE_UNSCHEDULABLE
        } else {
            SILENCE
        };
        let key = (event.about.clone(), event.reason.clone(), event.message.clone());
        let until = now.saturating_add(silence).unwrap_or(Timestamp::MAX);
        match self.0.entry(key) {
            std::collections::btree_map::Entry::Occupied(_) => false,
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(until);
                true
            }
        }
    }
}

fn object(event: &Event, namespace: &str, now: Timestamp) -> k8s::Event {
    // Two events in one nanosecond would otherwise have one name.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let suffix = (now.as_nanosecond() as u64).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let about = &event.about;
    k8s::Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{suffix:x}", about.name)),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: k8s::ObjectReference {
            api_version: Some(about.api_version.to_owned()),
            kind: Some(about.kind.to_owned()),
            namespace: about.namespace.as_ref().map(ToString::to_string),
            name: Some(about.name.to_string()),
            uid: Some(about.uid.to_string()),
            ..k8s::ObjectReference::default()
        },
        reason: Some(event.reason.to_string()),
        message: Some(shorten(&event.message)),
        type_: Some(if event.warning { "Warning" } else { "Normal" }.to_owned()),
        source: Some(k8s::EventSource {
            component: Some("karpenter".to_owned()),
            host: None,
        }),
        reporting_component: Some("karpenter".to_owned()),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        count: Some(1),
        ..k8s::Event::default()
    }
}

/// The API server takes no message beyond 1024 bytes.
fn shorten(message: &str) -> String {
    const LIMIT: usize = 1024;
    if message.len() <= LIMIT {
        return message.to_owned();
    }
    let mut end = LIMIT - 3;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &message[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    #[test]
    fn the_same_words_are_said_once_in_a_while() {
        let about = Object::node(&"ip-10-0-1-5".into());
        let mut said = Said::default();
        for (second, reason, message, want) in [
            (0, "FailedDraining", "one", true),
            (60, "FailedDraining", "one", false),
            (60, "FailedDraining", "two", true),
            (120, "FailedDraining", "one", true),
            (120, "FailedScheduling", "one", true),
            (419, "FailedScheduling", "one", false),
            (420, "FailedScheduling", "one", true),
        ] {
            let event = Event::warning(about.clone(), reason, message);
            assert_eq!(
                said.is_new(&event, at(second)),
                want,
                "second {second} {reason} {message}"
            );
        }
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let cut = shorten(&"ä".repeat(1000));
        assert!(cut.len() <= 1024 && cut.ends_with("..."));
        assert_eq!(shorten("short"), "short");
    }
}
