//! Taking over an object that another provider's resource managed, by a `moved` block.
//!
//! Input: the other resource's stored state. Output: a state with the object's name and what its manifest says; the refresh that
//! follows reads the rest, as after an import. Invariant: no call, and no object of another kind is ever taken for ours.

use super::custom::Custom;
use super::identity::ObjectIdentity;
use super::manifest::{from_manifest, kind_of, kind_told, told};
use crate::yaml;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Field, MoveRequest, State};

/// The state of an object that `kubectl_manifest` (gavinbunney/kubectl, alekc/kubectl) or `kubernetes_manifest` (hashicorp/kubernetes)
/// managed; `None` for any other resource.
pub(crate) fn moved<M: Custom>(
    resource: &str,
    request: &MoveRequest,
) -> Result<Option<State<M, ObjectIdentity>>, Diagnostics> {
    let Some(manifest) = manifest(request)? else {
        return Ok(None);
    };
    let kind = M::kind();
    let (found, version) = kind_of(&manifest);
    let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
    if found != kind.kind() || group(version) != group(kind.api_version()) {
        return Err(Diagnostics::error(
            format!("The object is no {}", kind.kind()),
            format!(
                "The {} holds {}, and a {resource} is {}. {}",
                request.source_type,
                told((found, version)),
                kind_told(&kind),
                remedy(found, version)
            ),
        ));
    }
    let Some(name) = manifest["metadata"]["name"]
        .as_str()
        .filter(|name| !name.is_empty())
    else {
        return Err(Diagnostics::error(
            "The object has no name",
            format!(
                "The {} holds a {found} without metadata.name. Remove it from the state and import the object by its name.",
                request.source_type
            ),
        ));
    };
    // An older version of the kind says the same in other fields; the cluster serves the object in ours, too.
    let mut model: M = if version == kind.api_version() {
        from_manifest(&manifest).map_err(|problem| {
            Diagnostics::error(
                format!("{found} {name} cannot be taken over"),
                format!(
                    "Its manifest in the state of the {}: {problem}.",
                    request.source_type
                ),
            )
        })?
    } else {
        M::default()
    };
    let common = model.common_mut();
    common.id = Field::Known(name.to_owned());
    common.name = Field::Known(name.to_owned());
    common.adopt = Field::Known(false);
    let identity = ObjectIdentity {
        name: Field::Known(name.to_owned()),
    };
    Ok(Some(State::new(model).with_identity(identity)))
}

/// The manifest in another resource's state; `None` when it is no resource that has one.
fn manifest(request: &MoveRequest) -> Result<Option<Json>, Diagnostics> {
    let provider = request.source_provider.rsplit('/').next().unwrap_or_default();
    let unusable = |what: &str, problem: &str| {
        Diagnostics::error(
            format!("The state of the {} is not understood", request.source_type),
            format!(
                "{what} of the stored state: {problem}. Remove it from the state and import the object by its name."
            ),
        )
    };
    let found = match (provider, request.source_type.as_str()) {
        ("kubectl", "kubectl_manifest") => {
            let text = request.state["yaml_body"]
                .as_str()
                .ok_or_else(|| unusable("yaml_body", "it is not there"))?;
            yaml::parse(text).map_err(|problem| unusable("yaml_body", &problem))?
        }
        ("kubernetes" | "kubernetes-alpha", "kubernetes_manifest") => {
            // A dynamic value is stored with its type.
            let of = |key: &str| match &request.state[key] {
                Json::Object(typed) if typed.contains_key("type") && typed.contains_key("value") => {
                    typed["value"].clone()
                }
                other => other.clone(),
            };
            [of("manifest"), of("object")]
                .into_iter()
                .find(Json::is_object)
                .ok_or_else(|| unusable("manifest", "it is not there"))?
        }
        _ => return Ok(None),
    };
    Ok(Some(found))
}

/// What to do with an object of another kind.
fn remedy(kind: &str, version: &str) -> String {
    let resource = match kind {
        "NodePool" => "joiner_node_pool",
        "EC2NodeClass" => "joiner_ec2_node_class",
        "NodeOverlay" => "joiner_node_overlay",
        "Provisioner" | "AWSNodeTemplate" => {
            return "Its API is gone: `joiner migrate` writes the resources that take its place.".to_owned();
        }
        "NodeClaim" | "Machine" => {
            return "The controller owns such objects; no configuration has them.".to_owned();
        }
        _ => return "No resource of this provider has such objects: leave it where it is.".to_owned(),
    };
    if version.starts_with("karpenter.") {
        format!("Move it to a {resource}.")
    } else {
        "No resource of this provider has such objects: leave it where it is.".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{Ec2NodeClass, NodePool};
    use serde_json::json;

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: p\nspec:\n  limits: { cpu: 10 }\n  template:\n    spec:\n      \
                        nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: c }\n      requirements:\n        - { key: a.b/c, operator: \
                        Exists }\n";

    fn request(provider: &str, source: &str, state: Json) -> MoveRequest {
        MoveRequest {
            source_provider: provider.to_owned(),
            source_type: source.to_owned(),
            source_version: 1,
            state,
            private: Vec::new(),
        }
    }

    fn kubectl(yaml: &str) -> MoveRequest {
        request(
            "registry.opentofu.org/alekc/kubectl",
            "kubectl_manifest",
            json!({ "yaml_body": yaml, "uid": "u" }),
        )
    }

    #[test]
    fn a_manifest_is_taken_over_from_each_provider() {
        let manifest: Json = yaml::parse(POOL).expect("YAML");
        let typed = json!({ "value": manifest, "type": ["object", {}] });
        for request in [
            kubectl(POOL),
            request(
                "registry.terraform.io/gavinbunney/kubectl",
                "kubectl_manifest",
                json!({ "yaml_body": POOL }),
            ),
            request(
                "registry.terraform.io/hashicorp/kubernetes",
                "kubernetes_manifest",
                json!({ "manifest": typed }),
            ),
            request(
                "registry.terraform.io/hashicorp/kubernetes",
                "kubernetes_manifest",
                json!({ "manifest": null, "object": typed }),
            ),
        ] {
            let state = moved::<NodePool>("joiner_node_pool", &request)
                .expect("it fits")
                .expect("a type to move from");
            let pool = state.model;
            assert_eq!(pool.common.name(), "p", "{request:?}");
            let limits = pool.limits.known().expect("limits");
            assert_eq!(limits.get("cpu").map(String::as_str), Some("10"));
            // Without a uid the refresh takes the whole live object, as after an import.
            assert!(pool.common.uid.is_null());
        }
    }

    #[test]
    fn other_kinds_are_refused_by_name() {
        let of = |kind: &str, version: &str| {
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{ name: x }}\nspec: {{}}\n")
        };
        for (yaml, words) in [
            (of("Deployment", "apps/v1"), "leave it where it is"),
            (
                of("EC2NodeClass", "karpenter.k8s.aws/v1"),
                "Move it to a joiner_ec2_node_class",
            ),
            (of("Provisioner", "karpenter.sh/v1alpha5"), "joiner migrate"),
            (of("NodeClaim", "karpenter.sh/v1"), "controller owns"),
            (of("NodePool", "other.io/v1"), "leave it where it is"),
        ] {
            let error = moved::<NodePool>("joiner_node_pool", &kubectl(&yaml))
                .expect_err(&yaml)
                .to_string();
            assert!(error.contains(words), "{error} lacks {words:?}");
            let kind = yaml.lines().nth(1).unwrap_or_default().replace("kind: ", "");
            assert!(error.contains(&kind), "{error} names no {kind}");
        }
        let unnamed = moved::<NodePool>(
            "joiner_node_pool",
            &kubectl(
                "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { generateName: x- }\nspec: {}\n",
            ),
        );
        assert!(
            unnamed
                .expect_err("no name")
                .to_string()
                .contains("metadata.name")
        );
        let nothing = moved::<NodePool>("joiner_node_pool", &kubectl("a: ["));
        assert!(nothing.expect_err("no YAML").to_string().contains("yaml_body"));
        let unknown = POOL.replace("limits", "limit");
        let error = moved::<NodePool>("joiner_node_pool", &kubectl(&unknown)).expect_err("a field");
        assert!(error.to_string().contains("spec.limit"), "{error}");
    }

    #[test]
    fn other_resources_are_nothing_to_move_from() {
        for (provider, source) in [
            ("registry.terraform.io/hashicorp/aws", "aws_instance"),
            (
                "registry.terraform.io/hashicorp/kubernetes",
                "kubernetes_namespace",
            ),
            ("registry.terraform.io/acme/other", "kubectl_manifest"),
        ] {
            let found = moved::<Ec2NodeClass>("joiner_ec2_node_class", &request(provider, source, json!({})));
            assert!(matches!(found, Ok(None)), "{provider} {source}");
        }
    }

    #[test]
    fn an_older_version_is_taken_over_by_its_name() {
        let old = POOL.replace("karpenter.sh/v1", "karpenter.sh/v1beta1");
        let state = moved::<NodePool>("joiner_node_pool", &kubectl(&old))
            .expect("it fits")
            .expect("a type to move from");
        assert_eq!(state.model.common.name(), "p");
        assert!(state.model.template.is_null());
    }
}
