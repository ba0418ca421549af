"""The findings of a check as SARIF 2.1.0, which code hosts show as annotations of a pull request."""

import os
from collections.abc import Iterator
from hashlib import sha256
from typing import Final
from urllib.parse import quote

from commonhold.api.wire.places import key_of
from commonhold.api.wire.text import Json, sound
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.contract_conflicts import SideName
from commonhold.merging.branches.check_branches import Checked
from commonhold.merging.branches.merged_state import Unmerged
from commonhold.merging.branches.semantic_conflicts import Finding, Place

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION: Final = "2.1.0"
_UNMERGED: Final = "unmerged"
_TESTS: Final = "tests"
_LEVELS: Final = {
    _UNMERGED: "error",
    Evidence.CONTRACT: "error",
    Evidence.TYPES: "error",
    Evidence.SUSPICION: "warning",
}
_RULES: Final = {
    _UNMERGED: ("DoesNotMerge", "Both sides changed one place, and it cannot be shown what both mean."),
    Evidence.CONTRACT: ("BrokenContract", "One side changed how something is to be used, the other uses it as before."),
    Evidence.TYPES: ("NewTypeError", "A type checker complains about both sides together, and about neither alone."),
    Evidence.SUSPICION: ("MayInterfere", "Each side changed one of two pieces of code that depend on each other."),
    _TESTS: ("TestsFail", "The tests that both sides' changes concern fail with both together."),
}
_NUMBERS: Final = {name: number for number, name in enumerate(_RULES)}


def sarif(value: Checked, version: str) -> Json:
    """One run of the tool of this version. Lines are those of theirs, the branch that is proposed, if it has them."""
    rules = [_rule(name, *about) for name, about in _RULES.items()]
    driver = {"name": "Commonhold", "semanticVersion": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": list(_results(value))}
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(name: str, title: str, about: str) -> Json:
    level = _LEVELS.get(name, "error")
    return {
        "id": f"commonhold/{name}",
        "name": title,
        "shortDescription": {"text": about},
        "defaultConfiguration": {"level": level},
    }


def _results(value: Checked) -> Iterator[Json]:
    yield from map(_of_unmerged, value.unmerged)
    is_settled = value.run is not None and value.run.passed
    yield from (_noted(_of_finding(each)) if is_settled else _of_finding(each) for each in value.findings)
    if value.run is not None and not value.run.passed and value.tests:
        text = f"{value.run.command} fails with both sides together:\n{value.run.tail}"
        yield _result(_TESTS, text, _location(value.tests[0].path, 1), value.run.command)


def _noted(result: Json) -> Json:
    """A suspicion that the tests do not bear out."""
    return {**result, "level": "note"}


def _of_unmerged(value: Unmerged) -> Json:
    spot = next(iter(value.spots), None)
    line = spot.theirs[0] + 1 if spot else 1
    why = f"{value.why}: {spot.why}" if spot else value.why
    return _result(_UNMERGED, f"does not merge: {why}", _location(value.path, line), value.path)


def _of_finding(value: Finding) -> Json:
    """The note stands at what theirs wrote: its use of what ours changed, or its change of what ours uses."""
    near, far = (value.place, value.cause) if value.by is SideName.OURS else (value.cause, value.place)
    about = "changed here" if value.by is SideName.OURS else "used here"
    identity = f"{key_of(near.path, near.qualname)} {key_of(far.path, far.qualname)} {value.by}"
    result = _result(value.evidence, value.why, _at(near), identity)
    message = {"text": sound(f"{about} on the other side: {key_of(far.path, far.qualname)}")}
    result["relatedLocations"] = [{"id": 1, **_at(far), "message": message}]
    return result


def _result(rule: str, text: str, location: Json, identity: str) -> Json:
    mark = sha256(f"{rule} {sound(identity)}".encode()).hexdigest()
    return {
        "ruleId": f"commonhold/{rule}",
        "ruleIndex": _NUMBERS[rule],
        "level": _LEVELS.get(rule, "error"),
        "message": {"text": sound(text)},
        "locations": [location],
        "partialFingerprints": {"commonhold/v1": mark},
    }


def _at(place: Place) -> Json:
    return _location(place.path, place.theirs_line or place.line or place.ours_line or 1)


def _location(path: str, line: int) -> Json:
    artifact = {"uri": quote(os.fsencode(path)), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}
