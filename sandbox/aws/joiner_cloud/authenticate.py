"""Who calls: access key, expiry and Signature Version 4, in headers or in a presigned URL."""

from __future__ import annotations

import calendar
import functools
import hashlib
import hmac
import re
import time
from urllib.parse import parse_qsl, quote

from .call import ANONYMOUS, UNSIGNED, Call
from .errors import AwsError
from .keys import ROOT
from .world import World

ALGORITHM = "AWS4-HMAC-SHA256"
_HEADER = re.compile(
    r"Credential=(?P<scope>[^,\s]+),\s*SignedHeaders=(?P<headers>[^,\s]+),\s*Signature=(?P<signature>[0-9a-f]+)"
)


def authenticate(world: World, call: Call) -> None:
    """Sets the call's principal, or raises what the called service would answer."""
    if call.action in UNSIGNED and call.access_key is None:
        call.principal = ANONYMOUS
        return
    if not world.settings.check_credentials:
        key = world.keys.find(call.access_key) if call.access_key else None
        call.principal = key.principal if key else ROOT
        return
    if call.access_key is None:
        raise _refused(call, "missing")
    key = world.keys.find(call.access_key)
    if key is None:
        raise _refused(call, "unknown")
    token = call.headers.get("x-amz-security-token") or dict(call.query).get("X-Amz-Security-Token")
    if key.token is not None and token != key.token:
        raise _refused(call, "token")
    if key.expires is not None and time.time() >= key.expires:
        raise _refused(call, "expired")
    call.principal = key.principal
    _check_signature(call, key.secret)


def _refused(call: Call, why: str) -> AwsError:
    """Each family of services has its own words."""
    if call.protocol == "ec2":
        if why == "expired":
            return AwsError("RequestExpired", "Request has expired.")
        return AwsError("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
    query = call.protocol == "query"
    if why == "expired":
        return AwsError(
            "ExpiredToken" if query else "ExpiredTokenException",
            "The security token included in the request is expired",
            403 if query else 400,
        )
    if why == "missing":
        return AwsError(
            "MissingAuthenticationToken" if query else "MissingAuthenticationTokenException",
            "Missing Authentication Token",
            403,
        )
    if why == "signature":
        return AwsError(
            "SignatureDoesNotMatch" if query else "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access "
            "Key and signing method. Consult the service documentation for details.",
            403,
        )
    return AwsError(
        "InvalidClientTokenId" if query else "UnrecognizedClientException",
        "The security token included in the request is invalid.",
        403,
    )


def _check_signature(call: Call, secret: str) -> None:
    query = dict(call.query)
    if call.presigned:
        scope, signed, signature = (
            query["X-Amz-Credential"],
            query.get("X-Amz-SignedHeaders", ""),
            query.get("X-Amz-Signature", ""),
        )
        stamp = query.get("X-Amz-Date", "")
        payload = hashlib.sha256(b"").hexdigest()
        _check_age(call, stamp, query.get("X-Amz-Expires", "900"))
    else:
        match = _HEADER.search(call.headers.get("authorization", ""))
        if not match:
            raise _refused(call, "signature")
        scope, signed, signature = match["scope"], match["headers"], match["signature"]
        stamp = call.headers.get("x-amz-date", "")
        payload = call.headers.get("x-amz-content-sha256") or hashlib.sha256(call.body).hexdigest()
        if payload not in ("UNSIGNED-PAYLOAD",) and not payload.startswith("STREAMING-"):
            if payload != hashlib.sha256(call.body).hexdigest():
                raise _refused(call, "signature")
    _, day, region, service, _ = scope.split("/")
    canonical = "\n".join(
        [
            call.method,
            _canonical_path(call.path, service),
            _canonical_query(call),
            *(f"{name}:{' '.join(_header(call, name).split())}" for name in signed.split(";")),
            "",
            signed,
            payload,
        ]
    )
    text = "\n".join(
        [ALGORITHM, stamp, f"{day}/{region}/{service}/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()]
    )
    expected = hmac.new(_signing_key(secret, day, region, service), text.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, signature):
        raise _refused(call, "signature")


def _header(call: Call, name: str) -> str:
    if name == "content-length":
        return call.environ.get("CONTENT_LENGTH", "")
    return call.headers.get(name, "")


def _canonical_path(path: str, service: str) -> str:
    """Every service but S3 encodes the path that was sent once more."""
    return quote(path or "/", safe="/-_.~" if service != "s3" else "/-_.~%")


def _canonical_query(call: Call) -> str:
    raw = call.environ.get("QUERY_STRING", "")
    pairs = parse_qsl(raw, keep_blank_values=True)
    encoded = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in pairs if k != "X-Amz-Signature")
    return "&".join(f"{k}={v}" for k, v in encoded)


def _check_age(call: Call, stamp: str, lifetime: str) -> None:
    try:
        began = calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ"))
        seconds = int(lifetime)
    except ValueError:
        raise _refused(call, "signature") from None
    if time.time() > began + seconds:
        raise _refused(call, "expired")


@functools.lru_cache(maxsize=256)
def _signing_key(secret: str, day: str, region: str, service: str) -> bytes:
    key = ("AWS4" + secret).encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
