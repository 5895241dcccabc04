//! What a cluster of a sandbox does: pods as processes with all they need, web identity, instances that become nodes.

use std::time::Duration;

use crate::support::aws::{self, between, query, unsigned};
use crate::support::{Place, client, eventually, get};
use joiner_sandbox::tools::progress::Quiet;
use joiner_sandbox::{Cluster, Sandbox, up};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, ServiceAccount};
use kube::api::{DeleteParams, LogParams, PostParams};
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn pods_identities_and_nodes() {
    let place = Place::new();
    let sandbox = up(place.options().await, &Quiet).await.unwrap();
    let cluster = sandbox.cluster("sandbox").await.unwrap().unwrap();
    let kube = client(&cluster.kubeconfig).await;
    a_pod_runs_as_a_process(&sandbox, &cluster, &kube).await;
    other_images_wait_with_a_reason(&kube).await;
    a_job_pod_completes(&kube).await;
    an_instance_becomes_a_node(&sandbox, &cluster, &kube).await;
}

async fn create<K>(kube: &Client, object: Value)
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + serde::Serialize,
{
    let object: K = serde_json::from_value(object).unwrap();
    Api::<K>::namespaced(kube.clone(), "default")
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
}

fn system_pod(name: &str, spec: Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": "default" },
        "spec": {
            "tolerations": [{ "key": "CriticalAddonsOnly", "operator": "Exists" }],
            "terminationGracePeriodSeconds": 2,
        },
    });
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

async fn when(kube: &Client, name: &str, what: &str, is: impl Fn(&Pod) -> bool) -> Pod {
    let pods = Api::<Pod>::namespaced(kube.clone(), "default");
    eventually(what, SOON, || async {
        pods.get(name).await.ok().filter(|pod| is(pod))
    })
    .await
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    conditions
        .into_iter()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod
        .status
        .iter()
        .flat_map(|status| status.container_statuses.iter().flatten());
    statuses.map(|status| status.restart_count).sum()
}

async fn a_pod_runs_as_a_process(sandbox: &Sandbox, cluster: &Cluster, kube: &Client) {
    let endpoint = sandbox.record().aws_endpoint.clone();
    let role = web_identity_role(&endpoint, cluster).await;
    create::<ServiceAccount>(
        kube,
        json!({ "metadata": { "name": "echo", "annotations": { "eks.amazonaws.com/role-arn": role } } }),
    )
    .await;
    create::<ConfigMap>(
        kube,
        json!({ "metadata": { "name": "settings" }, "data": { "file": "text" } }),
    )
    .await;
    let pod = system_pod(
        "echo",
        json!({
            "serviceAccountName": "echo",
            "initContainers": [{ "name": "first", "image": "joiner/echo", "args": ["once"] }],
            "containers": [{
                "name": "echo",
                "image": "joiner/echo:test",
                "args": ["--settings=/etc/settings/file", "$(NAME)"],
                "env": [
                    { "name": "NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
                    { "name": "MEMORY", "valueFrom": { "resourceFieldRef": { "resource": "limits.memory" } } },
                ],
                "resources": { "limits": { "memory": "64Mi" } },
                "ports": [{ "name": "http", "containerPort": 8081 }],
                "readinessProbe": { "httpGet": { "path": "/readyz", "port": "http" } },
                "livenessProbe": { "httpGet": { "path": "/healthz", "port": "http" }, "periodSeconds": 1, "failureThreshold": 1 },
                "volumeMounts": [{ "name": "settings", "mountPath": "/etc/settings" }],
            }],
            "volumes": [{ "name": "settings", "configMap": { "name": "settings" } }],
        }),
    );
    create::<Pod>(kube, pod).await;
    let pod = when(kube, "echo", "the pod is ready", is_ready).await;
    let ip = pod
        .status
        .as_ref()
        .and_then(|status| status.pod_ip.clone())
        .unwrap();

    let logs = logs(kube, "echo", false).await;
    assert!(
        logs.contains("/volumes/settings/file") && logs.contains("\"echo\"]"),
        "{logs}"
    );
    let (_, env) = get(&format!("{ip}:8081"), "/env").await.unwrap();
    for want in [
        "NAME=echo",
        "MEMORY=67108864",
        &format!("AWS_ROLE_ARN={role}"),
        &format!("AWS_ENDPOINT_URL={endpoint}"),
    ] {
        assert!(env.lines().any(|line| line == want), "no {want} in {env}");
    }
    the_pods_tokens_are_good(&endpoint, &role, &env).await;

    // It fails its liveness probe, is restarted, and its earlier log can be read.
    get(&format!("{ip}:8081"), "/sick").await.unwrap();
    when(kube, "echo", "the sick container is restarted", |pod| {
        restarts(pod) == 1 && is_ready(pod)
    })
    .await;
    let previous = self::logs(kube, "echo", true).await;
    assert!(previous.contains("listening on"), "{previous}");

    let pods = Api::<Pod>::namespaced(kube.clone(), "default");
    pods.delete("echo", &DeleteParams::default()).await.unwrap();
    eventually("the pod is gone", SOON, || async {
        pods.get_opt("echo").await.unwrap().is_none().then_some(())
    })
    .await;
    assert!(
        get(&format!("{ip}:8081"), "/healthz").await.is_none(),
        "its process runs on"
    );
}

async fn logs(kube: &Client, pod: &str, previous: bool) -> String {
    let pods = Api::<Pod>::namespaced(kube.clone(), "default");
    let params = LogParams {
        previous,
        container: Some("echo".into()),
        ..LogParams::default()
    };
    pods.logs(pod, &params).await.unwrap()
}

/// A role that only the service account default/echo may take on.
async fn web_identity_role(endpoint: &str, cluster: &Cluster) -> String {
    let issuer = cluster.oidc_issuer.trim_start_matches("https://");
    let trust = json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Effect": "Allow",
            "Principal": { "Federated": cluster.aws.oidc_provider_arn },
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": { "StringEquals": {
                format!("{issuer}:aud"): "sts.amazonaws.com",
                format!("{issuer}:sub"): "system:serviceaccount:default:echo",
            } },
        }],
    })
    .to_string();
    let parameters = [
        ("Action", "CreateRole"),
        ("Version", "2010-05-08"),
        ("RoleName", "echo"),
        ("AssumeRolePolicyDocument", &trust),
    ];
    let (status, text) = query(endpoint, "iam", &parameters).await;
    assert_eq!(status, 200, "{text}");
    between(&text, "<Arn>", "</Arn>").to_owned()
}

async fn the_pods_tokens_are_good(endpoint: &str, role: &str, env: &str) {
    let value = |name: &str| between(&format!("\n{env}\n"), &format!("\n{name}="), "\n").to_owned();
    let token = std::fs::read_to_string(value("AWS_WEB_IDENTITY_TOKEN_FILE")).unwrap();
    let assume = |token: String| async move {
        let parameters = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", role),
            ("RoleSessionName", "test"),
            ("WebIdentityToken", &token),
        ];
        unsigned(endpoint, &parameters).await
    };
    let (status, text) = assume(token.clone()).await;
    assert_eq!(status, 200, "{text}");
    let (status, text) = assume(format!("{token}x")).await;
    assert_ne!(status, 200, "a forged token passes: {text}");

    // The pod's own kubeconfig lets it in, and RBAC keeps it from what it was not given.
    let own = client(std::path::Path::new(&value("KUBECONFIG"))).await;
    let refused = Api::<Pod>::namespaced(own, "default")
        .list(&Default::default())
        .await
        .unwrap_err();
    match refused {
        kube::Error::Api(answer) => {
            assert_eq!(answer.code, 403, "{answer:?}");
            assert!(
                answer.message.contains("system:serviceaccount:default:echo"),
                "{answer:?}"
            );
        }
        other => panic!("{other:?}"),
    }
}

async fn other_images_wait_with_a_reason(kube: &Client) {
    create::<Pod>(
        kube,
        system_pod(
            "foreign",
            json!({ "containers": [{ "name": "web", "image": "nginx" }] }),
        ),
    )
    .await;
    let reason = |pod: &Pod| {
        let status = pod.status.as_ref()?.container_statuses.as_ref()?.first()?;
        status.state.as_ref()?.waiting.clone()
    };
    let pod = when(kube, "foreign", "the pod waits for its image", |pod| {
        reason(pod).is_some_and(|waiting| waiting.reason.as_deref() == Some("ErrImagePull"))
    })
    .await;
    let message = reason(&pod).unwrap().message.unwrap();
    assert!(
        message.contains("joiner/NAME") && message.contains("\"nginx\""),
        "{message}"
    );
}

async fn a_job_pod_completes(kube: &Client) {
    let container = json!({ "name": "echo", "image": "joiner/echo", "args": ["once"] });
    create::<Pod>(
        kube,
        system_pod(
            "once",
            json!({ "restartPolicy": "Never", "containers": [container] }),
        ),
    )
    .await;
    let phase = |pod: &Pod| pod.status.as_ref().and_then(|status| status.phase.clone());
    when(kube, "once", "the pod has succeeded", |pod| {
        phase(pod).as_deref() == Some("Succeeded")
    })
    .await;
    assert!(logs(kube, "once", false).await.contains("done"));
}

async fn an_instance_becomes_a_node(sandbox: &Sandbox, cluster: &Cluster, kube: &Client) {
    let endpoint = sandbox.record().aws_endpoint.clone();
    let parameter =
        "/aws/service/eks/optimized-ami/1.37/amazon-linux-2023/x86_64/standard/recommended/image_id";
    let image = aws::json(
        &endpoint,
        "ssm",
        "AmazonSSM.GetParameter",
        &json!({ "Name": parameter }),
    )
    .await;
    let image = image["Parameter"]["Value"].as_str().unwrap().to_owned();
    let config = format!(
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: {}\n    apiServerEndpoint: {}\n    certificateAuthority: {}\n    cidr: 172.20.0.0/16\n  kubelet:\n    config:\n      maxPods: 20\n    flags:\n    - --node-labels=\"team=a\"\n",
        cluster.name, cluster.endpoint, cluster.certificate_authority
    );
    let user_data = {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(config)
    };
    let owned = format!("kubernetes.io/cluster/{}", cluster.name);
    let parameters = [
        ("Action", "RunInstances"),
        ("Version", "2016-11-15"),
        ("ImageId", image.as_str()),
        ("InstanceType", "m5.large"),
        ("MinCount", "1"),
        ("MaxCount", "1"),
        ("SubnetId", cluster.aws.subnet_ids[0].as_str()),
        ("UserData", user_data.as_str()),
        ("TagSpecification.1.ResourceType", "instance"),
        ("TagSpecification.1.Tag.1.Key", owned.as_str()),
        ("TagSpecification.1.Tag.1.Value", "owned"),
    ];
    let (status, text) = query(&endpoint, "ec2", &parameters).await;
    assert_eq!(status, 200, "{text}");
    let instance = between(&text, "<instanceId>", "</instanceId>").to_owned();

    let nodes = Api::<Node>::all(kube.clone());
    let of_instance = |node: &Node| {
        let provider_id = node.spec.as_ref().and_then(|spec| spec.provider_id.as_deref());
        provider_id.is_some_and(|id| id.ends_with(&instance))
    };
    let find = || async {
        nodes
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .into_iter()
            .find(|node| of_instance(node))
    };
    let ready = |node: &Node| {
        let conditions = node
            .status
            .iter()
            .flat_map(|status| status.conditions.iter().flatten());
        conditions
            .into_iter()
            .any(|condition| condition.type_ == "Ready" && condition.status == "True")
    };
    let node = eventually("the node is ready", SOON, || async {
        find().await.filter(|node| ready(node))
    })
    .await;
    let labels = node.metadata.labels.clone().unwrap();
    assert_eq!(labels["team"], "a");
    assert_eq!(labels["node.kubernetes.io/instance-type"], "m5.large");
    assert_eq!(
        node.status.as_ref().unwrap().allocatable.as_ref().unwrap()["pods"].0,
        "20"
    );

    // A pod that tolerates nothing goes there, and runs.
    create::<Pod>(kube, json!({ "metadata": { "name": "work" }, "spec": { "containers": [{ "name": "a", "image": "pause" }] } })).await;
    let phase = |pod: &Pod| pod.status.as_ref().and_then(|status| status.phase.clone());
    when(kube, "work", "a pod runs on the node", |pod| {
        phase(pod).as_deref() == Some("Running")
    })
    .await;

    let parameters = [
        ("Action", "TerminateInstances"),
        ("Version", "2016-11-15"),
        ("InstanceId.1", instance.as_str()),
    ];
    let (status, text) = query(&endpoint, "ec2", &parameters).await;
    assert_eq!(status, 200, "{text}");
    eventually("the node is gone", SOON, || async {
        find().await.is_none().then_some(())
    })
    .await;
}
