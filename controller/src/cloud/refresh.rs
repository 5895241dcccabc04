//! Reads what EC2 sells at the start, again and again until it works, and then twice a day.

use std::sync::Arc;
use std::time::{Duration, Instant};

use joiner_aws::Error;
use tracing::{error, info};

use super::Cloud;
use crate::metrics::Metrics;
use crate::observe::Index;

/// Karpenter's interval.
const INTERVAL: Duration = Duration::from_secs(12 * 60 * 60);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Runs for ever.
pub(crate) async fn run(cloud: Arc<Cloud>, index: Arc<Index>, metrics: Arc<Metrics>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let started = Instant::now();
        let loaded = cloud.load().await;
        metrics.cloud_call(
            "providers.instancetype",
            "GetInstanceTypes",
            started.elapsed(),
            loaded.as_ref().err().map(kind),
        );
        match loaded {
            Ok(types) => {
                info!(
                    instance_types = types,
                    seconds = started.elapsed().as_secs_f64(),
                    "discovered instance types"
                );
                pause = FIRST_PAUSE;
                for class in index.class_entries() {
                    index
                        .changes
                        .classes
                        .ring(&class.metadata.name.as_deref().unwrap_or_default().into());
                }
                index.changes.provision.ring_plain();
                index.changes.overlays.ring_plain();
                tokio::time::sleep(INTERVAL).await;
            }
            Err(cause) => {
                error!(error = %crate::act::chain(&cause), "instance types could not be read, trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// One word for the kind of an error, as a label.
pub(crate) fn kind(error: &Error) -> &'static str {
    match error {
        Error::NoRegion | Error::Setting { .. } => "SettingsError",
        Error::NoCredentials { .. } | Error::CredentialsRejected(_) | Error::CredentialsExpired(_) => {
            "CredentialsError"
        }
        Error::Unauthorized(_) => "UnauthorizedError",
        Error::Throttled(_) => "ThrottledError",
        Error::NotFound(_) => "NotFoundError",
        _ => "CloudProviderError",
    }
}
