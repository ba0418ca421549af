"""Answers with fewer tokens: what says nothing is left out, and a hash is cut to what a commit accepts."""

from typing import Any, Final

from commonhold.app.keyed import MIN_BASE_LENGTH
from commonhold.wire.text import Json

_HASHES: Final = frozenset({"hash", "base", "now"})
_OF_LEASE: Final = frozenset({"acquisition_id", "granted_at", "ttl_seconds", "claimed"})
# What the key says already, or what only the audit trail needs.
_LEFT_OUT: Final[dict[str, frozenset[str]]] = {
    "regions": frozenset({"id", "parent"}),
    "leases": _OF_LEASE,
    "lease": _OF_LEASE,
    "waiters": frozenset({"ticket", "expires_at", "replaces"}),
    "conflicts": frozenset({"intent"}),
}
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {}, False)
_KEPT_EMPTY: Final = frozenset({"text"})
# The names that answers use for calls which have another name here.
_TOOL_OF: Final = {"leases": "status", "who": "status", "show": "read"}


def thrifty(shape: Json) -> Json:
    """The same answer, shorter: empty fields, long hashes and fields that an agent does not need are gone."""
    short: Json = _short(shape, "")
    if "next" in short:
        short["next"]["call"] = _TOOL_OF.get(short["next"]["call"], short["next"]["call"])
    return short


def _short(value: Any, name: str) -> Any:  # noqa: ANN401 - any part of a JSON value
    if isinstance(value, list | tuple):
        return [_short(each, name) for each in value]
    if isinstance(value, dict):
        left_out = _LEFT_OUT.get(name, frozenset())
        shorter = {each: _short(part, each) for each, part in value.items() if each not in left_out}
        return {each: part for each, part in shorter.items() if each in _KEPT_EMPTY or not _says_nothing(part)}
    return value[:MIN_BASE_LENGTH] if name in _HASHES and isinstance(value, str) else value


def _says_nothing(value: object) -> bool:
    return any(value is nothing or (value == nothing and type(value) is type(nothing)) for nothing in _NOTHING)
