//! Functions.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tfplugin_proto::tfplugin6 as proto;

use super::service::Service;
use crate::diagnostics::Diagnostics;
use crate::function::{Arguments, Function, FunctionError, Parameter, Signature};
use crate::provider::Provider;
use crate::value::{Value, wire};

pub(super) fn signatures<P: Provider>(service: &Service<P>) -> HashMap<String, proto::Function> {
    let functions = service.tables().functions.iter();
    functions
        .map(|(name, function)| ((*name).to_owned(), signature(&function.signature())))
        .collect()
}

pub(super) async fn list<P: Provider>(
    service: &Service<P>,
    _: proto::get_functions::Request,
) -> Result<proto::get_functions::Response, Diagnostics> {
    Ok(proto::get_functions::Response {
        functions: signatures(service),
        ..Default::default()
    })
}

pub(super) async fn call<P: Provider>(
    service: &Service<P>,
    request: proto::call_function::Request,
) -> proto::call_function::Response {
    let Some(function) = service.tables().functions.get(request.name.as_str()) else {
        let error = FunctionError::new(format!(
            "this version of the provider has no function {:?}",
            request.name
        ));
        return failed(&error);
    };
    let called = catch_unwind(AssertUnwindSafe(|| {
        compute(function.as_ref(), &request.arguments)
    }));
    match called {
        Ok(Ok(result)) => proto::call_function::Response {
            result: Some(result),
            error: None,
        },
        Ok(Err(error)) => failed(&error),
        Err(_) => failed(&FunctionError::new(
            "a bug in the provider stopped this function; its log has the details",
        )),
    }
}

fn compute(
    function: &dyn Function,
    arguments: &[proto::DynamicValue],
) -> Result<proto::DynamicValue, FunctionError> {
    let signature = function.signature();
    let parameters = signature.parameters.iter().chain(std::iter::repeat_n(
        signature.variadic.as_ref().unwrap_or(&NO_PARAMETER),
        arguments.len().saturating_sub(signature.parameters.len()),
    ));
    let values = arguments
        .iter()
        .zip(parameters)
        .enumerate()
        .map(|(position, (argument, parameter))| {
            wire::from_proto(Some(argument), &parameter.ty)
                .map_err(|error| FunctionError::argument(position, error.to_string()))
        });
    let values: Vec<Value> = values.collect::<Result<_, _>>()?;
    let result = function.call(&Arguments::new(values))?;
    wire::to_proto(&result, &signature.returns).map_err(|error| {
        FunctionError::new(format!(
            "the result does not fit: {error}; please report this bug"
        ))
    })
}

static NO_PARAMETER: Parameter = Parameter {
    name: String::new(),
    ty: crate::Type::Dynamic,
    description: String::new(),
    allow_null: true,
    allow_unknown: true,
};

fn failed(error: &FunctionError) -> proto::call_function::Response {
    let function_argument = error.argument.and_then(|position| i64::try_from(position).ok());
    proto::call_function::Response {
        result: None,
        error: Some(proto::FunctionError {
            text: error.text.clone(),
            function_argument,
        }),
    }
}

fn signature(signature: &Signature) -> proto::Function {
    proto::Function {
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter),
        r#return: Some(proto::function::Return {
            r#type: signature.returns.to_wire(),
        }),
        summary: signature.summary.clone(),
        description: signature.description.clone(),
        description_kind: proto::StringKind::Markdown as i32,
        deprecation_message: signature.deprecated.clone().unwrap_or_default(),
    }
}

fn parameter(parameter: &Parameter) -> proto::function::Parameter {
    proto::function::Parameter {
        name: parameter.name.clone(),
        r#type: parameter.ty.to_wire(),
        allow_null_value: parameter.allow_null,
        allow_unknown_values: parameter.allow_unknown,
        description: parameter.description.clone(),
        description_kind: proto::StringKind::Markdown as i32,
    }
}
