"""CreateFleet: choice, errors for each pool, effects of the launch template, idempotency, dry run."""

from __future__ import annotations

import base64
import statistics
import time

import pytest
from conftest import Cloud, Cluster, code, ids, tags


def test_lowest_price_takes_the_cheapest_type(cluster: Cluster) -> None:
    cluster.make_template()
    answer = cluster.fleet(["m5.2xlarge", "m5.large", "c5.large", "r5.large"], count=3)
    (entry,) = answer["Instances"]
    assert entry["InstanceType"] == "c5.large" and len(entry["InstanceIds"]) == 3
    assert entry["Lifecycle"] == "on-demand" and not answer["Errors"]


def test_prioritized_follows_priority(cluster: Cluster) -> None:
    cluster.make_template()
    overrides = [
        {"InstanceType": t, "SubnetId": cluster.subnets[0], "Priority": float(p)}
        for t, p in (("c5.large", 3), ("r5.large", 1), ("m5.large", 2))
    ]
    assert cluster.fleet([], overrides=overrides, strategy="prioritized")["Instances"][0]["InstanceType"] == "r5.large"


@pytest.mark.parametrize(
    "strategy", ["lowest-price", "price-capacity-optimized", "capacity-optimized", "capacity-optimized-prioritized"]
)
def test_spot_strategies_launch(cluster: Cluster, strategy: str) -> None:
    cluster.make_template()
    answer = cluster.fleet(["c5.large", "m5.large"], "spot", 2, strategy)
    assert len(ids(answer)) == 2
    for instance in cluster.instances():
        assert instance["InstanceLifecycle"] == "spot" and instance["SpotInstanceRequestId"].startswith("sir-")


def test_diversified_spreads_over_pools(cluster: Cluster) -> None:
    cluster.make_template()
    answer = cluster.fleet(["c5.large"], "spot", 3, "diversified")
    assert len(answer["Instances"]) == 3


def test_every_failing_pool_has_its_error(cluster: Cluster) -> None:
    cluster.make_template()
    overrides = [{"InstanceType": t, "SubnetId": cluster.subnets[0]} for t in ("nope.large", "m6g.large", "c5.large")]
    overrides.append({"InstanceType": "c5.large", "SubnetId": "subnet-00000000000000000"})
    answer = cluster.fleet([], overrides=overrides)
    codes = {(e["LaunchTemplateAndOverrides"]["Overrides"]["InstanceType"], e["ErrorCode"]) for e in answer["Errors"]}
    assert codes == {
        ("nope.large", "InvalidParameterValue"),
        ("m6g.large", "InvalidParameterValue"),
        ("c5.large", "InvalidSubnetID.NotFound"),
    }
    assert "architecture" in str(answer["Errors"]) and len(ids(answer)) == 1


def test_insufficient_capacity_moves_on_and_is_reported(cloud: Cloud, cluster: Cluster, no_faults: None) -> None:
    cluster.make_template()
    cloud.admin(
        "POST",
        "faults",
        [{"kind": "insufficient-capacity", "match": {"instanceType": "c5.large", "capacityType": "spot"}}],
    )
    answer = cluster.fleet(["c5.large", "m5.large"], "spot")
    assert answer["Instances"][0]["InstanceType"] == "m5.large"
    assert {e["ErrorCode"] for e in answer["Errors"]} == {"InsufficientInstanceCapacity"}
    assert all(
        e["LaunchTemplateAndOverrides"]["Overrides"]["AvailabilityZone"].startswith("us-west-2")
        for e in answer["Errors"]
    )
    none = cluster.fleet(["c5.large"], "spot")
    assert not none["Instances"] and len(none["Errors"]) == 3
    assert cluster.fleet(["c5.large"])["Instances"], "on-demand is not affected"


def test_capacity_of_one_zone(cloud: Cloud, cluster: Cluster, no_faults: None) -> None:
    cluster.make_template()
    cloud.admin("POST", "faults", {"kind": "insufficient-capacity", "match": {"zone": "us-west-2a"}, "times": 1})
    overrides = [
        {"InstanceType": "c5.large", "SubnetId": s, "Priority": float(n)} for n, s in enumerate(cluster.subnets)
    ]
    answer = cluster.fleet([], overrides=overrides, strategy="prioritized")
    assert answer["Instances"][0]["LaunchTemplateAndOverrides"]["Overrides"]["AvailabilityZone"] == "us-west-2b"
    assert not cluster.fleet([], overrides=overrides, strategy="prioritized")["Errors"], "the fault is used up"


def test_launch_template_takes_effect(cluster: Cluster) -> None:
    profile = cluster.profile()
    cluster.make_template(
        IamInstanceProfile={"Name": profile},
        BlockDeviceMappings=[
            {
                "DeviceName": "/dev/xvda",
                "Ebs": {"VolumeSize": 33, "VolumeType": "gp3", "Iops": 4000, "Throughput": 250, "Encrypted": True},
            }
        ],
        MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        TagSpecifications=[tags("network-interface", eni="1"), tags("spot-instances-request", sir="1")],
    )
    own = {f"kubernetes.io/cluster/{cluster.name}": "owned"}
    answer = cluster.fleet(
        ["c5.large"], "spot", tags=[tags("instance", **own), tags("volume", vol="1"), tags("fleet", fleet="1")]
    )
    (instance,) = cluster.instances()
    assert instance["SecurityGroups"][0]["GroupId"] == cluster.info["securityGroupId"]
    assert instance["IamInstanceProfile"]["Arn"].endswith(profile)
    assert (
        instance["MetadataOptions"]["HttpTokens"] == "required"
        and instance["MetadataOptions"]["HttpPutResponseHopLimit"] == 2
    )
    (volume,) = cluster.ec2.describe_volumes(
        Filters=[{"Name": "attachment.instance-id", "Values": [instance["InstanceId"]]}]
    )["Volumes"]
    assert (volume["Size"], volume["VolumeType"], volume["Iops"], volume["Throughput"], volume["Encrypted"]) == (
        33,
        "gp3",
        4000,
        250,
        True,
    )
    assert volume["Tags"] == [{"Key": "vol", "Value": "1"}]
    (eni,) = cluster.ec2.describe_network_interfaces(
        Filters=[{"Name": "attachment.instance-id", "Values": [instance["InstanceId"]]}]
    )["NetworkInterfaces"]
    assert eni["TagSet"] == [{"Key": "eni", "Value": "1"}]
    (request,) = cluster.ec2.describe_spot_instance_requests(
        SpotInstanceRequestIds=[instance["SpotInstanceRequestId"]]
    )["SpotInstanceRequests"]
    assert request["Tags"] == [{"Key": "sir", "Value": "1"}]
    (fleet,) = cluster.ec2.describe_fleets(FleetIds=[answer["FleetId"]])["Fleets"]
    assert fleet["Tags"] == [{"Key": "fleet", "Value": "1"}]
    user_data = cluster.ec2.describe_instance_attribute(InstanceId=instance["InstanceId"], Attribute="userData")[
        "UserData"
    ]["Value"]
    assert base64.b64decode(user_data) == b"hello"


def test_instance_profile_must_exist_and_hold_a_role(cloud: Cloud, cluster: Cluster) -> None:
    cloud.client("iam").create_instance_profile(InstanceProfileName=f"{cluster.name}-empty")
    for name in ("nobody", f"{cluster.name}-empty"):
        cluster.template = f"{cluster.name}-{name}"
        cluster.make_template(IamInstanceProfile={"Name": name})
        (error, *_) = cluster.fleet(["c5.large"])["Errors"]
        assert error["ErrorCode"] == "InvalidParameterValue"


def test_client_token_is_idempotent(cluster: Cluster) -> None:
    cluster.make_template()
    first, second = (cluster.fleet(["c5.large"], ClientToken=cluster.name) for _ in range(2))
    assert first["FleetId"] == second["FleetId"] and len(cluster.instances()) == 1
    assert code(cluster.fleet, ["m5.large"], ClientToken=cluster.name) == "IdempotentParameterMismatch"


def test_refusals(cluster: Cluster) -> None:
    assert code(cluster.fleet, ["c5.large"]) == "InvalidLaunchTemplateName.NotFoundException"
    cluster.make_template()
    assert code(cluster.fleet, ["c5.large"], DryRun=True) == "DryRunOperation"
    assert code(cluster.fleet, ["c5.large"], strategy="cheapest") in ("InvalidParameterValue", "ParamValidationError")
    assert (
        code(
            cluster.fleet, [], overrides=[{"InstanceRequirements": {"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 1}}}]
        )
        == "UnsupportedOperation"
    )
    assert not cluster.instances()


def test_subnet_runs_out_of_addresses(cloud: Cloud, cluster: Cluster) -> None:
    cluster.make_template()
    small = cluster.ec2.create_subnet(
        VpcId=cluster.info["vpcId"], CidrBlock=_free_block(cluster), AvailabilityZone="us-west-2a"
    )["Subnet"]
    assert small["AvailableIpAddressCount"] == 11
    overrides = [{"InstanceType": "c5.large", "SubnetId": small["SubnetId"]}]
    assert len(ids(cluster.fleet([], overrides=overrides, count=11))) == 11
    left = cluster.ec2.describe_subnets(SubnetIds=[small["SubnetId"]])["Subnets"][0]["AvailableIpAddressCount"]
    assert left == 0
    (error,) = cluster.fleet([], overrides=overrides)["Errors"]
    assert error["ErrorCode"] == "InsufficientFreeAddressesInSubnet"
    cluster.ec2.terminate_instances(InstanceIds=[i["InstanceId"] for i in cluster.instances()[:2]])
    assert len(ids(cluster.fleet([], overrides=overrides))) == 1


def _free_block(cluster: Cluster) -> str:
    vpc = cluster.ec2.describe_vpcs(VpcIds=[cluster.info["vpcId"]])["Vpcs"][0]["CidrBlock"]
    return ".".join(vpc.split(".")[:2]) + ".255.0/28"


def test_it_is_fast(cluster: Cluster) -> None:
    cluster.make_template()
    took = []
    for _ in range(20):
        began = time.perf_counter()
        cluster.fleet(["c5.large", "m5.large", "r5.large"], "spot")
        took.append(time.perf_counter() - began)
    assert statistics.median(took) < 0.1, "30 ms on a quiet machine"
