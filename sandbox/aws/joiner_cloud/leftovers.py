"""What is left in the account that belongs to a cluster or to the controller: the proof that destroy left nothing.

What the sandbox itself made for the cluster (network, its security group, its two roles, its OIDC provider) does not count.
"""

from __future__ import annotations

from typing import Any

from . import ACCOUNT_ID, network
from .world import World

OWNED = "kubernetes.io/cluster/"
MARKS = ("karpenter.sh/", "karpenter.k8s.aws/", "eks:eks-cluster-name", "joiner.dev/", "joiner:")


def of(world: World, cluster: str | None) -> dict[str, Any]:
    """Kind -> list of ``{"id", "tags"}``, and ``count``. Without a cluster, everything that bears a mark of ours."""
    out: dict[str, list[dict[str, Any]]] = {
        "instances": [
            _row(i.id, i.tags, state=i.state, type=i.type)
            for i in world.ec2.instances.values()
            if i.state != "terminated" and _ours(i.tags, cluster, True)
        ],
        "volumes": [_row(v.id, v.tags) for v in world.ec2.volumes.values() if _ours(v.tags, cluster, False)],
        "launchTemplates": [
            _row(t.id, t.tags, name=t.name)
            for t in world.ec2.templates.values()
            if _ours(t.tags, cluster, t.name.startswith("karpenter.k8s.aws/"))
        ],
    }
    iam = network.iam()
    made = {n for c in world.clusters.values() for n in (c.node_role_name, f"{c.name}-cluster")}
    profiles = [(p.name, p.path, _tags(p.tags)) for p in iam.instance_profiles.values()]
    out["instanceProfiles"] = [
        _row(n, tags, path=path)
        for n, path, tags in profiles
        if _ours(tags, cluster, bool(cluster) and _named(n, path, cluster))
    ]
    out["roles"] = [
        _row(r.name, _tags(r.tags), path=r.path)
        for r in iam.roles.values()
        if r.name not in made and _role_counts(r, cluster)
    ]
    out["policies"] = [
        _row(p.arn, _tags(p.tags))
        for p in iam.managed_policies.values()
        if ":aws:policy/" not in p.arn
        and (cluster is None or cluster in p.name or _ours(_tags(p.tags), cluster, False))
    ]
    out |= _interruption(world, cluster)
    return {"cluster": cluster, "count": sum(map(len, out.values())), **out}


def _interruption(world: World, cluster: str | None) -> dict[str, list[dict[str, Any]]]:
    """Queues and rules that bear our mark, of a cluster those that name it, and the cluster's associations and node entries."""
    from moto.events.models import events_backends
    from moto.sqs.models import sqs_backends

    region = world.settings.region
    queues = sqs_backends[ACCOUNT_ID][region].queues.values()
    events = events_backends[ACCOUNT_ID][region]
    rules = [
        (r.name, {t["Key"]: t["Value"] for t in events.tagger.list_tags_for_resource(r.arn)["Tags"]})
        for r in events.describe_event_bus("default").rules.values()
    ]
    clusters = [c for c in world.clusters.values() if cluster in (None, c.name)]
    return {
        "queues": [_row(q.name, dict(q.tags or {})) for q in queues if _marked(q.name, dict(q.tags or {}), cluster)],
        "rules": [_row(name, tags) for name, tags in rules if _marked(name, tags, cluster)],
        "podIdentityAssociations": [
            _row(i["associationId"], i["tags"], roleArn=i["roleArn"]) for c in clusters for i in c.identities.values()
        ],
        "accessEntries": [
            _row(principal, entry["tags"], type=entry["type"])
            for c in clusters
            for principal, entry in c.access.items()
            if _ours(entry["tags"], None, False)
        ],
    }


def _row(identity: str, tags: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"id": identity, **more, "tags": tags}


def _tags(tags: Any) -> dict[str, str]:
    """moto keeps tags as a list of pairs, or as a dict of them."""
    rows = tags.values() if isinstance(tags, dict) else tags or []
    return {t["Key"]: t["Value"] for t in rows if isinstance(t, dict)}


def _ours(tags: dict[str, str], cluster: str | None, otherwise: bool) -> bool:
    if cluster is None:
        return otherwise or any(k.startswith((OWNED, *MARKS)) for k in tags)
    named = [k[len(OWNED) :] for k in tags if k.startswith(OWNED)]
    named += [tags[k] for k in ("eks:eks-cluster-name", "karpenter.sh/discovery") if k in tags]
    return cluster in named if named else otherwise


def _marked(name: str, tags: dict[str, str], cluster: str | None) -> bool:
    """Queues and rules carry no cluster's tag: one that has its name, or a tag that has it, is taken for the cluster's."""
    named = cluster is None or cluster in name or any(cluster in value for value in tags.values())
    return named and _ours(tags, None, False)


def _named(name: str, path: str, cluster: str | None) -> bool:
    return f"/{cluster}/" in path or name.startswith(f"{cluster}_") or name.startswith(f"{cluster}-")


def _role_counts(role: Any, cluster: str | None) -> bool:
    """A role counts when no one but a configuration can have made it: all but service-linked ones."""
    if role.path.startswith("/aws-service-role/"):
        return False
    tags = _tags(role.tags)
    return (
        cluster is None
        or cluster in role.name
        or _ours(tags, cluster, False)
        or cluster in (role.assume_role_policy_document or "")
    )
