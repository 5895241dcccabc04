//! Takes the quickstart down and proves that the emulator's account holds nothing of it.

use anyhow::{Result, bail};

use super::setting::Setting;
use crate::output;

/// Destroys, then asks the account what is left.
pub(crate) async fn run(setting: &Setting) -> Result<()> {
    setting
        .core("destroy", &["destroy", "-auto-approve", "-input=false"])
        .await?;
    let left = setting.sandbox.leftovers().await?;
    if !left.is_empty() {
        bail!("the account still holds:\n  {}", left.join("\n  "));
    }
    output::line("the account holds no instance, launch template, role or instance profile of ours");
    Ok(())
}
