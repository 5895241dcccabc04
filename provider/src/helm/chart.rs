//! Where a chart comes from, and getting it onto this machine.

use super::run::Helm;
use super::{HelmError, OCI, Registries, command, embedded, fingerprint, version};
use crate::yaml;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a chart comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChartSource {
    /// The controller's own chart, compiled in.
    Embedded,
    /// A directory or archive on this machine.
    Path(PathBuf),
    /// A chart in a registry.
    Oci {
        reference: String,
        version: Option<String>,
    },
}

impl ChartSource {
    /// Reads the attributes `chart` and `version`. The error names what is wrong with which.
    pub(crate) fn parse(chart: Option<&str>, version: Option<&str>) -> Result<Self, String> {
        let source = match chart {
            None => Self::Embedded,
            Some(reference) if reference.starts_with(OCI) => {
                if let Some(version) = version {
                    check_version(reference, version)?;
                }
                return Ok(Self::Oci {
                    reference: reference.to_owned(),
                    version: version.map(str::to_owned),
                });
            }
            Some("") => {
                return Err(
                    "chart is empty; leave it out for the embedded chart of Joiner's controller".to_owned(),
                );
            }
            Some(url) if url.contains("://") => {
                return Err(format!("chart {url:?} is neither a path nor an oci:// reference"));
            }
            Some(path) => Self::Path(PathBuf::from(path)),
        };
        match version {
            Some(version) => Err(format!(
                "version {version:?} can only be chosen for an oci:// chart; the embedded chart and a path have the version that they have"
            )),
            None => Ok(source),
        }
    }

    /// The chart's version as far as it is known without a registry: from the `Chart.yaml` of the embedded chart or of a directory.
    pub(crate) fn known_version(&self) -> Option<String> {
        self.chart_yaml().and_then(|text| text_in(&text, "version"))
    }

    fn chart_yaml(&self) -> Option<String> {
        match self {
            Self::Embedded => embedded::chart_yaml().map(str::to_owned),
            Self::Path(path) => std::fs::read_to_string(path.join("Chart.yaml")).ok(),
            // A registry's answer: the version may be a range.
            Self::Oci { .. } => None,
        }
    }

    /// The chart's name as far as it is known without a registry.
    pub(crate) fn known_name(&self) -> Option<String> {
        self.chart_yaml().and_then(|text| text_in(&text, "name"))
    }

    /// What the chart says of its values, as far as it can be read without a registry.
    pub(crate) fn schema(&self) -> Option<serde_json::Value> {
        let text = match self {
            Self::Embedded => embedded::values_schema().map(str::to_owned),
            Self::Path(path) => std::fs::read_to_string(path.join("values.schema.json")).ok(),
            Self::Oci { .. } => None,
        };
        serde_json::from_str(&text?).ok()
    }

    /// What changes when the chart's content does: a fingerprint of the embedded chart, or of a directory's files.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        match self {
            Self::Embedded => Some(embedded::fingerprint().to_owned()),
            Self::Path(path) => fingerprint::of_path(path),
            Self::Oci { .. } => None,
        }
    }

    /// Whether rendering may depend on the cluster, as with `.Capabilities`, `lookup` and `kubeVersion`; taken for granted where the chart's
    /// files cannot be read: archives, such as those of its dependencies, and charts in a registry.
    pub(crate) fn asks_the_cluster(&self) -> bool {
        match self {
            Self::Embedded => false,
            Self::Path(path) => {
                fingerprint::files(path).is_none_or(|files| files.iter().any(|file| asks(file)))
            }
            Self::Oci { .. } => true,
        }
    }

    /// Brings the chart onto this machine: a path that Helm takes as a chart. A registry gets `limit` to give it.
    pub(crate) async fn fetch(
        &self,
        helm: &Helm<'_>,
        registries: &Registries,
        limit: Duration,
    ) -> Result<PathBuf, HelmError> {
        match self {
            Self::Embedded => embedded::unpack(helm.directory()),
            Self::Path(path) => absolute(path),
            Self::Oci { reference, version } => {
                let directory = helm.directory().join("pulled");
                std::fs::create_dir_all(&directory).map_err(|error| HelmError::Start {
                    cause: error.to_string(),
                })?;
                let access = registries.prepare(helm.workspace(), reference)?;
                let place = directory.to_string_lossy();
                let args = command::pull(reference, version.as_deref(), &place, &access);
                let limit = limit.max(Duration::from_secs(1));
                // Dropped half-way, Helm is killed; it has changed nothing yet.
                match tokio::time::timeout(limit, helm.run(&args)).await {
                    Ok(pulled) => drop(pulled?),
                    Err(_) => {
                        return Err(HelmError::Chart(format!(
                            "{reference} was not there after {} s. Check that this machine may reach the registry, or allow more time with \
                             timeout",
                            limit.as_secs()
                        )));
                    }
                }
                archive_in(&directory)
                    .ok_or_else(|| HelmError::Chart(format!("{reference} was pulled but holds no chart")))
            }
        }
    }
}

/// The version of a chart in a registry, which may have one as its tag already.
fn check_version(reference: &str, version: &str) -> Result<(), String> {
    version::check(version)?;
    match version::tag(reference) {
        Some(tag) if tag != version => Err(format!(
            "version {version:?} is another one than chart {reference:?} has as its tag. Remove one of the two"
        )),
        _ => Ok(()),
    }
}

fn asks(file: &Path) -> bool {
    const WORDS: [&str; 3] = [".Capabilities", "lookup", "kubeVersion"];
    match std::fs::read_to_string(file) {
        Ok(text) => WORDS.iter().any(|word| text.contains(word)),
        Err(_) => true,
    }
}

fn text_in(chart_yaml: &str, key: &str) -> Option<String> {
    let chart: serde_json::Value = yaml::parse(chart_yaml).ok()?;
    chart[key].as_str().map(str::to_owned)
}

fn absolute(path: &Path) -> Result<PathBuf, HelmError> {
    let found = path
        .canonicalize()
        .map_err(|error| HelmError::Chart(format!("{}: {error}", path.display())))?;
    if found.is_dir() && !found.join("Chart.yaml").is_file() {
        return Err(HelmError::Chart(format!(
            "{} is no chart: it has no Chart.yaml",
            path.display()
        )));
    }
    Ok(found)
}

fn archive_in(directory: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|ext| ext == "tgz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_sources_are_told_apart() {
        let oci = |version: Option<&str>| ChartSource::Oci {
            reference: "oci://r/c".into(),
            version: version.map(str::to_owned),
        };
        for (chart, version, want) in [
            (None, None, Ok(ChartSource::Embedded)),
            (Some("./chart"), None, Ok(ChartSource::Path("./chart".into()))),
            (Some("oci://r/c"), None, Ok(oci(None))),
            (Some("oci://r/c"), Some("1.2.3"), Ok(oci(Some("1.2.3")))),
            (
                Some("oci://r/c"),
                Some("latest"),
                Err("version \"latest\" is neither"),
            ),
            (
                Some("oci://r/c:1.2.4"),
                Some("1.2.3"),
                Err("version \"1.2.3\" is another one"),
            ),
            (Some("./chart"), Some("1"), Err("version")),
            (None, Some("1"), Err("version")),
            (Some(""), None, Err("chart is empty")),
            (Some("https://x/y"), None, Err("oci://")),
        ] {
            match (ChartSource::parse(chart, version), want) {
                (Ok(source), Ok(want)) => assert_eq!(source, want),
                (Err(error), Err(text)) => assert!(error.contains(text), "{error}"),
                (got, want) => panic!("{chart:?} {version:?}: {got:?}, not {want:?}"),
            }
        }
    }

    #[test]
    fn a_chart_that_asks_the_cluster_is_known_by_its_files() {
        for (name, content, asks) in [
            ("Chart.yaml", "name: x\n", false),
            ("Chart.yaml", "name: x\nkubeVersion: '>=1.30'\n", true),
            ("templates/x.yaml", "{{ .Capabilities.KubeVersion }}", true),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(&path, content).expect("written");
            let chart = ChartSource::Path(dir.path().to_owned());
            assert_eq!(chart.asks_the_cluster(), asks, "{name} {content}");
            std::fs::write(dir.path().join("sub.tgz"), [0x1f, 0x8b, 0xff]).expect("written");
            assert!(chart.asks_the_cluster(), "an archive cannot be read");
        }
        assert!(ChartSource::Path("/nonexistent".into()).asks_the_cluster());
    }

    #[test]
    fn a_directory_without_a_chart_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let error = absolute(dir.path()).expect_err("no Chart.yaml").to_string();
        assert!(error.contains("Chart.yaml"), "{error}");
        std::fs::write(dir.path().join("Chart.yaml"), "name: x\nversion: 1.2.3\n").expect("written");
        assert_eq!(
            ChartSource::Path(dir.path().into()).known_version().as_deref(),
            Some("1.2.3")
        );
    }
}
