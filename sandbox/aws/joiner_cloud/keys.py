"""Access keys: the administrator's, and those of sessions that STS issued. Users' keys are moto's."""

from __future__ import annotations

import dataclasses
import secrets
import string
import threading

from . import ACCOUNT_ID, ADMIN_KEY_ID, ADMIN_SECRET, network
from .call import Principal

_ALPHABET = string.ascii_uppercase + "234567"


@dataclasses.dataclass
class Key:
    id: str
    secret: str
    token: str | None
    expires: float | None
    principal: Principal


ROOT = Principal("admin", f"arn:aws:iam::{ACCOUNT_ID}:root", ACCOUNT_ID, ACCOUNT_ID, "root")


class Keys:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys = {ADMIN_KEY_ID: Key(ADMIN_KEY_ID, ADMIN_SECRET, None, None, ROOT)}

    def find(self, key_id: str) -> Key | None:
        """The key with this id, moto's users included."""
        with self._lock:
            key = self._keys.get(key_id)
        if key is not None:
            return key
        for user in list(network.iam().users.values()):
            for access_key in user.access_keys:
                if access_key.access_key_id == key_id and access_key.status == "Active":
                    principal = Principal("user", user.arn, ACCOUNT_ID, user.id, user.name)
                    return Key(key_id, access_key.secret_access_key, None, None, principal)
        return None

    def expire(self, role: str | None) -> int:
        """Ends the sessions of a role, or all, as if their time were over. Returns how many."""
        with self._lock:
            ended = [k for k in self._keys.values() if k.expires is not None and role in (None, k.principal.name)]
            for key in ended:
                key.expires = 0.0
        return len(ended)

    def issue(self, principal: Principal, expires: float) -> Key:
        """A temporary key of a session."""
        key_id = "ASIA" + "".join(secrets.choice(_ALPHABET) for _ in range(16))
        key = Key(key_id, secrets.token_urlsafe(30), "FwoGZXIvYXdzE" + secrets.token_urlsafe(120), expires, principal)
        with self._lock:
            self._keys[key_id] = key
        return key
