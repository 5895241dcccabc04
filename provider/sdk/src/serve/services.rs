//! What go-plugin's client expects beside the provider: standard streams, a broker, an end, and health.

use std::pin::Pin;

use futures::{Stream, StreamExt, stream};
use tfplugin_proto::go_plugin::{self, grpc_broker_server, grpc_controller_server, grpc_stdio_server};
use tfplugin_proto::health::health_check_response::ServingStatus;
use tfplugin_proto::health::{HealthCheckRequest, HealthCheckResponse, health_server};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming, async_trait};

type Items<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Ends when `end` is cancelled, and has nothing to say before: a stream that stayed open would hold up the shutdown.
fn silent<T: Send + 'static>(end: CancellationToken) -> Items<T> {
    Box::pin(stream::once(async move { end.cancelled().await }).filter_map(|()| async { None }))
}

/// Standard output and error are not carried here: what is printed reaches the core through standard error.
pub(crate) struct Stdio {
    pub(crate) end: CancellationToken,
}

#[async_trait]
impl grpc_stdio_server::GrpcStdio for Stdio {
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<Items<go_plugin::StdioData>>, Status> {
        Ok(Response::new(silent(self.end.clone())))
    }
}

/// Providers open no further connections; the stream stays open because clients expect one.
pub(crate) struct Broker {
    pub(crate) end: CancellationToken,
}

#[async_trait]
impl grpc_broker_server::GrpcBroker for Broker {
    async fn start_stream(
        &self,
        _: Request<Streaming<go_plugin::ConnInfo>>,
    ) -> Result<Response<Items<go_plugin::ConnInfo>>, Status> {
        Ok(Response::new(silent(self.end.clone())))
    }
}

/// Ends the process when the client asks for it.
pub(crate) struct Controller {
    pub(crate) end: CancellationToken,
}

#[async_trait]
impl grpc_controller_server::GrpcController for Controller {
    async fn shutdown(&self, _: Request<go_plugin::Empty>) -> Result<Response<go_plugin::Empty>, Status> {
        tracing::debug!("shutdown asked for");
        self.end.cancel();
        Ok(Response::new(go_plugin::Empty {}))
    }
}

/// Says that the service `plugin` serves.
pub(crate) struct Health {
    pub(crate) end: CancellationToken,
}

fn status(service: &str) -> Result<HealthCheckResponse, Status> {
    match service {
        "" | "plugin" => Ok(HealthCheckResponse {
            status: ServingStatus::Serving as i32,
        }),
        other => Err(Status::not_found(format!("there is no service {other:?}"))),
    }
}

#[async_trait]
impl health_server::Health for Health {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        status(&request.get_ref().service).map(Response::new)
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Items<HealthCheckResponse>>, Status> {
        let status = status(&request.get_ref().service)?;
        let stream = stream::once(async move { Ok(status) }).chain(silent(self.end.clone()));
        Ok(Response::new(Box::pin(stream)))
    }
}
