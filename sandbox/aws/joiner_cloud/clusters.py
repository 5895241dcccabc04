"""Clusters: what a real account has around an EKS cluster, made in one call.

``create`` makes the network, the cluster's security group, the OIDC provider, the cluster and node roles and the
EKS record; ``delete`` removes them. Callers hold the account's lock.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import time
from typing import Any
from urllib.parse import urlparse

from . import ACCOUNT_ID, catalogue, network
from .ec2.instances import mark_shutting_down
from .errors import AwsError
from .world import World

ZONES = 3
DEFAULT_VERSION = "1.34"
NODE_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
FIELDS = (
    "name",
    "version",
    "endpoint",
    "certificateAuthority",
    "oidcIssuer",
    "jwks",
    "serviceIpv4Cidr",
    "tags",
    "zones",
)


@dataclasses.dataclass
class Cluster:
    name: str
    arn: str
    version: str
    endpoint: str
    certificate_authority: str
    issuer: str
    service_cidr: str
    vpc_id: str
    subnet_ids: list[str]
    security_group_id: str
    provider_arn: str
    role_arn: str
    node_role_name: str
    node_role_arn: str
    region: str
    created: float
    tags: dict[str, str]
    access: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    identities: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """The answer of the admin route."""
        return {
            "name": self.name, "arn": self.arn, "version": self.version, "endpoint": self.endpoint, "vpcId": self.vpc_id,
            "subnetIds": self.subnet_ids, "securityGroupId": self.security_group_id, "oidcProviderArn": self.provider_arn,
            "oidcIssuer": self.issuer, "nodeRoleName": self.node_role_name, "nodeRoleArn": self.node_role_arn,
            "accountId": ACCOUNT_ID, "region": self.region,
        }  # fmt: skip


def create(world: World, body: Any) -> dict[str, Any]:
    """Makes a cluster from ``{"name", "version", "endpoint", "certificateAuthority", "oidcIssuer", "jwks"}``.

    Called again with the name of an existing one, it updates endpoint, CA, issuer, keys and version only.
    """
    if not isinstance(body, dict):
        raise AwsError("InvalidCluster", "a cluster must be an object")
    if unknown := sorted(set(body) - set(FIELDS)):
        raise AwsError("InvalidCluster", f"unknown field {unknown[0]!r}; expected {', '.join(FIELDS)}")
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise AwsError("InvalidCluster", "'name' must be a non-empty string")
    issuer = (body.get("oidcIssuer") or "").rstrip("/")
    if issuer and body.get("jwks") is not None:
        world.issuers[issuer] = _jwks(body["jwks"])
    known = world.clusters.get(name)
    if known:
        known.endpoint = body.get("endpoint") or known.endpoint
        known.certificate_authority = body.get("certificateAuthority") or known.certificate_authority
        known.version = body.get("version") or known.version
        if issuer and issuer != known.issuer:
            _drop_provider(known.provider_arn)
            known.issuer, known.provider_arn = issuer, _provider(issuer)
        return known.describe()
    region = world.settings.region
    tags = {"karpenter.sh/discovery": name, f"kubernetes.io/cluster/{name}": "owned"}
    vpc_id, subnet_ids = _network(region, name, tags, int(body.get("zones") or ZONES))
    backend = network.ec2(region)
    group = backend.create_security_group(
        f"eks-cluster-sg-{name}",
        "EKS created security group",
        vpc_id=vpc_id,
        tags={"Name": f"eks-cluster-sg-{name}", "aws:eks:cluster-name": name, **tags},
    )
    cluster_role = _role(f"{name}-cluster", "eks.amazonaws.com", ("AmazonEKSClusterPolicy",))
    node_role = _role(f"{name}-node", "ec2.amazonaws.com", NODE_POLICIES)
    cluster = Cluster(
        name=name, arn=f"arn:aws:eks:{region}:{ACCOUNT_ID}:cluster/{name}", version=body.get("version") or DEFAULT_VERSION,
        endpoint=body.get("endpoint") or "", certificate_authority=body.get("certificateAuthority") or "", issuer=issuer,
        service_cidr=body.get("serviceIpv4Cidr") or "172.20.0.0/16", vpc_id=vpc_id, subnet_ids=subnet_ids,
        security_group_id=group.id, provider_arn=_provider(issuer) if issuer else "", role_arn=cluster_role.arn,
        node_role_name=node_role.name, node_role_arn=node_role.arn, region=region, created=time.time(),
        tags=dict(body.get("tags") or {}),
    )  # fmt: skip
    world.clusters[name] = cluster
    return cluster.describe()


def _jwks(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise AwsError("InvalidCluster", "'jwks' is not JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        raise AwsError("InvalidCluster", "'jwks' must be an object with a list 'keys'")
    return value


def _network(region: str, name: str, tags: dict[str, str], zones: int) -> tuple[str, list[str]]:
    backend = network.ec2(region)
    used = {vpc.cidr_block for vpc in backend.vpcs.values()}
    block = next(f"10.{n}.0.0/16" for n in range(256) if f"10.{n}.0.0/16" not in used)
    vpc = backend.create_vpc(block, tags=[{"Key": k, "Value": v} for k, v in {"Name": name, **tags}.items()])
    vpc.enable_dns_hostnames = "true"
    halves = list(ipaddress.ip_network(block).subnets(new_prefix=19))
    ids = []
    for (zone, _), part in zip(catalogue.zones(region)[:zones], halves):
        subnet = backend.create_subnet(
            vpc.id, str(part), availability_zone=zone,
            tags={"subnet": {"Name": f"{name}-private-{zone}", "kubernetes.io/role/internal-elb": "1", **tags}},
        )  # fmt: skip
        ids.append(subnet.id)
    return vpc.id, ids


def _provider(issuer: str) -> str:
    parsed = urlparse(issuer)
    arn = f"arn:aws:iam::{ACCOUNT_ID}:oidc-provider/{parsed.netloc}{parsed.path}"
    if arn not in network.iam().open_id_providers:
        network.iam().create_open_id_connect_provider(issuer, ["0" * 40], ["sts.amazonaws.com"], [])
    return arn


def _drop_provider(arn: str) -> None:
    if arn in network.iam().open_id_providers:
        network.iam().delete_open_id_connect_provider(arn)


def _role(name: str, service: str, policies: tuple[str, ...]) -> Any:
    trust = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": ["sts:AssumeRole"]}],
    }
    backend = network.iam()
    role = backend.create_role(name, json.dumps(trust), "/", None, "made by the sandbox", [], 3600)
    for policy in policies:
        backend.attach_role_policy(f"arn:aws:iam::aws:policy/{policy}", name)
    return role


def delete(world: World, name: str) -> dict[str, Any]:
    """Removes a cluster and what ``create`` made; instances that still run in it are terminated."""
    cluster = world.clusters.pop(name, None)
    if cluster is None:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", 404)
    for instance in list(world.ec2.instances.values()):
        if instance.subnet_id in cluster.subnet_ids:
            mark_shutting_down(world, instance, "Server.ClusterDeleted", "the sandbox's cluster was deleted")
    backend = network.ec2(cluster.region)
    kept = []
    for what, remove in (
        (cluster.security_group_id, lambda: backend.delete_security_group(group_id=cluster.security_group_id)),
        *((s, lambda s=s: backend.delete_subnet(s)) for s in cluster.subnet_ids),
        (cluster.vpc_id, lambda: backend.delete_vpc(cluster.vpc_id)),
        (cluster.provider_arn, lambda: _drop_provider(cluster.provider_arn)),
        *((r, lambda r=r: _drop_role(r)) for r in (cluster.node_role_name, f"{name}-cluster")),
    ):
        try:
            remove()
        except Exception as error:
            kept.append({"id": what, "why": str(error)})
    world.issuers.pop(cluster.issuer, None)
    return {"deleted": name, "kept": kept}


def _drop_role(name: str) -> None:
    backend = network.iam()
    role = backend.get_role(name)
    for profile in list(backend.instance_profiles.values()):
        profile.delete_role(name)
    for arn in list(role.managed_policies):
        backend.detach_role_policy(arn, name)
    role.policies.clear()
    backend.delete_role(name)
