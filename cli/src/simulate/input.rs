//! Files and standard input.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use joiner_map::{Objects, read};

use crate::input::text;

/// What to give, for whoever gave nothing.
const WANTED: &str = "give files with Kubernetes objects, or what this prints: kubectl get \
                      pods,nodes,nodepools,ec2nodeclasses,nodeclaims,daemonsets -A -o json";

/// The objects of all files, of which there must be some; standard input for `-`, and where no file is named.
pub(crate) fn from_files(files: &[PathBuf]) -> Result<Objects> {
    let stdin = [PathBuf::from("-")];
    let files = if files.is_empty() { &stdin } else { files };
    if files == stdin && io::stdin().is_terminal() {
        eprintln!("reading objects from standard input; {WANTED}");
    }
    let texts: Result<Vec<(String, String)>> = files.iter().map(|file| text(file)).collect();
    from_texts(&texts?)
}

/// The objects of texts with their names.
fn from_texts(texts: &[(String, String)]) -> Result<Objects> {
    let mut objects = Objects::default();
    for (name, text) in texts {
        read::read(name, text, &mut objects)?;
    }
    if objects.is_empty() {
        let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
        bail!("there is no object in {}: {WANTED}", names.join(", "));
    }
    Ok(objects)
}

/// The pools of a file, which must hold some.
pub(crate) fn read_pools(file: &Path) -> Result<Objects> {
    let mut objects = Objects::default();
    let (name, text) = text(file)?;
    read::read(&name, &text, &mut objects).context("--pool-file")?;
    if objects.counts().2 == 0 {
        bail!("--pool-file: there is no NodePool in {name}");
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_with_what_to_give() {
        let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let empty = text("empty.yaml", "# nothing\n");
        let pod = text("pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}}");
        for nothing in [
            vec![empty.clone()],
            vec![text(
                "empty.yaml",
                "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": []}",
            )],
        ] {
            let error = from_texts(&nothing).expect_err("nothing").to_string();
            assert!(
                error.contains("no object in empty.yaml: give files")
                    && error.contains("kubectl get pods,nodes"),
                "{error}"
            );
        }
        assert!(from_texts(&[empty, pod]).is_ok(), "one of them has something");
    }
}
