//! Requirements that no instance type meets.

use super::finding::{Finding, element, listed};
use super::types::Types;
use joiner_api::rules::{JsonPath, nearest};
use joiner_api::{Operator, Requirement as Written};
use joiner_core::catalogue::InstanceType;
use joiner_core::requirements::{Requirement, Requirements};
use std::collections::BTreeSet;

/// How many values or types a message names.
const MOST: usize = 8;
/// What people write, and what the label says.
const ALIASES: [(&str, &str); 6] = [
    ("x86_64", "amd64"),
    ("x64", "amd64"),
    ("intel64", "amd64"),
    ("aarch64", "arm64"),
    ("graviton", "arm64"),
    ("ondemand", "on-demand"),
];

/// The written requirements that can be judged, with their places.
fn parsed(written: &[Written]) -> Vec<(usize, Requirement)> {
    let parse = |(index, it): (usize, &Written)| {
        let values = it.values.iter().map(String::as_str);
        let requirement = Requirement::parse(it.key.as_str(), it.operator.as_str(), values).ok()?;
        Some((index, requirement.with_min_values(it.min_values)))
    };
    written.iter().enumerate().filter_map(parse).collect()
}

/// Looks at the requirements of a list one by one, then at all together. Answers the types that meet them.
pub(super) fn check<'a>(
    written: &[Written],
    types: &'a Types,
    list: &JsonPath,
    found: &mut Vec<Finding>,
) -> Vec<&'a InstanceType> {
    let before = found.len();
    for (index, requirement) in parsed(written) {
        if types.judges(requirement.key()) {
            check_one(&written[index], index, &requirement, types, list, found);
        }
    }
    let all: Requirements = parsed(written)
        .into_iter()
        .map(|(_, requirement)| requirement)
        .collect();
    let fitting = types.fitting(&all);
    if fitting.is_empty() {
        if found.len() == before {
            found.extend(blame(written, types, list));
        }
        return fitting;
    }
    check_min_values(written, types, &fitting, list, found);
    fitting
}

fn check_one(
    written: &Written,
    index: usize,
    requirement: &Requirement,
    types: &Types,
    list: &JsonPath,
    found: &mut Vec<Finding>,
) {
    const SUMMARY: &str = "No instance type has it";
    let known = types.values(requirement.key());
    let path = element(list, index, "values");
    if written.operator.is_numeric() {
        if !known.iter().any(|value| requirement.allows(Some(value.as_str()))) {
            found.push(Finding::wrong(path, SUMMARY, beyond(written, &known, types)));
        }
        return;
    }
    let unknown: Vec<&String> = written
        .values
        .iter()
        .filter(|value| !known.contains(*value) && *value != "reserved")
        .collect();
    if unknown.is_empty() {
        return;
    }
    let all = unknown.len() == written.values.len();
    let detail = unknown_values(&written.key, &unknown, &known, types);
    match written.operator {
        Operator::In if all => found.push(Finding::wrong(path, SUMMARY, detail)),
        Operator::In => found.push(Finding::doubtful(
            path,
            SUMMARY,
            format!("{detail} The other values stay."),
        )),
        Operator::NotIn => found.push(Finding::doubtful(
            path,
            SUMMARY,
            format!("{detail} It excludes nothing."),
        )),
        _ => {}
    }
}

/// "m5.larg is not a value of ... in the catalogue of ...; did you mean "m5.large"?"
fn unknown_values(key: &str, unknown: &[&String], known: &BTreeSet<String>, types: &Types) -> String {
    let meant: Vec<String> = unknown
        .iter()
        .map(|value| match meant(value, known) {
            Some(near) => format!("{value:?} (did you mean {near:?}?)"),
            None => format!("{value:?}"),
        })
        .collect();
    let choices = match known.len() {
        0 => "none".to_owned(),
        1..=40 => listed(sorted(known), 40),
        count => format!("{count} values, such as {}", listed(sorted(known), 3)),
    };
    format!(
        "{} of {key} is not in {}, which has {choices}.",
        meant.join(", "),
        types.source()
    )
}

/// The value that a written one stands for most likely.
pub(super) fn meant<'a>(value: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    let alias = ALIASES
        .iter()
        .find(|(written, _)| written.eq_ignore_ascii_case(value))
        .and_then(|(_, meant)| known.get(*meant));
    if let Some(alias) = alias {
        return Some(alias.as_str());
    }
    match value.parse::<i64>() {
        Ok(number) => known
            .iter()
            .filter_map(|known| Some((known.parse::<i64>().ok()?.abs_diff(number), known.as_str())))
            .min()
            .map(|(_, near)| near),
        Err(_) => nearest(value, known.iter().map(String::as_str)),
    }
}

fn beyond(written: &Written, known: &BTreeSet<String>, types: &Types) -> String {
    let numbers = || known.iter().filter_map(|value| value.parse::<i64>().ok());
    let value = written.values.first().map_or("", String::as_str);
    let range = match (numbers().min(), numbers().max()) {
        (Some(least), Some(most)) => format!("whose values go from {least} to {most}"),
        _ => "which has no numbers there".to_owned(),
    };
    format!(
        "\"{} {} {value}\" is met by no type in {}, {range}.",
        written.key,
        written.operator.as_str(),
        types.source()
    )
}

/// Numbers by size, texts by letter.
fn sorted(values: &BTreeSet<String>) -> Vec<&str> {
    let mut all: Vec<&str> = values.iter().map(String::as_str).collect();
    all.sort_by_key(|value| value.parse::<i64>().unwrap_or_default());
    all
}

/// Each requirement without which some type would be left; with none such, all together.
fn blame(written: &[Written], types: &Types, list: &JsonPath) -> Vec<Finding> {
    const SUMMARY: &str = "No instance type meets all requirements";
    let parsed = parsed(written);
    let without = |left_out: usize| -> Vec<&InstanceType> {
        let others: Requirements = parsed
            .iter()
            .filter(|(index, _)| *index != left_out)
            .map(|(_, requirement)| requirement.clone())
            .collect();
        types.fitting(&others)
    };
    let mut found: Vec<Finding> = parsed
        .iter()
        .filter(|(_, requirement)| types.judges(requirement.key()))
        .filter_map(|(index, _)| {
            let left = without(*index);
            let names = left.iter().map(|kind| &*kind.name);
            (!left.is_empty()).then(|| {
                Finding::wrong(
                    element(list, *index, "values"),
                    SUMMARY,
                    format!(
                        "In {} no type meets this requirement together with all others. Without it {} do: {}. Change it, or one of the \
                         others.",
                        types.source(),
                        left.len(),
                        listed(names, MOST)
                    ),
                )
            })
        })
        .collect();
    if found.is_empty() {
        found.push(Finding::wrong(
            list.clone(),
            SUMMARY,
            format!(
                "In {} no type meets them, whichever single one is left out. Remove requirements until some type is left (joiner simulate \
                 shows which).",
                types.source()
            ),
        ));
    }
    found
}

fn check_min_values(
    written: &[Written],
    types: &Types,
    fitting: &[&InstanceType],
    list: &JsonPath,
    found: &mut Vec<Finding>,
) {
    for (index, requirement) in parsed(written) {
        let Some(wanted) = requirement
            .min_values()
            .filter(|_| types.judges(requirement.key()))
        else {
            continue;
        };
        let values: BTreeSet<String> = fitting
            .iter()
            .filter_map(|kind| kind.requirements.get(requirement.key()))
            .flat_map(Requirement::terms)
            .flat_map(|(_, values)| values)
            .map(|value| value.to_string())
            .filter(|value| requirement.allows(Some(value.as_str())))
            .collect();
        let there = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if there < wanted {
            found.push(Finding::wrong(
                element(list, index, "minValues"),
                "Not so many values exist",
                format!(
                    "{wanted} different values of {} are wanted, and the types that meet all requirements have {there} in {}: {}. Write at most \
                     {there}, or widen the requirements.",
                    requirement.key(),
                    types.source(),
                    listed(sorted(&values), MOST)
                ),
            ));
        }
    }
}
