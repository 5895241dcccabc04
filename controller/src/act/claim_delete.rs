//! Asks a NodeClaim to go. Its finalizer keeps it until node and instance are gone.

use joiner_api::NodeClaim;
use joiner_core::snapshot::Claim;
use kube::Api;
use kube::api::{DeleteParams, Preconditions};

use super::{Act, Failed, gone_is_fine};

impl Act {
    /// Deletes that very claim and no later one of its name.
    pub(crate) async fn delete_claim(&self, claim: &Claim) -> Result<(), Failed> {
        let api: Api<NodeClaim> = Api::all(self.client.clone());
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some(claim.uid.to_string()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match api.delete(&claim.name, &params).await {
            Ok(answer) => {
                // The object comes back while finalizers keep it.
                if let Some(object) = answer.left() {
                    self.index.claim(&object);
                }
                Ok(())
            }
            Err(cause) => gone_is_fine(Err(Failed::api(format!("nodeclaim {}", claim.name), cause))),
        }
    }
}
