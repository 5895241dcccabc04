//! Amounts of resources: what the CRD's pattern lets through and no cluster can do anything with.

use serde_json::Value;

use super::{Violation, names, view::View};
use crate::Quantity;

/// Kubernetes' largest quantity, 2^63-1, in billionths. It cuts off those with binary suffixes there, as [`Quantity`] does; of a larger one in
/// decimal it makes 0, or whatever its last 64 bits are.
const LARGEST: u128 = (i64::MAX as u128) * 1_000_000_000;

/// Rules of a map from resources to amounts.
pub(super) fn check(amounts: &View<'_>, found: &mut Vec<Violation>) {
    for (name, amount) in amounts.entries() {
        let place = amount.clone().unwrap_or_else(|| amounts.clone());
        if let Some(problem) = names::label_key(name) {
            found.push(place.fail(format!(
                "{name:?} is no resource, so nothing would ever be counted under it: {problem}; name one such as cpu, memory or nodes, or \
                 remove it"
            )));
        } else if let Some(problem) = amount.and_then(|amount| problem(amount.value)) {
            found.push(place.fail(problem));
        }
    }
}

/// Whether an amount can be read and is below zero.
pub(super) fn is_negative(amount: &Value) -> bool {
    text(amount).is_some_and(|text| {
        text.parse::<Quantity>()
            .is_ok_and(|quantity| quantity.nanos() < 0)
    })
}

fn text(amount: &Value) -> Option<String> {
    match amount {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn problem(amount: &Value) -> Option<String> {
    let text = text(amount)?;
    match text.parse::<Quantity>() {
        Err(error) => Some(error.to_string()),
        Ok(quantity) if quantity.nanos().unsigned_abs() > LARGEST => Some(format!(
            "{text} is beyond Kubernetes' largest quantity, {}: write a smaller amount, or leave it out where nothing is to be limited",
            i64::MAX
        )),
        Ok(_) => None,
    }
}
