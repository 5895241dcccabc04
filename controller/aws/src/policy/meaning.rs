//! Whether two policy documents mean the same, whatever their order, spacing and use of lists.
//!
//! Input: JSON texts. Output: equality of normal forms. Normal form: statements as a set without their names; actions in
//! lower case; a single value as a list of one; lists as sets; account ids as root ARNs in principals; condition
//! operators and keys in lower case; statements that differ in one list only are not merged (IAM keeps them apart too).

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// True if both documents allow and deny the same. A text that is no JSON object equals only itself.
pub fn same_meaning(a: &str, b: &str) -> bool {
    match (normal(a), normal(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// The statements that only one of the documents has, as (only in `a`, only in `b`), for messages. `None` if one is no
/// JSON object.
pub fn differences(a: &str, b: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (a, b) = (normal(a)?.statements, normal(b)?.statements);
    let only = |of: &BTreeSet<Statement>, other: &BTreeSet<Statement>| {
        of.difference(other).map(Statement::describe).collect()
    };
    Some((only(&a, &b), only(&b, &a)))
}

#[derive(Debug, PartialEq, Eq)]
struct Normal {
    version: String,
    statements: BTreeSet<Statement>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Statement {
    effect: String,
    /// `Action` or `NotAction`, `Resource` or `NotResource`, `Principal` or `NotPrincipal`: part, then values.
    parts: BTreeMap<String, BTreeSet<String>>,
    /// Operator, key, values.
    conditions: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// What we do not know, as canonical JSON.
    other: BTreeMap<String, String>,
}

impl Statement {
    fn describe(&self) -> String {
        let list = |part: &str| -> String {
            self.parts
                .get(part)
                .map(|values| values.iter().cloned().collect::<Vec<_>>().join(", "))
                .unwrap_or_default()
        };
        let actions = if self.parts.contains_key("Action") {
            list("Action")
        } else {
            format!("not {}", list("NotAction"))
        };
        let resources = list("Resource");
        if resources.is_empty() {
            format!("{} {actions} ({} conditions)", self.effect, self.conditions.len())
        } else {
            format!(
                "{} {actions} on {resources} ({} conditions)",
                self.effect,
                self.conditions.len()
            )
        }
    }
}

fn normal(text: &str) -> Option<Normal> {
    let Value::Object(document) = serde_json::from_str::<Value>(text).ok()? else {
        return None;
    };
    let version = document
        .get("Version")
        .and_then(Value::as_str)
        .unwrap_or("2008-10-17")
        .to_owned();
    let statements = match document.get("Statement") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_object).map(statement).collect(),
        Some(Value::Object(one)) => BTreeSet::from([statement(one)]),
        _ => BTreeSet::new(),
    };
    Some(Normal { version, statements })
}

fn statement(fields: &Map<String, Value>) -> Statement {
    let mut normal = Statement::default();
    for (name, value) in fields {
        match name.as_str() {
            "Sid" => {}
            "Effect" => normal.effect = value.as_str().unwrap_or_default().to_lowercase(),
            "Action" | "NotAction" => {
                let values = texts(value)
                    .into_iter()
                    .map(|action| action.to_lowercase())
                    .collect();
                normal.parts.insert(name.clone(), values);
            }
            "Resource" | "NotResource" => {
                normal.parts.insert(name.clone(), texts(value));
            }
            "Principal" | "NotPrincipal" => {
                normal.parts.insert(name.clone(), principals(value));
            }
            "Condition" => normal.conditions = conditions(value),
            _ => {
                normal.other.insert(name.clone(), value.to_string());
            }
        }
    }
    normal
}

fn principals(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(kinds) => kinds
            .iter()
            .flat_map(|(kind, names)| {
                texts(names).into_iter().map(move |name| match kind.as_str() {
                    "AWS" => format!("AWS:{}", root_of(&name)),
                    _ => format!("{kind}:{name}"),
                })
            })
            .collect(),
        // "*" alone is the same as {"AWS": "*"} in a trust policy.
        other => texts(other)
            .into_iter()
            .map(|name| format!("AWS:{name}"))
            .collect(),
    }
}

fn root_of(name: &str) -> String {
    let account = name
        .strip_prefix("arn:aws:iam::")
        .and_then(|rest| rest.strip_suffix(":root"))
        .unwrap_or(name);
    account.to_owned()
}

fn conditions(value: &Value) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let Value::Object(operators) = value else {
        return BTreeMap::new();
    };
    let mut normal: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (operator, keys) in operators {
        let Value::Object(keys) = keys else { continue };
        let entry = normal.entry(operator.to_lowercase()).or_default();
        for (key, values) in keys {
            entry.entry(condition_key(key)).or_default().extend(texts(values));
        }
    }
    normal
}

/// Condition keys are case-insensitive; of a key with a tag in it only the tag's name is kept as written.
fn condition_key(key: &str) -> String {
    match key.split_once('/') {
        Some((head, tag)) if head.to_lowercase().ends_with("tag") => format!("{}/{tag}", head.to_lowercase()),
        _ => key.to_lowercase(),
    }
}

fn texts(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Array(list) => list.iter().map(text).collect(),
        other => BTreeSet::from([text(other)]),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(statements: &str) -> String {
        format!("{{\"Version\":\"2012-10-17\",\"Statement\":{statements}}}")
    }

    #[test]
    fn order_lists_case_and_names_do_not_matter() {
        let a = document(
            r#"[{"Sid":"A","Effect":"Allow","Action":["s3:Get","s3:List"],"Resource":"*"},
                             {"Effect":"Deny","Action":"s3:Put","Resource":["a","b"]}]"#,
        );
        for (b, same) in [
            (
                document(
                    r#"[{"Effect":"Deny","Action":["s3:put"],"Resource":["b","a"]},
                        {"Sid":"B","Effect":"allow","Action":["s3:List","S3:Get"],"Resource":["*"]}]"#,
                ),
                true,
            ),
            (
                document(r#"{"Effect":"Allow","Action":["s3:Get","s3:List"],"Resource":"*"}"#),
                false,
            ),
            (
                document(
                    r#"[{"Effect":"Allow","Action":["s3:Get","s3:List"],"Resource":"*"},
                        {"Effect":"Allow","Action":"s3:Put","Resource":["a","b"]}]"#,
                ),
                false,
            ),
            (
                document(
                    r#"[{"Effect":"Allow","Action":["s3:Get","s3:List"],"Resource":"A"},
                        {"Effect":"Deny","Action":"s3:Put","Resource":["a","b"]}]"#,
                ),
                false,
            ),
        ] {
            assert_eq!(same_meaning(&a, &b), same, "{b}");
            assert_eq!(same_meaning(&b, &a), same, "{b}");
        }
    }

    #[test]
    fn conditions_and_principals_are_compared_by_meaning() {
        let with = |principal: &str, condition: &str| {
            document(&format!(
                r#"[{{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{principal},"Condition":{condition}}}]"#
            ))
        };
        let a = with(
            r#"{"AWS":"123456789012"}"#,
            r#"{"StringEquals":{"aws:RequestTag/Team":["a"],"b":"c"}}"#,
        );
        for (principal, condition, same) in [
            (
                r#"{"AWS":["arn:aws:iam::123456789012:root"]}"#,
                r#"{"stringequals":{"B":["c"],"AWS:requesttag/Team":"a"}}"#,
                true,
            ),
            (
                r#"{"AWS":"123456789012"}"#,
                r#"{"StringEquals":{"aws:RequestTag/team":["a"],"b":"c"}}"#,
                false,
            ),
            (
                r#"{"AWS":"123456789012"}"#,
                r#"{"StringLike":{"aws:RequestTag/Team":["a"],"b":"c"}}"#,
                false,
            ),
            (
                r#"{"Service":"123456789012"}"#,
                r#"{"StringEquals":{"aws:RequestTag/Team":["a"],"b":"c"}}"#,
                false,
            ),
        ] {
            assert_eq!(
                same_meaning(&a, &with(principal, condition)),
                same,
                "{principal} {condition}"
            );
        }
        let flag = |value: &str| {
            with(
                r#""*""#,
                &format!(r#"{{"Bool":{{"aws:SecureTransport":{value}}}}}"#),
            )
        };
        assert!(same_meaning(&flag("false"), &flag("\"false\"")));
    }

    #[test]
    fn our_document_equals_itself_as_iam_returns_it() {
        let ours = super::super::pod_identity_trust().to_json();
        let theirs = r#"{ "Version": "2012-10-17", "Statement": [ { "Effect": "Allow", "Sid": "",
            "Principal": { "Service": "pods.eks.amazonaws.com" }, "Action": [ "sts:TagSession", "sts:AssumeRole" ] } ] }"#;
        assert!(same_meaning(&ours, theirs));
        assert_eq!(differences(&ours, theirs), Some((vec![], vec![])));
    }

    /// Statements with their lists and single values, as IAM may return them.
    fn statements() -> impl Strategy<Value = Vec<(String, Vec<String>, Vec<String>)>> {
        let words = || prop::collection::vec("[a-c]{1,2}", 1..4);
        prop::collection::vec(
            (
                prop_oneof!["Allow", "Deny"].prop_map(String::from),
                words(),
                words(),
            ),
            0..4,
        )
    }

    fn written(statements: &[(String, Vec<String>, Vec<String>)], single_as_text: bool) -> String {
        let list = |values: &Vec<String>| match values.as_slice() {
            [only] if single_as_text => serde_json::json!(only),
            _ => serde_json::json!(values),
        };
        let all: Vec<Value> = statements
            .iter()
            .map(|(effect, actions, resources)| {
                serde_json::json!({"Effect": effect, "Action": list(actions), "Resource": list(resources)})
            })
            .collect();
        serde_json::json!({"Version": "2012-10-17", "Statement": all}).to_string()
    }

    proptest! {
        #[test]
        fn neither_order_nor_spelling_changes_the_meaning(statements in statements()) {
            let mut turned = statements.clone();
            turned.reverse();
            for (_, actions, resources) in &mut turned {
                actions.reverse();
                resources.rotate_left(1);
            }
            prop_assert!(same_meaning(&written(&statements, false), &written(&turned, true)));
        }

        #[test]
        fn another_action_changes_it(statements in statements(), at in any::<prop::sample::Index>()) {
            prop_assume!(!statements.is_empty());
            let mut other = statements.clone();
            other[at.index(statements.len())].1.push("new".to_owned());
            prop_assert!(!same_meaning(&written(&statements, true), &written(&other, true)));
        }
    }

    #[test]
    fn what_differs_is_named() {
        let a = document(r#"[{"Effect":"Allow","Action":"s3:Get","Resource":"*"}]"#);
        let b = document(r#"[{"Effect":"Allow","Action":"s3:Put","Resource":"*"}]"#);
        assert_eq!(
            differences(&a, &b),
            Some((
                vec!["allow s3:get on * (0 conditions)".to_owned()],
                vec!["allow s3:put on * (0 conditions)".to_owned()]
            ))
        );
        assert!(!same_meaning("nonsense", "{}"));
        assert!(same_meaning("nonsense", "nonsense"));
    }
}
