//! Installing CRDs.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, api::PostParams};

/// The CRDs are accepted as they are, structural, and served.
pub(crate) async fn install(client: &Client, crds: Vec<CustomResourceDefinition>) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        let name = crd.metadata.name.clone().expect("a CRD has a name");
        if let Err(error) = api.create(&PostParams::default(), &crd).await {
            panic!("the API server refuses {name}: {error}");
        }
        for attempt in 0.. {
            let status = api.get(&name).await.expect("the CRD is there").status;
            let conditions = status.and_then(|status| status.conditions).unwrap_or_default();
            let holds = |kind: &str| conditions.iter().any(|c| c.type_ == kind && c.status == "True");
            assert!(!holds("NonStructuralSchema"), "{conditions:?}");
            if holds("Established") {
                break;
            }
            assert!(attempt < 200, "{name} is not served: {conditions:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
