"""IAM policies: does a set of documents allow an action on a resource in a context? Pure.

A context maps condition keys (lower case, as IAM compares them) to a value or a list of values.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any

Context = dict[str, Any]
ALLOWED, DENIED, NOT_ALLOWED = "allowed", "explicitly denied", "not allowed"


@functools.lru_cache(maxsize=2048)
def parse(document: str) -> tuple[dict[str, Any], ...]:
    """The statements of a document; a document that is no JSON has none."""
    try:
        statements = json.loads(document).get("Statement", [])
    except (ValueError, AttributeError):
        return ()
    return tuple(statements if isinstance(statements, list) else [statements])


def evaluate(documents: list[str], action: str, resource: str, context: Context) -> str:
    """``ALLOWED``, ``DENIED`` (an explicit Deny) or ``NOT_ALLOWED`` (no statement allows it)."""
    allowed = False
    for document in documents:
        for statement in parse(document):
            if not applies(statement, action, resource, context):
                continue
            if statement.get("Effect") == "Deny":
                return DENIED
            allowed = True
    return ALLOWED if allowed else NOT_ALLOWED


def applies(statement: dict[str, Any], action: str, resource: str | None, context: Context) -> bool:
    """Whether a statement speaks about the action, the resource (None in trust policies) and the context."""
    if "Action" in statement:
        if not any(like(action, a, fold=True) for a in _list(statement["Action"])):
            return False
    elif "NotAction" in statement:
        if any(like(action, a, fold=True) for a in _list(statement["NotAction"])):
            return False
    else:
        return False
    if resource is not None:
        if "Resource" in statement:
            if not any(like(resource, _fill(r, context)) for r in _list(statement["Resource"])):
                return False
        elif "NotResource" in statement:
            if any(like(resource, _fill(r, context)) for r in _list(statement["NotResource"])):
                return False
        else:
            return False
    return conditions_hold(statement.get("Condition") or {}, context)


def conditions_hold(block: dict[str, dict[str, Any]], context: Context) -> bool:
    return all(
        _holds(operator, key.lower(), [_text(w) for w in _list(wanted)], context)
        for operator, tests in block.items()
        for key, wanted in tests.items()
    )


def _holds(operator: str, key: str, wanted: list[str], context: Context) -> bool:
    qualifier, _, base = operator.rpartition(":")
    if_exists = base.endswith("IfExists")
    base = base[: -len("IfExists")] if if_exists else base
    value = context.get(key)
    present = value is not None and value != []
    if base == "Null":
        return all((w.lower() == "true") != present for w in wanted)
    if not present:
        # a missing key fails a positive test and passes a negated one; ForAllValues holds for no values
        return if_exists or qualifier == "ForAllValues" or (_negated(base) and qualifier != "ForAnyValue")
    values = [_text(v) for v in _list(value)]
    wanted = [_fill(w, context) for w in wanted]
    test = OPERATORS.get(base)
    if test is None:
        return False
    if qualifier == "ForAllValues":
        return all(_one(base, test, v, wanted) for v in values)
    return any(_one(base, test, v, wanted) for v in values)


def _one(base: str, test: Any, value: str, wanted: list[str]) -> bool:
    found = any(test(value, w) for w in wanted)
    return not found if _negated(base) else found


def _negated(base: str) -> bool:
    return "Not" in base


def _number(compare: Any) -> Any:
    def test(value: str, wanted: str) -> bool:
        try:
            return bool(compare(float(value), float(wanted)))
        except ValueError:
            return False

    return test


OPERATORS: dict[str, Any] = {
    "StringEquals": lambda v, w: v == w,
    "StringNotEquals": lambda v, w: v == w,
    "StringEqualsIgnoreCase": lambda v, w: v.lower() == w.lower(),
    "StringNotEqualsIgnoreCase": lambda v, w: v.lower() == w.lower(),
    "StringLike": lambda v, w: like(v, w),
    "StringNotLike": lambda v, w: like(v, w),
    "ArnEquals": lambda v, w: like(v, w),
    "ArnNotEquals": lambda v, w: like(v, w),
    "ArnLike": lambda v, w: like(v, w),
    "ArnNotLike": lambda v, w: like(v, w),
    "Bool": lambda v, w: v.lower() == w.lower(),
    "NumericEquals": _number(lambda v, w: v == w),
    "NumericNotEquals": _number(lambda v, w: v == w),
    "NumericLessThan": _number(lambda v, w: v < w),
    "NumericLessThanEquals": _number(lambda v, w: v <= w),
    "NumericGreaterThan": _number(lambda v, w: v > w),
    "NumericGreaterThanEquals": _number(lambda v, w: v >= w),
    "DateLessThan": lambda v, w: v < w,
    "DateGreaterThan": lambda v, w: v > w,
}


@functools.lru_cache(maxsize=8192)
def _pattern(text: str, fold: bool) -> re.Pattern[str]:
    body = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in text)
    return re.compile(body, re.DOTALL | (re.IGNORECASE if fold else 0))


def like(value: str, pattern: str, fold: bool = False) -> bool:
    """IAM's wildcards: ``*`` any characters, ``?`` one. ``fold`` ignores case, as action names do."""
    return _pattern(pattern, fold).fullmatch(value) is not None


def _fill(text: str, context: Context) -> str:
    """Policy variables such as ``${aws:PrincipalTag/team}``; an unknown one matches nothing."""
    if "${" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in ("*", "?", "$"):
            return name
        found = context.get(name.lower())
        return _text(found) if found is not None and not isinstance(found, list) else "\x00"

    return re.sub(r"\$\{([^}]+)\}", value, text)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple, set)) else [value]


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def principal_matches(statement: dict[str, Any], kind: str, names: list[str]) -> bool:
    """Whether a trust policy's statement names one of these principals; kind is AWS, Service or Federated."""
    principal = statement.get("Principal")
    if principal == "*":
        return True
    if not isinstance(principal, dict):
        return False
    wanted = _list(principal.get(kind, []))
    return any(w == "*" or w in names for w in wanted)
