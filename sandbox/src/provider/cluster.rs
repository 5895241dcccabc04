//! The resource `sandbox_cluster`.

use tfplugin::{
    ApplyRequest, Context, Diagnostic, Diagnostics, Field, ImportBy, NoIdentity, Resource, State, async_trait,
};

use super::model::{self, ClusterModel};
use crate::error::Error;
use crate::handle::Sandbox;
use crate::layout::Layout;
use crate::model::{Cluster, ClusterSpec};

pub(super) struct ClusterResource;

type Stored = State<ClusterModel, NoIdentity>;

#[async_trait]
impl Resource for ClusterResource {
    type Data = Layout;
    type Model = ClusterModel;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "sandbox_cluster"
    }

    async fn create(
        &self,
        ctx: &Context<Layout>,
        request: ApplyRequest<ClusterModel, NoIdentity>,
    ) -> Result<Stored, Diagnostics> {
        let layout = ctx.ready()?;
        let spec = ClusterSpec {
            name: text(&request.planned.name),
            port: None,
        };
        // An interrupt is not looked at: a start takes seconds, and half a cluster would be in nobody's state.
        let sandbox = Sandbox::open((*layout).clone()).map_err(|error| failed(&error))?;
        let cluster = sandbox
            .create_cluster(&spec)
            .await
            .map_err(|error| failed(&error))?;
        Ok(State::new(model::of(cluster)))
    }

    async fn read(&self, ctx: &Context<Layout>, state: Stored) -> Result<Option<Stored>, Diagnostics> {
        // Without a known provider the stored state is the best there is.
        if ctx.is_unknown_until_apply() {
            return Ok(Some(state));
        }
        let layout = ctx.ready()?;
        let found = find(&layout, &text(&state.model.name)).await?;
        Ok(found.map(|cluster| State {
            model: model::of(cluster),
            ..state
        }))
    }

    async fn update(
        &self,
        _ctx: &Context<Layout>,
        prior: Stored,
        _request: ApplyRequest<ClusterModel, NoIdentity>,
    ) -> Result<Stored, Diagnostics> {
        // Every attribute that can be set replaces the cluster.
        Ok(prior)
    }

    async fn delete(&self, ctx: &Context<Layout>, state: Stored) -> Result<(), Diagnostics> {
        let layout = ctx.ready()?;
        match Sandbox::open((*layout).clone()) {
            Ok(sandbox) => {
                let name = text(&state.model.name);
                sandbox
                    .delete_cluster(&name)
                    .await
                    .map_err(|error| failed(&error))
            }
            // The sandbox has ended, and the cluster with it.
            Err(Error::NotRunning { .. }) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }

    async fn import(
        &self,
        ctx: &Context<Layout>,
        by: ImportBy<NoIdentity>,
    ) -> Result<Vec<Stored>, Diagnostics> {
        let layout = ctx.ready()?;
        let ImportBy::Id(name) = by else {
            return Err(Diagnostics::error(
                "Import by name",
                "A sandbox_cluster is imported by its name.",
            ));
        };
        match find(&layout, &name).await? {
            Some(cluster) => Ok(vec![State::new(model::of(cluster))]),
            None => Err(Diagnostics::error(
                "No such cluster",
                format!(
                    "The sandbox in {} has no cluster {name:?}.",
                    layout.dir().display()
                ),
            )),
        }
    }
}

/// The cluster, unless it or the whole sandbox is gone.
async fn find(layout: &Layout, name: &str) -> Result<Option<Cluster>, Diagnostics> {
    match Sandbox::open(layout.clone()) {
        Ok(sandbox) => sandbox.cluster(name).await.map_err(|error| failed(&error)),
        Err(Error::NotRunning { .. }) => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

fn text(field: &Field<String>) -> String {
    field.as_str().unwrap_or_default().to_owned()
}

fn failed(error: &Error) -> Diagnostics {
    let summary = match error {
        Error::NotRunning { .. } => "The sandbox is not running",
        Error::Silent { .. } => "The sandbox does not answer",
        _ => "The sandbox failed",
    };
    let mut diagnostics = Diagnostics::default();
    diagnostics.push(Diagnostic::error(summary, crate::chain(error)));
    diagnostics
}
