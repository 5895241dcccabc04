//! Logins for the time of a run, by ephemeral resources.

use std::time::Duration;

use anyhow::{Context as _, Result};
use joiner_tests::{Cloud, Workspace, cores};

use crate::support::HEAD;

/// One provider logs in to the account's registry for the other, which opens one itself and looks at what it got.
const REGISTRY: &str = r#"
provider "joiner" {
  alias = "account"
}

ephemeral "joiner_registry_auth" "charts" {
  provider = joiner.account
}

provider "joiner" {
  registries = [{
    url      = ephemeral.joiner_registry_auth.charts.url
    username = ephemeral.joiner_registry_auth.charts.username
    password = ephemeral.joiner_registry_auth.charts.password
  }]
}

ephemeral "joiner_registry_auth" "other" {
  registry_id = "210987654321"

  lifecycle {
    postcondition {
      condition     = self.url == "oci://210987654321.dkr.ecr.us-west-2.amazonaws.com" && self.username == "AWS"
      error_message = "Another registry was logged in to."
    }
  }
}
"#;

#[tokio::test]
async fn a_registry_is_logged_in_to_for_a_run() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "registry-auth", &format!("{HEAD}{REGISTRY}"))?;
        workspace.plan_is_empty().with_context(|| format!("{kind:?}"))?;
    }
    Ok(())
}
