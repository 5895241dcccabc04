//! The controller's settings that change a forecast, as far as they can be seen: in the values of its release in the same plan, else at
//! its pods, which a forecast lists anyway.
//!
//! Input: a container as its pods, or its chart with the release's values, have it. Output: settings, and what had to be assumed of them.
//! Left out is what changes no forecast: how pods are batched, consolidation, buffers, and claims to devices, which a forecast does not read.

use joiner_aws::catalogue;
use joiner_core::snapshot::{Gates, MinValuesPolicy, PreferencePolicy, Settings};
use serde_json::Value as Json;
use std::collections::BTreeMap;

const PREFERENCES: &str = "PREFERENCE_POLICY";
const MIN_VALUES: &str = "MIN_VALUES_POLICY";
const SPREAD: &str = "DEFAULT_SPREAD_CONSTRAINTS";
const GATES: &str = "FEATURE_GATES";
const MEMORY_OVERHEAD: &str = "VM_MEMORY_OVERHEAD_PERCENT";
const RESERVED_ENIS: &str = "RESERVED_ENIS";
/// All that are looked at.
const NAMES: [&str; 6] = [
    PREFERENCES,
    MIN_VALUES,
    SPREAD,
    GATES,
    MEMORY_OVERHEAD,
    RESERVED_ENIS,
];
/// A variable that both controllers' charts set, and nobody else's.
pub(super) const MARK: &str = "KARPENTER_SERVICE";

/// The settings in an environment: `None` of one is set to something that is not known here. What is not in it has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment(BTreeMap<&'static str, Option<String>>);

impl Environment {
    /// That of a container.
    pub(crate) fn of_container(container: &Json) -> Self {
        let mut found = BTreeMap::new();
        if container["envFrom"]
            .as_array()
            .is_some_and(|from| !from.is_empty())
        {
            found.extend(NAMES.map(|name| (name, None)));
        }
        for variable in list(&container["env"]) {
            let named = |name: &&&str| variable["name"] == **name;
            if let Some(name) = NAMES.iter().find(named) {
                let value = match (&variable["value"], &variable["valueFrom"]) {
                    // $(OTHER) is filled in by the kubelet.
                    (Json::String(value), _) => Some(value.clone()).filter(|value| !value.contains("$(")),
                    (_, Json::Null) => Some(String::new()),
                    _ => None,
                };
                found.insert(*name, value);
            }
        }
        found.extend(flags(container).map(|(name, value)| (name, Some(value))));
        Self(found)
    }

    /// That of the controller in a pod; `None` where the pod is another's, or at its end.
    pub(super) fn of_pod(pod: &Json) -> Option<Self> {
        let over = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        if over || !pod["metadata"]["deletionTimestamp"].is_null() {
            return None;
        }
        let containers = list(&pod["spec"]["containers"]);
        let mut own = containers.filter(|container| list(&container["env"]).any(|it| it["name"] == MARK));
        own.next().map(Self::of_container)
    }

    /// The same, with `live` for what is not known of it.
    fn completed(&self, live: Option<&Self>) -> Self {
        let value = |(name, value): (&&'static str, &Option<String>)| match (value, live) {
            (None, Some(live)) => Some((*name, live.0.get(name)?.clone())),
            (value, _) => Some((*name, value.clone())),
        };
        Self(self.0.iter().filter_map(value).collect())
    }
}

/// The settings on a command line, which count more than the environment: `--feature-gates=X` or `--feature-gates X`.
fn flags(container: &Json) -> impl Iterator<Item = (&'static str, String)> {
    let words: Vec<&str> = ["command", "args"]
        .iter()
        .flat_map(|part| list(&container[*part]))
        .filter_map(Json::as_str)
        .collect();
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let Some(flag) = word.strip_prefix("--") else {
            continue;
        };
        let (flag, value) = match flag.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (flag, words.get(place + 1).copied()),
        };
        let variable = flag.replace('-', "_").to_uppercase();
        if let (Some(name), Some(value)) = (NAMES.iter().find(|name| **name == variable), value) {
            found.push((*name, value.to_owned()));
        }
    }
    found.into_iter()
}

fn list(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

/// The controller as a forecast takes it to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Controller {
    /// What decisions look at.
    pub settings: Settings,
    /// What the size of instance types depends on.
    pub catalogue: catalogue::Settings,
    /// Whether NodeOverlays count.
    pub node_overlays: bool,
    /// Whether pools with `replicas` are looked after.
    pub static_capacity: bool,
    /// What is not known, as a sentence.
    pub assumed: Option<String>,
}

impl Controller {
    /// By the release in the same plan and by the controller's pods, where they are seen.
    pub(super) fn of(planned: Option<&Environment>, live: Option<&Environment>) -> Self {
        let environment = match (planned, live) {
            (None, None) => {
                return Self {
                    assumed: Some(
                        "It is assumed that the controller has its default settings: neither this plan nor a pod of it in the cluster tells \
                         them."
                            .to_owned(),
                    ),
                    ..Self::default()
                };
            }
            (Some(planned), live) => planned.completed(live),
            (None, Some(live)) => live.clone(),
        };
        let mut known = Self::default();
        let mut unknown: Vec<&str> = Vec::new();
        for (name, value) in &environment.0 {
            // What the controller does not take it does not start with.
            let taken = value
                .as_deref()
                .is_some_and(|value| value.is_empty() || known.take(name, value).is_some());
            if !taken {
                unknown.push(name);
            }
        }
        if !unknown.is_empty() {
            known.assumed = Some(format!(
                "It is assumed that the controller has the default of {}: what is set is not known.",
                unknown.join(", ")
            ));
        }
        known
    }

    /// Takes a setting over; `None` where it is none.
    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            PREFERENCES => {
                self.settings.preference_policy = match value {
                    "Respect" => PreferencePolicy::Respect,
                    "Ignore" => PreferencePolicy::Ignore,
                    _ => return None,
                }
            }
            MIN_VALUES => {
                self.settings.min_values_policy = match value {
                    "Strict" => MinValuesPolicy::Strict,
                    "BestEffort" => MinValuesPolicy::BestEffort,
                    _ => return None,
                }
            }
            SPREAD => {
                let written = serde_json::from_str(value).ok()?;
                self.settings.default_spread = joiner_map::read::default_constraints(&written).ok()?;
            }
            GATES => {
                let gates = gates(value)?;
                let is_on = |name: &str, otherwise| gates.get(name).copied().unwrap_or(otherwise);
                let reserved_capacity = is_on("ReservedCapacity", Gates::default().reserved_capacity);
                self.settings.gates.reserved_capacity = reserved_capacity;
                self.catalogue.reserved_capacity = reserved_capacity;
                self.node_overlays = is_on("NodeOverlay", false);
                self.static_capacity = is_on("StaticCapacity", false);
            }
            MEMORY_OVERHEAD => self.catalogue.vm_memory_overhead = millionths(value)?,
            RESERVED_ENIS => self.catalogue.reserved_interfaces = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}

/// `Name=true` and `Name=false`, separated by commas.
fn gates(text: &str) -> Option<BTreeMap<&str, bool>> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            Some((name.trim(), value.trim().parse().ok()?))
        })
        .collect()
}

/// A share of one with at most four decimals, as the controller takes it: `0.075` is 75,000.
fn millionths(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u32 = match part.len() {
        0 => 0,
        1..=4 if part.bytes().all(|digit| digit.is_ascii_digit()) => format!("{part:0<6}").parse().ok()?,
        _ => return None,
    };
    let share = whole.checked_mul(1_000_000)?.checked_add(part)?;
    (share <= 1_000_000).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let env: Vec<Json> = variables
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        Environment::of_container(&json!({ "env": env }))
    }

    #[test]
    fn every_setting_that_counts_is_taken_over() {
        let live = environment(&[
            ("PREFERENCE_POLICY", "Ignore"),
            ("MIN_VALUES_POLICY", "BestEffort"),
            (
                "DEFAULT_SPREAD_CONSTRAINTS",
                r#"[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"}]"#,
            ),
            (
                "FEATURE_GATES",
                "ReservedCapacity=false, NodeOverlay=true,StaticCapacity=true,OfTheFuture=true",
            ),
            ("VM_MEMORY_OVERHEAD_PERCENT", "0.1"),
            ("RESERVED_ENIS", "1"),
            ("BATCH_MAX_DURATION", "60s"),
        ]);
        let controller = Controller::of(None, Some(&live));
        assert_eq!(controller.settings.preference_policy, PreferencePolicy::Ignore);
        assert_eq!(controller.settings.min_values_policy, MinValuesPolicy::BestEffort);
        assert_eq!(controller.settings.default_spread.len(), 1);
        assert!(!controller.settings.gates.reserved_capacity && !controller.catalogue.reserved_capacity);
        assert!(controller.node_overlays && controller.static_capacity);
        assert_eq!(
            (
                controller.catalogue.vm_memory_overhead,
                controller.catalogue.reserved_interfaces
            ),
            (100_000, 1)
        );
        assert_eq!(controller.assumed, None);
        // Nothing is set, and that is known.
        assert_eq!(
            Controller::of(None, Some(&environment(&[]))),
            Controller::default()
        );
    }

    #[test]
    fn the_plan_comes_first_and_what_nobody_tells_is_assumed_in_one_sentence() {
        let (planned, live) = (
            environment(&[("RESERVED_ENIS", "2")]),
            environment(&[("RESERVED_ENIS", "1")]),
        );
        let interfaces = |planned: Option<&Environment>, live: Option<&Environment>| {
            Controller::of(planned, live).catalogue.reserved_interfaces
        };
        assert_eq!(interfaces(Some(&planned), Some(&live)), 2);
        assert_eq!(
            interfaces(Some(&Environment::default()), Some(&live)),
            0,
            "it is taken away"
        );
        let open =
            Environment::of_container(&json!({ "env": [{ "name": "RESERVED_ENIS", "valueFrom": {} }] }));
        assert_eq!(interfaces(Some(&open), Some(&live)), 1, "as it is now");
        let assumed = |planned: Option<&Environment>, live: Option<&Environment>| {
            Controller::of(planned, live).assumed.unwrap_or_default()
        };
        assert_eq!(assumed(Some(&open), Some(&live)), "");
        assert!(assumed(None, None).contains("default settings"));
        for unknown in [
            open,
            environment(&[("RESERVED_ENIS", "many")]),
            environment(&[("RESERVED_ENIS", "$(X)")]),
        ] {
            let told = assumed(Some(&unknown), None);
            assert!(told.contains("the default of RESERVED_ENIS: "), "{told}");
        }
        let from = Environment::of_container(&json!({
            "envFrom": [{ "configMapRef": { "name": "c" } }], "env": [{ "name": "FEATURE_GATES", "value": "" }],
        }));
        let told = assumed(None, Some(&from));
        assert!(
            told.contains("PREFERENCE_POLICY") && !told.contains("FEATURE_GATES"),
            "{told}"
        );
    }

    #[test]
    fn the_controllers_pod_is_known_by_its_environment() {
        let pod =
            |container: Json| json!({ "metadata": {}, "spec": { "containers": [{ "env": [] }, container] } });
        let own = json!({
            "env": [{ "name": "KARPENTER_SERVICE", "value": "joiner" }, { "name": "RESERVED_ENIS", "value": "1" }],
            "command": ["/controller"], "args": ["--reserved-enis=3", "--preference-policy", "Ignore", "--log-level", "debug"],
        });
        let found = Environment::of_pod(&pod(own.clone())).expect("the controller's");
        assert_eq!(
            found,
            environment(&[("RESERVED_ENIS", "3"), ("PREFERENCE_POLICY", "Ignore")])
        );
        let other = json!({ "env": [{ "name": "RESERVED_ENIS", "value": "1" }] });
        assert_eq!(Environment::of_pod(&pod(other)), None);
        let mut leaving = pod(own);
        leaving["metadata"]["deletionTimestamp"] = json!("2026-11-30T08:00:00Z");
        assert_eq!(Environment::of_pod(&leaving), None);
    }

    #[test]
    fn shares_are_read_as_the_controller_reads_them() {
        for (text, want) in [
            ("0.075", Some(75_000)),
            ("1", Some(1_000_000)),
            (".5", Some(500_000)),
            ("1.1", None),
            ("0.00001", None),
            ("x", None),
        ] {
            assert_eq!(millionths(text), want, "{text}");
        }
    }
}
