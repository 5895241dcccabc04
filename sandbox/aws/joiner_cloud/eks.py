"""EKS: clusters that the sandbox registered, access entries, pod identity associations. Other clusters are moto's."""

from __future__ import annotations

import re
import time
import uuid
from typing import Any
from urllib.parse import unquote

from . import ACCOUNT_ID, network
from .call import Call
from .clusters import Cluster
from .errors import AwsError
from .registry import PASS, action
from .world import World

# (method, path, action); ``{x}`` is one segment, which may hold an encoded ARN
_ROUTES = [
    ("GET", "/clusters", "ListClusters"),
    ("GET", "/clusters/{name}", "DescribeCluster"),
    ("GET", "/clusters/{name}/access-entries", "ListAccessEntries"),
    ("POST", "/clusters/{name}/access-entries", "CreateAccessEntry"),
    ("GET", "/clusters/{name}/access-entries/{principal}", "DescribeAccessEntry"),
    ("POST", "/clusters/{name}/access-entries/{principal}", "UpdateAccessEntry"),
    ("DELETE", "/clusters/{name}/access-entries/{principal}", "DeleteAccessEntry"),
    ("GET", "/clusters/{name}/access-entries/{principal}/access-policies", "ListAssociatedAccessPolicies"),
    ("POST", "/clusters/{name}/access-entries/{principal}/access-policies", "AssociateAccessPolicy"),
    ("DELETE", "/clusters/{name}/access-entries/{principal}/access-policies/{policy}", "DisassociateAccessPolicy"),
    ("GET", "/clusters/{name}/pod-identity-associations", "ListPodIdentityAssociations"),
    ("POST", "/clusters/{name}/pod-identity-associations", "CreatePodIdentityAssociation"),
    ("GET", "/clusters/{name}/pod-identity-associations/{id}", "DescribePodIdentityAssociation"),
    ("POST", "/clusters/{name}/pod-identity-associations/{id}", "UpdatePodIdentityAssociation"),
    ("DELETE", "/clusters/{name}/pod-identity-associations/{id}", "DeletePodIdentityAssociation"),
    ("GET", "/clusters/{name}/addons", "ListAddons"),
]
ROUTES = [(m, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", p) + "/?"), a) for m, p, a in _ROUTES]


def route(call: Call) -> bool:
    """Fills in action and path parameters of the calls that are ours."""
    for method, pattern, name in ROUTES:
        match = pattern.fullmatch(call.path)
        if match and method == call.method:
            from .call import _json

            call.action = name
            call.params = {
                **dict(call.query),
                **_json(call.body),
                **{k: unquote(v) for k, v in match.groupdict().items()},
            }
            return True
    return False


def _cluster(world: World, call: Call) -> Cluster:
    name = call.params["name"]
    cluster = world.clusters.get(name)
    if cluster is None:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", 404)
    return cluster


@action("eks", "ListClusters")
def list_clusters(world: World, call: Call) -> dict[str, Any]:
    from moto.eks.models import eks_backends

    return {"clusters": sorted({*world.clusters, *eks_backends[ACCOUNT_ID][call.region].clusters})}


@action("eks", "DescribeCluster")
def describe_cluster(world: World, call: Call) -> Any:
    cluster = world.clusters.get(call.params["name"])
    if cluster is None:
        return PASS
    return {
        "cluster": {
            "name": cluster.name, "arn": cluster.arn, "createdAt": cluster.created, "version": cluster.version,
            "endpoint": cluster.endpoint, "roleArn": cluster.role_arn, "status": "ACTIVE", "platformVersion": "eks.1",
            "certificateAuthority": {"data": cluster.certificate_authority}, "tags": cluster.tags, "health": {"issues": []},
            "identity": {"oidc": {"issuer": cluster.issuer}},
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": cluster.service_cidr, "ipFamily": "ipv4"},
            "resourcesVpcConfig": {
                "subnetIds": cluster.subnet_ids, "securityGroupIds": [], "clusterSecurityGroupId": cluster.security_group_id,
                "vpcId": cluster.vpc_id, "endpointPublicAccess": True, "endpointPrivateAccess": True,
                "publicAccessCidrs": ["0.0.0.0/0"],
            },
            "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"}, "upgradePolicy": {"supportType": "STANDARD"},
            "logging": {"clusterLogging": []}, "deletionProtection": False,
        }
    }  # fmt: skip


def _entry(cluster: Cluster, call: Call) -> dict[str, Any]:
    principal = call.params["principal"]
    if principal not in cluster.access:
        raise AwsError("ResourceNotFoundException", f"The specified principalArn could not be found: {principal}.", 404)
    return cluster.access[principal]


def _public(entry: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in entry.items() if k != "policies"}


@action("eks", "CreateAccessEntry")
def create_entry(world: World, call: Call) -> dict[str, Any]:
    cluster, params = _cluster(world, call), call.params
    principal = params.get("principalArn") or ""
    if not principal.startswith("arn:"):
        raise AwsError(
            "InvalidParameterException", f"The specified principalArn is invalid: invalid principal '{principal}'"
        )
    if ":role/" in principal and not any(r.arn == principal for r in network.iam().roles.values()):
        raise AwsError(
            "InvalidParameterException", "The specified principalArn is invalid: invalid principal. (no such role)"
        )
    if principal in cluster.access:
        raise AwsError(
            "ResourceInUseException", "The specified access entry resource is already in use on this cluster.", 409
        )
    kind = params.get("type") or "STANDARD"
    groups = params.get("kubernetesGroups") or []
    if any(g.startswith("system:") for g in groups):
        raise AwsError("InvalidParameterException", "The kubernetes group name must not start with 'system:'")
    now = time.time()
    tail = principal.rpartition("/")[2]
    entry = {
        "clusterName": cluster.name, "principalArn": principal, "kubernetesGroups": groups, "createdAt": now, "modifiedAt": now,
        "accessEntryArn": f"arn:aws:eks:{cluster.region}:{ACCOUNT_ID}:access-entry/{cluster.name}/role/{ACCOUNT_ID}/{tail}/{uuid.uuid4()}",
        "tags": params.get("tags") or {}, "type": kind, "policies": {},
        "username": params.get("username") or ("system:node:{{EC2PrivateDNSName}}" if kind == "EC2_LINUX" else principal),
    }  # fmt: skip
    if kind == "EC2_LINUX":
        entry["kubernetesGroups"] = ["system:nodes"]
    cluster.access[principal] = entry
    return {"accessEntry": _public(entry)}


@action("eks", "DescribeAccessEntry")
def describe_entry(world: World, call: Call) -> dict[str, Any]:
    return {"accessEntry": _public(_entry(_cluster(world, call), call))}


@action("eks", "UpdateAccessEntry")
def update_entry(world: World, call: Call) -> dict[str, Any]:
    entry = _entry(_cluster(world, call), call)
    for name in ("kubernetesGroups", "username"):
        if call.params.get(name) is not None:
            entry[name] = call.params[name]
    entry["modifiedAt"] = time.time()
    return {"accessEntry": _public(entry)}


@action("eks", "ListAccessEntries")
def list_entries(world: World, call: Call) -> dict[str, Any]:
    return {"accessEntries": sorted(_cluster(world, call).access)}


@action("eks", "DeleteAccessEntry")
def delete_entry(world: World, call: Call) -> dict[str, Any]:
    cluster = _cluster(world, call)
    _entry(cluster, call)
    del cluster.access[call.params["principal"]]
    return {}


@action("eks", "AssociateAccessPolicy")
def associate(world: World, call: Call) -> dict[str, Any]:
    cluster = _cluster(world, call)
    entry = _entry(cluster, call)
    arn = call.params.get("policyArn") or ""
    if not arn.startswith("arn:aws:eks::aws:cluster-access-policy/"):
        raise AwsError("InvalidParameterException", f"The policyArn '{arn}' is no cluster access policy")
    if not call.params.get("accessScope"):
        raise AwsError("InvalidParameterException", "accessScope is missing")
    now = time.time()
    policy = {"policyArn": arn, "accessScope": call.params["accessScope"], "associatedAt": now, "modifiedAt": now}
    entry["policies"][arn] = policy
    return {"clusterName": cluster.name, "principalArn": entry["principalArn"], "associatedAccessPolicy": policy}


@action("eks", "DisassociateAccessPolicy")
def disassociate(world: World, call: Call) -> dict[str, Any]:
    entry = _entry(_cluster(world, call), call)
    if entry["policies"].pop(call.params["policy"], None) is None:
        raise AwsError("ResourceNotFoundException", "The policy is not associated with the access entry", 404)
    return {}


@action("eks", "ListAssociatedAccessPolicies")
def list_policies(world: World, call: Call) -> dict[str, Any]:
    cluster = _cluster(world, call)
    entry = _entry(cluster, call)
    return {
        "clusterName": cluster.name,
        "principalArn": entry["principalArn"],
        "associatedAccessPolicies": list(entry["policies"].values()),
    }


def _check_role(arn: str) -> None:
    """EKS takes only roles that are there and that trust its pods."""
    role = next((r for r in network.iam().roles.values() if r.arn == arn), None)
    if role is None:
        raise AwsError("InvalidParameterException", "Role provided in the request does not exist.")
    if "pods.eks.amazonaws.com" not in (role.assume_role_policy_document or ""):
        raise AwsError(
            "InvalidParameterException", "Trust policy of role does not allow pods.eks.amazonaws.com to assume it."
        )


@action("eks", "CreatePodIdentityAssociation")
def create_identity(world: World, call: Call) -> dict[str, Any]:
    cluster, params = _cluster(world, call), call.params
    for name in ("namespace", "serviceAccount", "roleArn"):
        if not params.get(name):
            raise AwsError("InvalidParameterException", f"{name} is missing")
    _check_role(params["roleArn"])
    for known in cluster.identities.values():
        if (known["namespace"], known["serviceAccount"]) == (params["namespace"], params["serviceAccount"]):
            raise AwsError("ResourceInUseException", f"Association already exists: {known['associationId']}", 409)
    identity = "a-" + uuid.uuid4().hex[:17]
    now = time.time()
    association = {
        "clusterName": cluster.name, "namespace": params["namespace"], "serviceAccount": params["serviceAccount"],
        "roleArn": params["roleArn"], "associationId": identity, "tags": params.get("tags") or {}, "createdAt": now,
        "associationArn": f"arn:aws:eks:{cluster.region}:{ACCOUNT_ID}:podidentityassociation/{cluster.name}/{identity}",
        "modifiedAt": now,
    }  # fmt: skip
    cluster.identities[identity] = association
    return {"association": association}


def _identity(cluster: Cluster, call: Call) -> dict[str, Any]:
    if call.params["id"] not in cluster.identities:
        raise AwsError("ResourceNotFoundException", f"No pod identity association found: {call.params['id']}", 404)
    return cluster.identities[call.params["id"]]


@action("eks", "DescribePodIdentityAssociation")
def describe_identity(world: World, call: Call) -> dict[str, Any]:
    return {"association": _identity(_cluster(world, call), call)}


@action("eks", "UpdatePodIdentityAssociation")
def update_identity(world: World, call: Call) -> dict[str, Any]:
    association = _identity(_cluster(world, call), call)
    if call.params.get("roleArn"):
        _check_role(call.params["roleArn"])
        association["roleArn"] = call.params["roleArn"]
    association["modifiedAt"] = time.time()
    return {"association": association}


@action("eks", "DeletePodIdentityAssociation")
def delete_identity(world: World, call: Call) -> dict[str, Any]:
    cluster = _cluster(world, call)
    association = _identity(cluster, call)
    del cluster.identities[association["associationId"]]
    return {"association": association}


@action("eks", "ListPodIdentityAssociations")
def list_identities(world: World, call: Call) -> dict[str, Any]:
    names = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId")
    wanted = {k: v for k in ("namespace", "serviceAccount") if (v := call.params.get(k))}
    found = [
        a for a in _cluster(world, call).identities.values() if all(a[key] == value for key, value in wanted.items())
    ]
    return {"associations": [{k: a[k] for k in names} for a in found]}


@action("eks", "ListAddons")
def list_addons(world: World, call: Call) -> dict[str, Any]:
    _cluster(world, call)
    return {"addons": []}
