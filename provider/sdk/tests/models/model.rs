//! The model that the tests share.

use std::collections::BTreeMap;

use tfplugin::{Field, Model, Number, Set, Timeouts, Value, validate};

/// A thing.
///
/// With two paragraphs.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Thing {
    /// Its name.
    #[tf(required, requires_replace, validate = validate::not_empty)]
    pub(crate) name: Field<String>,
    #[tf(rename = "type", requires_replace_if_configured, optional, computed)]
    pub(crate) kind: Field<String>,
    #[tf(default = "Keep", validate(validate::one_of(&["Keep", "Drop"]), validate::not_empty))]
    pub(crate) policy: Field<String>,
    #[tf(default = 3)]
    pub(crate) copies: Field<u32>,
    #[tf(deprecated = "use copies")]
    pub(crate) count_of: Field<f64>,
    pub(crate) big: Field<Number>,
    pub(crate) labels: Field<BTreeMap<String, String>>,
    #[tf(json = "clusterDNS")]
    pub(crate) cluster_dns: Field<Vec<String>>,
    pub(crate) loose: Field<Vec<Field<String>>>,
    #[tf(validate = validate::length_between(1..=2), equivalent = same_parts)]
    pub(crate) parts: Field<Vec<Part>>,
    pub(crate) named: Field<BTreeMap<String, Part>>,
    pub(crate) bag: Field<Set<Part>>,
    pub(crate) lead: Field<Part>,
    pub(crate) extra: Field<Value>,
    #[tf(write_only, sensitive, validate = shorter)]
    pub(crate) secret: Field<String>,
    #[tf(computed, use_state_for_unknown, json_skip)]
    pub(crate) id: Field<String>,
    #[tf(computed, json_skip)]
    pub(crate) revision: Field<i64>,
    #[tf(json_skip)]
    pub(crate) timeouts: Field<Timeouts>,
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Part {
    /// What it is.
    #[tf(required)]
    pub(crate) kind: Field<String>,
    /// How long it lasts.
    #[tf(validate = validate::duration, equivalent = same_duration)]
    pub(crate) life_time: Field<String>,
    /// The mark that it got.
    #[tf(computed)]
    pub(crate) mark: Field<String>,
    /// How many.
    #[tf(default = 1)]
    pub(crate) count: Field<i64>,
}

fn shorter(secret: &str) -> Result<(), String> {
    if secret.len() < 10 {
        Ok(())
    } else {
        Err(format!("{secret:?} is too long."))
    }
}

fn same_duration(left: &str, right: &str) -> bool {
    validate::parse_duration(left).ok() == validate::parse_duration(right).ok()
}

/// The same parts in any order, whatever marks they got.
fn same_parts(left: &[Part], right: &[Part]) -> bool {
    let sorted = |parts: &[Part]| {
        let mut keys: Vec<_> = parts
            .iter()
            .map(|part| (part.kind.clone(), part.life_time.clone(), part.count))
            .collect();
        keys.sort();
        keys
    };
    sorted(left) == sorted(right)
}
