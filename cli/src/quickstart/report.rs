//! What the quickstart tells at its end.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::{Table, presets};
use joiner_sandbox::Layout;

use super::progress::{Milestones, Progress};
use super::setting::Setting;
use crate::output;
use crate::sandbox::env::quoted;

/// The seconds of each stage, and the NodeClaims bought.
pub(crate) fn stages(applied: Duration, progress: &Progress) {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(["stage", "seconds"]);
    table.add_row(["one apply".to_owned(), format!("{:.1}", applied.as_secs_f64())]);
    let Milestones {
        first_pod,
        first_claim,
        first_launch,
        first_registered,
        first_ready,
        first_running,
        all_running,
    } = progress.milestones();
    for (stage, at) in [
        ("scaling to the first pending pod", first_pod),
        ("... to the first NodeClaim", first_claim),
        ("... to the first instance launched", first_launch),
        ("... to the first node registered", first_registered),
        ("... to the first node ready", first_ready),
        ("... to the first pod running", first_running),
        ("... to all pods running", all_running),
    ] {
        table.add_row([
            stage.to_owned(),
            at.map_or_else(|| "-".to_owned(), |at| format!("{at:.2}")),
        ]);
    }
    output::line(&table.to_string());

    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "nodeclaim",
        "instance type",
        "zone",
        "capacity type",
        "price",
    ]);
    for (name, claim) in progress.last().iter().flat_map(|picture| &picture.claims) {
        table.add_row([
            name,
            &claim.instance_type,
            &claim.zone,
            &claim.capacity_type,
            &claim.price,
        ]);
    }
    output::line(&table.to_string());
}

/// How to go on by hand, from wherever the quickstart was run.
pub(crate) fn how_to_go_on(setting: &Setting) {
    let dir = setting.sandbox.layout().dir();
    let usual = Layout::choose(None, None).is_ok_and(|layout| layout.dir() == dir);
    let way = Way {
        joiner: &program(),
        dir: (!usual).then_some(dir),
        example: &setting.example,
        tools: &setting.tools.bin,
    };
    output::line(&way.to_string());
}

/// This program as the shell finds it: by its path from the folder where the command was given, where it lies below.
pub(super) fn program() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("joiner"));
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| program.strip_prefix(here).ok().map(Path::to_owned));
    match below {
        // A name alone would be looked for in PATH.
        Some(below) if below.components().count() > 1 => below,
        _ => program,
    }
}

/// What the commands to go on with need.
struct Way<'a> {
    joiner: &'a Path,
    /// The sandbox's folder, where it is not the one that is meant without a word.
    dir: Option<&'a Path>,
    example: &'a Path,
    tools: &'a Path,
}

impl fmt::Display for Way<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |path: &Path| quoted(&path.display().to_string());
        let which = self
            .dir
            .map_or_else(String::new, |dir| format!(" --dir {}", word(dir)));
        let sandbox = format!("{} sandbox{which}", word(self.joiner));
        write!(
            f,
            "The sandbox stays up. To go on:\n  \
             eval \"$({sandbox} env)\"    # KUBECONFIG, AWS settings, where tofu finds the providers\n  \
             export PATH={}:$PATH    # kubectl, helm, tofu\n  \
             kubectl get nodepools,nodeclaims,nodes,pods -A\n  \
             kubectl logs -n kube-system -l app.kubernetes.io/name=joiner -f\n  \
             {sandbox} quickstart --example {} --destroy    # destroys it and proves that nothing is left\n  \
             {sandbox} down    # ends the sandbox",
            word(self.tools),
            word(self.example),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_work_from_anywhere() {
        let mut way = Way {
            joiner: Path::new("/opt/my tools/joiner"),
            dir: None,
            example: Path::new("/home/me/example"),
            tools: Path::new("/cache/bin"),
        };
        let text = way.to_string();
        for part in [
            "eval \"$('/opt/my tools/joiner' sandbox env)\"",
            "'/opt/my tools/joiner' sandbox quickstart --example /home/me/example --destroy",
            "'/opt/my tools/joiner' sandbox down",
            "export PATH=/cache/bin:$PATH",
        ] {
            assert!(text.contains(part), "{text} lacks {part}");
        }
        assert!(!text.contains("make ") && !text.contains("target/"), "{text}");
        way.dir = Some(Path::new("/tmp/other"));
        let text = way.to_string();
        assert_eq!(text.matches("sandbox --dir /tmp/other").count(), 3, "{text}");
    }
}
