"""Checks of a web identity token: form, signature by the issuer's registered keys, times, audience."""

from __future__ import annotations

import base64
import json
from typing import Any

from .errors import AwsError

LEEWAY = 5.0


def _invalid(text: str) -> AwsError:
    return AwsError("InvalidIdentityToken", text)


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def claims(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(header, claims) of a token, not yet checked."""
    parts = token.split(".")
    if len(parts) != 3:
        raise _invalid("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
    try:
        header, body = json.loads(decode(parts[0])), json.loads(decode(parts[1]))
    except ValueError:
        raise _invalid("The ID Token provided is not a valid JWT.") from None
    if not isinstance(header, dict) or not isinstance(body, dict):
        raise _invalid("The ID Token provided is not a valid JWT.")
    return header, body


def verify(token: str, jwks: dict[str, Any], now: float) -> dict[str, Any]:
    """The claims of a token that one of the keys signed and that is valid now."""
    header, body = claims(token)
    keys = [k for k in jwks.get("keys", []) if header.get("kid") in (None, k.get("kid"))]
    if not keys:
        raise _invalid(f"Couldn't retrieve verification key from your identity provider: no key '{header.get('kid')}'")
    signed, _, signature = token.rpartition(".")
    if not any(_signed_by(k, str(header.get("alg")), signed.encode(), decode(signature)) for k in keys):
        raise _invalid("Provided Token's signature does not match the issuer's keys")
    if not isinstance(body.get("exp"), (int, float)):
        raise _invalid("Missing a required claim: exp")
    if now > body["exp"] + LEEWAY:
        raise AwsError(
            "ExpiredTokenException",
            f"Token expired: current date/time {int(now)} must be before the expiration date/time {int(body['exp'])}",
        )
    if isinstance(body.get("nbf"), (int, float)) and now < body["nbf"] - LEEWAY:
        raise _invalid("Token is not valid yet (nbf)")
    return body


def _signed_by(key: dict[str, Any], algorithm: str, signed: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    digest = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}.get(algorithm[2:])
    if digest is None:
        return False
    try:
        if key.get("kty") == "RSA" and algorithm.startswith("RS"):
            numbers = rsa.RSAPublicNumbers(_integer(key["e"]), _integer(key["n"]))
            numbers.public_key().verify(signature, signed, padding.PKCS1v15(), digest)
            return True
        if key.get("kty") == "EC" and algorithm.startswith("ES"):
            curve = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}[key["crv"]]
            half = len(signature) // 2
            dss = encode_dss_signature(int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big"))
            ec.EllipticCurvePublicNumbers(_integer(key["x"]), _integer(key["y"]), curve).public_key().verify(
                dss, signed, ec.ECDSA(digest)
            )
            return True
    except (InvalidSignature, KeyError, ValueError):
        return False
    return False


def _integer(text: str) -> int:
    return int.from_bytes(decode(text), "big")
