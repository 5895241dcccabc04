//! Events about pods, with the kubelet's reasons.

use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Resource};

/// Posts events; failures are only logged, as an event is never worth a pod.
#[derive(Clone)]
pub(super) struct Events {
    recorder: Recorder,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Events")
    }
}

impl Events {
    pub(super) fn new(client: Client) -> Self {
        let reporter = Reporter {
            controller: "kubelet".into(),
            instance: Some("system".into()),
        };
        Self {
            recorder: Recorder::new(client, reporter),
        }
    }

    /// Something ordinary.
    pub(super) fn normal(&self, pod: &Pod, container: &str, reason: &str, note: String) {
        self.post(EventType::Normal, pod, container, reason, note);
    }

    /// Something to look at.
    pub(super) fn warning(&self, pod: &Pod, container: &str, reason: &str, note: String) {
        self.post(EventType::Warning, pod, container, reason, note);
    }

    fn post(&self, type_: EventType, pod: &Pod, container: &str, reason: &str, note: String) {
        let mut about: ObjectReference = pod.object_ref(&());
        if !container.is_empty() {
            about.field_path = Some(format!("spec.containers{{{container}}}"));
        }
        let event = Event {
            type_,
            reason: reason.into(),
            note: Some(note),
            action: reason.into(),
            secondary: None,
        };
        let recorder = self.recorder.clone();
        tokio::spawn(async move {
            if let Err(error) = recorder.publish(&event, &about).await {
                tracing::debug!(%error, "an event was not posted");
            }
        });
    }
}
