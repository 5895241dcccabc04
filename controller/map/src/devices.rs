//! Dynamic resource allocation: claims, templates and classes of devices, and what drivers publish.

use std::collections::{BTreeMap, BTreeSet};

use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::{
    Attribute, Device, DeviceClaim, DeviceRequest, DeviceTest, DeviceWish, PodState,
};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1::NodeSelector;
use k8s_openapi::api::resource::v1 as dra;

use crate::device_test;
use crate::open::DeviceRef;
use crate::quantities::amounts;

/// Namespace and name.
type Key = (Text, Text);
/// Driver and pool.
type Pool<'a> = (&'a str, &'a str);
/// Driver, pool, device.
type Handle = (Text, Text, Text);

/// What is known of devices and of claims of them.
#[derive(Clone, Debug, Default)]
pub struct DeviceObjects {
    claims: BTreeMap<Key, dra::ResourceClaim>,
    templates: BTreeMap<Key, dra::ResourceClaimSpec>,
    classes: BTreeMap<Text, dra::DeviceClassSpec>,
    slices: BTreeMap<Text, dra::ResourceSliceSpec>,
}

impl DeviceObjects {
    /// A ResourceClaim was made or has changed.
    pub fn resource_claim(&mut self, object: dra::ResourceClaim) {
        self.claims.insert(key(&object.metadata), object);
    }

    /// A ResourceClaimTemplate was made or has changed.
    pub fn template(&mut self, object: dra::ResourceClaimTemplate) {
        self.templates.insert(key(&object.metadata), object.spec.spec);
    }

    /// A DeviceClass was made or has changed.
    pub fn class(&mut self, object: dra::DeviceClass) {
        self.classes
            .insert(crate::text(object.metadata.name.as_ref()), object.spec);
    }

    /// A ResourceSlice was made or has changed.
    pub fn slice(&mut self, object: dra::ResourceSlice) {
        self.slices
            .insert(crate::text(object.metadata.name.as_ref()), object.spec);
    }

    /// Whether nothing is known of devices.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
            && self.slices.is_empty()
            && self.classes.is_empty()
            && self.templates.is_empty()
    }

    /// The devices that drivers publish for each node, by the node's name.
    pub fn by_node(&self) -> BTreeMap<Text, Vec<Device>> {
        let taken = self.taken();
        let mut found: BTreeMap<Text, Vec<Device>> = BTreeMap::new();
        for slice in self.current() {
            for published in slice.devices.iter().flatten() {
                let Some(node) = published.node_name.as_ref().or(slice.node_name.as_ref()) else {
                    continue;
                };
                let mut device = device(&slice.driver, &slice.pool.name, published);
                let handle: Handle = (device.driver.clone(), device.pool.clone(), device.name.clone());
                device.taken = taken.contains(&handle);
                found.entry(node.as_str().into()).or_default().push(device);
            }
        }
        found
    }

    /// The drivers that have published all slices of a pool for a node, by the node's name.
    pub fn drivers_by_node(&self) -> BTreeMap<Text, BTreeSet<Text>> {
        let mut slices: BTreeMap<Pool<'_>, i64> = BTreeMap::new();
        for slice in self.current() {
            *slices.entry(pool(slice)).or_default() += 1;
        }
        let mut found: BTreeMap<Text, BTreeSet<Text>> = BTreeMap::new();
        for slice in self.current() {
            if slices.get(&pool(slice)) != Some(&slice.pool.resource_slice_count) {
                continue;
            }
            let of_devices = slice
                .devices
                .iter()
                .flatten()
                .filter_map(|it| it.node_name.as_ref());
            for node in slice.node_name.iter().chain(of_devices) {
                let drivers = found.entry(node.as_str().into()).or_default();
                drivers.insert(slice.driver.as_str().into());
            }
        }
        found
    }

    /// The slices of the newest generation of their pool; older ones are on their way out.
    fn current(&self) -> impl Iterator<Item = &dra::ResourceSliceSpec> {
        let mut newest: BTreeMap<Pool<'_>, i64> = BTreeMap::new();
        for slice in self.slices.values() {
            let known = newest.entry(pool(slice)).or_insert(slice.pool.generation);
            *known = slice.pool.generation.max(*known);
        }
        let is_new =
            move |slice: &&dra::ResourceSliceSpec| newest.get(&pool(slice)) == Some(&slice.pool.generation);
        self.slices.values().filter(is_new)
    }

    fn taken(&self) -> BTreeSet<Handle> {
        let allocations = self
            .claims
            .values()
            .filter_map(|claim| claim.status.as_ref()?.allocation.as_ref()?.devices.as_ref());
        let results = allocations.flat_map(|devices| devices.results.iter().flatten());
        results
            .filter(|result| result.admin_access != Some(true))
            .map(|result| {
                (
                    result.driver.as_str().into(),
                    result.pool.as_str().into(),
                    result.device.as_str().into(),
                )
            })
            .collect()
    }

    /// A pod's claim, or why it cannot be had, in words. One that is made from a template has no name: it is the pod's alone,
    /// and pods of a workload stay alike.
    pub(crate) fn claim(
        &self,
        namespace: &Text,
        reference: &DeviceRef,
        state: &PodState,
    ) -> Result<DeviceClaim, Text> {
        let found = reference
            .claim
            .as_ref()
            .and_then(|claim| self.claims.get(&(namespace.clone(), claim.clone())));
        let (name, spec, status) = match (found, &reference.claim, &reference.template) {
            (Some(found), Some(claim), None) => {
                let name = format!("{namespace}/{claim}").into();
                (name, &found.spec, found.status.as_ref())
            }
            (Some(found), _, Some(_)) => (Text::from(""), &found.spec, found.status.as_ref()),
            // The claim may not be known yet although it is made; what it will say is known.
            (_, _, Some(template)) => match self.templates.get(&(namespace.clone(), template.clone())) {
                Some(spec) => (Text::from(""), spec, None),
                None => {
                    return Err(
                        format!("its resource claim template {namespace}/{template} does not exist").into(),
                    );
                }
            },
            (_, Some(claim), None) => {
                return Err(format!("its resource claim {namespace}/{claim} does not exist").into());
            }
            (_, None, None) => {
                return Err(format!(
                    "its resource claim {} names no claim and no template",
                    reference.name
                )
                .into());
            }
        };
        let empty = dra::DeviceClaim::default();
        let devices = spec.devices.as_ref().unwrap_or(&empty);
        let requests = devices
            .requests
            .iter()
            .flatten()
            .map(|request| self.request(request));
        let mut same = Vec::new();
        for constraint in devices.constraints.iter().flatten() {
            match &constraint.match_attribute {
                Some(attribute) => same.push(Text::from(attribute.as_str())),
                None => return Err("a constraint of its resource claim is not matchAttribute, which is the only kind supported".into()),
            }
        }
        Ok(DeviceClaim {
            name,
            requests: requests.collect::<Result<_, _>>()?,
            same,
            allocated: status
                .and_then(|status| held(status, reference, state))
                .map(|allocation| alternatives(allocation.node_selector.as_ref())),
        })
    }

    fn request(&self, request: &dra::DeviceRequest) -> Result<DeviceRequest, Text> {
        let mut alternatives = Vec::new();
        if let Some(exact) = &request.exactly {
            alternatives.push(self.wish(Wish {
                class: &exact.device_class_name,
                selectors: exact.selectors.as_deref(),
                capacity: exact.capacity.as_ref(),
                mode: exact.allocation_mode.as_deref(),
                count: exact.count,
            })?);
        }
        for sub in request.first_available.iter().flatten() {
            alternatives.push(self.wish(Wish {
                class: &sub.device_class_name,
                selectors: sub.selectors.as_deref(),
                capacity: sub.capacity.as_ref(),
                mode: sub.allocation_mode.as_deref(),
                count: sub.count,
            })?);
        }
        Ok(DeviceRequest {
            name: request.name.as_str().into(),
            alternatives,
        })
    }

    fn wish(&self, wish: Wish<'_>) -> Result<DeviceWish, Text> {
        let Some(class) = self.classes.get(wish.class) else {
            return Err(format!(
                "its resource claim names the device class {}, which does not exist",
                wish.class
            )
            .into());
        };
        let mut tests = Vec::new();
        let selectors = class
            .selectors
            .iter()
            .flatten()
            .chain(wish.selectors.into_iter().flatten());
        for selector in selectors {
            let Some(cel) = &selector.cel else {
                return Err(
                    "a selector of its resource claim is not CEL, which is the only kind supported".into(),
                );
            };
            tests.extend(device_test::parse(&cel.expression)?);
        }
        let capacity = wish.capacity.and_then(|capacity| capacity.requests.as_ref());
        tests.extend(
            amounts(capacity).map(|(name, amount)| DeviceTest::Capacity(name.as_str().into(), amount)),
        );
        let count = match wish.mode {
            Some("All") => None,
            _ => Some(
                wish.count
                    .and_then(|count| u32::try_from(count).ok())
                    .unwrap_or(1),
            ),
        };
        Ok(DeviceWish { tests, count })
    }
}

/// What plain requests and alternatives have in common.
struct Wish<'a> {
    class: &'a str,
    selectors: Option<&'a [dra::DeviceSelector]>,
    capacity: Option<&'a dra::CapacityRequirements>,
    mode: Option<&'a str>,
    count: Option<i64>,
}

/// The allocation that a pod cannot do without: where it has to move, a claim that it alone uses gets other devices.
fn held<'a>(
    status: &'a dra::ResourceClaimStatus,
    reference: &DeviceRef,
    state: &PodState,
) -> Option<&'a dra::AllocationResult> {
    let moves = reference.lost || matches!(state, PodState::Bound { .. });
    let alone = status.reserved_for.iter().flatten().count() <= 1;
    status.allocation.as_ref().filter(|_| !(moves && alone))
}

fn pool(slice: &dra::ResourceSliceSpec) -> Pool<'_> {
    (&slice.driver, &slice.pool.name)
}

/// A device as its driver describes it; no claim has it.
pub(crate) fn device(driver: &str, pool: &str, published: &dra::Device) -> Device {
    let qualified = |name: &str| match name.contains('/') {
        true => Text::from(name),
        false => format!("{driver}/{name}").into(),
    };
    let capacity: BTreeMap<String, _> = published
        .capacity
        .iter()
        .flatten()
        .map(|(name, capacity)| (name.clone(), capacity.value.clone()))
        .collect();
    Device {
        driver: driver.into(),
        pool: pool.into(),
        name: published.name.as_str().into(),
        attributes: published
            .attributes
            .iter()
            .flatten()
            .filter_map(|(name, value)| Some((qualified(name), attribute(value)?)))
            .collect(),
        capacity: amounts(Some(&capacity))
            .map(|(name, amount)| (qualified(name.as_str()), amount))
            .collect(),
        taken: false,
    }
}

fn attribute(value: &dra::DeviceAttribute) -> Option<Attribute> {
    value
        .bool
        .map(Attribute::Bool)
        .or(value.int.map(Attribute::Int))
        .or_else(|| value.string.as_deref().map(|it| Attribute::Text(it.into())))
        .or_else(|| value.version.as_deref().map(|it| Attribute::Version(it.into())))
}

/// The nodes that a selector allows; without one every node.
fn alternatives(selector: Option<&NodeSelector>) -> Vec<Requirements> {
    let terms = selector.iter().flat_map(|selector| &selector.node_selector_terms);
    let all: Vec<Requirements> = terms
        .map(|term| {
            let fields = term.match_fields.iter().flatten().map(|row| {
                // A claim on devices of one node names it by its field; its hostname is the same.
                Requirement::is_in(
                    joiner_core::well_known::HOSTNAME,
                    row.values.iter().flatten().map(String::as_str),
                )
            });
            let rows = term.match_expressions.iter().flatten().filter_map(|row| {
                let values = row.values.iter().flatten().map(String::as_str);
                Requirement::parse(row.key.as_str(), &row.operator, values).ok()
            });
            rows.chain(fields).collect()
        })
        .collect();
    if all.is_empty() {
        vec![Requirements::new()]
    } else {
        all
    }
}

fn key(meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> Key {
    (
        meta.namespace.as_deref().unwrap_or("default").into(),
        meta.name.as_deref().unwrap_or_default().into(),
    )
}
