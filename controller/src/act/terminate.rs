//! Looks at an instance, and ends it.

use std::time::Instant;

use joiner_aws::instances::{self, State, instance_id};
use joiner_core::terminate::Instance;
use joiner_core::text::Text;

use super::{Act, Failed};
use crate::cloud;

impl Act {
    /// Whether the instance is still there.
    pub(crate) async fn look_at_instance(&self, provider_id: &Text) -> Result<Instance, Failed> {
        let Some(id) = instance_id(provider_id) else {
            return Ok(Instance::Gone);
        };
        let started = Instant::now();
        let answer = instances::get(&self.cloud.aws, id).await;
        self.metrics.cloud_call(
            "node.termination",
            "Get",
            started.elapsed(),
            answer.as_ref().err().map(cloud::kind),
        );
        let found = answer.map_err(|cause| Failed::Cloud {
            what: format!("instance {id}"),
            cause,
        })?;
        Ok(match found {
            Some(instance) if instance.state != State::Terminated => Instance::Exists,
            _ => Instance::Gone,
        })
    }

    /// Ends the instance; says whether it is still there afterwards.
    pub(crate) async fn terminate_instance(&self, provider_id: &Text) -> Result<Instance, Failed> {
        let Some(id) = instance_id(provider_id) else {
            return Ok(Instance::Gone);
        };
        let started = Instant::now();
        let answer = instances::terminate(&self.cloud.aws, &[id.to_owned()]).await;
        self.metrics.cloud_call(
            "node.termination",
            "Delete",
            started.elapsed(),
            answer.as_ref().err().map(cloud::kind),
        );
        answer.map_err(|cause| Failed::Cloud {
            what: format!("instance {id}"),
            cause,
        })?;
        self.look_at_instance(provider_id).await
    }
}
