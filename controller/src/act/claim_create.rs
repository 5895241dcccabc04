//! Makes a NodeClaim. Only when the object exists may an instance be bought for it.

use jiff::SignedDuration;
use joiner_api::labels::TERMINATION_FINALIZER;
use joiner_api::{
    GoDuration, NillableDuration, NodeClaim, NodeClaimSpec, NodeClassRef, Operator, Requirement,
    ResourceRequests, Taint, TaintEffect,
};
use joiner_core::requirements::Requirements;
use joiner_core::schedule::NewClaim;
use joiner_core::taints::{Effect, Taint as CoreTaint};
use joiner_core::text::{Labels, Text};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Api;
use kube::api::PostParams;
use std::collections::BTreeMap;

use super::{Act, Failed};
use crate::observe::{ClaimEntry, map};

/// Letters and digits of Kubernetes' own generated names: no vowels, so no words.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Act {
    /// Makes the claim under a name from [`fresh_name`].
    pub(crate) async fn create_claim(&self, wanted: &NewClaim, name: &Text) -> Result<ClaimEntry, Failed> {
        let object = object(wanted, name);
        let api: Api<NodeClaim> = Api::all(self.client.clone());
        let params = PostParams {
            field_manager: Some(super::FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let created = api.create(&params, &object).await;
        let created = created.map_err(|cause| Failed::api(format!("nodeclaim {name}"), cause))?;
        self.index.claim(&created);
        Ok(ClaimEntry::new(&created))
    }
}

/// A name that no claim has had: `<pool>-xxxxx`.
pub(crate) fn fresh_name(pool: &str) -> Text {
    // As the API server does with generateName.
    let base: String = pool.chars().take(57).collect();
    let suffix: String = (0..5)
        .map(|_| char::from(ALPHABET[rand::random_range(0..ALPHABET.len())]))
        .collect();
    format!("{base}-{suffix}").into()
}

fn object(wanted: &NewClaim, name: &str) -> NodeClaim {
    let NewClaim {
        pool,
        pool_uid,
        class,
        pods: _,
        requirements: wanted_requirements,
        instance_types: _,
        requests,
        price: _,
        labels,
        annotations,
        taints: wanted_taints,
        startup_taints,
        expire_after,
        termination_grace_period,
        min_values_relaxed: _,
    } = wanted;
    let owner = OwnerReference {
        api_version: "karpenter.sh/v1".to_owned(),
        kind: "NodePool".to_owned(),
        name: pool.to_string(),
        uid: pool_uid.to_string(),
        block_owner_deletion: Some(true),
        controller: None,
    };
    NodeClaim {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(strings(labels)),
            annotations: Some(strings(annotations)),
            finalizers: Some(vec![TERMINATION_FINALIZER.to_owned()]),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: NodeClaimSpec {
            expire_after: Some(expire_after.map_or(NillableDuration::Never, |age| {
                NillableDuration::After(duration(age))
            })),
            node_class_ref: NodeClassRef {
                group: class.group.to_string(),
                kind: class.kind.to_string(),
                name: class.name.to_string(),
            },
            requirements: requirements(wanted_requirements),
            resources: Some(ResourceRequests {
                requests: map::to_api(requests),
            }),
            startup_taints: taints(startup_taints),
            taints: taints(wanted_taints),
            termination_grace_period: termination_grace_period.map(duration),
        },
        status: None,
    }
}

/// Requirements in the API's words. Several terms may be needed for one label.
fn requirements(wanted: &Requirements) -> Vec<Requirement> {
    let mut rows = Vec::new();
    for requirement in wanted.iter() {
        let mut min_values = requirement.min_values();
        for (operator, values) in requirement.terms() {
            let Some(operator) = Operator::ALL
                .into_iter()
                .find(|it| it.as_str() == operator.as_str())
            else {
                continue;
            };
            let values = values.iter().map(ToString::to_string).collect();
            rows.push(Requirement {
                key: requirement.key().to_string(),
                operator,
                values,
                min_values: min_values.take(),
            });
        }
    }
    rows
}

fn taints(wanted: &[CoreTaint]) -> Vec<Taint> {
    let effect = |effect| match effect {
        Effect::NoSchedule => TaintEffect::NoSchedule,
        Effect::PreferNoSchedule => TaintEffect::PreferNoSchedule,
        Effect::NoExecute => TaintEffect::NoExecute,
    };
    wanted
        .iter()
        .map(|taint| Taint {
            effect: effect(taint.effect),
            key: taint.key.to_string(),
            time_added: None,
            value: (!taint.value.is_empty()).then(|| taint.value.to_string()),
        })
        .collect()
}

/// In whole seconds, as the pools' own pattern allows nothing finer.
fn duration(length: SignedDuration) -> GoDuration {
    GoDuration::from_secs(u32::try_from(length.as_secs()).unwrap_or(u32::MAX))
}

fn strings(labels: &Labels) -> BTreeMap<String, String> {
    let own = |(key, value): (&Text, &Text)| (key.to_string(), value.to_string());
    labels.iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_pool_and_fit() {
        let name = fresh_name("default");
        assert!(name.starts_with("default-") && name.len() == 13);
        assert_eq!(fresh_name(&"p".repeat(80)).len(), 63);
    }

    #[test]
    fn requirements_are_written_as_they_are_read() {
        use joiner_core::requirements::Requirement as Core;
        let wanted: Requirements = [
            Core::is_in("karpenter.sh/capacity-type", ["on-demand", "spot"]),
            Core::is_not_in("kubernetes.io/arch", ["arm64"]),
            Core::is_in("node.kubernetes.io/instance-type", ["a", "b"]).with_min_values(Some(2)),
            Core::new(
                "karpenter.k8s.aws/instance-cpu",
                joiner_core::requirements::Operator::Gt,
                ["3"],
            )
            .unwrap(),
        ]
        .into_iter()
        .collect();
        let rows = requirements(&wanted);
        let back: Requirements = rows
            .iter()
            .map(|row| {
                let values = row.values.iter().map(String::as_str);
                Core::parse(row.key.as_str(), row.operator.as_str(), values)
                    .unwrap()
                    .with_min_values(row.min_values)
            })
            .collect();
        assert_eq!(back, wanted);
    }
}
