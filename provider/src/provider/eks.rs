//! A cluster found through EKS: endpoint by DescribeCluster, a token for each request.

use crate::cluster::{ClusterError, EksClusters, EksEndpoint, Secret, TokenError, TokenSource};
use async_trait::async_trait;
use joiner_aws::{Aws, eks, sts};
use std::sync::Arc;
use std::time::SystemTime;

/// One EKS cluster over one AWS connection.
pub(super) struct EksCluster {
    /// The connection, with the role of `eks.role_arn` taken on.
    pub aws: Aws,
    /// The cluster's name.
    pub name: String,
}

#[async_trait]
impl EksClusters for EksCluster {
    async fn describe(&self) -> Result<EksEndpoint, ClusterError> {
        let cluster = eks::describe(&self.aws, &self.name)
            .await
            .map_err(|error| ClusterError::Eks {
                cause: error.to_string(),
            })?;
        match (cluster.endpoint, cluster.certificate_authority) {
            (Some(endpoint), Some(certificate_authority)) => Ok(EksEndpoint {
                endpoint,
                certificate_authority,
            }),
            _ => Err(ClusterError::Eks {
                cause: format!(
                    "cluster {} is {} and has no endpoint yet; refer to an attribute of the cluster that is unknown until it is \
                     ready, such as its id",
                    self.name, cluster.status
                ),
            }),
        }
    }

    async fn tokens(&self) -> Result<Arc<dyn TokenSource>, ClusterError> {
        Ok(Arc::new(Tokens {
            aws: self.aws.clone(),
            name: self.name.clone(),
        }))
    }
}

struct Tokens {
    aws: Aws,
    name: String,
}

#[async_trait]
impl TokenSource for Tokens {
    async fn token(&self) -> Result<Secret, TokenError> {
        let token = eks::token(&self.aws, &self.name, SystemTime::now()).await;
        token.map(Secret::new).map_err(|error| TokenError {
            cause: format!("no token for the cluster: {error}"),
        })
    }

    /// A token is made without a call, so only now it shows whether AWS knows the credentials behind it.
    async fn refused(&self) -> Option<TokenError> {
        let cause = match sts::identity(&self.aws).await {
            Ok(caller) => format!(
                "the API server refused the token (401): {} has no access entry in cluster {}. Create one (aws eks create-access-entry \
                 --cluster-name {} --principal-arn ...), with a policy that allows what is applied, or use credentials that have one",
                caller.arn, self.name, self.name
            ),
            Err(error) if error.is_auth() => format!("the API server refused the token (401): {error}"),
            Err(_) => return None,
        };
        Some(TokenError { cause })
    }
}
