"""EC2's filters: values OR-ed, filters AND-ed, ``*`` and ``?`` as wildcards.

A filter that is not known here is an error, never an empty answer.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..errors import AwsError

T = TypeVar("T")
Getter = Callable[[Any], Any]


@functools.lru_cache(maxsize=4096)
def _pattern(text: str) -> re.Pattern[str]:
    out = []
    escaped = False
    for char in text:
        if escaped:
            out.append(re.escape(char))
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "*":
            out.append(".*")
        elif char == "?":
            out.append(".")
        else:
            out.append(re.escape(char))
    return re.compile("".join(out), re.DOTALL)


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def matches(value: Any, wanted: Iterable[str]) -> bool:
    """Whether a value, or one of a list of values, matches one of the wanted patterns."""
    values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    texts = [text_of(v) for v in values if v is not None]
    for want in wanted:
        if "*" in want or "?" in want or "\\" in want:
            pattern = _pattern(want)
            if any(pattern.fullmatch(text) for text in texts):
                return True
        elif want in texts:
            return True
    return False


def compile_filters(filters: list[dict[str, Any]] | None, known: dict[str, Getter]) -> Callable[[Any], bool]:
    """One predicate out of a request's ``Filters``. Records need a ``tags`` attribute only for tag filters."""
    tests: list[Callable[[Any], bool]] = []
    for item in filters or []:
        name, wanted = item.get("Name", ""), tuple(item.get("Values") or ())
        if name.startswith("tag:"):
            tests.append(_tag_test(name[4:], wanted))
        elif name == "tag-key":
            tests.append(_value_test(lambda r: list(r.tags), wanted))
        elif name in known:
            tests.append(_value_test(known[name], wanted))
        else:
            choices = ", ".join(sorted(known))
            raise AwsError(
                "InvalidParameterValue",
                f"The filter '{name}' is invalid (the sandbox knows tag:<key>, tag-key, {choices})",
            )
    return lambda record: all(test(record) for test in tests)


def _value_test(get: Getter, wanted: tuple[str, ...]) -> Callable[[Any], bool]:
    return lambda record: matches(get(record), wanted)


def _tag_test(key: str, wanted: tuple[str, ...]) -> Callable[[Any], bool]:
    def test(record: Any) -> bool:
        value = record.tags.get(key)
        return value is not None and matches(value, wanted)

    return test


def page(items: list[T], params: dict[str, Any], largest: int, smallest: int = 1) -> tuple[list[T], str | None]:
    """The page that ``MaxResults`` and ``NextToken`` ask for, and the token of the next one."""
    token = params.get("NextToken")
    start = 0
    if token:
        if not re.fullmatch(r"p\d+", token):
            raise AwsError("InvalidNextToken", f"The token '{token}' is invalid")
        start = int(token[1:])
    size = params.get("MaxResults")
    if size is None:
        size = largest
    elif size < smallest:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ( {size} ) for parameter maxResults is invalid. Expecting a value of at least {smallest}.",
        )
    end = start + min(size, largest)
    return items[start:end], (f"p{end}" if end < len(items) else None)
