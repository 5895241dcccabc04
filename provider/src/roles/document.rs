//! Policy documents of an identity, checked as IAM would when it takes them.

use joiner_api::rules::nearest;
use serde_json::{Map, Value as Json};
use tfplugin::{AttributePath, Diagnostics};

const VERSIONS: [&str; 2] = ["2012-10-17", "2008-10-17"];
const EFFECTS: [&str; 2] = ["Allow", "Deny"];
const OF_DOCUMENT: [&str; 3] = ["Version", "Id", "Statement"];
const OF_STATEMENT: [&str; 7] = [
    "Sid",
    "Effect",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
];

/// Checks the document in the attribute at `path`.
pub(super) fn check(path: &AttributePath, text: &str, found: &mut Diagnostics) {
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(document)) if document.contains_key("Statement") => {
            for problem in problems(&document) {
                found.error_at(path.clone(), "IAM would refuse the policy", format!("{problem}."));
            }
        }
        Ok(_) => found.error_at(
            path.clone(),
            "Not a policy",
            "The JSON is no policy document: expected an object with Version and Statement, such as jsonencode or \
             aws_iam_policy_document makes it.",
        ),
        Err(error) => found.error_at(path.clone(), "Not JSON", format!("The policy is not JSON: {error}.")),
    }
}

fn problems(document: &Map<String, Json>) -> Vec<String> {
    let mut problems = strangers("", document, &OF_DOCUMENT);
    if let Some(version) = document.get("Version")
        && !VERSIONS.iter().any(|known| version == known)
    {
        problems.push(format!(
            "Version is {version}: expected {:?}. It is the version of the policy language, not of this policy",
            VERSIONS[0]
        ));
    }
    match &document["Statement"] {
        Json::Array(statements) => {
            for (index, statement) in statements.iter().enumerate() {
                problems.extend(of_statement(&format!("Statement[{index}]"), statement));
            }
        }
        statement => problems.extend(of_statement("Statement", statement)),
    }
    problems
}

fn of_statement(place: &str, statement: &Json) -> Vec<String> {
    let Json::Object(statement) = statement else {
        return vec![format!(
            "{place} is {statement}: expected an object with Effect, Action and Resource"
        )];
    };
    let mut problems = Vec::new();
    let has = |key: &str| statement.contains_key(key);
    if ["Principal", "NotPrincipal"].into_iter().any(has) {
        problems.push(format!(
            "{place} has a Principal: the role itself is whom this policy is for, so it has none. Remove it"
        ));
    }
    problems.extend(strangers(place, statement, &OF_STATEMENT));
    match statement.get("Effect") {
        Some(Json::String(effect)) if EFFECTS.contains(&effect.as_str()) => {}
        Some(effect) => problems.push(format!(
            "{place}.Effect is {effect}: expected \"Allow\" or \"Deny\", written so{}",
            meant(effect.as_str().unwrap_or_default(), &EFFECTS)
        )),
        None => problems.push(format!(
            "{place} has no Effect: add Effect = \"Allow\" or \"Deny\""
        )),
    }
    for (one, other) in [("Action", "NotAction"), ("Resource", "NotResource")] {
        match (has(one), has(other)) {
            (false, false) => problems.push(format!("{place} has neither {one} nor {other}: add {one}")),
            (true, true) => problems.push(format!("{place} has both {one} and {other}: remove one of them")),
            _ => {}
        }
    }
    problems
}

/// Keys that the language does not have; who may act is told apart.
fn strangers(place: &str, map: &Map<String, Json>, known: &[&str]) -> Vec<String> {
    let is_strange = |key: &&String| !known.contains(&key.as_str()) && !key.ends_with("Principal");
    let told = map.keys().filter(is_strange).map(|key| {
        let place = if place.is_empty() { "the document" } else { place };
        format!(
            "{place} has {key:?}, which the policy language does not know{}",
            meant(key, known)
        )
    });
    told.collect()
}

fn meant(name: &str, known: &[&str]) -> String {
    nearest(name, known.iter().copied())
        .map(|near| format!(" (did you mean {near:?}?)"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_iam_would_refuse_is_told_with_its_place() {
        let statement = |change: Json| {
            let mut statement = json!({ "Effect": "Allow", "Action": "s3:Get*", "Resource": "*" });
            for (key, value) in change.as_object().expect("a map") {
                statement[key] = value.clone();
            }
            let kept = statement.as_object_mut().expect("a map");
            kept.retain(|_, value| !value.is_null());
            json!({ "Version": "2012-10-17", "Statement": [statement] })
        };
        for (document, words) in [
            (
                statement(json!({ "Effect": "allow" })),
                "Statement[0].Effect is \"allow\"",
            ),
            (statement(json!({ "Effect": "allow" })), "did you mean \"Allow\""),
            (statement(json!({ "Effect": null })), "no Effect"),
            (
                statement(json!({ "Action": null })),
                "neither Action nor NotAction",
            ),
            (
                statement(json!({ "Resource": null })),
                "neither Resource nor NotResource",
            ),
            (
                statement(json!({ "NotAction": "s3:Put*" })),
                "both Action and NotAction",
            ),
            (statement(json!({ "Principal": "*" })), "has a Principal"),
            (
                statement(json!({ "Ressource": "*" })),
                "did you mean \"Resource\"",
            ),
            (
                json!({ "Version": "2024-01-01", "Statement": [] }),
                "expected \"2012-10-17\"",
            ),
            (json!({ "Statement": ["x"] }), "expected an object"),
            (
                json!({ "Statement": [], "version": "2012-10-17" }),
                "did you mean \"Version\"",
            ),
        ] {
            let mut found = Diagnostics::new();
            check(
                &AttributePath::from("policies").key("x"),
                &document.to_string(),
                &mut found,
            );
            assert_eq!(found.paths(), ["policies[\"x\"]"], "{document}: {found}");
            assert!(found.to_string().contains(words), "{words:?} in {found}");
        }
        let fine = [
            statement(json!({})),
            statement(json!({ "Sid": "A", "Condition": {}, "NotResource": "x", "Resource": null })),
            json!({ "Statement": { "Effect": "Deny", "NotAction": ["a:b"], "Resource": ["*"] } }),
        ];
        for document in fine {
            let mut found = Diagnostics::new();
            check(&"policies".into(), &document.to_string(), &mut found);
            assert!(found.is_empty(), "{found}");
        }
    }
}
