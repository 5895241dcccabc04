//! Pieces of CRD schema that a derive cannot express: patterns, quantities, conditions, CEL rules.
//!
//! Patterns, limits and the meaning of each CEL rule are Karpenter's contract; the rules' wording is ours, and
//! every message says what to do.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::{
    labels,
    requirement::{Requirement, SelectorRequirement},
};

/// Pattern of label and taint keys: an optional DNS prefix and a name.
pub(crate) const LABEL_KEY: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
/// Pattern of label values.
pub(crate) const LABEL_VALUE: &str = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
/// Pattern of quantities.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
/// Pattern of durations that can be switched off.
pub(crate) const NILLABLE_DURATION: &str = r"^(([0-9]+(s|m|h))+|Never)$";
/// Pattern of durations.
pub(crate) const DURATION: &str = r"^([0-9]+(s|m|h))+$";
/// Pattern of a budget's duration.
pub(crate) const BUDGET_DURATION: &str = r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$";

/// A CEL rule: (expression, message).
pub(crate) type Rule = (&'static str, &'static str);

/// The text must not be empty.
pub(crate) const NOT_EMPTY: Rule = (
    "size(self) > 0",
    "must not be empty: name the node class' group, kind and name",
);

/// Tags in selectors have a key and a value.
const TAGS_NOT_EMPTY: Rule = (
    "self.all(key, size(key) > 0 && size(self[key]) > 0)",
    "a tag needs a key and a value: remove the empty one, or use the value '*' to match every value",
);

/// `x-kubernetes-validations` for a list of rules.
pub(crate) fn cel(rules: &[Rule]) -> Value {
    rules
        .iter()
        .map(|(rule, message)| json!({"rule": rule, "message": message}))
        .collect()
}

/// An integer or a text with the grammar of quantities.
pub(crate) fn quantity() -> Value {
    json!({
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": QUANTITY,
        "x-kubernetes-int-or-string": true,
    })
}

/// A map of quantities by resource name.
pub(crate) fn quantities(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": quantity()})
}

/// A NodeOverlay's capacity: quantities of resources that the cloud does not report itself.
pub(crate) fn overlay_capacity(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": quantity(),
        "x-kubernetes-validations": cel(&[(
            "!self.exists(name, name in ['cpu', 'memory', 'ephemeral-storage', 'pods'])",
            "cpu, memory, ephemeral-storage and pods come from the instance type: list extended resources only",
        )]),
    })
}

/// An RFC 3339 time.
pub(crate) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "format": "date-time"})
}

/// A duration, or `Never`.
pub(crate) fn nillable_duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": NILLABLE_DURATION})
}

/// How long a node may live: [`nillable_duration`] with the default of 30 days.
pub(crate) fn expire_after(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": NILLABLE_DURATION, "default": "720h"})
}

/// A duration.
pub(crate) fn duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": DURATION})
}

/// A budget's duration: hours and minutes.
pub(crate) fn budget_duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": BUDGET_DURATION})
}

/// `minValues`: 1 to 50.
pub(crate) fn min_values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": 50})
}

/// Tags of a selector term: at most 20.
pub(crate) fn selector_tags(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "string"},
        "maxProperties": 20,
        "x-kubernetes-validations": cel(&[TAGS_NOT_EMPTY]),
    })
}

/// Annotations that are merged key by key.
pub(crate) fn annotations(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "string"},
        "x-kubernetes-map-type": "granular",
    })
}

/// A pool's node labels.
pub(crate) fn template_labels(_: &mut SchemaGenerator) -> Schema {
    let rules: Vec<Value> = label_rules(Place::PoolTemplate)
        .into_iter()
        .map(|(rule, message)| json!({"rule": format!("self.all(key, {})", rule.replace("self", "key")), "message": message}))
        .collect();
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "string", "maxLength": 63, "pattern": LABEL_VALUE},
        "maxProperties": 100,
        "x-kubernetes-map-type": "atomic",
        "x-kubernetes-validations": rules,
    })
}

/// Requirements of a NodePool's template.
pub(crate) fn pool_requirements(generator: &mut SchemaGenerator) -> Schema {
    requirements(generator.subschema_for::<Requirement>(), Place::PoolTemplate)
}

/// Requirements of a NodeClaim.
pub(crate) fn claim_requirements(generator: &mut SchemaGenerator) -> Schema {
    requirements(generator.subschema_for::<Requirement>(), Place::Claim)
}

/// Requirements of a NodeOverlay.
pub(crate) fn overlay_requirements(generator: &mut SchemaGenerator) -> Schema {
    requirements(generator.subschema_for::<SelectorRequirement>(), Place::Overlay)
}

/// Requirements in the status of an EC2NodeClass' image; written by the controller, so unrestricted.
pub(crate) fn ami_requirements(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "description": "A condition on the instance type's labels.",
            "required": ["key", "operator"],
            "properties": {
                "key": {"type": "string", "description": "The label's key."},
                "operator": {"type": "string", "description": "How the label is compared with the values."},
                "values": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The values.",
                    "x-kubernetes-list-type": "atomic",
                },
            },
        },
    })
}

/// Conditions keyed by their type.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": condition(&["lastTransitionTime", "message", "reason", "status", "type"], 1),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    })
}

/// Conditions of NodeClaims, where reason and message may be left out.
pub(crate) fn claim_conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": condition(&["lastTransitionTime", "status", "type"], 0),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    })
}

/// Conditions of EC2NodeClasses, which are merged as one list.
pub(crate) fn class_conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": condition(&["lastTransitionTime", "message", "reason", "status", "type"], 1),
    })
}

fn condition(required: &[&str], reason_min: u32) -> Value {
    let reason = if reason_min == 0 {
        json!({"pattern": r"^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$"})
    } else {
        json!({"pattern": r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", "minLength": reason_min})
    };
    let mut schema = json!({
        "type": "object",
        "description": "One aspect of the object's state.",
        "required": required,
        "properties": {
            "lastTransitionTime": {"type": "string", "format": "date-time", "description": "When the status last changed."},
            "message": {"type": "string", "maxLength": 32768, "description": "Details for people."},
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0, "description": "The generation of the object that the condition is about."},
            "reason": {"type": "string", "maxLength": 1024, "description": "One word for programs: why the status is what it is."},
            "status": {"type": "string", "enum": ["True", "False", "Unknown"], "description": "Whether the aspect holds."},
            "type": {
                "type": "string", "maxLength": 316, "description": "The aspect's name.",
                "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            },
        },
    });
    if let (Some(target), Some(extra)) = (schema["properties"]["reason"].as_object_mut(), reason.as_object())
    {
        target.extend(extra.clone());
    }
    schema
}

/// Where a requirement stands; decides which labels it may name.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    PoolTemplate,
    Claim,
    Overlay,
}

fn requirements(mut item: Schema, place: Place) -> Schema {
    let key_rules: Vec<Value> = label_rules(place)
        .into_iter()
        .map(|(rule, message)| json!({"rule": rule, "message": message}))
        .collect();
    if let Some(key) = item.pointer_mut("/properties/key").and_then(Value::as_object_mut) {
        key.insert("x-kubernetes-validations".to_owned(), key_rules.into());
    }
    let one_number = (
        "self.all(r, !(r.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(r.values) && size(r.values) == 1 && int(r.values[0]) >= 0))",
        "Gt, Lt, Gte and Lte compare with a number: give exactly one value, a whole number of at least 0",
    );
    let in_values = (
        "self.all(r, r.operator != 'In' || (has(r.values) && size(r.values) > 0))",
        "operator In needs a value: list at least one in 'values', or use Exists to accept any",
    );
    let rules = match place {
        Place::Overlay => cel(&[
            (
                "self.all(r, r.operator != 'NotIn' || (has(r.values) && size(r.values) > 0))",
                "operator NotIn needs a value: list at least one in 'values'",
            ),
            in_values,
            one_number,
        ]),
        Place::PoolTemplate | Place::Claim => cel(&[
            in_values,
            one_number,
            (
                "self.all(r, r.operator != 'In' || !has(r.minValues) || (has(r.values) && size(r.values) >= r.minValues))",
                "'minValues' asks for more different values than 'values' lists: add values or lower 'minValues'",
            ),
        ]),
    };
    json_schema!({
        "type": "array",
        "items": item,
        "maxItems": 100,
        "x-kubernetes-list-type": "atomic",
        "x-kubernetes-validations": rules,
    })
}

/// The rules for one label key, as (expression on `self`, message).
fn label_rules(place: Place) -> Vec<(String, String)> {
    let reserved = |domain: &str, allowed: &[&str]| {
        let list = allowed
            .iter()
            .map(|label| format!("'{label}'"))
            .collect::<Vec<_>>()
            .join(", ");
        (
            format!("!self.split('/')[0].endsWith('{domain}') || self in [{list}]"),
            format!(
                "labels of {domain} are reserved: use one of the documented labels of that domain, or a domain of your own"
            ),
        )
    };
    let mut rules = vec![reserved(
        labels::GROUP,
        &[labels::CAPACITY_TYPE, labels::NODEPOOL],
    )];
    if place == Place::PoolTemplate {
        rules.push((
            format!("self != '{}'", labels::NODEPOOL),
            format!(
                "{} is set by the controller to the pool's own name: remove it",
                labels::NODEPOOL
            ),
        ));
    }
    rules.push((
        format!("self != '{}'", labels::HOSTNAME),
        format!(
            "{} is only known once the node exists: remove it",
            labels::HOSTNAME
        ),
    ));
    let aws: Vec<&str> = match place {
        Place::PoolTemplate | Place::Claim => labels::AWS_WELL_KNOWN
            .iter()
            .copied()
            .chain([labels::EC2_NODE_CLASS])
            .collect(),
        // What a NodeOverlay may select is a property of the offering, not of one launch.
        Place::Overlay => labels::AWS_WELL_KNOWN
            .iter()
            .copied()
            .filter(|label| {
                !label.starts_with("karpenter.k8s.aws/capacity-reservation-")
                    && !label.starts_with("karpenter.k8s.aws/placement-group-")
                    && *label != labels::INSTANCE_TENANCY
            })
            .chain([labels::EC2_NODE_CLASS])
            .collect(),
    };
    rules.push(reserved(labels::AWS_GROUP, &aws));
    rules
}
