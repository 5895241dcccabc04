//! A point at which an apply stands still, so that a test can do something in the middle of it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::{Watched, Workspace};

/// How long an apply may take to come to the point.
const PATIENCE: Duration = Duration::from_secs(240);

/// A resource of the core's own whose creation waits for the test.
pub struct Pause {
    mark: PathBuf,
}

impl Pause {
    /// The mark that a pause uses in every workspace, relative to the core's folder.
    const MARK: &str = "paused";

    /// The resource `terraform_data.pause`, created after `after` (an address). Whatever is to come after the pause depends
    /// on it.
    pub fn resource(after: &str) -> String {
        format!(
            r#"
resource "terraform_data" "pause" {{
  depends_on = [{after}]
  provisioner "local-exec" {{
    command = "[ -e {mark}.before ] || {{ touch {mark} {mark}.before; while [ -e {mark} ]; do sleep 0.05; done; }}"
  }}
}}
"#,
            mark = Self::MARK
        )
    }

    /// Waits until `apply`, which works in `workspace`, stands still.
    ///
    /// # Errors
    /// When it does not come so far.
    pub async fn reached(workspace: &Workspace, apply: &mut Watched) -> Result<Self> {
        let mark = workspace.dir().join(Self::MARK);
        apply
            .until("the apply comes to the pause", PATIENCE, |_| mark.exists())
            .await?;
        Ok(Self { mark })
    }

    /// Lets the apply go on.
    pub fn end(self) {}
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.mark) {
            eprintln!("{}: {error}", self.mark.display());
        }
    }
}
