//! Lists of a cluster, page by page as text: however many objects there are, few are held at a time.

use crate::cluster::{Cluster, ClusterError};
use serde::Deserialize;

/// How many objects a page has at most.
const PAGE: usize = 500;

/// What a page says of the next.
#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMetadata,
}

#[derive(Default, Deserialize)]
struct PageMetadata {
    #[serde(default, rename = "continue")]
    next: Option<String>,
}

/// The items of a page.
#[derive(Deserialize)]
pub(super) struct Items<T> {
    /// In the server's order.
    pub items: Vec<T>,
}

/// Hands every page of the list at `path` to `take`, one after the other.
pub(super) async fn pages(
    cluster: &Cluster,
    path: &str,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<(), ClusterError> {
    let unexpected = |cause: String| ClusterError::Unexpected {
        cluster: cluster.label().to_owned(),
        cause,
    };
    let mut next = String::new();
    loop {
        let from = match next.as_str() {
            "" => String::new(),
            token => {
                let token: String = url::form_urlencoded::byte_serialize(token.as_bytes()).collect();
                format!("&continue={token}")
            }
        };
        let request = http::Request::get(format!("{path}?limit={PAGE}{from}"))
            .body(Vec::new())
            .map_err(|error| unexpected(error.to_string()))?;
        let answer = cluster.client().await?.request_text(request).await;
        let text = answer.map_err(|error| ClusterError::from_kube(cluster.label(), error))?;
        take(&text).map_err(|problem| unexpected(format!("{path}: {problem}")))?;
        let page: Page = serde_json::from_str(&text).map_err(|error| unexpected(error.to_string()))?;
        match page.metadata.next.filter(|token| !token.is_empty()) {
            Some(token) => next = token,
            None => return Ok(()),
        }
    }
}
