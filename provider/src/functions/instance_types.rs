//! The instance types that meet requirements, by the built-in catalogue.

use super::requirements::{parameter, requirements};
use crate::feasible::Types;
use tfplugin::{Arguments, Function, FunctionError, Signature, Type, Value};

/// `compatible_instance_types`: names of the types that meet requirements.
pub(super) struct CompatibleInstanceTypes;

impl Function for CompatibleInstanceTypes {
    fn name(&self) -> &'static str {
        "compatible_instance_types"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![parameter()],
            variadic: None,
            returns: Type::list(Type::String),
            summary: "Instance types that meet requirements".to_owned(),
            description: "Names of the types of all regions, sorted, by the catalogue that the provider carries. Labels that no type speaks of, \
                          and zones, refuse none; for one region, with prices, see the data source `joiner_instance_types`."
                .to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let requirements = requirements(arguments, 0)?;
        let types = Types::of(None, None);
        let names = types.fitting(&requirements);
        Ok(Value::List(
            names.iter().map(|kind| Value::string(&*kind.name)).collect(),
        ))
    }
}
