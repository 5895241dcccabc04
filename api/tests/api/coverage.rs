//! The rules agree with the table of cases, and the table has a valid and an invalid object for each CEL rule.

use std::collections::BTreeSet;

use joiner_api::rules::{self, JsonPath, Kind, Segment, Source, UnknownPaths};
use serde_json::Value;

use crate::cases::{self, Case, Verdict};

fn check(case: &Case) -> Vec<rules::Violation> {
    rules::check(
        case.kind,
        &case.object,
        &UnknownPaths::none(),
        case.before.as_ref(),
    )
}

#[test]
fn the_rules_agree_with_the_table() {
    let mut wrong = Vec::new();
    for case in cases::all() {
        let found = check(&case);
        let refused = found.iter().any(|violation| violation.source != Source::Runtime);
        let at = |path: &str| found.iter().any(|violation| violation.path.to_string() == path);
        let right = match case.verdict {
            Verdict::Valid => found.is_empty(),
            // The syntax of metadata is a rule of the API server that no CRD states.
            Verdict::Refused(path) if path.starts_with("metadata.") => at(path),
            Verdict::Refused(path) => refused && at(path),
            Verdict::Unusable(path) => !refused && at(path),
        };
        if !right {
            let found: Vec<String> = found.iter().map(|v| format!("{:?} {v}", v.source)).collect();
            wrong.push(format!(
                "{} {}: want {:?}, found {found:#?}",
                case.kind.as_str(),
                case.what,
                case.verdict
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A CEL rule: kind, place in the schema, message.
type Rule = (&'static str, String, String);

fn rules_of_the_crds() -> BTreeSet<Rule> {
    let mut rules = BTreeSet::new();
    for (kind, crd) in kinds().zip(joiner_api::crds()) {
        let schema =
            serde_json::to_value(crd).unwrap()["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
        collect(kind, "", &schema, &mut rules);
    }
    rules
}

/// In the order of `crds()`.
fn kinds() -> impl Iterator<Item = &'static str> {
    Kind::ALL.into_iter().map(Kind::as_str)
}

fn collect(kind: &'static str, path: &str, schema: &Value, rules: &mut BTreeSet<Rule>) {
    for rule in schema["x-kubernetes-validations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        rules.insert((
            kind,
            path.to_owned(),
            rule["message"].as_str().unwrap().to_owned(),
        ));
    }
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        collect(kind, &format!("{path}/{name}"), child, rules);
    }
    for step in ["items", "additionalProperties"] {
        if schema[step].is_object() {
            collect(kind, &format!("{path}/*"), &schema[step], rules);
        }
    }
}

/// The places of an object's values, with `*` for places in lists.
fn places(path: &str, value: &Value, places_of: &mut BTreeSet<String>) {
    places_of.insert(path.to_owned());
    for (name, child) in value.as_object().into_iter().flatten() {
        places(&format!("{path}/{name}"), child, places_of);
    }
    for child in value.as_array().into_iter().flatten() {
        places(&format!("{path}/*"), child, places_of);
    }
}

#[test]
fn each_cel_rule_has_a_valid_and_an_invalid_object() {
    let rules = rules_of_the_crds();
    let mut broken: BTreeSet<Rule> = BTreeSet::new();
    let mut kept: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for case in cases::all() {
        let kind = case.kind.as_str();
        if case.verdict == Verdict::Valid {
            let mut here = BTreeSet::new();
            places("", &case.object, &mut here);
            kept.extend(here.into_iter().map(|place| (kind, place)));
            continue;
        }
        for violation in check(&case)
            .into_iter()
            .filter(|violation| violation.source == Source::Cel)
        {
            let place: String = violation
                .path
                .0
                .iter()
                .map(|segment| match segment {
                    Segment::Field(name) => format!("/{name}"),
                    Segment::Index(_) => "/*".to_owned(),
                })
                .collect();
            broken.insert((kind, place, violation.message));
        }
    }
    // A rule about each item of a list or map is broken at the item. Where a rule of ours says more, its words replace those of
    // the CRD, so the place alone counts.
    let is_part = |place: &str, of: &str| place.strip_prefix(of).is_some_and(|rest| rest.starts_with('/'));
    let is_broken = |rule: &Rule| {
        broken.contains(rule)
            || broken
                .iter()
                .any(|b| b.0 == rule.0 && b.2 == rule.2 && is_part(&b.1, &rule.1))
            || (rule.1.ends_with("/key") && broken.iter().any(|b| b.0 == rule.0 && b.1 == rule.1))
    };
    let without_invalid: Vec<&Rule> = rules.iter().filter(|rule| !is_broken(rule)).collect();
    let without_valid: Vec<&Rule> = rules
        .iter()
        .filter(|(kind, place, _)| !kept.contains(&(*kind, place.clone())))
        .collect();
    assert!(
        without_invalid.is_empty(),
        "no invalid object for {without_invalid:#?}"
    );
    assert!(without_valid.is_empty(), "no valid object for {without_valid:#?}");
}

/// In a plan any value may be unknown. Then an object that is valid with the value must not be refused without it,
/// whether the place of the value holds null or nothing.
#[test]
fn no_valid_object_is_refused_for_what_is_unknown() {
    let mut tried = 0;
    for case in cases::all()
        .into_iter()
        .filter(|case| case.verdict == Verdict::Valid)
    {
        let mut paths = Vec::new();
        below(&JsonPath::root().field("spec"), &case.object["spec"], &mut paths);
        for path in paths {
            let unknown: UnknownPaths = [path.clone()].into_iter().collect();
            for remove in [false, true] {
                let mut object = case.object.clone();
                hide(&mut object, &path.0, remove);
                let found = rules::check(case.kind, &object, &unknown, case.before.as_ref());
                assert!(
                    found.is_empty(),
                    "{} {}, {path} unknown: {found:#?}",
                    case.kind.as_str(),
                    case.what
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "only {tried}");
}

fn below(path: &JsonPath, value: &Value, paths: &mut Vec<JsonPath>) {
    paths.push(path.clone());
    for (name, child) in value.as_object().into_iter().flatten() {
        below(&path.field(name), child, paths);
    }
    for (place, child) in value.as_array().into_iter().flatten().enumerate() {
        below(&path.index(place), child, paths);
    }
}

/// Removes the value at a path, or puts null there. An item of a list is never removed: its place would shift.
fn hide(object: &mut Value, path: &[Segment], remove: bool) {
    match path {
        [Segment::Field(name)] if remove => drop(object.as_object_mut().map(|fields| fields.remove(name))),
        [Segment::Field(name)] => object[name.as_str()] = Value::Null,
        [Segment::Index(place)] => object[*place] = Value::Null,
        [Segment::Field(name), rest @ ..] => hide(&mut object[name.as_str()], rest, remove),
        [Segment::Index(place), rest @ ..] => hide(&mut object[*place], rest, remove),
        [] => {}
    }
}

#[test]
fn every_message_says_what_to_do() {
    let verbs = [
        "set", "add", "remove", "use", "create", "must", "give", "list", "delete", "written", "each",
    ];
    for (kind, place, message) in rules_of_the_crds() {
        assert!(
            verbs.iter().any(|verb| message.contains(verb)),
            "{kind} {place}: {message}"
        );
        assert!(message.len() < 200, "{kind} {place}: too long: {message}");
    }
}
