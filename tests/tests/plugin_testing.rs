//! The built provider under hashicorp/terraform-plugin-testing, the library that authors of providers in Go test with: its own checks
//! of plans, states, imports and empty plans, with both cores. The tests are in `tests/plugin-testing`.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::{Cloud, CoreKind, cores, go_tests};

#[tokio::test]
async fn the_provider_passes_as_an_external_one() -> Result<()> {
    let program = go_tests::program("plugin-testing")?;
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("tested").await?;
    cloud.crds(&cluster)?;
    let mirror = cloud.ground().mirror()?;
    for kind in cores() {
        let mut command = Command::new(&program);
        command
            .args(["-test.v", "-test.timeout=10m", "-test.parallel=2"])
            .current_dir(cloud.folder())
            .envs(cloud.environment())
            .env("TF_ACC", "1")
            .env("TF_ACC_TERRAFORM_PATH", kind.path(&cloud.tools)?)
            .env("TF_CLI_CONFIG_FILE", mirror.cli_config())
            .env("CHECKPOINT_DISABLE", "1")
            .env("JOINER_KUBECONFIG", &cluster.kubeconfig)
            .env("JOINER_KUBECTL", cloud.tools.path("kubectl"))
            .env("JOINER_OIDC_PROVIDER", &cluster.aws.oidc_provider_arn);
        if let Some(tests) = share(kind) {
            command.arg(format!("-test.run={tests}"));
        }
        let output = command.output()?;
        let said = [&output.stdout[..], &output.stderr[..]]
            .map(String::from_utf8_lossy)
            .concat();
        ensure!(output.status.success(), "{kind:?}: {said}");
        ensure!(
            said.contains("--- PASS: Test") && !said.contains("--- SKIP"),
            "{kind:?}: tests were skipped:\n{said}"
        );
        let left = cloud.sandbox.leftovers().await?;
        ensure!(left.is_empty(), "{kind:?}: {left:?}");
    }
    Ok(())
}

/// The tests that a core runs, as a pattern; all of them where it is the only one. What they look for is the provider's and the
/// library's, so that each need not see all of it.
fn share(kind: CoreKind) -> Option<&'static str> {
    match kind {
        _ if cores().len() == 1 => None,
        CoreKind::OpenTofu => Some("TestNodePool$|TestWrongNodePool$|TestFunctions$"),
        CoreKind::Terraform => Some("TestNodePoolDrift$|TestIrsaRole$|TestFunctions$"),
    }
}
