"""The pure parts, without a server: policies, filters, strategies, limits, devices, prices, wire."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from joiner_cloud import mototune

mototune.before_import()

from joiner_cloud import catalogue, policy, prices, wire  # noqa: E402
from joiner_cloud.ec2 import devices, strategy  # noqa: E402
from joiner_cloud.ec2.entities import Image  # noqa: E402
from joiner_cloud.ec2.filters import compile_filters, matches, page  # noqa: E402
from joiner_cloud.ec2.tagspec import tag_dict  # noqa: E402
from joiner_cloud.errors import AwsError  # noqa: E402
from joiner_cloud.limits import Limits  # noqa: E402


def doc(**statement: Any) -> str:
    return json.dumps({"Statement": {"Effect": "Allow", "Action": "ec2:*", "Resource": "*", **statement}})


@pytest.mark.parametrize(
    ("documents", "action", "resource", "context", "want"),
    [
        ([], "ec2:A", "*", {}, policy.NOT_ALLOWED),
        ([doc()], "ec2:A", "arn:x", {}, policy.ALLOWED),
        ([doc(Action="EC2:describe*")], "ec2:DescribeX", "*", {}, policy.ALLOWED),
        ([doc(Action="ec2:Describe?")], "ec2:DescribeXY", "*", {}, policy.NOT_ALLOWED),
        ([doc(), doc(Effect="Deny", Resource="arn:x")], "ec2:A", "arn:x", {}, policy.DENIED),
        ([doc(), doc(Effect="Deny", Resource="arn:y")], "ec2:A", "arn:x", {}, policy.ALLOWED),
        (
            [json.dumps({"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]})],
            "iam:A",
            "*",
            {},
            policy.NOT_ALLOWED,
        ),
        ([doc(Resource="arn:aws:ec2:*:*:instance/*")], "ec2:A", "arn:aws:ec2:r:1:instance/*", {}, policy.ALLOWED),
        ([doc(Resource="arn:${aws:userid}")], "ec2:A", "arn:me", {"aws:userid": "me"}, policy.ALLOWED),
        ([doc(Resource="arn:${aws:userid}")], "ec2:A", "arn:me", {}, policy.NOT_ALLOWED),
        (["nonsense"], "ec2:A", "*", {}, policy.NOT_ALLOWED),
    ],
)
def test_policy(documents: list[str], action: str, resource: str, context: dict[str, Any], want: str) -> None:
    assert policy.evaluate(documents, action, resource, context) == want


@pytest.mark.parametrize(
    ("condition", "context", "want"),
    [
        ({"StringEquals": {"aws:RequestTag/Team": "a"}}, {"aws:requesttag/team": "a"}, True),
        ({"StringEquals": {"aws:RequestTag/Team": "a"}}, {}, False),
        ({"StringEqualsIfExists": {"aws:RequestTag/Team": "a"}}, {}, True),
        ({"StringNotEquals": {"k": "a"}}, {}, True),
        ({"StringNotEquals": {"k": ["a", "b"]}}, {"k": "b"}, False),
        ({"StringLike": {"k": "a*"}}, {"k": "abc"}, True),
        ({"StringLike": {"k": ["x", "?bc"]}}, {"k": "abc"}, True),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["a", "b"]}}, {"aws:tagkeys": ["a"]}, True),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["a", "b"]}}, {"aws:tagkeys": ["a", "c"]}, False),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["a"]}}, {"aws:tagkeys": []}, True),
        ({"ForAnyValue:StringEquals": {"aws:TagKeys": ["a"]}}, {"aws:tagkeys": ["b", "a"]}, True),
        ({"ForAnyValue:StringEquals": {"aws:TagKeys": ["a"]}}, {}, False),
        ({"Null": {"k": "true"}}, {}, True),
        ({"Null": {"k": "false"}}, {}, False),
        ({"Bool": {"aws:SecureTransport": "true"}}, {"aws:securetransport": True}, True),
        ({"NumericLessThan": {"k": "10"}}, {"k": 9}, True),
        ({"ArnLike": {"k": "arn:aws:iam::*:role/a*"}}, {"k": "arn:aws:iam::1:role/abc"}, True),
        ({"Unheard": {"k": "1"}}, {"k": "1"}, False),
        ({"StringEquals": {"a": "1", "b": "2"}}, {"a": "1", "b": "3"}, False),
    ],
)
def test_conditions(condition: dict[str, Any], context: dict[str, Any], want: bool) -> None:
    assert policy.conditions_hold(condition, context) is want


@pytest.mark.parametrize(
    ("value", "wanted", "want"),
    [
        ("abc", ["abc"], True),
        ("abc", ["a*"], True),
        ("abc", ["a?"], False),
        ("a*c", ["a\\*c"], True),
        ("abc", ["a\\*c"], False),
        (True, ["true"], True),
        (["x", "y"], ["y"], True),
        (None, ["*"], False),
        ("abc", ["x", "abc"], True),
    ],
)
def test_filter_values(value: Any, wanted: list[str], want: bool) -> None:
    assert matches(value, wanted) is want


def test_filters_are_anded_and_unknown_ones_refused() -> None:
    record = SimpleNamespace(tags={"a": "1"}, id="i")
    known = {"id": lambda r: r.id}
    test = compile_filters([{"Name": "id", "Values": ["i"]}, {"Name": "tag:a", "Values": ["2"]}], known)
    assert not test(record)
    assert compile_filters([{"Name": "tag-key", "Values": ["a"]}], known)(record)
    with pytest.raises(AwsError, match="'colour' is invalid"):
        compile_filters([{"Name": "colour", "Values": ["x"]}], known)


def test_pages() -> None:
    items = list(range(7))
    first, token = page(items, {"MaxResults": 5}, 100)
    rest, last = page(items, {"MaxResults": 5, "NextToken": token}, 100)
    assert first + rest == items and last is None
    assert page(items, {}, 3)[0] == [0, 1, 2]
    with pytest.raises(AwsError, match="token"):
        page(items, {"NextToken": "x"}, 3)


def pool(type_name: str, zone: str = "us-west-2a", priority: float | None = None) -> Any:
    return SimpleNamespace(
        type=type_name, plan=SimpleNamespace(zone=zone), override={"Priority": priority} if priority is not None else {}
    )


def test_strategies_order_pools() -> None:
    pools = [pool("m5.2xlarge", priority=1), pool("c5.large", priority=2), pool("m5.large", priority=0)]

    def types(kind: str, name: str) -> list[str]:
        return [p.type for p in strategy.order(kind, name, "us-west-2", pools)]

    assert types("on-demand", "lowest-price") == ["c5.large", "m5.large", "m5.2xlarge"]
    assert types("on-demand", "prioritized") == ["m5.large", "m5.2xlarge", "c5.large"]
    assert types("spot", "price-capacity-optimized")[-1] == "m5.2xlarge"
    assert types("spot", "capacity-optimized-prioritized") == ["m5.large", "m5.2xlarge", "c5.large"]
    deepest = max(pools, key=lambda p: prices.spot_depth(p.type, "us-west-2a")).type
    assert types("spot", "capacity-optimized")[0] == deepest
    with pytest.raises(AwsError, match="strategy"):
        strategy.order("on-demand", "capacity-optimized", "us-west-2", pools)


def test_prices_are_plausible_for_every_type() -> None:
    for name in catalogue.types():
        price = prices.on_demand("us-west-2", name)
        assert 1_000 < price < 500_000_000, name
        for zone in ("us-west-2a", "us-west-2b"):
            assert 0.3 < prices.spot("us-west-2", name, zone) / price < 0.41, name
    assert prices.on_demand("us-west-2", "m5.xlarge") == 192_000 == 2 * prices.on_demand("us-west-2", "m5.large")
    assert prices.dollars(1_096_000) == "1.096000"


def test_token_buckets() -> None:
    limits = Limits()
    assert [limits.take("r", "RunInstances", 0.0) for _ in range(6)] == [True] * 5 + [False]
    assert limits.take("other", "RunInstances", 0.0), "each region has its own"
    assert [limits.take("r", "RunInstances", 1.0) for _ in range(3)] == [True, True, False]
    assert sum(limits.take("r", "DescribeVpcs", 0.0) for _ in range(150)) == 100
    assert sum(limits.take("r", "CreateLaunchTemplate", 0.0) for _ in range(150)) == 50


IMAGE = Image(
    "ami-1",
    "n",
    "1",
    None,
    "x86_64",
    "/dev/xvda",
    0.0,
    "",
    [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 2, "VolumeType": "gp3"}}],
    "Custom",
    {},
)


@pytest.mark.parametrize(
    ("ebs", "want"),
    [
        ({"VolumeSize": 20}, (20, "gp3", 3000, 125)),
        ({"VolumeSize": 100, "VolumeType": "gp2"}, (100, "gp2", 300, None)),
        ({"VolumeType": "gp3", "Iops": 4000, "Throughput": 1000, "VolumeSize": 20}, (20, "gp3", 4000, 1000)),
        ({"VolumeType": "gp4"}, "volumeType"),
        ({"VolumeType": "io2", "VolumeSize": 10}, "iops must be specified"),
        ({"VolumeType": "gp2", "Iops": 3000}, "not supported for gp2"),
        ({"Iops": 4000, "VolumeSize": 2}, "ratio"),
        ({"Throughput": 1000, "VolumeSize": 20}, "ratio"),
        ({"VolumeSize": 0}, "too small"),
    ],
)
def test_devices(ebs: dict[str, Any], want: Any) -> None:
    data = {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": ebs}]}
    if isinstance(want, str):
        with pytest.raises(AwsError, match=want):
            devices.volumes_of(data, IMAGE)
        return
    (volume,) = devices.volumes_of(data, IMAGE)
    assert (volume.size, volume.kind, volume.iops, volume.throughput) == want


@pytest.mark.parametrize("tag", [{"Key": ""}, {"Key": "aws:x"}, {"Key": "a" * 129}, {"Key": "a", "Value": "v" * 257}])
def test_bad_tags(tag: dict[str, str]) -> None:
    with pytest.raises(AwsError):
        tag_dict([tag])


def test_requests_are_read_by_the_model() -> None:
    flat = {
        "Filter.1.Name": "vpc-id", "Filter.1.Value.1": "a", "Filter.1.Value.2": "b", "MaxResults": "7", "DryRun": "true",
        "InstanceId.1": "i-1",
    }  # fmt: skip
    want = {
        "Filters": [{"Name": "vpc-id", "Values": ["a", "b"]}],
        "MaxResults": 7,
        "DryRun": True,
        "InstanceIds": ["i-1"],
    }
    assert wire.parse("ec2", "DescribeInstances", flat) == want
    tags = {"Tags.member.1.Key": "k", "Tags.member.1.Value": "v", "InstanceProfileName": "p"}
    assert wire.parse("iam", "CreateInstanceProfile", tags) == {
        "Tags": [{"Key": "k", "Value": "v"}],
        "InstanceProfileName": "p",
    }
    with pytest.raises(AwsError, match="number"):
        wire.parse("ec2", "DescribeInstances", {"MaxResults": "x"})


@pytest.mark.parametrize(
    "text",
    [
        "2026-06-11T18:04:05Z",
        "2026-06-11T18:04:05.0Z",
        "2026-06-11T18:04:05.000000009Z",
        "2026-06-11T20:04:05+02:00",
        "2026-06-11T18:04:05",
        "1781201045",
    ],
)
def test_times_are_read_in_every_form(text: str) -> None:
    assert wire.from_iso(text) == pytest.approx(1781201045)


def test_answers_are_written_by_the_model() -> None:
    text = wire.render(
        "ec2",
        "CreateFleet",
        {"FleetId": "f<", "Errors": [], "Instances": [{"InstanceIds": ["i-1"], "Lifecycle": "spot"}]},
        "r",
    ).decode()
    assert "<fleetId>f&lt;</fleetId>" in text and "<errorSet></errorSet>" in text
    assert (
        "<fleetInstanceSet><item><lifecycle>spot</lifecycle><instanceIds><item>i-1</item></instanceIds></item></fleetInstanceSet>"
        in text
    )
