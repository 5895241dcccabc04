//! What tests put in place of a real Helm and of the credentials of this machine.

use super::data::{Joiner, Part};
use crate::helm::FakeHelm;
use joiner_aws::{Aws, Settings, StaticCredentials};
use std::sync::Arc;

/// What is not real.
#[derive(Default)]
pub(crate) struct Fakes {
    /// Runs instead of the Helm program.
    pub helm: Option<Arc<FakeHelm>>,
    /// Used instead of what the standard chain finds.
    pub credentials: Option<StaticCredentials>,
}

impl Fakes {
    pub(super) fn put_into(&self, mut data: Joiner) -> Joiner {
        data.fake_helm.clone_from(&self.helm);
        if let (Some(credentials), Part::Known(aws)) = (&self.credentials, &data.aws) {
            let settings = Settings {
                credentials: Some(credentials.clone()),
                max_attempts: Some(1),
                ..aws.settings().clone()
            };
            data.aws = Part::Known(Aws::connect(settings).expect("the settings were accepted before"));
        }
        data
    }
}
