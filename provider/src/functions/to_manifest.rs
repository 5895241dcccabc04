//! The attributes of resources as manifests.

use crate::objects::{Custom, object_of, without_nulls};
use crate::plain::{json_of, value_of};
use crate::resources::{Ec2NodeClass, NodeOverlay, NodePool};
use serde_json::Value as Json;
use tfplugin::json::dynamic_from_json;
use tfplugin::{Arguments, Function, FunctionError, Parameter, Signature, Type, Value};

/// `to_manifest`: the object that the API server gets.
pub(super) struct ToManifest;

impl Function for ToManifest {
    fn name(&self) -> &'static str {
        "to_manifest"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![parameter()],
            variadic: None,
            returns: Type::Dynamic,
            summary: "Attributes of a node pool, node class or overlay as a manifest".to_owned(),
            description: "The object with `apiVersion`, `kind`, `metadata` and `spec` that the API server gets, for `yamlencode`, a GitOps \
                          repository or a review. It is the inverse of `node_pool_from_yaml` and `ec2_node_class_from_yaml`. What only the \
                          resource has, such as `wait`, `timeouts` and what it computes, is not in it."
                .to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let attributes = attributes(arguments)?;
        let manifest = manifest(&attributes).map_err(|problem| FunctionError::argument(0, problem))?;
        Ok(dynamic_from_json(&manifest))
    }
}

/// The parameter of attributes.
fn parameter() -> Parameter {
    Parameter::new(
        "object",
        Type::Dynamic,
        "A `joiner_node_pool`, `joiner_ec2_node_class` or `joiner_node_overlay`, or an object with its attributes.",
    )
}

/// The first argument as JSON, by attribute names.
pub(super) fn attributes(arguments: &Arguments) -> Result<Json, FunctionError> {
    let value = arguments.values().first().unwrap_or(&Value::Null);
    json_of(value, str::to_owned)
        .filter(Json::is_object)
        .ok_or_else(|| FunctionError::argument(0, "expected an object with the attributes of a resource"))
}

/// The manifest of attributes, whose kind shows in the attributes that only it has.
fn manifest(attributes: &Json) -> Result<Json, String> {
    let has = |name: &str| !attributes[name].is_null();
    if has("template") {
        manifest_of::<NodePool>(attributes)
    } else if has("subnet_selector_terms")
        || has("ami_selector_terms")
        || has("security_group_selector_terms")
    {
        manifest_of::<Ec2NodeClass>(attributes)
    } else if has("requirements") {
        manifest_of::<NodeOverlay>(attributes)
    } else {
        Err(
            "the object is no node pool (it has no template), no node class (no selector terms) and no overlay (no requirements)"
                .to_owned(),
        )
    }
}

/// The manifest of attributes of one kind.
pub(super) fn manifest_of<M: Custom>(attributes: &Json) -> Result<Json, String> {
    let value = value_of(attributes, &M::schema(0).ty(), "")?;
    let mut model = M::read(&value).map_err(|found| found.to_string())?;
    model.complete();
    let object = object_of(&model).map_err(|found| found.to_string())?;
    Ok(without_nulls(object.json))
}
