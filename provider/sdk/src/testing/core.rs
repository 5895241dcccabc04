//! The core: what it does with a provider as a whole.

use std::sync::Arc;

use serde_json::Value as Json;
use tfplugin_proto::tfplugin6 as proto;
use tfplugin_proto::tfplugin6::provider_server::Provider as Calls;
use tonic::{Request, Response, Status};

use super::config::value_from_json;
use super::failure::{Failure, outcome};
use super::session::Session;
use crate::diagnostics::Diagnostics;
use crate::provider::Provider;
use crate::rpc::{Paths, Service};
use crate::rules::{Violation, compatible, unknowns_left};
use crate::schema::{Schema, check_schema};
use crate::value::{Value, wire};

/// A core that has loaded a provider.
pub struct Core<P: Provider> {
    service: Arc<Service<P>>,
}

/// The protocol's answer; calls of ours never fail as calls.
pub(super) fn answered<T>(response: Result<Response<T>, Status>) -> Result<T, Failure> {
    response
        .map(Response::into_inner)
        .map_err(|status| Failure::Test(format!("the call itself failed: {status}")))
}

impl<P: Provider> Core<P> {
    /// Loads a provider: asks for its schemas and checks them as cores do.
    ///
    /// # Errors
    /// A schema that a core would refuse, by name.
    pub async fn new(provider: P) -> Result<Self, Failure> {
        let service = Arc::new(Service::new(provider, Paths::Whole));
        answered(
            service
                .get_provider_schema(Request::new(proto::get_provider_schema::Request {}))
                .await,
        )?;
        let mut problems = Vec::new();
        let mut check = |name: &str, schema: &Schema| {
            let root = crate::AttributePath::root();
            let found = check_schema(schema).into_iter();
            problems.extend(found.map(|problem| Violation::new(&root, format!("{name}: {problem}"))));
        };
        check("provider", &service.provider_schema());
        for (name, schema) in service.schemas() {
            check(name, schema);
        }
        Failure::rule("Failed to load plugin schemas", problems)?;
        Ok(Self { service })
    }

    /// Validates and configures the provider; may be called again, as a new process would be.
    ///
    /// # Errors
    /// What the provider says.
    pub async fn configure(&self, config: Json) -> Result<Diagnostics, Failure> {
        let ty = self.service.provider_schema().ty();
        let config = value_from_json(&config, &ty)?;
        let config = Some(wire::to_proto(&config, &ty).map_err(|error| Failure::Test(error.to_string()))?);
        let request = proto::validate_provider_config::Request {
            config: config.clone(),
        };
        let validated = answered(self.service.validate_provider_config(Request::new(request)).await)?;
        let mut warnings = outcome(&validated.diagnostics)?;
        let request = proto::configure_provider::Request {
            terraform_version: "1.13.0".to_owned(),
            config,
            client_capabilities: Some(capabilities()),
        };
        let configured = answered(self.service.configure_provider(Request::new(request)).await)?;
        warnings.append(outcome(&configured.diagnostics)?);
        Ok(warnings)
    }

    /// An object of this resource type that does not exist yet.
    ///
    /// # Errors
    /// When there is no such type.
    pub fn resource(&self, type_name: &str) -> Result<Session<P>, Failure> {
        Session::new(Arc::clone(&self.service), type_name)
    }

    /// Reads a data source, its configuration wholly known.
    ///
    /// # Errors
    /// What the provider says, or a result that is not the configuration with its computed attributes.
    pub async fn read_data(&self, type_name: &str, config: Json) -> Result<Value, Failure> {
        let schema = self
            .service
            .data_source_schema(type_name)
            .ok_or_else(|| unknown_type(type_name))?;
        let ty = schema.ty();
        let config = value_from_json(&config, &ty)?;
        let message = wire::to_proto(&config, &ty).map_err(|error| Failure::Test(error.to_string()))?;
        let request = proto::validate_data_resource_config::Request {
            type_name: type_name.to_owned(),
            config: Some(message.clone()),
        };
        outcome(
            &answered(
                self.service
                    .validate_data_resource_config(Request::new(request))
                    .await,
            )?
            .diagnostics,
        )?;
        let request = proto::read_data_source::Request {
            type_name: type_name.to_owned(),
            config: Some(message),
            provider_meta: None,
            client_capabilities: Some(capabilities()),
        };
        let response = answered(self.service.read_data_source(Request::new(request)).await)?;
        outcome(&response.diagnostics)?;
        let state = wire::from_proto(response.state.as_ref(), &ty)
            .map_err(|error| Failure::broken("Provider produced invalid object", error.to_string()))?;
        Failure::rule("Provider produced invalid object", unknowns_left(&state))?;
        Failure::rule(
            "Provider produced invalid object",
            compatible(&expected(schema, &config), &state),
        )?;
        Ok(state)
    }

    /// Calls a function.
    ///
    /// # Errors
    /// What the function says, as text with the argument.
    pub async fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value, Failure> {
        let signature = self
            .service
            .function_signature(name)
            .ok_or_else(|| Failure::Test(format!("there is no function {name:?}")))?;
        let variadic = signature.variadic.iter().cycle();
        let types = signature
            .parameters
            .iter()
            .chain(variadic)
            .map(|parameter| &parameter.ty);
        let messages = arguments
            .iter()
            .zip(types)
            .map(|(argument, ty)| wire::to_proto(argument, ty));
        let arguments = messages
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Failure::Test(error.to_string()))?;
        let request = proto::call_function::Request {
            name: name.to_owned(),
            arguments,
        };
        let response = answered(self.service.call_function(Request::new(request)).await)?;
        if let Some(error) = response.error {
            let argument = error
                .function_argument
                .map_or_else(String::new, |position| format!("argument {}: ", position + 1));
            return Err(Failure::Refused(Diagnostics::error(
                "Error in function call",
                format!("{argument}{}", error.text),
            )));
        }
        wire::from_proto(response.result.as_ref(), &signature.returns)
            .map_err(|error| Failure::broken("Invalid function result", error.to_string()))
    }

    /// Validates, opens and closes an ephemeral resource and returns what it gave.
    ///
    /// # Errors
    /// What the provider says.
    pub async fn open(&self, type_name: &str, config: Json) -> Result<Value, Failure> {
        let schema = self
            .service
            .ephemeral_schema(type_name)
            .ok_or_else(|| unknown_type(type_name))?;
        let ty = schema.ty();
        let config = value_from_json(&config, &ty)?;
        let message = wire::to_proto(&config, &ty).map_err(|error| Failure::Test(error.to_string()))?;
        let request = proto::validate_ephemeral_resource_config::Request {
            type_name: type_name.to_owned(),
            config: Some(message.clone()),
        };
        let validated = self
            .service
            .validate_ephemeral_resource_config(Request::new(request))
            .await;
        outcome(&answered(validated)?.diagnostics)?;
        let request = proto::open_ephemeral_resource::Request {
            type_name: type_name.to_owned(),
            config: Some(message),
            client_capabilities: Some(capabilities()),
        };
        let opened = answered(self.service.open_ephemeral_resource(Request::new(request)).await)?;
        outcome(&opened.diagnostics)?;
        let result = wire::from_proto(opened.result.as_ref(), &ty)
            .map_err(|error| Failure::broken("Provider produced invalid object", error.to_string()))?;
        let request = proto::close_ephemeral_resource::Request {
            type_name: type_name.to_owned(),
            private: opened.private,
        };
        outcome(&answered(self.service.close_ephemeral_resource(Request::new(request)).await)?.diagnostics)?;
        Failure::rule(
            "Provider produced invalid object",
            compatible(&expected(schema, &config), &result),
        )?;
        Ok(result)
    }

    /// Cancels all calls in flight, as when a user interrupts.
    pub fn stop(&self) {
        self.service.stop();
    }
}

pub(super) fn capabilities() -> proto::ClientCapabilities {
    proto::ClientCapabilities {
        deferral_allowed: false,
        write_only_attributes_allowed: true,
    }
}

fn unknown_type(name: &str) -> Failure {
    Failure::Test(format!("the provider offers no {name:?}"))
}

/// A configuration with unknown for every computed attribute that is not set.
fn expected(schema: &Schema, config: &Value) -> Value {
    let mut expected = config.clone();
    if let Value::Object(attributes) = &mut expected {
        for attribute in schema
            .attributes
            .iter()
            .filter(|attribute| attribute.mode.is_computed())
        {
            let value = attributes.entry(attribute.name.clone()).or_default();
            if value.is_null() {
                *value = Value::unknown();
            }
        }
    }
    expected
}
