"""Capacity reservations, placement groups and quotas."""

from __future__ import annotations

import datetime
from typing import Any

from conftest import Cloud, Cluster, code, ids, tags


def reserve(cluster: Cluster, count: int = 2, **more: Any) -> str:
    made = cluster.ec2.create_capacity_reservation(
        InstanceType="m5.large", InstancePlatform="Linux/UNIX", AvailabilityZone="us-west-2a", InstanceCount=count,
        InstanceMatchCriteria="targeted", TagSpecifications=[tags("capacity-reservation", team=cluster.name)], **more,
    )  # fmt: skip
    return made["CapacityReservation"]["CapacityReservationId"]


def described(cluster: Cluster, identity: str) -> dict[str, Any]:
    return cluster.ec2.describe_capacity_reservations(CapacityReservationIds=[identity])["CapacityReservations"][0]


def targeted(identity: str) -> dict[str, Any]:
    return {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationId": identity},
    }


def test_a_reservation_holds_so_many(cluster: Cluster) -> None:
    identity = reserve(cluster)
    subnet = cluster.subnets[0]
    zone = cluster.ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailabilityZone"]
    assert zone == "us-west-2a"
    cluster.make_template(CapacityReservationSpecification=targeted(identity))
    overrides = [{"InstanceType": "m5.large", "SubnetId": subnet}]
    made = ids(cluster.fleet([], count=2, overrides=overrides))
    assert len(made) == 2 and described(cluster, identity)["AvailableInstanceCount"] == 0
    assert {i["CapacityReservationId"] for i in cluster.instances()} == {identity}
    full = cluster.fleet([], overrides=overrides)
    assert [e["ErrorCode"] for e in full["Errors"]] == ["ReservationCapacityExceeded"] and not ids(full)
    cluster.ec2.terminate_instances(InstanceIds=made[:1])
    assert described(cluster, identity)["AvailableInstanceCount"] == 1
    wrong = cluster.fleet([], overrides=[{"InstanceType": "m5.xlarge", "SubnetId": subnet}])
    assert [e["ErrorCode"] for e in wrong["Errors"]] == ["InvalidParameterValue"]
    cluster.ec2.cancel_capacity_reservation(CapacityReservationId=identity)
    assert described(cluster, identity)["State"] == "cancelled"
    left = [i for i in cluster.instances() if i["State"]["Name"] == "running"]
    assert len(left) == 1 and "CapacityReservationId" not in left[0]
    late = cluster.fleet([], overrides=overrides)
    assert [e["ErrorCode"] for e in late["Errors"]] == ["InvalidCapacityReservationState.Unavailable"]


def test_reservations_are_found(cluster: Cluster) -> None:
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    first, second = reserve(cluster), reserve(cluster, EndDateType="limited", EndDate=soon)
    mine = [{"Name": "tag:team", "Values": [cluster.name]}]
    found = cluster.ec2.describe_capacity_reservations(Filters=mine)["CapacityReservations"]
    assert {r["CapacityReservationId"] for r in found} == {first, second}
    assert [r["EndDateType"] for r in found] == ["unlimited", "limited"]
    both = [*mine, {"Name": "instance-match-criteria", "Values": ["open"]}]
    assert cluster.ec2.describe_capacity_reservations(Filters=both)["CapacityReservations"] == []
    missing = ["cr-0123456789abcdef0"]
    known = code(cluster.ec2.describe_capacity_reservations, CapacityReservationIds=missing)
    assert known == "InvalidCapacityReservationId.NotFound"


def test_placement_groups(cluster: Cluster) -> None:
    ec2, name = cluster.ec2, f"{cluster.name}-group"
    made = ec2.create_placement_group(GroupName=name, Strategy="spread")["PlacementGroup"]
    assert made["State"] == "available" and made["GroupId"].startswith("pg-")
    assert code(ec2.create_placement_group, GroupName=name, Strategy="spread") == "InvalidPlacementGroup.Duplicate"
    by_name = ec2.describe_placement_groups(GroupNames=[name])["PlacementGroups"]
    assert by_name == ec2.describe_placement_groups(GroupIds=[made["GroupId"]])["PlacementGroups"]
    assert code(ec2.describe_placement_groups, GroupNames=["x"]) == "InvalidPlacementGroup.Unknown"
    cluster.make_template(Placement={"GroupId": made["GroupId"]})
    instance = ids(cluster.fleet(["m5.large"]))[0]
    assert cluster.instances()[0]["Placement"]["GroupName"] == name
    assert code(ec2.delete_placement_group, GroupName=name) == "InvalidPlacementGroup.InUse"
    ec2.terminate_instances(InstanceIds=[instance])
    ec2.delete_placement_group(GroupName=name)
    assert code(ec2.describe_placement_groups, GroupIds=[made["GroupId"]]) == "InvalidPlacementGroupId.NotFound"


def test_quotas(cloud: Cloud) -> None:
    quotas = cloud.client("service-quotas")
    get = lambda: quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-1216C47A")["Quota"]["Value"]  # noqa: E731
    plenty = get()
    cloud.admin("POST", "quotas", {"code": "L-1216C47A", "value": 5})
    assert get() == 5
    cloud.admin("POST", "quotas", {"code": "L-1216C47A"})
    assert get() == plenty
    assert code(quotas.get_service_quota, ServiceCode="ec2", QuotaCode="L-X") == "NoSuchResourceException"
    assert len(quotas.list_service_quotas(ServiceCode="ec2")["Quotas"]) == 19
