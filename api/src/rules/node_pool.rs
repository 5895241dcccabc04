//! What the CRDs of NodePool, NodeClaim and NodeOverlay cannot say.

use std::collections::BTreeMap;

use super::{Violation, amounts, cron, names, requirements, view::View};
use crate::{GoDuration, labels};

/// Rules of a NodePool.
pub(super) fn node_pool(pool: &View<'_>, found: &mut Vec<Violation>) {
    check_pool_name(pool, found);
    if let Some(disruption) = pool.fields(&["spec", "disruption"]) {
        check_duration(&disruption, "consolidateAfter", found);
        for budget in disruption.field("budgets").iter().flat_map(View::items) {
            check_budget(&budget, found);
        }
    }
    if let Some(limits) = pool.fields(&["spec", "limits"]) {
        amounts::check(&limits, found);
    }
    let metadata = pool.fields(&["spec", "template", "metadata"]);
    if let Some(metadata) = &metadata {
        names::check_metadata(metadata, found);
    }
    let template_labels = metadata.and_then(|metadata| metadata.field("labels"));
    if let Some(spec) = pool.fields(&["spec", "template", "spec"]) {
        check_template(&spec, template_labels.as_ref(), found);
    }
}

/// Rules of a NodeClaim.
pub(super) fn node_claim(claim: &View<'_>, found: &mut Vec<Violation>) {
    if let Some(spec) = claim.field("spec") {
        check_template(&spec, None, found);
    }
}

/// Rules of a NodeOverlay.
pub(super) fn node_overlay(overlay: &View<'_>, found: &mut Vec<Violation>) {
    if let Some(list) = overlay.fields(&["spec", "requirements"]) {
        requirements::check(&list, None, found);
    }
    if let Some(capacity) = overlay.fields(&["spec", "capacity"]) {
        amounts::check(&capacity, found);
    }
    // The CRD refuses cpu, memory, ephemeral-storage and pods; these the cloud reports as well.
    let reported = [
        labels::RESOURCE_POD_ENI,
        labels::RESOURCE_NEURON,
        labels::RESOURCE_NEURON_CORE,
        labels::RESOURCE_GAUDI,
        labels::RESOURCE_EFA,
    ];
    for (name, value) in overlay
        .fields(&["spec", "capacity"])
        .iter()
        .flat_map(View::entries)
    {
        let Some(value) = value else { continue };
        if reported.contains(&name) {
            found.push(value.fail(format!(
                "{name} comes from the instance type and cannot be overlaid: remove it"
            )));
        } else if amounts::is_negative(value.value) {
            found.push(value.fail(format!(
                "{} is below zero, and no node has less than nothing: write 0 or more, or remove it",
                value.value
            )));
        }
    }
}

fn check_template(spec: &View<'_>, template_labels: Option<&View<'_>>, found: &mut Vec<Violation>) {
    check_duration(spec, "expireAfter", found);
    check_duration(spec, "terminationGracePeriod", found);
    if let Some(list) = spec.field("requirements") {
        requirements::check(&list, template_labels, found);
    }
    check_taints(spec, found);
    if let Some(reference) = spec.field("nodeClassRef")
        && reference.text("group") == Some(labels::AWS_GROUP)
        && let Some(kind) = reference.field("kind")
        && kind
            .value
            .as_str()
            .is_some_and(|kind| !kind.is_empty() && kind != "EC2NodeClass")
    {
        found.push(kind.fail(format!(
            "the group {} has one kind of node class: use EC2NodeClass",
            labels::AWS_GROUP
        )));
    }
}

/// A pool's name is the value of a label, which may be shorter than an object's name.
fn check_pool_name(pool: &View<'_>, found: &mut Vec<Violation>) {
    if let Some(name) = pool.fields(&["metadata", "name"])
        && name.value.as_str().is_some_and(|text| text.len() > 63)
    {
        found.push(name.fail(
            "nodes carry the pool's name as a label, so it may have at most 63 characters: shorten it",
        ));
    }
}

/// Key and effect of a taint must be unique over both lists.
fn check_taints(spec: &View<'_>, found: &mut Vec<Violation>) {
    let mut seen = BTreeMap::new();
    for list in ["taints", "startupTaints"] {
        for taint in spec.field(list).iter().flat_map(View::items) {
            let Some(key) = taint.field("key") else { continue };
            let Some(name) = key.value.as_str() else { continue };
            if let Some(problem) = names::label_key(name) {
                found.push(key.fail(format!("{name:?} is no taint key: {problem}")));
            }
            if let Some(value) = taint.field("value")
                && let Some(problem) = value.value.as_str().and_then(names::label_value)
            {
                found.push(value.fail(problem));
            }
            let Some(effect) = taint.text("effect") else {
                continue;
            };
            if let Some(first) = seen.insert((name, effect), taint.path.clone()) {
                found.push(taint.fail(format!(
                    "the taint {name}:{effect} is already at {first}: remove one, or use another effect"
                )));
            }
        }
    }
}

fn check_budget(budget: &View<'_>, found: &mut Vec<Violation>) {
    check_duration(budget, "duration", found);
    if let Some(schedule) = budget.field("schedule")
        && let Some(problem) = schedule.value.as_str().and_then(cron::problem)
    {
        found.push(schedule.fail(format!("the schedule cannot be read: {problem}")));
    }
}

/// The CRD's pattern lets through what is longer than a duration can be.
fn check_duration(parent: &View<'_>, name: &str, found: &mut Vec<Violation>) {
    if let Some(duration) = parent.field(name)
        && let Some(Err(error @ crate::DurationError::TooLong(_))) =
            duration.value.as_str().map(str::parse::<GoDuration>)
    {
        found.push(duration.fail(format!(
            "{error}; use a shorter one, or Never where that is allowed"
        )));
    }
}
