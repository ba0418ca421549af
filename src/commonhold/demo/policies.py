"""The three ways in which a demo agent makes an edit. Each thinks between reading and writing, as agents do."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from commonhold.demo.marking import append_function, mark_function, mark_function_in_file, mark_header, marked_line
from commonhold.demo.marking import new_function as function_with
from commonhold.demo.messages import Event, Policy, What
from commonhold.demo.workload import Edit, Kind, Place

Json = dict[str, Any]
Call = Callable[[str, Json], Awaitable[Json]]
Tell = Callable[[Event], None]

PAUSE_SECONDS: Final = 0.1
FREE: Final[frozenset[str]] = frozenset()
# An edit that was refused this often takes a lease before it is thought over again.
_PATIENCE: Final = 3
_CHANGED: Final = "REGION_CHANGED"
_HELD: Final = "LOCK_CONFLICT"


class GaveUpError(Exception):
    """The edit cannot be made: the answer says why."""


class Way(Protocol):
    """A policy at work in one agent."""

    def claims(self, edit: Edit) -> frozenset[str]:
        """The keys that the agent would lease for the edit."""
        ...

    async def attempt(self, edit: Edit) -> frozenset[str]:
        """Make the edit. The answer is empty, or holds the keys that others hold: make another edit first."""
        ...


def way(policy: Policy, root: Path, call: Call, tell: Tell) -> Way:
    """The policy at work."""
    match policy:
        case Policy.NONE:
            return Uncoordinated(root, tell)
        case Policy.FILE:
            return FileLeases(root, call, tell)
        case Policy.COMMONHOLD:
            return Regions(call, tell)


class Uncoordinated:
    """Read whole files, think, write whole files: what agents do that know nothing of each other."""

    def __init__(self, root: Path, tell: Tell) -> None:
        """Work on the files below `root`."""
        self._root = root
        self._tell = tell

    def claims(self, _edit: Edit) -> frozenset[str]:
        """Nothing."""
        return FREE

    async def attempt(self, edit: Edit) -> frozenset[str]:
        """Nobody is asked, so nobody stands in the way."""
        self._tell(_event(What.READING, edit))
        texts = {path: (self._root / path).read_text(encoding="utf-8") for path in edit.paths}
        await _think(self._tell, edit)
        self._tell(_event(What.WRITING, edit))
        for path, text in texts.items():
            _replace(self._root / path, _marked_file(text, path, edit), edit)
        return FREE


class FileLeases:
    """The same, while the agent holds a lease on every file it touches."""

    def __init__(self, root: Path, call: Call, tell: Tell) -> None:
        """Work on the files below `root`; take leases through `call`."""
        self._inner = Uncoordinated(root, tell)
        self._call = call
        self._tell = tell

    def claims(self, edit: Edit) -> frozenset[str]:
        """All its files."""
        return frozenset(edit.paths)

    async def attempt(self, edit: Edit) -> frozenset[str]:
        """Hold every file while it is read, thought about and written."""
        lease = await acquire(self._call, self._tell, edit, edit.paths)
        if isinstance(lease, frozenset):
            return lease
        await self._inner.attempt(edit)
        await self._call("release", {"lease_id": lease["id"]})
        return FREE


class Regions:
    """Commonhold: read regions, think, commit; refused: think again about what is there now.

    What many agents want is leased first: the hot functions, and whatever was refused again and again.
    """

    def __init__(self, call: Call, tell: Tell) -> None:
        """Do everything through `call`."""
        self._call = call
        self._tell = tell
        self._refusals: Counter[int] = Counter()

    def claims(self, edit: Edit) -> frozenset[str]:
        """Nothing, for most edits."""
        if edit.kind is Kind.HOT or self._refusals[edit.number] >= _PATIENCE:
            return frozenset(place.key for place in edit.places)
        return FREE

    async def attempt(self, edit: Edit) -> frozenset[str]:
        """Write without a lease, or with one where that pays."""
        claims = self.claims(edit)
        if not claims:
            return await self._write(edit, None)
        lease = await acquire(self._call, self._tell, edit, claims)
        if isinstance(lease, frozenset):
            return lease
        try:
            return await self._write(edit, lease)
        finally:
            await self._call("release", {"lease_id": lease["id"]})

    async def _write(self, edit: Edit, lease: Json | None) -> frozenset[str]:
        texts = await self._read(edit)
        while True:
            await _think(self._tell, edit, What.RETHINKING if self._refusals[edit.number] else What.THINKING)
            answer = await self._commit(edit, _changeset(edit, texts, lease))
            if answer["outcome"] == "committed":
                return FREE
            if answer["code"] != _CHANGED:
                raise GaveUpError(f"{answer['code']}: {answer.get('why', '')}")
            self._refusals[edit.number] += 1
            if lease is None and self.claims(edit):
                return await self.attempt(edit)
            texts |= await self._fresh(edit, answer)

    async def _commit(self, edit: Edit, changeset: Json) -> Json:
        """The answer. While somebody holds a region the work is not lost: the same commit is sent again."""
        while True:
            self._tell(_event(What.WRITING, edit))
            answer = await self._call("commit", changeset)
            if answer["outcome"] == "committed":
                return answer
            self._tell(_event(What.REFUSED, edit, code=answer["code"], by=_others(answer)))
            if answer["code"] != _HELD:
                return answer
            self._tell(_event(What.WAITING, edit))
            await asyncio.sleep(PAUSE_SECONDS)

    async def _read(self, edit: Edit) -> dict[str, Json]:
        self._tell(_event(What.READING, edit))
        if edit.kind is Kind.INSERT:
            # A new function needs no base; its author looks at what is there all the same.
            await self._call("regions", {"path": edit.places[0].path})
            return {}
        return _by_key(await self._call("read", {"keys": [place.key for place in edit.places]}))

    async def _fresh(self, edit: Edit, answer: Json) -> dict[str, Json]:
        """What the refusal brought along. A header is read again, for the hashes of its pieces."""
        if edit.kind is Kind.HEADER:
            return await self._read(edit)
        return _by_key(answer["repair"])


async def acquire(call: Call, tell: Tell, edit: Edit, keys: Iterable[str]) -> Json | frozenset[str]:
    """The lease on `keys`, or those of them that others hold."""
    answer = await call("acquire", {"keys": sorted(keys), "task": edit.intent, "ttl_seconds": 60})
    if answer["outcome"] == "granted":
        lease: Json = answer["lease"]
        return lease
    holders = ", ".join(dict.fromkeys(conflict["holder"] for conflict in answer["conflicts"]))
    tell(_event(What.REFUSED, edit, code="denied", by=holders))
    return frozenset(conflict["key"].removeprefix("file:") for conflict in answer["conflicts"])


def _others(refusal: Json) -> str:
    names = [each.get("changed_by") for each in refusal.get("repair", {}).get("regions", ())]
    names += [each["holder"] for each in refusal.get("conflicts", ())]
    return ", ".join(dict.fromkeys(name for name in names if name))


def _by_key(shape: Json) -> dict[str, Json]:
    return {region["key"].removeprefix("file:"): region for region in shape["regions"]}


def _changeset(edit: Edit, texts: Mapping[str, Json], lease: Json | None) -> Json:
    edits = [_edit(edit, index, place, texts) for index, place in enumerate(edit.places)]
    changeset: Json = {"intent": edit.intent, "edits": edits}
    return changeset | ({"leases": [{"id": lease["id"], "fence": lease["fence"]}]} if lease else {})


def _edit(edit: Edit, index: int, place: Place, texts: Mapping[str, Json]) -> Json:
    name, marker = edit.variable(index), edit.marker(index)
    if edit.kind is Kind.INSERT:
        return {"op": "insert", "key": place.key, "text": function_with(name, marker)}
    region = texts[place.key]
    if edit.kind is Kind.HEADER:
        piece = region["pieces"][0]
        text = mark_header(piece["text"], marked_line(name, marker))
        return {"op": "replace", "key": place.key, "base": piece["hash"], "span": piece["span"], "text": text}
    text = mark_function(region["text"], marked_line(name, marker))
    return {"op": "replace", "key": place.key, "base": region["hash"], "text": text}


def _marked_file(source: str, path: str, edit: Edit) -> str:
    for index, place in enumerate(edit.places):
        if place.path != path:
            continue
        name, marker = edit.variable(index), edit.marker(index)
        match edit.kind:
            case Kind.INSERT:
                source = append_function(source, function_with(name, marker))
            case Kind.HEADER:
                source = mark_header(source, marked_line(name, marker))
            case _:
                source = mark_function_in_file(source, place.name, marked_line(name, marker))
    return source


def _replace(path: Path, text: str, edit: Edit) -> None:
    """Write a file as editors do: nobody ever sees half of it. Last one wins."""
    draft = path.with_name(f".{path.name}.{edit.agent}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


async def _think(tell: Tell, edit: Edit, what: What = What.THINKING) -> None:
    tell(_event(what, edit))
    await asyncio.sleep(edit.think_seconds)


def _event(what: What, edit: Edit, *, code: str = "", by: str = "") -> Event:
    return Event(what, edit.number, edit.places[0].key, code, by)
