//! The life of one object under a core.

mod stored;

use std::sync::Arc;

use serde_json::Value as Json;
use tfplugin_proto::tfplugin6 as proto;
use tfplugin_proto::tfplugin6::provider_server::Provider as Calls;
use tonic::Request;

pub use stored::Stored;

use super::config::value_from_json;
use super::core::{answered, capabilities};
use super::failure::{Failure, outcome};
use super::state_json::state_json;
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::path::AttributePath;
use crate::provider::Provider;
use crate::rpc::Service;
use crate::rules::{compatible, plan_valid, proposed_new, unknowns_left, write_only_set};
use crate::schema::Schema;
use crate::value::{Type, Value, wire};

/// What a plan would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// Create the object.
    Create,
    /// Change it in place.
    Update,
    /// Delete it and create it anew.
    Replace,
}

/// A plan that the core accepted.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it would do.
    pub action: Action,
    /// The planned attributes.
    pub planned: Value,
    /// The changes that replace the object.
    pub replace: Vec<AttributePath>,
    /// Warnings.
    pub warnings: Diagnostics,
    private: Vec<u8>,
    identity: Option<proto::ResourceIdentityData>,
}

/// One object, and what the core has stored of it.
pub struct Session<P: Provider> {
    service: Arc<Service<P>>,
    type_name: String,
    ty: Type,
    state: Value,
    private: Vec<u8>,
    identity: Option<proto::ResourceIdentityData>,
    tainted: bool,
}

const INVALID_PLAN: &str = "Provider produced invalid plan";
const INVALID_RESULT: &str = "Provider returned invalid result object after apply";

impl<P: Provider> Session<P> {
    pub(super) fn new(service: Arc<Service<P>>, type_name: &str) -> Result<Self, Failure> {
        let schema = service.resource_schema(type_name);
        let ty = schema
            .map(Schema::ty)
            .ok_or_else(|| Failure::Test(format!("the provider offers no {type_name:?}")))?;
        Ok(Self {
            service,
            type_name: type_name.to_owned(),
            ty,
            state: Value::Null,
            private: Vec::new(),
            identity: None,
            tainted: false,
        })
    }

    /// What is stored; null when there is no object.
    #[must_use]
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// What is stored, as a model.
    ///
    /// # Errors
    /// When there is no object.
    pub fn model<M: Model>(&self) -> Result<M, Failure> {
        M::read(&self.state).map_err(Failure::Refused)
    }

    /// Whether the last create failed after the object was made: the next apply replaces it.
    #[must_use]
    pub fn is_tainted(&self) -> bool {
        self.tainted
    }

    /// Checks a configuration, as `validate` does.
    ///
    /// # Errors
    /// What the provider says.
    pub async fn validate(&self, config: Json) -> Result<Diagnostics, Failure> {
        let request = proto::validate_resource_config::Request {
            type_name: self.type_name.clone(),
            config: self.message(&value_from_json(&config, &self.ty)?)?,
            client_capabilities: Some(capabilities()),
        };
        outcome(&answered(self.service.validate_resource_config(Request::new(request)).await)?.diagnostics)
    }

    /// Validates, refreshes and plans, as `plan` does.
    ///
    /// # Errors
    /// What the provider says, or a rule that its plan breaks.
    pub async fn plan(&mut self, config: Json) -> Result<Planned, Failure> {
        self.validate(config.clone()).await?;
        self.refresh().await?;
        let config = value_from_json(&config, &self.ty)?;
        self.plan_value(&config).await
    }

    /// Plans and applies, as `apply` does.
    ///
    /// # Errors
    /// What the provider says, or a rule that one of its answers breaks.
    pub async fn apply(&mut self, config: Json) -> Result<Diagnostics, Failure> {
        let planned = self.plan(config.clone()).await?;
        self.apply_plan(planned, config).await
    }

    /// Applies a plan. `config` is the configuration with everything known, as it is in an apply; the provider plans again
    /// with it first.
    ///
    /// # Errors
    /// What the provider says, or a rule that one of its answers breaks.
    pub async fn apply_plan(&mut self, planned: Planned, config: Json) -> Result<Diagnostics, Failure> {
        let config = value_from_json(&config, &self.ty)?;
        if planned.action == Action::NoOp {
            return Ok(Diagnostics::new());
        }
        let mut warnings = Diagnostics::new();
        if planned.action == Action::Replace {
            // What was planned is carried out: nothing is looked at again in between.
            warnings.append(self.delete().await?);
        }
        let again = self.plan_value(&config).await?;
        const INCONSISTENT: &str = "Provider produced inconsistent final plan";
        Failure::rule(INCONSISTENT, compatible(&planned.planned, &again.planned))?;
        let expected = if planned.action == Action::Replace {
            Action::Create
        } else {
            planned.action
        };
        match (expected, again.action) {
            (Action::Update, Action::NoOp) => return Ok(warnings),
            (expected, action) if expected != action => {
                return Err(Failure::broken(
                    INCONSISTENT,
                    format!("the action changed from {expected:?} to {action:?}"),
                ));
            }
            _ => {}
        }
        warnings.append(self.carry_out(&again, &config).await?);
        Ok(warnings)
    }

    /// Plans and carries out the object's deletion, as `destroy` does.
    ///
    /// # Errors
    /// What the provider says, or a rule that one of its answers breaks.
    pub async fn destroy(&mut self) -> Result<Diagnostics, Failure> {
        let mut warnings = self.refresh().await?;
        if !self.state.is_null() {
            warnings.append(self.delete().await?);
        }
        Ok(warnings)
    }

    async fn delete(&mut self) -> Result<Diagnostics, Failure> {
        let mut warnings = Diagnostics::new();
        let response = self.call_plan(&self.state, &Value::Null, &Value::Null).await?;
        warnings.append(outcome(&response.diagnostics)?);
        if !self
            .value(response.planned_state.as_ref(), INVALID_PLAN)?
            .is_null()
        {
            return Err(Failure::broken(
                INVALID_PLAN,
                "a non-null value was planned for a destroy",
            ));
        }
        let response = self
            .call_apply(&Value::Null, &Value::Null, response.planned_private)
            .await?;
        let after = self.value(response.new_state.as_ref(), INVALID_RESULT)?;
        let result = outcome(&response.diagnostics);
        if result.is_ok() && !after.is_null() {
            return Err(Failure::broken(
                INVALID_RESULT,
                "the object is not null after its deletion",
            ));
        }
        self.state = after;
        (self.private, self.tainted) = (response.private, false);
        warnings.append(result?);
        Ok(warnings)
    }

    /// Reads the object anew, from the state as it is stored.
    ///
    /// # Errors
    /// What the provider says, or a rule that its answer breaks.
    pub async fn refresh(&mut self) -> Result<Diagnostics, Failure> {
        if self.state.is_null() {
            return Ok(Diagnostics::new());
        }
        let raw = proto::RawState {
            json: state_json(&self.state, &self.ty).into_bytes(),
            ..Default::default()
        };
        if self.upgraded(self.schema()?.version, raw).await? != self.state {
            return Err(Failure::broken(
                "Invalid resource state upgrade",
                "the state came back changed",
            ));
        }
        self.read().await
    }

    async fn read(&mut self) -> Result<Diagnostics, Failure> {
        let request = proto::read_resource::Request {
            type_name: self.type_name.clone(),
            current_state: self.message(&self.state)?,
            private: self.private.clone(),
            provider_meta: None,
            client_capabilities: Some(capabilities()),
            current_identity: self.identity.clone(),
        };
        let response = answered(self.service.read_resource(Request::new(request)).await)?;
        let warnings = outcome(&response.diagnostics)?;
        let state = self.value(response.new_state.as_ref(), "Provider produced invalid object")?;
        self.check_stored(&state, "Provider produced invalid object")?;
        self.state = state;
        self.private = response.private;
        self.identity = response.new_identity;
        if !self.state.is_null() {
            self.check_identity()?;
        }
        Ok(warnings)
    }

    /// Imports the object with this id and reads it.
    ///
    /// # Errors
    /// What the provider says, or that it is not there.
    pub async fn import(&mut self, id: &str) -> Result<Diagnostics, Failure> {
        let request = proto::import_resource_state::Request {
            type_name: self.type_name.clone(),
            id: id.to_owned(),
            client_capabilities: Some(capabilities()),
            identity: None,
        };
        self.import_by(request).await
    }

    /// Imports the object with this identity and reads it.
    ///
    /// # Errors
    /// What the provider says, or that it is not there.
    pub async fn import_by_identity(&mut self, identity: Json) -> Result<Diagnostics, Failure> {
        let schema = self.service.resource_identity_schema(&self.type_name);
        let ty = schema
            .map(Schema::ty)
            .ok_or_else(|| Failure::Test("the resource has no identity".to_owned()))?;
        let value = value_from_json(&identity, &ty)?;
        let data = wire::to_proto(&value, &ty).map_err(|error| Failure::Test(error.to_string()))?;
        let request = proto::import_resource_state::Request {
            type_name: self.type_name.clone(),
            id: String::new(),
            client_capabilities: Some(capabilities()),
            identity: Some(proto::ResourceIdentityData {
                identity_data: Some(data),
            }),
        };
        self.import_by(request).await
    }

    /// Takes over the state of another resource, as a `moved` block between types does, and reads the object. `provider` is the other
    /// provider's full address, `attributes` its stored state.
    ///
    /// # Errors
    /// What the provider says, a rule that its answer breaks, or that the object is not there.
    pub async fn move_from(
        &mut self,
        provider: &str,
        type_name: &str,
        attributes: Json,
    ) -> Result<Diagnostics, Failure> {
        let request = proto::move_resource_state::Request {
            source_provider_address: provider.to_owned(),
            source_type_name: type_name.to_owned(),
            source_schema_version: 0,
            source_state: Some(proto::RawState {
                json: attributes.to_string().into_bytes(),
                ..Default::default()
            }),
            target_type_name: self.type_name.clone(),
            ..Default::default()
        };
        let moved = answered(self.service.move_resource_state(Request::new(request)).await)?;
        let mut warnings = outcome(&moved.diagnostics)?;
        const TITLE: &str = "Provider returned invalid resource after move";
        self.state = self.value(moved.target_state.as_ref(), TITLE)?;
        self.check_stored(&self.state, TITLE)?;
        if self.state.is_null() {
            return Err(Failure::broken(TITLE, "the state is null"));
        }
        self.private = moved.target_private;
        self.identity = moved.target_identity;
        warnings.append(self.refresh().await?);
        Ok(warnings)
    }

    async fn import_by(
        &mut self,
        request: proto::import_resource_state::Request,
    ) -> Result<Diagnostics, Failure> {
        let response = answered(self.service.import_resource_state(Request::new(request)).await)?;
        let mut warnings = outcome(&response.diagnostics)?;
        let [imported] = response.imported_resources.as_slice() else {
            return Err(Failure::Test(format!(
                "{} objects were imported",
                response.imported_resources.len()
            )));
        };
        self.state = self.value(imported.state.as_ref(), "Provider produced invalid object")?;
        self.private = imported.private.clone();
        self.identity = imported.identity.clone();
        warnings.append(self.refresh().await?);
        if self.state.is_null() {
            return Err(Failure::broken(
                "Cannot import non-existent remote object",
                "the object is not there",
            ));
        }
        Ok(warnings)
    }

    async fn plan_value(&mut self, config: &Value) -> Result<Planned, Failure> {
        let prior = if self.tainted {
            Value::Null
        } else {
            self.state.clone()
        };
        let mut planned = self.plan_once(&prior, config).await?;
        if self.tainted && !self.state.is_null() {
            planned.action = Action::Replace;
        } else if planned.action == Action::Update && !planned.replace.is_empty() {
            let anew = self.plan_once(&Value::Null, config).await?;
            // A core tells what it heard in either plan.
            planned.warnings.append(anew.warnings);
            planned = Planned {
                action: Action::Replace,
                replace: planned.replace,
                warnings: planned.warnings,
                ..anew
            };
        }
        Ok(planned)
    }

    async fn plan_once(&self, prior: &Value, config: &Value) -> Result<Planned, Failure> {
        let schema = self.schema()?;
        let proposed = proposed_new(schema, prior, config);
        let response = self.call_plan(prior, &proposed, config).await?;
        let warnings = outcome(&response.diagnostics)?;
        let planned = self.value(response.planned_state.as_ref(), INVALID_PLAN)?;
        if response.legacy_type_system {
            return Err(Failure::broken(INVALID_PLAN, "legacy_type_system is set"));
        }
        Failure::rule("Invalid provider response", write_only_set(schema, &planned))?;
        Failure::rule(INVALID_PLAN, plan_valid(schema, prior, config, &planned))?;
        let mut replace = Vec::new();
        for path in response.requires_replace.iter().map(AttributePath::from_proto) {
            match (prior.at(&path), planned.at(&path)) {
                (None, None) if !prior.is_null() => {
                    return Err(Failure::broken(
                        INVALID_PLAN,
                        format!("{path} replaces the object, but is not there"),
                    ));
                }
                (before, after) if !prior.is_null() && before != after => replace.push(path),
                _ => {}
            }
        }
        let action = match () {
            () if prior.is_null() => Action::Create,
            () if planned == *prior => Action::NoOp,
            () => Action::Update,
        };
        let (private, identity) = (response.planned_private, response.planned_identity);
        Ok(Planned {
            action,
            planned,
            replace,
            warnings,
            private,
            identity,
        })
    }

    async fn carry_out(&mut self, plan: &Planned, config: &Value) -> Result<Diagnostics, Failure> {
        let creating = self.state.is_null();
        if let Some(identity) = &plan.identity {
            self.identity = Some(identity.clone());
        }
        let response = self
            .call_apply(&plan.planned, config, plan.private.clone())
            .await?;
        let result = outcome(&response.diagnostics);
        let after = self.value(response.new_state.as_ref(), INVALID_RESULT)?;
        self.check_stored(&after, INVALID_RESULT)?;
        if result.is_ok() {
            if after.is_null() {
                return Err(Failure::broken(
                    INVALID_RESULT,
                    "the object is null after it was applied",
                ));
            }
            Failure::rule(
                "Provider produced inconsistent result after apply",
                compatible(&plan.planned, &after),
            )?;
        }
        self.tainted = creating && result.is_err() && !after.is_null();
        self.state = after;
        self.private = response.private;
        self.identity = response.new_identity.or_else(|| self.identity.take());
        if result.is_ok() {
            self.check_identity()?;
        }
        result
    }

    /// An object whose type has an identity has one, and all of it is known.
    fn check_identity(&self) -> Result<(), Failure> {
        const TITLE: &str = "Provider returned invalid identity";
        let Some(schema) = self.service.resource_identity_schema(&self.type_name) else {
            return Ok(());
        };
        let data = self
            .identity
            .as_ref()
            .and_then(|identity| identity.identity_data.as_ref());
        let identity = wire::from_proto(data, &schema.ty())
            .map_err(|error| Failure::broken(TITLE, error.to_string()))?;
        if identity.is_null() {
            return Err(Failure::broken(
                TITLE,
                "there is no identity, but the resource's type has one",
            ));
        }
        Failure::rule(TITLE, unknowns_left(&identity))
    }

    fn check_stored(&self, state: &Value, title: &'static str) -> Result<(), Failure> {
        Failure::rule("Invalid provider response", write_only_set(self.schema()?, state))?;
        Failure::rule(title, unknowns_left(state))
    }

    fn schema(&self) -> Result<&Schema, Failure> {
        self.service
            .resource_schema(&self.type_name)
            .ok_or_else(|| Failure::Test(format!("the provider offers no {:?}", self.type_name)))
    }

    fn message(&self, value: &Value) -> Result<Option<proto::DynamicValue>, Failure> {
        wire::to_proto(value, &self.ty)
            .map(Some)
            .map_err(|error| Failure::Test(error.to_string()))
    }

    fn value(&self, message: Option<&proto::DynamicValue>, title: &'static str) -> Result<Value, Failure> {
        wire::from_proto(message, &self.ty).map_err(|error| Failure::broken(title, error.to_string()))
    }

    async fn call_plan(
        &self,
        prior: &Value,
        proposed: &Value,
        config: &Value,
    ) -> Result<proto::plan_resource_change::Response, Failure> {
        let request = proto::plan_resource_change::Request {
            type_name: self.type_name.clone(),
            prior_state: self.message(prior)?,
            proposed_new_state: self.message(proposed)?,
            config: self.message(config)?,
            prior_private: self.private.clone(),
            provider_meta: None,
            client_capabilities: Some(capabilities()),
            prior_identity: self.identity.clone(),
        };
        answered(self.service.plan_resource_change(Request::new(request)).await)
    }

    async fn call_apply(
        &self,
        planned: &Value,
        config: &Value,
        private: Vec<u8>,
    ) -> Result<proto::apply_resource_change::Response, Failure> {
        let request = proto::apply_resource_change::Request {
            type_name: self.type_name.clone(),
            prior_state: self.message(&self.state)?,
            planned_state: self.message(planned)?,
            config: self.message(config)?,
            planned_private: private,
            provider_meta: None,
            planned_identity: self.identity.clone(),
        };
        answered(self.service.apply_resource_change(Request::new(request)).await)
    }
}
