//! Manifests as the attributes of resources.

use crate::objects::{Custom, without_nulls};
use crate::plain::json_of;
use crate::resources::{Ec2NodeClass, NodePool};
use crate::yaml;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tfplugin::json::{dynamic_from_json, from_json};
use tfplugin::{Arguments, Field, Function, FunctionError, Parameter, Signature, Type, Value};

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
        attributes::<NodePool, joiner_api::NodePool>(&arguments.get::<String>(0)?)
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
        attributes::<Ec2NodeClass, joiner_api::EC2NodeClass>(&arguments.get::<String>(0)?)
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

/// `K` is the API's type of the kind: it knows that a quantity may be written as a number.
fn attributes<M: Custom, K: DeserializeOwned + Serialize>(text: &str) -> Result<Value, FunctionError> {
    let wrong = |text: String| FunctionError::argument(0, text);
    let manifest: Json = yaml::parse(text).map_err(|error| wrong(format!("not YAML: {error}")))?;
    let (wanted, found) = (M::kind(), manifest["kind"].as_str().unwrap_or("nothing"));
    if found != wanted.kind() || manifest["apiVersion"] != wanted.api_version() {
        return Err(wrong(format!(
            "the manifest is one of {found} in {}, and {} in {} is expected",
            manifest["apiVersion"].as_str().unwrap_or("no version"),
            wanted.kind(),
            wanted.api_version()
        )));
    }
    let typed: K = serde_json::from_value(manifest.clone()).map_err(|error| wrong(error.to_string()))?;
    let manifest = serde_json::to_value(typed).map_err(|error| wrong(error.to_string()))?;
    let spec = M::from_spec(manifest["spec"].clone());
    let read = from_json::<M>(&spec).map_err(|found| wrong(found.to_string()))?;
    if let Some(unknown) = read.ignored.first() {
        return Err(wrong(format!(
            "spec has a field that {} does not know: {unknown:?}",
            wanted.kind()
        )));
    }
    let mut model = read.model;
    let metadata = &manifest["metadata"];
    let map = |key: &str| match metadata[key].as_object() {
        Some(map) => Field::Known(
            map.iter()
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect(),
        ),
        None => Field::Null,
    };
    let common = model.common_mut();
    common.name = Field::from_option(metadata["name"].as_str().map(str::to_owned));
    common.labels = map("labels");
    common.annotations = map("annotations");
    let json = json_of(&model.to_value(), str::to_owned).unwrap_or_default();
    Ok(dynamic_from_json(&without_nulls(json)))
}
