//! The four CustomResourceDefinitions, generated from the Rust types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

use crate::{EC2NodeClass, NodeClaim, NodeOverlay, NodePool};

/// The definitions of NodePool, NodeClaim, NodeOverlay and EC2NodeClass, in this order.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        crd_of::<NodePool>(),
        crd_of::<NodeClaim>(),
        crd_of::<NodeOverlay>(),
        crd_of::<EC2NodeClass>(),
    ]
}

/// The definition of one kind.
pub(crate) fn crd_of<K: CustomResourceExt>() -> CustomResourceDefinition {
    tidy(K::crd())
}

/// Makes the derived schema what upstream serves: Rust's `Option` means "may be left out", not "may be null".
fn tidy(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        if let Some(schema) = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_api_v3_schema.as_mut())
        {
            schema.title = None;
            tidy_schema(schema);
        }
    }
    crd
}

fn tidy_schema(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.title = None;
    if let Some(text) = &mut schema.description {
        *text = text.replace('\n', " ");
    }
    if schema.x_kubernetes_int_or_string == Some(true) {
        // The derive drops the types of the two alternatives.
        let of_type = |name: &str| JSONSchemaProps {
            type_: Some(name.to_owned()),
            ..JSONSchemaProps::default()
        };
        schema.any_of = Some(vec![of_type("integer"), of_type("string")]);
    }
    for property in schema
        .properties
        .iter_mut()
        .flat_map(|properties| properties.values_mut())
    {
        tidy_schema(property);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        tidy_schema(values);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        tidy_schema(items);
    }
}
