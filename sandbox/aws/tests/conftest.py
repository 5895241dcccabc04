"""One server for all tests, as its own process; each test makes a cluster of its own."""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

ROOT = Path(__file__).resolve().parent.parent
REGION = "us-west-2"
ADMIN = {"aws_access_key_id": "AKIASANDBOXADMIN00000", "aws_secret_access_key": "sandbox-admin-secret"}
_names = itertools.count(1)


class Cloud:
    """A running server and clients for it."""

    def __init__(self, folder: Path, *options: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "joiner_cloud", "--port", "0", "--state-dir", str(folder), *options], env=environment
        )
        file = folder / "port"
        deadline = time.monotonic() + 60
        while not (file.exists() and file.read_text().strip()):
            assert self.process.poll() is None and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{file.read_text().strip()}"
        while True:
            try:
                if self.admin("GET", "health")["status"] == "ok":
                    return
            except urllib.error.HTTPError:
                pass
            assert time.monotonic() < deadline, "the server did not get ready"
            time.sleep(0.05)

    def client(self, service: str, region: str = REGION, **keys: str) -> Any:
        config = Config(retries={"total_max_attempts": 1}, parameter_validation=True)
        return boto3.client(service, endpoint_url=self.url, region_name=region, config=config, **(keys or ADMIN))

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_sandbox/{path}", data=data, method=method)
        with urllib.request.urlopen(request, timeout=70) as answer:
            return json.load(answer)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = Cloud(tmp_path_factory.mktemp("state"))
    yield server
    server.stop()


@pytest.fixture
def no_faults(cloud: Cloud) -> Any:
    yield
    cloud.admin("DELETE", "faults")


class Cluster:
    """A cluster with what a launch needs: an image, an instance profile, a launch template."""

    def __init__(self, cloud: Cloud, **body: Any) -> None:
        self.cloud = cloud
        self.name = f"c{next(_names)}"
        self.info = cloud.admin("POST", "clusters", {"name": self.name, "version": "1.34", **body})
        self.subnets: list[str] = self.info["subnetIds"]
        self.ec2 = cloud.client("ec2")
        self.template = f"karpenter.k8s.aws/{self.name}"

    def image(self, arch: str = "x86_64") -> str:
        path = f"/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/{arch}/standard/recommended/image_id"
        return self.cloud.client("ssm").get_parameter(Name=path)["Parameter"]["Value"]

    def profile(self) -> str:
        iam, name = self.cloud.client("iam"), f"{self.name}_profile"
        iam.create_instance_profile(InstanceProfileName=name, Path=f"/karpenter/{REGION}/{self.name}/")
        iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=self.info["nodeRoleName"])
        return name

    def make_template(self, **more: Any) -> dict[str, Any]:
        data = {
            "ImageId": self.image(),
            "SecurityGroupIds": [self.info["securityGroupId"]],
            "UserData": base64.b64encode(b"hello").decode(),
            **more,
        }
        return self.ec2.create_launch_template(
            LaunchTemplateName=self.template,
            LaunchTemplateData=data,
            TagSpecifications=[tags("launch-template", **{f"kubernetes.io/cluster/{self.name}": "owned"})],
        )["LaunchTemplate"]

    def fleet(
        self, types: list[str], kind: str = "on-demand", count: int = 1, strategy: str | None = None, **more: Any
    ) -> dict[str, Any]:
        overrides = more.pop("overrides", None) or [
            {"InstanceType": t, "SubnetId": s} for t in types for s in self.subnets
        ]
        options = {
            "AllocationStrategy": strategy or ("lowest-price" if kind == "on-demand" else "price-capacity-optimized")
        }
        return self.ec2.create_fleet(
            Type="instant",
            LaunchTemplateConfigs=[
                {
                    "LaunchTemplateSpecification": {"LaunchTemplateName": self.template, "Version": "$Latest"},
                    "Overrides": overrides,
                }
            ],
            TargetCapacitySpecification={"TotalTargetCapacity": count, "DefaultTargetCapacityType": kind},
            TagSpecifications=more.pop("tags", [tags("instance", **{f"kubernetes.io/cluster/{self.name}": "owned"})]),
            **{"OnDemandOptions" if kind == "on-demand" else "SpotOptions": options},
            **more,
        )

    def instances(self) -> list[dict[str, Any]]:
        filters = [{"Name": f"tag:kubernetes.io/cluster/{self.name}", "Values": ["owned"]}]
        return [i for r in self.ec2.describe_instances(Filters=filters)["Reservations"] for i in r["Instances"]]


@pytest.fixture
def cluster(cloud: Cloud) -> Cluster:
    return Cluster(cloud)


def tags(kind: str, **pairs: str) -> dict[str, Any]:
    return {"ResourceType": kind, "Tags": [{"Key": k, "Value": v} for k, v in pairs.items()]}


def ids(fleet: dict[str, Any]) -> list[str]:
    return [i for entry in fleet["Instances"] for i in entry["InstanceIds"]]


def code(call: Any, *args: Any, **kwargs: Any) -> str:
    """The error code of a call that must fail."""
    with pytest.raises(ClientError) as failure:
        call(*args, **kwargs)
    return failure.value.response["Error"]["Code"]
