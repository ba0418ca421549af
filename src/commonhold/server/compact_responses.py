"""Answers with fewer tokens: empty fields are left out, and a hash is cut to the length that a commit accepts."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from commonhold.api.wire.text import Json
from commonhold.commits.resolved_edits import MIN_BASE_LENGTH

LINES_AROUND: Final = 2
_GAP: Final = "…"
_HASHES: Final = frozenset({"hash", "base", "now"})
_OF_LEASE: Final = frozenset({"acquisition_id", "granted_at", "ttl_seconds", "claimed"})
# Fields that the key implies, or that only the audit trail needs.
_LEFT_OUT: Final[dict[str, frozenset[str]]] = {
    "regions": frozenset({"id", "parent"}),
    "leases": _OF_LEASE,
    "lease": _OF_LEASE,
    "waiters": frozenset({"ticket", "expires_at", "replaces"}),
    "conflicts": frozenset({"intent"}),
    # `regions` has the hash; notices tell whose change it was and which texts were merged.
    "merged": frozenset({"hash", "with", "notes"}),
}
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {}, False)
_KEPT_EMPTY: Final = frozenset({"text"})
# The calls in answers that have another name here.
_TOOL_OF: Final = {"leases": "status", "who": "status", "show": "read"}


def thrifty(shape: Json) -> Json:
    """Return the same answer, shorter: without empty fields, long hashes and fields that an agent does not need."""
    short: Json = _short(_said_once(shape) if "merged" in shape else shape, "")
    if "next" in short:
        short["next"]["call"] = _TOOL_OF.get(short["next"]["call"], short["next"]["call"])
    return short


def _said_once(commit: Json) -> Json:
    """Return the answer to a commit without texts that the agent has, or gets in another form."""
    repair = commit["repair"]
    marked = {each["key"] for each in repair["unmerged"] if each["marked"] is not None}
    regions = [each | {"diff": None} if each["key"] in marked else each for each in repair["regions"]]
    unmerged = [each | {"marked": _excerpt(each["marked"])} for each in repair["unmerged"]]
    return {
        **commit,
        "merged": [_merged(each) for each in commit["merged"]],
        "repair": {"regions": regions, "unmerged": unmerged},
    }


def _merged(region: Json) -> Json:
    """Return a merged region with its diff from the sent text, or its text if that is shorter; neither if equal."""
    text, diff = region["text"] or "", region["diff"] or ""
    return {name: part for name, part in region.items() if name != ("diff" if len(diff) > len(text) else "text")}


def _excerpt(marked: str | None) -> str | None:
    """Return the marked spots with a few lines around each: the present text is given as well."""
    lines = (marked or "").splitlines()
    near = {index for first, last in _spots(lines) for index in range(first - LINES_AROUND, last + LINES_AROUND + 1)}
    kept: list[str] = []
    for index, line in enumerate(lines):
        if index in near or not near:
            kept.append(line)
        elif kept[-1:] != [_GAP]:
            kept.append(_GAP)
    return None if marked is None else "\n".join(kept)


def _spots(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each spot with conflict markers."""
    first = None
    for index, line in enumerate(lines):
        if line.startswith("<<<<<<< "):
            first = index
        elif line.startswith(">>>>>>> ") and first is not None:
            yield first, index
            first = None


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
