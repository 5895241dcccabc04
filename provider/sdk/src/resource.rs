//! Managed resources.

use async_trait::async_trait;

use crate::context::Context;
use crate::diagnostics::Diagnostics;
use crate::identity::Identity;
use crate::model::Model;
use crate::path::AttributePath;
use crate::private::Private;
use crate::schema::Schema;
use crate::value::Value;

/// A managed resource: plan, create, read, update, delete, import.
///
/// Only `name`, `create`, `read`, `update` and `delete` must be written. Every `Err` is shown to the user; warnings, and
/// errors beside a state, go through [`Context::report`].
#[async_trait]
pub trait Resource: Send + Sync + 'static {
    /// The provider's data, as [`Provider::Data`](crate::Provider::Data).
    type Data: Send + Sync + 'static;
    /// Configuration, plan and state.
    type Model: Model;
    /// What tells one object from all others; [`NoIdentity`](crate::NoIdentity) when there is none.
    type Identity: Identity;

    /// The type's name in configurations, with the provider's name before it: `example_thing`.
    fn name(&self) -> &'static str;

    /// The version of the state's schema. When it grows, [`Resource::upgrade`] must read the older ones.
    fn version(&self) -> i64 {
        0
    }

    /// The schema; by default the model's.
    fn schema(&self) -> Schema {
        Self::Model::schema(self.version())
    }

    /// Checks the configuration beyond its attributes' validators. Values may be unknown: check what is known. Called
    /// without a configured provider.
    async fn validate(&self, ctx: &Context<Self::Data>, config: &Self::Model) -> Result<(), Diagnostics> {
        let _ = (ctx, config);
        Ok(())
    }

    /// Completes the plan of a create or an update. Defaults, unknown marks and plan modifiers have been applied.
    /// Edit [`Plan::planned`]; only what you change there reaches the plan.
    async fn plan(
        &self,
        ctx: &Context<Self::Data>,
        request: &PlanRequest<Self::Model>,
        plan: &mut Plan<Self::Model, Self::Identity>,
    ) -> Result<(), Diagnostics> {
        let _ = (ctx, request, plan);
        Ok(())
    }

    /// Looks at a planned destroy: report warnings, or refuse with an error.
    async fn plan_destroy(
        &self,
        ctx: &Context<Self::Data>,
        state: &State<Self::Model, Self::Identity>,
    ) -> Result<(), Diagnostics> {
        let _ = (ctx, state);
        Ok(())
    }

    /// Creates the object and returns its state. `Err` says that nothing was made; when something was, return its state and
    /// [report](Context::report) the error.
    async fn create(
        &self,
        ctx: &Context<Self::Data>,
        request: ApplyRequest<Self::Model, Self::Identity>,
    ) -> Result<State<Self::Model, Self::Identity>, Diagnostics>;

    /// Reads the object as it is now; `None` says that it is gone. Return the state's own spelling where it means the same.
    async fn read(
        &self,
        ctx: &Context<Self::Data>,
        state: State<Self::Model, Self::Identity>,
    ) -> Result<Option<State<Self::Model, Self::Identity>>, Diagnostics>;

    /// Changes the object and returns its state. `Err` keeps the prior state; when a part was changed, return what is
    /// there and [report](Context::report) the error.
    async fn update(
        &self,
        ctx: &Context<Self::Data>,
        prior: State<Self::Model, Self::Identity>,
        request: ApplyRequest<Self::Model, Self::Identity>,
    ) -> Result<State<Self::Model, Self::Identity>, Diagnostics>;

    /// Deletes the object and returns when it is gone. `Err` keeps the state. An object that is not there is deleted.
    async fn delete(
        &self,
        ctx: &Context<Self::Data>,
        state: State<Self::Model, Self::Identity>,
    ) -> Result<(), Diagnostics>;

    /// Finds an object that exists; the core reads it afterwards, so it is enough to set what [`Resource::read`] needs.
    async fn import(
        &self,
        ctx: &Context<Self::Data>,
        by: ImportBy<Self::Identity>,
    ) -> Result<Vec<State<Self::Model, Self::Identity>>, Diagnostics> {
        let _ = (ctx, by);
        Err(Diagnostics::error(
            "Import not supported",
            format!("{} cannot be imported.", self.name()),
        ))
    }

    /// Reads a state of an older version. `state` is the stored JSON object.
    async fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<Self::Model, Diagnostics> {
        let _ = state;
        Err(Diagnostics::error(
            "State of another version",
            format!(
                "The state of this {} has version {version}; this provider reads version {}. Use the provider version that \
                 wrote it, or remove the resource from the state and import it.",
                self.name(),
                self.version()
            ),
        ))
    }

    /// Completes a state of this very version that an earlier release may have stored: what that release did not know is null in it. The
    /// provider may be unconfigured. What is filled in here is no change to the core, unlike what the read after it finds.
    fn complete(&self, ctx: &Context<Self::Data>, stored: Self::Model) -> Self::Model {
        let _ = ctx;
        stored
    }

    /// Takes over the state of another resource type (a `moved` block). `None` says that it is no type to move from.
    async fn move_state(
        &self,
        request: MoveRequest,
    ) -> Result<Option<State<Self::Model, Self::Identity>>, Diagnostics> {
        let _ = request;
        Ok(None)
    }
}

/// What is stored of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct State<M, I> {
    /// The attributes.
    pub model: M,
    /// What is kept out of the user's sight.
    pub private: Private,
    /// Its identity, where the resource has one.
    pub identity: Option<I>,
}

impl<M, I> State<M, I> {
    /// A state without private data and identity.
    pub fn new(model: M) -> Self {
        Self {
            model,
            private: Private::default(),
            identity: None,
        }
    }

    /// The same with an identity.
    #[must_use]
    pub fn with_identity(mut self, identity: I) -> Self {
        self.identity = Some(identity);
        self
    }

    /// The same with private data.
    #[must_use]
    pub fn with_private(mut self, private: Private) -> Self {
        self.private = private;
        self
    }
}

/// What a plan decides by.
#[derive(Clone, Debug)]
pub struct PlanRequest<M> {
    /// What the user wrote; write-only values are here alone.
    pub config: M,
    /// What is stored; `None` on create and when a replacement is planned anew.
    pub prior: Option<M>,
    /// The same three without conversion, for paths that a model cannot show.
    pub raw: RawPlan,
}

/// The values that a core sent.
#[derive(Clone, Debug)]
pub struct RawPlan {
    /// What the user wrote.
    pub config: Value,
    /// What is stored; null on create.
    pub prior: Value,
    /// The core's own merge of both.
    pub proposed: Value,
}

/// A plan in the making.
#[derive(Clone, Debug)]
pub struct Plan<M, I> {
    /// The planned attributes. A configured attribute may only keep its value, or take the state's where it means the same.
    pub planned: M,
    /// Private data for the apply.
    pub private: Private,
    /// The identity, where it is known at plan.
    pub identity: Option<I>,
    /// Whether anything differs from the state so far.
    pub changed: bool,
    pub(crate) replace: Vec<AttributePath>,
    pub(crate) assume_changed: bool,
}

impl<M, I> Plan<M, I> {
    /// Says that a change of this attribute replaces the resource. Without effect on create, or when it does not change.
    pub fn require_replace(&mut self, path: impl Into<AttributePath>) {
        self.replace.push(path.into());
    }

    /// Plans an update though nothing is known to change, as when it is not known whether the object is still there. Computed
    /// attributes become unknown as with any change, so that the apply may find them changed; one that should be unknown
    /// in spite of `use_state_for_unknown` is set in [`Plan::planned`].
    pub fn assume_changed(&mut self) {
        self.assume_changed = true;
    }
}

/// What an apply works by.
#[derive(Clone, Debug)]
pub struct ApplyRequest<M, I> {
    /// What the user wrote, wholly known; write-only values are here alone.
    pub config: M,
    /// What was planned. Unknown fields must be filled in; all others must come back as they are.
    pub planned: M,
    /// Private data from the plan.
    pub private: Private,
    /// The identity from the plan.
    pub identity: Option<I>,
}

/// How the user names an object to import.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportBy<I> {
    /// By one text, as in `tofu import ADDRESS ID`.
    Id(String),
    /// By identity, as in an `import` block with `identity`.
    Identity(I),
}

/// The state of another resource type, to be taken over.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The full address of the provider that wrote it: `registry.opentofu.org/gavinbunney/kubectl`.
    pub source_provider: String,
    /// The type that it was.
    pub source_type: String,
    /// The version of its schema.
    pub source_version: i64,
    /// The stored JSON object.
    pub state: serde_json::Value,
    /// Its private data, as bytes.
    pub private: Vec<u8>,
}
