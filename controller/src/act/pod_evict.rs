//! Asks a pod to leave its node by the eviction API, or deletes it where its time is over.

use joiner_core::snapshot::Pod;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, ObjectMeta, Preconditions};
use kube::Api;
use kube::api::{DeleteParams, PostParams};

use super::{Act, Failed, gone_is_fine};

/// What became of an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evicted {
    /// The pod is on its way out, or gone.
    Going,
    /// A PodDisruptionBudget does not allow it now (429).
    Blocked,
    /// More than one PodDisruptionBudget guards it, which the API refuses for good (500).
    Misguarded,
}

impl Act {
    /// Evicts a pod, that very one and no later one of its name.
    pub(crate) async fn evict(&self, pod: &Pod) -> Result<Evicted, Failed> {
        let api: Api<k8s::Pod> = Api::namespaced(self.client.clone(), &pod.key.namespace);
        // Not by `Api::evict`: kube 5 writes the options under a key that the API server does not read.
        let eviction = Eviction {
            metadata: ObjectMeta {
                name: Some(pod.key.name.to_string()),
                ..ObjectMeta::default()
            },
            delete_options: Some(DeleteOptions {
                preconditions: Some(Preconditions {
                    uid: Some(pod.uid.to_string()),
                    resource_version: None,
                }),
                ..DeleteOptions::default()
            }),
        };
        let answer: Result<serde_json::Value, kube::Error> = api
            .create_subresource("eviction", &pod.key.name, &PostParams::default(), &eviction)
            .await;
        let code = match &answer {
            Ok(_) => 200,
            Err(kube::Error::Api(status)) => status.code,
            Err(_) => 0,
        };
        self.metrics.eviction_requested(code);
        match (answer, code) {
            // 409: a later pod has the name, so this one is gone.
            (Ok(_), _) | (_, 404 | 409) => Ok(Evicted::Going),
            (_, 429) => Ok(Evicted::Blocked),
            (_, 500) => Ok(Evicted::Misguarded),
            (Err(cause), _) => Err(Failed::api(format!("pod {}", pod.key), cause)),
        }
    }

    /// Deletes a pod with `grace_seconds` left to it, whatever budgets say.
    pub(crate) async fn delete_pod(&self, pod: &Pod, grace_seconds: u32) -> Result<(), Failed> {
        let api: Api<k8s::Pod> = Api::namespaced(self.client.clone(), &pod.key.namespace);
        let params = DeleteParams {
            grace_period_seconds: Some(grace_seconds),
            preconditions: Some(kube::api::Preconditions {
                uid: Some(pod.uid.to_string()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        let answer = api.delete(&pod.key.name, &params).await;
        gone_is_fine(
            answer
                .map(drop)
                .map_err(|cause| Failed::api(format!("pod {}", pod.key), cause)),
        )
    }
}
