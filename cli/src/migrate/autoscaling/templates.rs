//! Launch templates by ID, name and version.

use serde_json::Value as Json;

use crate::migrate::piece::Fields;

/// The versions that were read.
#[derive(Debug, Default)]
pub(super) struct Templates {
    versions: Vec<Json>,
}

impl Templates {
    /// Adds versions.
    pub(super) fn add(&mut self, versions: Vec<Json>) {
        self.versions.extend(versions);
    }

    /// The data of the version that a specification names; none without one, and where it was not read, of which a remark tells.
    pub(super) fn data(&self, specification: Option<Json>, remarks: &mut Vec<String>) -> Fields {
        let found = specification.and_then(|specification| {
            self.find(&specification)
                .map_err(|missing| remarks.push(missing))
                .ok()
        });
        Fields::of("LaunchTemplateData", found)
    }

    /// The data of the version that a specification names; otherwise what to do about it.
    fn find(&self, specification: &Json) -> Result<Json, String> {
        let word = |lower: &str, upper: &str| {
            let found = &specification[upper];
            found
                .as_str()
                .or_else(|| specification[lower].as_str())
                .map(str::to_owned)
        };
        let id = word("id", "LaunchTemplateId");
        let name = word("name", "LaunchTemplateName");
        let version = word("version", "Version").unwrap_or_else(|| "$Default".to_owned());
        let is_it = |candidate: &&Json| {
            let same = |key: &str, wanted: &Option<String>| {
                wanted.as_deref().is_some_and(|wanted| candidate[key] == wanted)
            };
            same("LaunchTemplateId", &id) || same("LaunchTemplateName", &name)
        };
        let number = |candidate: &Json| candidate["VersionNumber"].as_i64().unwrap_or_default();
        let mut candidates: Vec<&Json> = self.versions.iter().filter(is_it).collect();
        candidates.sort_by_key(|candidate| number(candidate));
        let found = match version.as_str() {
            "$Latest" => candidates.last().copied(),
            "$Default" => candidates
                .iter()
                .copied()
                .find(|candidate| candidate["DefaultVersion"] == true),
            number_text => candidates
                .iter()
                .copied()
                .find(|candidate| number(candidate).to_string() == number_text),
        };
        found.map(|found| found["LaunchTemplateData"].clone()).ok_or_else(|| {
            let which = id.or(name).unwrap_or_default();
            format!(
                "launch template {which}, version {version}, was not read: give what `aws ec2 describe-launch-template-versions \
                 --launch-template-id {which} --versions '{version}'` prints, too"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn versions_are_found_by_number_and_by_word() {
        let mut templates = Templates::default();
        let version = |number: i64, default: bool| {
            json!({
                "LaunchTemplateId": "lt-1", "LaunchTemplateName": "n", "VersionNumber": number, "DefaultVersion": default,
                "LaunchTemplateData": { "ImageId": number.to_string() },
            })
        };
        templates.add(vec![version(1, true), version(10, false), version(2, false)]);
        for (specification, want) in [
            (json!({ "LaunchTemplateId": "lt-1", "Version": "2" }), "2"),
            (json!({ "LaunchTemplateId": "lt-1", "Version": "$Latest" }), "10"),
            (json!({ "LaunchTemplateName": "n" }), "1"),
            (json!({ "id": "lt-1", "version": "10" }), "10"),
        ] {
            assert_eq!(
                templates.find(&specification).expect("found")["ImageId"],
                want,
                "{specification}"
            );
        }
        let error = templates
            .find(&json!({ "LaunchTemplateId": "lt-2" }))
            .expect_err("not read");
        assert!(error.contains("lt-2"), "{error}");
    }
}
