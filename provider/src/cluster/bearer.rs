//! A bearer token for every request, made when it is needed and made anew after a 401.

use super::Secret;
use async_trait::async_trait;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{Request, Response, StatusCode};
use kube::client::Body;
use std::sync::Arc;
use std::task::{Context, Poll};
use thiserror::Error;
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service, ServiceExt as _};

/// Makes bearer tokens for one cluster.
#[async_trait]
pub(crate) trait TokenSource: Send + Sync + 'static {
    /// A token that is valid now and for at least some minutes.
    async fn token(&self) -> Result<Secret, TokenError>;

    /// Why the API server may have refused a fresh token; `None` when the source knows no more than the server.
    async fn refused(&self) -> Option<TokenError> {
        None
    }
}

/// No token could be made.
#[derive(Debug, Error)]
#[error("{cause}")]
pub(crate) struct TokenError {
    /// Why, with the remedy.
    pub cause: String,
}

/// A tower layer that sets `Authorization` on each request and repeats a request once with a fresh token after a 401.
#[derive(Clone)]
pub(crate) struct BearerLayer {
    source: Arc<dyn TokenSource>,
}

impl BearerLayer {
    /// A layer over the given source.
    pub(crate) fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { source }
    }
}

impl<S> Layer<S> for BearerLayer {
    type Service = Bearer<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Bearer {
            source: Arc::clone(&self.source),
            inner: Arc::new(Mutex::new(inner)),
        }
    }
}

/// The service that [`BearerLayer`] makes.
pub(crate) struct Bearer<S> {
    source: Arc<dyn TokenSource>,
    inner: Arc<Mutex<S>>,
}

impl<S, B> Service<Request<Body>> for Bearer<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError> + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<B>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (source, inner) = (Arc::clone(&self.source), Arc::clone(&self.inner));
        Box::pin(async move {
            let again = copy(&request);
            let answer = send(&*source, &inner, request).await?;
            match again {
                Some(again) if answer.status() == StatusCode::UNAUTHORIZED => {
                    let answer = send(&*source, &inner, again).await?;
                    match answer.status() {
                        StatusCode::UNAUTHORIZED => match source.refused().await {
                            Some(why) => Err(why.into()),
                            None => Ok(answer),
                        },
                        _ => Ok(answer),
                    }
                }
                _ => Ok(answer),
            }
        })
    }
}

async fn send<S, B>(
    source: &dyn TokenSource,
    inner: &Mutex<S>,
    mut request: Request<Body>,
) -> Result<Response<B>, BoxError>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
{
    let token = source.token().await?;
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))?;
    value.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, value);
    let answer = {
        let mut service = inner.lock().await;
        service.ready().await?.call(request)
    };
    answer.await
}

/// The same request again, unless its body is a stream.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().try_clone()?);
    *again.method_mut() = request.method().clone();
    *again.uri_mut() = request.uri().clone();
    *again.version_mut() = request.version();
    *again.headers_mut() = request.headers().clone();
    Some(again)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counting(AtomicUsize);

    #[async_trait]
    impl TokenSource for Counting {
        async fn token(&self) -> Result<Secret, TokenError> {
            Ok(Secret::new(format!("t{}", self.0.fetch_add(1, Ordering::SeqCst))))
        }
    }

    async fn statuses(accepted: &'static str) -> (StatusCode, usize) {
        let source = Arc::new(Counting(AtomicUsize::new(0)));
        let server = tower::service_fn(move |request: Request<Body>| async move {
            let got = request.headers()[AUTHORIZATION]
                .to_str()
                .unwrap_or_default()
                .to_owned();
            let code = if got == accepted {
                StatusCode::OK
            } else {
                StatusCode::UNAUTHORIZED
            };
            let mut answer = Response::new(request.into_body());
            *answer.status_mut() = code;
            Ok::<_, BoxError>(answer)
        });
        let mut service = BearerLayer::new(source.clone()).layer(server);
        let request = Request::new(Body::from(b"{}".to_vec()));
        let answer = service
            .ready()
            .await
            .expect("ready")
            .call(request)
            .await
            .expect("an answer");
        (answer.status(), source.0.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn a_refused_token_is_replaced_once() {
        assert_eq!(
            statuses("Bearer t0").await,
            (StatusCode::OK, 1),
            "the first token serves"
        );
        assert_eq!(
            statuses("Bearer t1").await,
            (StatusCode::OK, 2),
            "a 401 makes a second one"
        );
        assert_eq!(
            statuses("Bearer never").await,
            (StatusCode::UNAUTHORIZED, 2),
            "then it gives up"
        );
    }
}
