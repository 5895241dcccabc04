"""Injected faults, rate limits and counts."""

from __future__ import annotations

import time
import urllib.error
from pathlib import Path

import pytest
from botocore.exceptions import ConnectionClosedError
from conftest import Cloud, Cluster, code, ids


def test_throttle_once(cloud: Cloud, no_faults: None) -> None:
    ec2 = cloud.client("ec2")
    cloud.admin("POST", "faults", {"kind": "throttle", "match": {"action": "ec2:DescribeInstances"}, "times": 1})
    assert code(ec2.describe_instances) == "RequestLimitExceeded"
    ec2.describe_instances()


def test_error_outage_and_latency(cloud: Cloud, no_faults: None) -> None:
    ec2, ssm = cloud.client("ec2"), cloud.client("ssm")
    cloud.admin(
        "POST",
        "faults",
        [
            {"kind": "error", "code": "VcpuLimitExceeded", "match": {"action": "DescribeVpcs"}},
            {"kind": "outage", "match": {"action": "ssm:*"}},
        ],
    )
    assert code(ec2.describe_vpcs) == "VcpuLimitExceeded"
    assert code(ssm.get_parameter, Name="x") == "ServiceUnavailable"
    ec2.describe_subnets()
    cloud.admin("DELETE", "faults")
    cloud.admin("POST", "faults", {"kind": "latency", "milliseconds": 300, "match": {"action": "DescribeVpcs"}})
    began = time.perf_counter()
    ec2.describe_vpcs()
    assert time.perf_counter() - began >= 0.3


def test_lost_response_does_the_work(cloud: Cloud, cluster: Cluster, no_faults: None) -> None:
    cluster.make_template()
    cloud.admin("POST", "faults", {"kind": "lost-response", "match": {"action": "ec2:CreateFleet"}, "times": 1})
    with pytest.raises(ConnectionClosedError):
        cluster.fleet(["c5.large"], ClientToken=cluster.name + "lost")
    assert len(cluster.instances()) == 1
    assert ids(cluster.fleet(["c5.large"], ClientToken=cluster.name + "lost")) == [cluster.instances()[0]["InstanceId"]]


def test_bad_faults_are_refused(cloud: Cloud) -> None:
    for bad in (
        {"kind": "rain"},
        {"kind": "error"},
        {"kind": "throttle", "times": 0},
        {"kind": "throttle", "match": {"colour": "x"}},
        {"kid": "throttle"},
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            cloud.admin("POST", "faults", bad)
        assert refused.value.code == 400


def test_counts_and_recent_requests(cloud: Cloud) -> None:
    before = cloud.admin("GET", "calls").get("ec2:DescribeVpcs", 0)
    cloud.client("ec2").describe_vpcs()
    assert cloud.admin("GET", "calls")["ec2:DescribeVpcs"] == before + 1
    last = cloud.admin("GET", "requests?limit=1")["requests"][0]
    assert (last["call"], last["status"], last["caller"]) == ("ec2:DescribeVpcs", 200, "arn:aws:iam::123456789012:root")


def test_rate_limits(tmp_path: Path) -> None:
    server = Cloud(tmp_path, "--rate-limits", "--region", "ap-northeast-2")
    try:
        assert server.admin("GET", "health")["region"] == "ap-northeast-2"
        ec2 = server.client("ec2", "ap-northeast-2")
        answers = []
        for _ in range(8):
            try:
                ec2.create_fleet(
                    LaunchTemplateConfigs=[
                        {"LaunchTemplateSpecification": {"LaunchTemplateName": "none", "Version": "1"}}
                    ],
                    TargetCapacitySpecification={"TotalTargetCapacity": 1},
                    Type="instant",
                )
            except ec2.exceptions.ClientError as error:
                answers.append(error.response["Error"]["Code"])
        assert (
            answers[:5] == ["InvalidLaunchTemplateName.NotFoundException"] * 5 and "RequestLimitExceeded" in answers[5:]
        )
        rows = ec2.describe_instance_type_offerings(
            LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": ["c5n.4xlarge"]}]
        )
        assert {"ap-northeast-2a", "ap-northeast-2c"} <= {o["Location"] for o in rows["InstanceTypeOfferings"]}
    finally:
        server.stop()
