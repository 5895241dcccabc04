//! The drift hash that Karpenter's controller writes for a NodePool (`karpenter.sh/nodepool-hash`, hash version v3).
//!
//! Upstream hashes its Go structs of `spec.template` with the library hashstructure, format 2: 64-bit FNV-1, structs by type and
//! field names, lists and maps as sets, zero fields left out, `requirements` left out. So what is hashed here is a picture of
//! those structs, in the order of their fields. `tests/peers/schedule/hash` makes the values that the tests compare with.

use super::to_manifest::{attributes, manifest_of};
use crate::resources::NodePool;
use jiff::Timestamp;
use joiner_api::NillableDuration;
use serde_json::{Map, Value as Json};
use tfplugin::{Arguments, Function, FunctionError, Parameter, Signature, Type, Value};

/// The version whose templates are hashed.
const VERSION: &str = "karpenter.sh/v1";
/// What the API server writes into a pool without `expireAfter`.
const EXPIRE_AFTER: &str = "720h";

/// `node_pool_hash`: the annotation that Karpenter compares its nodes by.
pub(super) struct NodePoolHash;

impl Function for NodePoolHash {
    fn name(&self) -> &'static str {
        "node_pool_hash"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![Parameter::new(
                "object",
                Type::Dynamic,
                "A `joiner_node_pool`, an object with its attributes, or the manifest of a NodePool of `karpenter.sh/v1` as an object.",
            )],
            variadic: None,
            returns: Type::String,
            summary: "Karpenter's drift hash of a node pool".to_owned(),
            description: "What Karpenter's controller writes into the annotation `karpenter.sh/nodepool-hash` with the hash version `v3`. A \
                          node whose NodeClaim has another value drifts. Requirements, limits, disruption and weight do not count. Joiner's \
                          own controller writes hashes of another version, so that a cluster that changes between the two replaces no node."
                .to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let wrong = |problem: String| FunctionError::argument(0, problem);
        let object = attributes(arguments)?;
        let manifest = manifest(object).map_err(wrong)?;
        let hash = hash(&manifest["spec"]["template"]).map_err(wrong)?;
        Ok(Value::string(hash.to_string()))
    }
}

/// The manifest that is given, or that attributes stand for.
fn manifest(object: Json) -> Result<Json, String> {
    let is_manifest = ["apiVersion", "kind", "spec"]
        .iter()
        .any(|key| !object[key].is_null());
    let manifest = match (is_manifest, object["template"].is_object()) {
        (true, _) => of_version(object)?,
        (false, true) => manifest_of::<NodePool>(&object)?,
        (false, false) => {
            let keys: Vec<&str> = object
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| key.as_str())
                .collect();
            let has = match keys.is_empty() {
                true => "is empty".to_owned(),
                false => format!("has {}", keys.join(", ")),
            };
            return Err(format!(
                "expected a joiner_node_pool, or an object with its attributes, of which template is one, or the manifest of a NodePool of \
                 {VERSION}; the object {has}"
            ));
        }
    };
    // A pool always has a class: without one it is something else that looks like a pool.
    match manifest["spec"]["template"]["spec"]["nodeClassRef"]["name"].is_string() {
        true => Ok(manifest),
        false => Err(
            "the pool names no class: expected template.spec.node_class_ref.name, or spec.template.spec.nodeClassRef.name of a manifest"
                .to_owned(),
        ),
    }
}

/// A manifest of a NodePool as it is served now.
fn of_version(manifest: Json) -> Result<Json, String> {
    let word = |key: &str| match &manifest[key] {
        Json::Null => format!("no {key}"),
        found => format!("{key} {found}"),
    };
    if manifest["kind"] == "NodePool" && manifest["apiVersion"] == VERSION {
        return Ok(manifest);
    }
    let older = match manifest["kind"] == "NodePool" {
        true => "; `joiner migrate` converts those of older versions",
        false => "",
    };
    Err(format!(
        "expected the manifest of a NodePool of {VERSION}, found one with {} and {}{older}",
        word("kind"),
        word("apiVersion")
    ))
}

/// The hash of a template as the API server has it.
fn hash(template: &Json) -> Result<u64, String> {
    let metadata = &template["metadata"];
    let meta = Struct::new("ObjectMeta")
        .field("Labels", names(&metadata["labels"]))
        .field("Annotations", names(&metadata["annotations"]));
    let spec = &template["spec"];
    let spec = Struct::new("NodeClaimTemplateSpec")
        .field("Taints", taints(&spec["taints"])?)
        .field("StartupTaints", taints(&spec["startupTaints"])?)
        .field("NodeClassRef", class(&spec["nodeClassRef"]))
        .field("TerminationGracePeriod", grace(&spec["terminationGracePeriod"])?)
        .field("ExpireAfter", expiry(&spec["expireAfter"])?);
    let whole = Struct::new("NodeClaimTemplate")
        .field("ObjectMeta", meta.unless_zero())
        .field("Spec", spec.unless_zero());
    Ok(whole.hash)
}

fn names(map: &Json) -> Option<u64> {
    let map: &Map<String, Json> = map.as_object()?;
    let pairs = map.iter().map(|(key, value)| {
        let value = value.as_str().unwrap_or_default();
        ordered(text(key), text(value))
    });
    Some(finish(pairs.fold(0, |all, pair| all ^ pair)))
}

fn taints(list: &Json) -> Result<Option<u64>, String> {
    let Some(list) = list.as_array() else {
        return Ok(None);
    };
    list.iter()
        .try_fold(0, |all, taint| Ok(all ^ one_taint(taint)?))
        .map(Some)
}

fn one_taint(taint: &Json) -> Result<u64, String> {
    let word = |key: &str| taint[key].as_str().filter(|word| !word.is_empty()).map(text);
    let added = match taint["timeAdded"].as_str() {
        Some(time) => Some(moment(time)?),
        None => None,
    };
    let hashed = Struct::new("Taint")
        .field("Key", word("key"))
        .field("Value", word("value"))
        .field("Effect", word("effect"))
        .field("TimeAdded", added);
    Ok(hashed.hash)
}

/// A time as Go writes it in binary, in a controller whose time zone is UTC.
fn moment(time: &str) -> Result<u64, String> {
    /// Seconds from the year 1 to 1970.
    const YEAR_ONE: i64 = 62_135_596_800;
    let time: Timestamp = time.parse().map_err(|error| format!("timeAdded: {error}"))?;
    let mut bytes = vec![1_u8];
    bytes.extend((time.as_second() + YEAR_ONE).to_be_bytes());
    bytes.extend(time.subsec_nanosecond().to_be_bytes());
    bytes.extend(0_i16.to_be_bytes());
    Ok(Struct::new("Time").field("Time", Some(fnv(&bytes))).hash)
}

fn class(reference: &Json) -> Option<u64> {
    reference.as_object()?;
    let word = |key: &str| reference[key].as_str().filter(|word| !word.is_empty()).map(text);
    let hashed = Struct::new("NodeClassReference")
        .field("Kind", word("kind"))
        .field("Name", word("name"))
        .field("Group", word("group"));
    Some(hashed.hash)
}

fn grace(duration: &Json) -> Result<Option<u64>, String> {
    let Some(duration) = duration.as_str() else {
        return Ok(None);
    };
    let nanos = match parsed("terminationGracePeriod", duration)? {
        NillableDuration::Never => return Err("terminationGracePeriod cannot be Never".to_owned()),
        NillableDuration::After(duration) => nanos(duration.nanos())?,
    };
    let hashed = Struct::new("Duration").field("Duration", (nanos != 0).then(|| number(nanos)));
    Ok(Some(hashed.hash))
}

fn expiry(duration: &Json) -> Result<Option<u64>, String> {
    match parsed("expireAfter", duration.as_str().unwrap_or(EXPIRE_AFTER))? {
        NillableDuration::Never => Ok(None),
        NillableDuration::After(duration) => {
            let nanos = nanos(duration.nanos())?;
            Ok(Some(
                Struct::new("NillableDuration")
                    .field("Duration", Some(number(nanos)))
                    .hash,
            ))
        }
    }
}

fn parsed(field: &str, duration: &str) -> Result<NillableDuration, String> {
    duration
        .parse()
        .map_err(|error| format!("{field}: {duration:?} is not a duration: {error}"))
}

fn nanos<N: TryInto<i64>>(nanos: N) -> Result<i64, String> {
    nanos
        .try_into()
        .map_err(|_| "a duration is longer than Go has a number for".to_owned())
}

/// A struct's hash in the making: its fields count in their order.
struct Struct {
    hash: u64,
    is_zero: bool,
}

impl Struct {
    fn new(name: &str) -> Self {
        Self {
            hash: text(name),
            is_zero: true,
        }
    }

    /// Adds a field by its value's hash; `None` is a zero value, which does not count.
    fn field(mut self, name: &str, value: Option<u64>) -> Self {
        if let Some(value) = value {
            self.hash = finish(self.hash ^ ordered(text(name), value));
            self.is_zero = false;
        }
        self
    }

    fn unless_zero(self) -> Option<u64> {
        (!self.is_zero).then_some(self.hash)
    }
}

fn text(text: &str) -> u64 {
    fnv(text.as_bytes())
}

fn number(number: i64) -> u64 {
    fnv(&number.to_le_bytes())
}

fn ordered(first: u64, second: u64) -> u64 {
    fnv(&[first.to_le_bytes(), second.to_le_bytes()].concat())
}

fn finish(mixed: u64) -> u64 {
    fnv(&mixed.to_le_bytes())
}

/// 64-bit FNV-1 (not FNV-1a).
fn fnv(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes
        .iter()
        .fold(OFFSET, |hash, byte| hash.wrapping_mul(PRIME) ^ u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_pool_is_refused() {
        let class = json!({ "template": { "spec": { "nodeClassRef": { "name": "c" } } } });
        for (object, want) in [
            (
                json!({}),
                "of which template is one, or the manifest of a NodePool of karpenter.sh/v1; the object is empty",
            ),
            (
                json!({ "name": "p", "limits": {} }),
                "the object has limits, name",
            ),
            (
                json!({ "apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "spec": class }),
                "found one with kind \"NodePool\" and apiVersion \"karpenter.sh/v1beta1\"; `joiner migrate` converts",
            ),
            (
                json!({ "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "spec": {} }),
                "found one with kind \"EC2NodeClass\" and apiVersion \"karpenter.k8s.aws/v1\"",
            ),
            (
                json!({ "kind": "NodePool", "spec": class }),
                "kind \"NodePool\" and no apiVersion",
            ),
            (
                json!({ "spec": class }),
                "found one with no kind and no apiVersion",
            ),
            (
                json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": {} }),
                "the pool names no class",
            ),
            (
                json!({ "template": {} }),
                "the pool names no class: expected template.spec.node_class_ref.name",
            ),
        ] {
            let problem = manifest(object.clone()).expect_err(want);
            assert!(problem.contains(want), "{object}: {problem}");
        }
        let good = json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "p" }, "spec": class });
        assert_eq!(manifest(good.clone()), Ok(good));
    }

    /// Pools with the hashes that upstream's own code gives them.
    const GOLDEN: &str = include_str!("../../../tests/peers/schedule/hash/hashes.json");

    #[test]
    fn hashes_are_upstreams() {
        let cases: Vec<Json> = serde_json::from_str(GOLDEN).expect("JSON");
        assert!(cases.len() >= 20, "{} cases", cases.len());
        for case in cases {
            let found = hash(&case["pool"]["spec"]["template"]).expect("a template");
            assert_eq!(
                Some(found.to_string().as_str()),
                case["hash"].as_str(),
                "{}",
                case["pool"]
            );
        }
    }
}
