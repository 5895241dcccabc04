"""RunInstances, states, descriptions, filters, pages, tags, the feed and interruptions."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from pathlib import Path

import botocore.auth
import botocore.awsrequest
import botocore.credentials
from conftest import ADMIN, Cloud, Cluster, code, ids


def test_run_terminate_and_describe(cluster: Cluster) -> None:
    run = dict(ImageId=cluster.image(), InstanceType="m5.large", MinCount=1, MaxCount=2, SubnetId=cluster.subnets[1])
    assert code(cluster.ec2.run_instances, DryRun=True, **run) == "DryRunOperation"
    made = cluster.ec2.run_instances(**run)["Instances"]
    assert [i["State"]["Name"] for i in made] == ["pending", "pending"]
    wanted = [i["InstanceId"] for i in made]
    found = cluster.ec2.describe_instances(InstanceIds=wanted)["Reservations"][0]["Instances"]
    assert {i["State"]["Name"] for i in found} == {"running"} and {
        i["Placement"]["AvailabilityZone"] for i in found
    } == {"us-west-2b"}
    change = cluster.ec2.terminate_instances(InstanceIds=wanted[:1])["TerminatingInstances"][0]
    assert (change["PreviousState"]["Name"], change["CurrentState"]["Name"]) == ("running", "shutting-down")
    found = cluster.ec2.describe_instances(InstanceIds=wanted[:1])["Reservations"][0]["Instances"][0]
    assert found["State"]["Name"] == "terminated" and "PrivateIpAddress" not in found


def test_unknown_and_malformed_ids(cluster: Cluster) -> None:
    assert code(cluster.ec2.describe_instances, InstanceIds=["i-0123456789abcdef0"]) == "InvalidInstanceID.NotFound"
    assert code(cluster.ec2.terminate_instances, InstanceIds=["x"]) == "InvalidInstanceID.Malformed"
    assert (
        code(cluster.ec2.create_tags, Resources=["i-0123456789abcdef0"], Tags=[{"Key": "a", "Value": "b"}])
        == "InvalidInstanceID.NotFound"
    )
    assert (
        code(cluster.ec2.create_tags, Resources=["subnet-0123456789abcdef0"], Tags=[{"Key": "a", "Value": "b"}])
        == "InvalidSubnetID.NotFound"
    )


def test_other_regions_say_that_they_are_empty(cloud: Cloud) -> None:
    ec2 = cloud.client("ec2", "eu-west-1")
    assert code(ec2.describe_instances) == "UnsupportedOperation"
    assert ec2.describe_vpcs()["Vpcs"] and ec2.describe_subnets()["Subnets"]


def test_filters(cluster: Cluster) -> None:
    cluster.make_template()
    (one, two) = ids(cluster.fleet(["c5.large"], count=2))
    cluster.ec2.create_tags(Resources=[one], Tags=[{"Key": "karpenter.sh/nodeclaim", "Value": "default-abc12"}])

    def find(**filters: str) -> set[str]:
        mine = [{"Name": f"tag:kubernetes.io/cluster/{cluster.name}", "Values": ["owned"]}]
        mine += [{"Name": k, "Values": [v]} for k, v in filters.items()]
        return {
            i["InstanceId"]
            for r in cluster.ec2.describe_instances(Filters=mine)["Reservations"]
            for i in r["Instances"]
        }

    for filters, want in (
        ({}, {one, two}),
        ({"tag-key": "karpenter.sh/nodeclaim"}, {one}),
        ({"tag:karpenter.sh/nodeclaim": "default-*"}, {one}),
        ({"tag:karpenter.sh/nodeclaim": "default-?bc12"}, {one}),
        ({"instance-state-name": "running"}, {one, two}),
        ({"instance-state-name": "stopped"}, set()),
        ({"instance-type": "c5.*"}, {one, two}),
    ):
        assert find(**filters) == want, filters
    assert (
        code(cluster.ec2.describe_instances, Filters=[{"Name": "colour", "Values": ["red"]}]) == "InvalidParameterValue"
    )
    for call in (cluster.ec2.describe_subnets, cluster.ec2.describe_security_groups, cluster.ec2.describe_images):
        assert code(call, Filters=[{"Name": "colour", "Values": ["red"]}]) == "InvalidParameterValue"
    cluster.ec2.delete_tags(Resources=[one], Tags=[{"Key": "karpenter.sh/nodeclaim"}])
    assert find(**{"tag-key": "karpenter.sh/nodeclaim"}) == set()


def test_pages(cluster: Cluster) -> None:
    cluster.make_template()
    cluster.fleet(["c5.large"], count=12)
    filters = [{"Name": f"tag:kubernetes.io/cluster/{cluster.name}", "Values": ["owned"]}]
    pages = list(
        cluster.ec2.get_paginator("describe_instances").paginate(Filters=filters, PaginationConfig={"PageSize": 5})
    )
    assert [sum(len(r["Instances"]) for r in p["Reservations"]) for p in pages] == [5, 5, 2]


def test_five_hundred_are_described_quickly(cluster: Cluster) -> None:
    cluster.make_template()
    for _ in range(5):
        cluster.fleet(["c5.large"], count=100)
    body = b"Action=DescribeInstances&Version=2016-11-15&Filter.1.Name=instance-state-name&Filter.1.Value.1=running"
    took = []
    for _ in range(3):
        request = botocore.awsrequest.AWSRequest(
            "POST", cluster.cloud.url + "/", {"Content-Type": "application/x-www-form-urlencoded"}, body
        )
        keys = botocore.credentials.Credentials(ADMIN["aws_access_key_id"], ADMIN["aws_secret_access_key"])
        botocore.auth.SigV4Auth(keys, "ec2", "us-west-2").add_auth(request)
        prepared = request.prepare()
        began = time.perf_counter()
        with urllib.request.urlopen(
            urllib.request.Request(prepared.url, prepared.body, dict(prepared.headers))
        ) as answer:
            size = len(answer.read())
        took.append(time.perf_counter() - began)
    assert size > 500_000
    assert min(took) < 0.3
    cluster.ec2.terminate_instances(InstanceIds=[i["InstanceId"] for i in cluster.instances()])


def test_feed_tells_at_once(cloud: Cloud, cluster: Cluster) -> None:
    cluster.make_template()
    seq = cloud.admin("GET", "instances")["seq"]
    assert cloud.admin("GET", f"instances?after={seq}&wait=0.05")["instances"] == []
    assert cloud.admin("GET", f"instances?after={seq + 1000}&wait=5")["seq"] == seq, (
        "a reader from before a restart starts anew"
    )
    answers: list[tuple[float, dict]] = []

    def listen() -> None:
        answers.append((time.perf_counter(), cloud.admin("GET", f"instances?after={seq}&wait=20")))
        answers.append((time.perf_counter(), {}))

    reader = threading.Thread(target=listen)
    reader.start()
    time.sleep(0.3)
    began = time.perf_counter()
    (made,) = ids(cluster.fleet(["c5.large"]))
    reader.join(10)
    assert answers[1][0] - began < 0.5
    (row,) = answers[0][1]["instances"]
    assert (
        row["id"] == made
        and row["userData"] == "hello"
        and row["amiFamily"] == "AL2023"
        and row["cluster"] == cluster.name
    )
    assert (row["vcpu"], row["memoryMiB"], row["lifecycle"]) == (2, 4096, "on-demand")
    assert row["privateDnsName"].startswith("ip-10-") and row["privateDnsName"].endswith(".us-west-2.compute.internal")
    seq = cloud.admin("GET", "instances")["seq"]
    cluster.ec2.terminate_instances(InstanceIds=[made])
    last = cloud.admin("GET", f"instances?after={seq}&wait=5")["instances"][-1]
    assert last["id"] == made and last["state"] in ("shutting-down", "terminated")


def test_interruption_reaches_the_queue_and_then_the_instance(cloud: Cloud, cluster: Cluster) -> None:
    sqs, events = cloud.client("sqs"), cloud.client("events")
    url = sqs.create_queue(QueueName=cluster.name)["QueueUrl"]
    pattern = {
        "source": ["aws.ec2"],
        "detail-type": ["EC2 Spot Instance Interruption Warning", "EC2 Instance State-change Notification"],
    }
    events.put_rule(Name=cluster.name, EventPattern=json.dumps(pattern))
    events.put_targets(
        Rule=cluster.name, Targets=[{"Id": "1", "Arn": f"arn:aws:sqs:us-west-2:123456789012:{cluster.name}"}]
    )
    cluster.make_template()
    (made,) = ids(cluster.fleet(["c5.large"], "spot"))
    cloud.admin("POST", "interrupt", {"instanceId": made, "afterSeconds": 0.2})
    seen: list[tuple[str, str]] = []
    deadline = time.monotonic() + 10
    while ("EC2 Instance State-change Notification", "terminated") not in seen and time.monotonic() < deadline:
        for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=2).get("Messages", []):
            event = json.loads(message["Body"])
            assert (
                event["detail"]["instance-id"] == made
                and event["time"].endswith("Z")
                and event["region"] == "us-west-2"
            )
            seen.append((event["detail-type"], event["detail"].get("state") or event["detail"]["instance-action"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    warning = ("EC2 Spot Instance Interruption Warning", "terminate")
    states = [s for kind, s in seen if kind != warning[0]]
    assert warning in seen and states == ["pending", "running", "shutting-down", "terminated"]


def test_slow_states(tmp_path: Path) -> None:
    server = Cloud(tmp_path, "--pending-seconds", "3", "--shutting-down-seconds", "3")
    try:
        cluster = Cluster(server)
        cluster.make_template()
        cluster.fleet(["c5.large"])
        assert cluster.instances()[0]["State"]["Name"] == "pending"
        assert _eventually(cluster, "running")
        cluster.ec2.terminate_instances(InstanceIds=[cluster.instances()[0]["InstanceId"]])
        assert cluster.instances()[0]["State"]["Name"] == "shutting-down"
        assert _eventually(cluster, "terminated")
    finally:
        server.stop()


def _eventually(cluster: Cluster, state: str) -> bool:
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if cluster.instances()[0]["State"]["Name"] == state:
            return True
        time.sleep(0.05)
    return False


def test_networks_in_use_stay(cluster: Cluster) -> None:
    cluster.make_template()
    made = ids(cluster.fleet([], overrides=[{"InstanceType": "c5.large", "SubnetId": cluster.subnets[0]}]))
    assert code(cluster.ec2.delete_subnet, SubnetId=cluster.subnets[0]) == "DependencyViolation"
    assert code(cluster.ec2.delete_security_group, GroupId=cluster.info["securityGroupId"]) == "DependencyViolation"
    cluster.ec2.terminate_instances(InstanceIds=made)
    cluster.ec2.delete_subnet(SubnetId=cluster.subnets[0])


def test_concurrent_launches_share_nothing(cluster: Cluster) -> None:
    cluster.make_template()
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.extend(ids(cluster.fleet(["c5.large"], count=5)))) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = cluster.instances()
    assert len(set(made)) == 60 == len(found) and len({i["PrivateIpAddress"] for i in found}) == 60
