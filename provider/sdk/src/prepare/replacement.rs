//! Finds the changes that replace the resource.

use super::walk::{Next, walk};
use crate::path::AttributePath;
use crate::schema::Schema;
use crate::value::Value;

/// The paths of changed attributes that the schema or the resource (`asked`) says replace it, sorted. Empty on create.
pub(crate) fn paths(
    schema: &Schema,
    config: &Value,
    prior: &Value,
    planned: &Value,
    asked: Vec<AttributePath>,
) -> Vec<AttributePath> {
    if prior.is_null() {
        return Vec::new();
    }
    let asked = asked
        .into_iter()
        .filter(|path| match (prior.at(path), planned.at(path)) {
            (None, None) => false,
            (before, after) => before != after,
        });
    let mut paths: Vec<AttributePath> = asked.collect();
    let mut scratch = planned.clone();
    walk(schema, config, prior, &mut scratch, &mut |site, planned| {
        let behaviour = &site.attribute.behaviour;
        let replaces = behaviour.requires_replace
            || (behaviour.requires_replace_if_configured && !site.config.is_null());
        if replaces && *planned != *site.prior {
            paths.push(site.path.clone());
        }
        Next::Descend
    });
    paths.sort();
    paths.dedup();
    paths
}
