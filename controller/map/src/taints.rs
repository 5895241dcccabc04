//! Taints and tolerations.

use joiner_core::taints::{Effect, Taint, Toleration, TolerationOperator};
use k8s_openapi::api::core::v1 as k8s;

use crate::text;

/// A node's taint; one whose effect is not known hinders nobody and is left out.
pub(crate) fn from_node(taint: &k8s::Taint) -> Option<Taint> {
    Some(Taint {
        key: taint.key.as_str().into(),
        value: text(taint.value.as_ref()),
        effect: Effect::parse(&taint.effect)?,
    })
}

/// A taint of a pool or a claim.
pub(crate) fn from_api(taint: &joiner_api::Taint) -> Option<Taint> {
    let effect = Effect::parse(taint.effect.as_str())?;
    Some(Taint {
        key: taint.key.as_str().into(),
        value: text(taint.value.as_ref()),
        effect,
    })
}

/// A pod's toleration; one with an effect or operator that is not known tolerates nothing and is left out.
pub(crate) fn toleration(toleration: &k8s::Toleration) -> Option<Toleration> {
    let operator = match toleration.operator.as_deref().unwrap_or("Equal") {
        "" | "Equal" => TolerationOperator::Equal,
        "Exists" => TolerationOperator::Exists,
        "Lt" => TolerationOperator::Lt,
        "Gt" => TolerationOperator::Gt,
        _ => return None,
    };
    let effect = match toleration.effect.as_deref().unwrap_or_default() {
        "" => None,
        written => Some(Effect::parse(written)?),
    };
    let key = toleration
        .key
        .as_deref()
        .filter(|key| !key.is_empty())
        .map(Into::into);
    Some(Toleration {
        key,
        operator,
        value: text(toleration.value.as_ref()),
        effect,
    })
}
