//! Dynamic resource allocation: claims, templates and classes of devices, and what drivers publish.

use std::collections::{BTreeMap, BTreeSet};

use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::{Attribute, Device, DeviceClaim, DeviceRequest, DeviceTest, DeviceWish};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1::NodeSelector;
use k8s_openapi::api::resource::v1 as dra;

use crate::device_test;
use crate::open::DeviceRef;
use crate::quantities::amounts;

/// Namespace and name.
type Key = (Text, Text);
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
        for slice in self.slices.values() {
            for device in slice.devices.iter().flatten() {
                let Some(node) = device.node_name.as_ref().or(slice.node_name.as_ref()) else {
                    continue;
                };
                found
                    .entry(node.as_str().into())
                    .or_default()
                    .push(published(slice, device, &taken));
            }
        }
        found
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

    /// A pod's claim, or why it cannot be had, in words.
    pub(crate) fn claim(&self, namespace: &Text, reference: &DeviceRef) -> Result<DeviceClaim, Text> {
        let (name, spec, status) = match (&reference.claim, &reference.template) {
            (Some(claim), _) => match self.claims.get(&(namespace.clone(), claim.clone())) {
                Some(found) => (
                    Text::from(format!("{namespace}/{claim}")),
                    &found.spec,
                    found.status.as_ref(),
                ),
                None => return Err(format!("its resource claim {namespace}/{claim} does not exist").into()),
            },
            (None, Some(template)) => match self.templates.get(&(namespace.clone(), template.clone())) {
                Some(spec) => (Text::from(""), spec, None),
                None => {
                    return Err(
                        format!("its resource claim template {namespace}/{template} does not exist").into(),
                    );
                }
            },
            (None, None) => {
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
                .and_then(|status| status.allocation.as_ref())
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

fn published(slice: &dra::ResourceSliceSpec, device: &dra::Device, taken: &BTreeSet<Handle>) -> Device {
    let driver = Text::from(slice.driver.as_str());
    let qualified = |name: &str| match name.contains('/') {
        true => Text::from(name),
        false => format!("{driver}/{name}").into(),
    };
    let handle: Handle = (
        driver.clone(),
        slice.pool.name.as_str().into(),
        device.name.as_str().into(),
    );
    let capacity: BTreeMap<String, _> = device
        .capacity
        .iter()
        .flatten()
        .map(|(name, capacity)| (name.clone(), capacity.value.clone()))
        .collect();
    Device {
        taken: taken.contains(&handle),
        driver: driver.clone(),
        pool: handle.1.clone(),
        name: handle.2.clone(),
        attributes: device
            .attributes
            .iter()
            .flatten()
            .filter_map(|(name, value)| Some((qualified(name), attribute(value)?)))
            .collect(),
        capacity: amounts(Some(&capacity))
            .map(|(name, amount)| (qualified(name.as_str()), amount))
            .collect(),
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
