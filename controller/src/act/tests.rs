use jiff::Timestamp;
use joiner_core::conditions::{LAUNCHED, Wanted};
use joiner_core::resources::Resources;
use joiner_core::schedule::NewClaim;
use joiner_core::snapshot::{ClassRef, Pod, PodKey};
use joiner_core::text::labels;
use serde_json::{Value, json};

use super::testing::{act, patched, refusal};
use super::*;
use crate::observe::ClaimEntry;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + second).unwrap()
}

fn claim() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "default-abcde", "uid": "u-1", "resourceVersion": "5", "generation": 1,
            "finalizers": ["karpenter.sh/termination"]},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []},
        "status": {"conditions": [{"type": "Launched", "status": "Unknown", "reason": "AwaitingReconciliation", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}]},
    })
}

fn entry() -> ClaimEntry {
    ClaimEntry::new(&serde_json::from_value(claim()).unwrap())
}

#[tokio::test]
async fn evictions_are_told_apart_by_the_answer() {
    let pod = Pod::new(PodKey::new("shop", "web-0"), Resources::new(), at(0));
    for (code, want) in [
        (201, Some(Evicted::Going)),
        (404, Some(Evicted::Going)),
        (409, Some(Evicted::Going)),
        (429, Some(Evicted::Blocked)),
        (500, Some(Evicted::Misguarded)),
        (403, None),
    ] {
        let answer = move |_: &testing::Seen| match code {
            201 => (
                201,
                json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
            ),
            code => refusal(code, "no"),
        };
        let (act, log) = act(answer);
        assert_eq!(act.evict(&pod).await.ok(), want, "{code}");
        let asked = log.lock().unwrap()[0].clone();
        assert_eq!(asked.path, "/api/v1/namespaces/shop/pods/web-0/eviction");
        assert_eq!(
            asked.body["deleteOptions"]["preconditions"]["uid"],
            json!("shop/web-0"),
            "no later pod of the name"
        );
    }
}

#[tokio::test]
async fn a_claim_is_known_as_soon_as_it_is_made() {
    let (act, log) = act(|asked| {
        let mut made = asked.body.clone();
        made["metadata"]["uid"] = "u-9".into();
        made["metadata"]["resourceVersion"] = "9".into();
        (201, made)
    });
    let wanted = NewClaim {
        pool: "default".into(),
        pool_uid: "p-1".into(),
        class: ClassRef {
            group: "karpenter.k8s.aws".into(),
            kind: "EC2NodeClass".into(),
            name: "default".into(),
        },
        pods: vec![PodKey::new("shop", "web-0")],
        requirements: Default::default(),
        instance_types: Vec::new().into(),
        requests: Resources::cpu_memory(1500, 1 << 30),
        price: joiner_core::money::Price::MAX,
        labels: labels([("karpenter.sh/nodepool", "default")]),
        annotations: labels([("karpenter.sh/nodepool-hash", "1")]),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        expire_after: None,
        termination_grace_period: Some(jiff::SignedDuration::from_mins(90)),
        min_values_relaxed: false,
    };
    let made = act.create_claim(&wanted, &"default-abcde".into()).await.unwrap();
    assert_eq!(&*made.claim.uid, "u-9");
    assert!(act.index.claim_entry("default-abcde").is_some());
    let body = log.lock().unwrap()[0].body.clone();
    assert_eq!(
        body["metadata"]["finalizers"],
        json!(["karpenter.sh/termination"])
    );
    assert_eq!(
        body["metadata"]["ownerReferences"],
        json!([{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "default", "uid": "p-1", "blockOwnerDeletion": true}])
    );
    assert_eq!(body["spec"]["expireAfter"], "Never");
    assert_eq!(body["spec"]["terminationGracePeriod"], "1h30m0s");
    assert_eq!(body["spec"]["resources"]["requests"]["cpu"], "1500m");
}

#[tokio::test]
async fn a_status_is_written_against_the_version_that_was_read() {
    let (act, log) = act(|asked| (200, patched(&claim(), &asked.body)));
    let status = ClaimStatus {
        conditions: vec![Wanted::yes(LAUNCHED)],
        provider_id: Some("aws:///us-west-2a/i-1".into()),
        ..ClaimStatus::default()
    };
    let after = act.set_claim_status(&entry(), &status, at(60)).await.unwrap();
    assert!(after.claim.is_launched());
    let asked = log.lock().unwrap()[0].clone();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("PATCH", "/apis/karpenter.sh/v1/nodeclaims/default-abcde/status")
    );
    assert_eq!(asked.body["metadata"]["resourceVersion"], "5");
    let want = json!([{"type": "Launched", "status": "True", "reason": "Launched", "message": "",
        "lastTransitionTime": "2026-01-01T00:01:00Z", "observedGeneration": 1}]);
    assert_eq!(asked.body["status"]["conditions"], want);
}

#[tokio::test]
async fn a_lost_race_is_a_conflict_and_a_deletion_twice_is_none() {
    let (act_of_race, _) = act(|_| refusal(409, "Conflict"));
    let lost = act_of_race
        .set_claim_status(&entry(), &ClaimStatus::default(), at(0))
        .await;
    assert!(matches!(lost, Err(Failed::Conflict { .. })), "{lost:?}");
    let (act_of_gone, _) = act(|_| refusal(404, "NotFound"));
    assert!(act_of_gone.delete_claim(&entry().claim).await.is_ok());
}

#[tokio::test]
async fn a_claim_without_finalizers_is_forgotten_at_once() {
    let (act, _) = act(|asked| {
        let mut object = claim();
        object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        (200, patched(&object, &asked.body))
    });
    act.index.claim(&serde_json::from_value(claim()).unwrap());
    act.set_claim_finalizers(&entry(), &[]).await.unwrap();
    assert!(act.index.claim_entry("default-abcde").is_none());
}
