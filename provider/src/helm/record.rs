//! The record that Helm keeps of each revision of a release, in a Secret `sh.helm.release.v1.NAME.vN`.

use super::HelmError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fmt;
use std::io::{Read as _, Write as _};

/// State of a revision, in Helm's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Unknown,
    Deployed,
    Uninstalled,
    Superseded,
    Failed,
    Uninstalling,
    PendingInstall,
    PendingUpgrade,
    PendingRollback,
}

impl Status {
    /// Reads Helm's word; an unknown word is [`Status::Unknown`].
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "deployed" => Self::Deployed,
            "uninstalled" => Self::Uninstalled,
            "superseded" => Self::Superseded,
            "failed" => Self::Failed,
            "uninstalling" => Self::Uninstalling,
            "pending-install" => Self::PendingInstall,
            "pending-upgrade" => Self::PendingUpgrade,
            "pending-rollback" => Self::PendingRollback,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Deployed => "deployed",
            Self::Uninstalled => "uninstalled",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
            Self::Uninstalling => "uninstalling",
            Self::PendingInstall => "pending-install",
            Self::PendingUpgrade => "pending-upgrade",
            Self::PendingRollback => "pending-rollback",
        })
    }
}

/// One revision of a release.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// The whole record as Helm wrote it, so that rewriting loses nothing.
    json: Value,
}

impl Record {
    /// Decodes the Secret's key `release` (already without Kubernetes' own base64).
    pub(crate) fn decode(name: &str, revision: u32, data: &[u8]) -> Result<Self, HelmError> {
        let unreadable = |cause: String| HelmError::Record {
            name: name.to_owned(),
            revision,
            cause,
        };
        let packed = STANDARD
            .decode(data)
            .map_err(|error| unreadable(error.to_string()))?;
        let mut plain = Vec::new();
        if packed.starts_with(&[0x1f, 0x8b, 0x08]) {
            GzDecoder::new(packed.as_slice())
                .read_to_end(&mut plain)
                .map_err(|error| unreadable(error.to_string()))?;
        } else {
            plain = packed;
        }
        let json = serde_json::from_slice(&plain).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { json })
    }

    /// Stands for the record of a release that could not be read: nothing in it is known.
    pub(crate) fn unread() -> Self {
        Self { json: Value::Null }
    }

    /// A record as a test wants it.
    #[cfg(test)]
    pub(crate) fn made_of(json: Value) -> Self {
        Self { json }
    }

    /// The Secret's key `release`, before Kubernetes' own base64.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, HelmError> {
        let unwritable = |cause: String| HelmError::Record {
            name: self.name().to_owned(),
            revision: self.revision(),
            cause,
        };
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let plain = serde_json::to_vec(&self.json).map_err(|error| unwritable(error.to_string()))?;
        gzip.write_all(&plain)
            .map_err(|error| unwritable(error.to_string()))?;
        let packed = gzip.finish().map_err(|error| unwritable(error.to_string()))?;
        Ok(STANDARD.encode(packed).into_bytes())
    }

    /// The same revision, marked as failed because of `why`.
    pub(crate) fn failed(mut self, why: &str) -> Self {
        self.json["info"]["status"] = Value::from(Status::Failed.to_string());
        self.json["info"]["description"] = Value::from(why);
        self
    }

    /// Name of the release.
    pub(crate) fn name(&self) -> &str {
        self.json["name"].as_str().unwrap_or_default()
    }

    /// Number of the revision, from 1.
    pub(crate) fn revision(&self) -> u32 {
        self.json["version"]
            .as_u64()
            .and_then(|version| u32::try_from(version).ok())
            .unwrap_or_default()
    }

    /// Its state.
    pub(crate) fn status(&self) -> Status {
        Status::parse(self.json["info"]["status"].as_str().unwrap_or_default())
    }

    /// Helm's remark on it, for example the error of a failed upgrade.
    pub(crate) fn description(&self) -> &str {
        self.json["info"]["description"].as_str().unwrap_or_default()
    }

    /// The values given to it, without the chart's defaults.
    pub(crate) fn values(&self) -> Value {
        match &self.json["config"] {
            Value::Object(map) => Value::Object(map.clone()),
            _ => Value::Object(serde_json::Map::new()),
        }
    }

    /// The rendered objects, YAML documents.
    pub(crate) fn manifest(&self) -> &str {
        self.json["manifest"].as_str().unwrap_or_default()
    }

    /// The chart's name.
    pub(crate) fn chart_name(&self) -> &str {
        self.json["chart"]["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
    }

    /// The chart's version.
    pub(crate) fn chart_version(&self) -> &str {
        self.json["chart"]["metadata"]["version"]
            .as_str()
            .unwrap_or_default()
    }

    /// The version of the application in the chart.
    pub(crate) fn app_version(&self) -> &str {
        self.json["chart"]["metadata"]["appVersion"]
            .as_str()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Record {
        Record {
            json: json!({
                "name": "joiner", "version": 3, "namespace": "kube-system", "manifest": "---\na: 1\n",
                "info": { "status": "pending-upgrade", "last_deployed": "2026-11-30T08:00:00Z", "extra": true },
                "chart": { "metadata": { "name": "joiner", "version": "0.1.0", "appVersion": "0.1.0" }, "files": [] },
                "config": { "replicas": 1 },
            }),
        }
    }

    #[test]
    fn a_record_survives_its_own_encoding() {
        let record = sample();
        let encoded = record.encode().expect("encodes");
        let decoded = Record::decode("joiner", 3, &encoded).expect("decodes");
        assert_eq!(decoded, record);
        assert_eq!(
            (decoded.name(), decoded.revision(), decoded.status()),
            ("joiner", 3, Status::PendingUpgrade)
        );
        assert_eq!(decoded.values(), json!({ "replicas": 1 }));
    }

    #[test]
    fn an_uncompressed_record_is_read_too() {
        let data = STANDARD.encode(serde_json::to_vec(&sample().json).expect("JSON"));
        assert_eq!(
            Record::decode("joiner", 3, data.as_bytes()).expect("decodes"),
            sample()
        );
        let error = Record::decode("joiner", 3, b"!")
            .expect_err("not base64")
            .to_string();
        assert!(error.contains("joiner") && error.contains('3'), "{error}");
    }

    #[test]
    fn marking_as_failed_keeps_the_rest() {
        let record = sample().failed("its process was killed");
        assert_eq!(record.status(), Status::Failed);
        assert_eq!(record.description(), "its process was killed");
        assert_eq!(record.json["info"]["extra"], json!(true));
    }

    #[test]
    fn every_status_word_survives() {
        for word in [
            "deployed",
            "failed",
            "superseded",
            "uninstalled",
            "uninstalling",
            "pending-install",
        ] {
            assert_eq!(Status::parse(word).to_string(), word);
        }
        assert_eq!(Status::parse("?").to_string(), "unknown");
    }
}
