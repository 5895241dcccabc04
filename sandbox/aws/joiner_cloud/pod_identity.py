"""EKS Pod Identity's agent and its service: a pod's token for the credentials of the role that is associated with its service account.

The agent of a node answers at a link-local address; here it is a route of the emulator, which the kubelet gives to pods.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from . import jwt, sts, wire
from .errors import AwsError
from .world import World

AUDIENCE = "pods.eks.amazonaws.com"


def credentials(world: World, token: str) -> dict[str, Any]:
    """What the SDKs read from a container's credentials endpoint."""
    _, unchecked = jwt.claims(token)
    issuer = str(unchecked.get("iss") or "").rstrip("/")
    cluster = next((c for c in world.clusters.values() if c.issuer.rstrip("/") == issuer), None)
    jwks = world.issuers.get(issuer)
    if cluster is None or jwks is None:
        raise AwsError("InvalidTokenException", f"no cluster of the sandbox issued the token ({issuer})", 400)
    body = jwt.verify(token, jwks, time.time())
    audiences = body.get("aud")
    if AUDIENCE not in (audiences if isinstance(audiences, list) else [audiences]):
        raise AwsError("InvalidTokenException", f"the token is not for {AUDIENCE} but for {audiences}", 400)
    namespace, _, account = str(body.get("sub") or "").removeprefix("system:serviceaccount:").partition(":")
    for association in cluster.identities.values():
        if (association["namespace"], association["serviceAccount"]) == (namespace, account):
            break
    else:
        raise AwsError(
            "ResourceNotFoundException",
            f"service account {namespace}/{account} has no pod identity association in cluster {cluster.name}",
            404,
        )
    role = sts.role_of(association["roleArn"])
    if role is None or not sts.trusts(role, "sts:AssumeRole", "Service", [AUDIENCE], {}):
        raise AwsError("AccessDeniedException", f"{association['roleArn']} does not let {AUDIENCE} take it on", 403)
    call: Any = SimpleNamespace(params={"DurationSeconds": 3600})
    session = sts.session(world, call, role, f"eks-{cluster.name}-{account}"[:64])
    keys = session["Credentials"]
    return {
        "AccessKeyId": keys["AccessKeyId"],
        "SecretAccessKey": keys["SecretAccessKey"],
        "Token": keys["SessionToken"],
        "AccountId": world.account,
        "Expiration": wire.iso(keys["Expiration"]),
    }
