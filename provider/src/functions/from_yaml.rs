//! Manifests as the attributes of resources.

use crate::objects::{Custom, from_manifest, without_nulls};
use crate::plain::json_of;
use crate::resources::{Ec2NodeClass, NodePool};
use crate::yaml;
use serde_json::Value as Json;
use tfplugin::json::dynamic_from_json;
use tfplugin::{Arguments, Function, FunctionError, Parameter, Signature, Type, Value};

/// `node_pool_from_yaml`.
pub(super) struct NodePoolFromYaml;

impl Function for NodePoolFromYaml {
    fn name(&self) -> &'static str {
        "node_pool_from_yaml"
    }

    fn signature(&self) -> Signature {
        signature("NodePool", "joiner_node_pool")
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        attributes::<NodePool>(&arguments.get::<String>(0)?)
    }
}

/// `ec2_node_class_from_yaml`.
pub(super) struct Ec2NodeClassFromYaml;

impl Function for Ec2NodeClassFromYaml {
    fn name(&self) -> &'static str {
        "ec2_node_class_from_yaml"
    }

    fn signature(&self) -> Signature {
        signature("EC2NodeClass", "joiner_ec2_node_class")
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        attributes::<Ec2NodeClass>(&arguments.get::<String>(0)?)
    }
}

fn signature(kind: &str, resource: &str) -> Signature {
    Signature {
        parameters: vec![Parameter::new(
            "yaml",
            Type::String,
            format!("A manifest of one {kind}, as YAML or JSON."),
        )],
        variadic: None,
        returns: Type::Dynamic,
        summary: format!("A {kind}'s manifest as attributes of {resource}"),
        description: format!(
            "An object with the attributes that `{resource}` has; what the manifest does not set is not in it. A field that the resource does \
             not know is an error."
        ),
        deprecated: None,
    }
}

fn attributes<M: Custom>(text: &str) -> Result<Value, FunctionError> {
    let wrong = |text: String| FunctionError::argument(0, text);
    let manifest: Json = yaml::parse(text).map_err(|error| wrong(format!("not YAML: {error}")))?;
    let model: M = from_manifest(&manifest).map_err(wrong)?;
    let json = json_of(&model.to_value(), str::to_owned).unwrap_or_default();
    Ok(dynamic_from_json(&without_nulls(json)))
}
