//! What is left of a cluster's nodes: NodeClaims in the cluster, and what the account holds.

use crate::cluster::{Cluster, ClusterError, Objects};
use crate::objects::{blockers, node_claims, surroundings};
use crate::provider::{Joiner, Part};
use crate::report;
use jiff::Timestamp;
use joiner_aws::leftovers::{self, Leftovers};
use joiner_aws::{Aws, Error};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

/// How often a cluster may give no answer before it counts as gone.
const PATIENCE: u32 = 5;

/// One look.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Names of the NodeClaims that are left.
    pub claims: usize,
    /// What the account holds.
    pub left: Leftovers,
    /// What is left, in words.
    pub sentences: Vec<String>,
}

impl Look {
    /// Whether nothing is left.
    pub(super) fn is_clear(&self) -> bool {
        self.claims == 0 && self.left.is_empty()
    }
}

/// Looks at one cluster, again and again.
pub(super) struct Watch<'a> {
    cluster: Option<&'a Cluster>,
    aws: &'a Aws,
    name: &'a str,
    before: Option<Timestamp>,
    silences: u32,
    /// Why the cluster counts as gone.
    pub gone: Option<String>,
}

impl<'a> Watch<'a> {
    /// A watch over the cluster `name`: in the provider's cluster, if it has one, and in its account. With `successor`, the time at which a
    /// cluster was made that has taken its place, only over what is older: the provider then reaches that cluster.
    pub(super) fn new(
        data: &'a Joiner,
        name: &'a str,
        successor: Option<Timestamp>,
    ) -> Result<Self, Diagnostics> {
        let cluster = match &data.cluster {
            Part::Absent => None,
            _ if successor.is_some() => None,
            _ => Some(data.cluster()?),
        };
        Ok(Self {
            cluster,
            aws: data.aws()?,
            name,
            before: successor,
            silences: 0,
            gone: None,
        })
    }

    /// What is left now.
    pub(super) async fn look(&mut self) -> Result<Look, Diagnostics> {
        let claims = self.claims().await?;
        let mut sentences = Vec::new();
        let count = claims.len();
        if let Some(cluster) = self.cluster.filter(|_| count > 0) {
            let view = surroundings(cluster, Json::Null, claims).await;
            sentences.extend(blockers(&view, Timestamp::now()));
        }
        let left = leftovers::find(self.aws, self.name, self.before)
            .await
            .map_err(|error: Error| report::aws("What is left in the account is not known", &error))?;
        sentences.extend(left.sentences());
        Ok(Look {
            claims: count,
            left,
            sentences,
        })
    }

    /// Ends and deletes what can be.
    pub(super) async fn clear(&self, look: &Look) -> Result<(), Diagnostics> {
        leftovers::remove(self.aws, &look.left)
            .await
            .map_err(|error| report::aws("Not all that is left could be deleted", &error))
    }

    /// The NodeClaims; none when the cluster is gone, or has none of the kind.
    async fn claims(&mut self) -> Result<Vec<Json>, Diagnostics> {
        let Some(cluster) = self.cluster.filter(|_| self.gone.is_none()) else {
            return Ok(Vec::new());
        };
        let listed = match Objects::all(cluster, node_claims()).await {
            Ok(objects) => objects.list(None).await,
            Err(error) => Err(error),
        };
        match listed {
            Ok(claims) => {
                self.silences = 0;
                Ok(claims)
            }
            Err(error @ (ClusterError::Eks { .. } | ClusterError::Unreachable { .. })) => {
                self.silences += 1;
                if self.silences >= PATIENCE {
                    self.gone = Some(error.to_string());
                }
                // Until it counts as gone it may have some.
                Ok(vec![Json::Null; usize::from(self.gone.is_none())])
            }
            Err(error) if error.is_transient() => Ok(vec![Json::Null]),
            Err(error) => Err(report::cluster(&error)),
        }
    }
}
