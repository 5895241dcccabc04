//! States as they stand in a state file, also those that other versions of the provider wrote.

use std::collections::HashMap;

use serde_json::Value as Json;
use tfplugin_proto::tfplugin6 as proto;
use tfplugin_proto::tfplugin6::provider_server::Provider as Calls;
use tonic::Request;

use super::{Session, answered, outcome};
use crate::diagnostics::Diagnostics;
use crate::provider::Provider;
use crate::testing::Failure;
use crate::value::Value;

const TITLE: &str = "Invalid resource state upgrade";

/// The attributes of an object as a state file holds them.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// A JSON object, as every core since Terraform 0.12 writes it.
    Json(Json),
    /// Dotted names and texts, as older cores wrote them.
    Flatmap(HashMap<String, String>),
}

impl<P: Provider> Session<P> {
    /// Takes over attributes that were stored at `version` of the schema, without private data and identity, and reads the object.
    ///
    /// # Errors
    /// What the provider says, or a rule that its answer breaks.
    pub async fn restore(&mut self, version: i64, stored: Stored) -> Result<Diagnostics, Failure> {
        let raw = match stored {
            Stored::Json(attributes) => proto::RawState {
                json: attributes.to_string().into_bytes(),
                ..Default::default()
            },
            Stored::Flatmap(flatmap) => proto::RawState {
                flatmap,
                ..Default::default()
            },
        };
        let state = self.upgraded(version, raw).await?;
        self.check_stored(&state, TITLE)?;
        (self.state, self.private, self.identity, self.tainted) = (state, Vec::new(), None, false);
        self.read().await
    }

    /// What the provider makes of a stored state.
    pub(super) async fn upgraded(&self, version: i64, raw: proto::RawState) -> Result<Value, Failure> {
        let request = proto::upgrade_resource_state::Request {
            type_name: self.type_name.clone(),
            version,
            raw_state: Some(raw),
        };
        let upgraded = answered(self.service.upgrade_resource_state(Request::new(request)).await)?;
        outcome(&upgraded.diagnostics)?;
        self.value(upgraded.upgraded_state.as_ref(), TITLE)
    }
}
