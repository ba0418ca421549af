"""The three ways in which a demo agent makes an edit. Each thinks between reading and writing, as agents do."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from commonhold.demo.marking import append_function, mark_function, mark_function_in_file, mark_header, marked_line
from commonhold.demo.marking import new_function as function_with
from commonhold.demo.messages import Policy, Progress, What
from commonhold.demo.workload import Chore, ChoreKind, Place

Json = dict[str, Any]
Call = Callable[[str, Json], Awaitable[Json]]
Tell = Callable[[Progress], None]

PAUSE_SECONDS: Final = 0.1
FREE: Final[frozenset[str]] = frozenset()
# After this many refusals, an edit takes a lease before the next attempt.
_PATIENCE: Final = 3
_REFUSED: Final = "refused"
_CHANGED: Final = "REGION_CHANGED"
_HELD: Final = "LOCK_CONFLICT"


class GaveUpError(Exception):
    """The edit cannot be made: the answer says why."""


class Way(Protocol):
    """A policy at work in one agent."""

    def claims(self, chore: Chore) -> frozenset[str]:
        """Return the keys that the agent would lease for the edit."""
        ...

    async def attempt(self, chore: Chore) -> frozenset[str]:
        """Make the edit. Return nothing, or the keys that others hold: then make another edit first."""
        ...


def way(policy: Policy, root: Path, call: Call, tell: Tell) -> Way:
    """Return the implementation of the policy."""
    match policy:
        case Policy.NONE:
            return Uncoordinated(root, tell)
        case Policy.FILE:
            return FileLeases(root, call, tell)
        case Policy.COMMONHOLD:
            return Regions(call, tell)


class Uncoordinated:
    """Read whole files, think, write whole files: as agents do that know nothing of each other."""

    def __init__(self, root: Path, tell: Tell) -> None:
        """Work on the files below `root`."""
        self._root = root
        self._tell = tell

    def claims(self, _chore: Chore) -> frozenset[str]:
        """Return no keys."""
        return FREE

    async def attempt(self, chore: Chore) -> frozenset[str]:
        """Make the edit without any check, so nothing blocks it."""
        self._tell(_progress(What.READING, chore))
        texts = {path: (self._root / path).read_text(encoding="utf-8") for path in chore.paths}
        await _think(self._tell, chore)
        self._tell(_progress(What.WRITING, chore))
        for path, text in texts.items():
            _replace(self._root / path, _marked_file(text, path, chore), chore)
        return FREE


class FileLeases:
    """The same, while the agent holds a lease on every file it touches."""

    def __init__(self, root: Path, call: Call, tell: Tell) -> None:
        """Work on the files below `root`; take leases through `call`."""
        self._inner = Uncoordinated(root, tell)
        self._call = call
        self._tell = tell

    def claims(self, chore: Chore) -> frozenset[str]:
        """Return all its files."""
        return frozenset(chore.paths)

    async def attempt(self, chore: Chore) -> frozenset[str]:
        """Hold every file while it is read, thought about and written."""
        lease = await acquire(self._call, self._tell, chore, chore.paths)
        if isinstance(lease, frozenset):
            return lease
        await self._inner.attempt(chore)
        await self._call("release", {"lease_id": lease["id"]})
        return FREE


class Regions:
    """Commonhold: read regions, think, commit; after a refusal, think again about the present text.

    Contended keys are leased first: the hot functions, and keys that were refused again and again.
    """

    def __init__(self, call: Call, tell: Tell) -> None:
        """Do everything through `call`."""
        self._call = call
        self._tell = tell
        self._refusals: Counter[int] = Counter()

    def claims(self, chore: Chore) -> frozenset[str]:
        """Return no keys, for most edits."""
        if chore.kind is ChoreKind.HOT or self._refusals[chore.number] >= _PATIENCE:
            return frozenset(place.key for place in chore.places)
        return FREE

    async def attempt(self, chore: Chore) -> frozenset[str]:
        """Write without a lease, or with one if that pays."""
        claims = self.claims(chore)
        if not claims:
            return await self._write(chore, None)
        lease = await acquire(self._call, self._tell, chore, claims)
        if isinstance(lease, frozenset):
            return lease
        try:
            return await self._write(chore, lease)
        finally:
            await self._call("release", {"lease_id": lease["id"]})

    async def _write(self, chore: Chore, lease: Json | None) -> frozenset[str]:
        texts = await self._read(chore)
        while True:
            await _think(self._tell, chore, What.RETHINKING if self._refusals[chore.number] else What.THINKING)
            answer = await self._commit(chore, _changeset(chore, texts, lease))
            if answer["outcome"] != _REFUSED:
                return FREE
            if answer["code"] != _CHANGED:
                raise GaveUpError(f"{answer['code']}: {answer.get('why', '')}")
            self._refusals[chore.number] += 1
            if lease is None and self.claims(chore):
                return await self.attempt(chore)
            texts |= await self._fresh(chore, answer)

    async def _commit(self, chore: Chore, changeset: Json) -> Json:
        """Return the answer. While another agent holds a region the work is not lost: the same commit is sent again."""
        while True:
            self._tell(_progress(What.WRITING, chore))
            answer = await self._call("commit", changeset)
            if answer["outcome"] != _REFUSED:
                return answer
            self._tell(_progress(What.REFUSED, chore, code=answer["code"], by=_others(answer)))
            if answer["code"] != _HELD:
                return answer
            self._tell(_progress(What.WAITING, chore))
            await asyncio.sleep(PAUSE_SECONDS)

    async def _read(self, chore: Chore) -> dict[str, Json]:
        self._tell(_progress(What.READING, chore))
        if chore.kind is ChoreKind.INSERT:
            # A new function needs no base; its author reads the present regions all the same.
            await self._call("regions", {"path": chore.places[0].path})
            return {}
        return _by_key(await self._call("read", {"keys": [place.key for place in chore.places]}))

    async def _fresh(self, chore: Chore, answer: Json) -> dict[str, Json]:
        """Return the regions that the refusal contains. A header is read again, for the hashes of its pieces."""
        if chore.kind is ChoreKind.HEADER:
            return await self._read(chore)
        return _by_key(answer["repair"])


async def acquire(call: Call, tell: Tell, chore: Chore, keys: Iterable[str]) -> Json | frozenset[str]:
    """Return the lease on `keys`, or those of them that others hold."""
    answer = await call("acquire", {"keys": sorted(keys), "task": chore.intent, "ttl_seconds": 60})
    if answer["outcome"] == "granted":
        lease: Json = answer["lease"]
        return lease
    holders = ", ".join(dict.fromkeys(conflict["holder"] for conflict in answer["conflicts"]))
    tell(_progress(What.REFUSED, chore, code="denied", by=holders))
    return frozenset(conflict["key"].removeprefix("file:") for conflict in answer["conflicts"])


def _others(refusal: Json) -> str:
    names = [each.get("changed_by") for each in refusal.get("repair", {}).get("regions", ())]
    names += [each["holder"] for each in refusal.get("conflicts", ())]
    return ", ".join(dict.fromkeys(name for name in names if name))


def _by_key(shape: Json) -> dict[str, Json]:
    return {region["key"].removeprefix("file:"): region for region in shape["regions"]}


def _changeset(chore: Chore, texts: Mapping[str, Json], lease: Json | None) -> Json:
    edits = [_edit(chore, index, place, texts) for index, place in enumerate(chore.places)]
    changeset: Json = {"intent": chore.intent, "edits": edits}
    return changeset | ({"leases": [{"id": lease["id"], "fence": lease["fence"]}]} if lease else {})


def _edit(chore: Chore, index: int, place: Place, texts: Mapping[str, Json]) -> Json:
    name, marker = chore.variable(index), chore.marker(index)
    if chore.kind is ChoreKind.INSERT:
        return {"op": "insert", "key": place.key, "text": function_with(name, marker)}
    region = texts[place.key]
    if chore.kind is ChoreKind.HEADER:
        piece = region["pieces"][0]
        text = mark_header(piece["text"], marked_line(name, marker))
        return {"op": "replace", "key": place.key, "base": piece["hash"], "span": piece["span"], "text": text}
    text = mark_function(region["text"], marked_line(name, marker))
    return {"op": "replace", "key": place.key, "base": region["hash"], "text": text}


def _marked_file(source: str, path: str, chore: Chore) -> str:
    for index, place in enumerate(chore.places):
        if place.path != path:
            continue
        name, marker = chore.variable(index), chore.marker(index)
        match chore.kind:
            case ChoreKind.INSERT:
                source = append_function(source, function_with(name, marker))
            case ChoreKind.HEADER:
                source = mark_header(source, marked_line(name, marker))
            case _:
                source = mark_function_in_file(source, place.name, marked_line(name, marker))
    return source


def _replace(path: Path, text: str, chore: Chore) -> None:
    """Write a file as editors do: no reader ever sees half of it. The last writer wins."""
    draft = path.with_name(f".{path.name}.{chore.agent}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


async def _think(tell: Tell, chore: Chore, what: What = What.THINKING) -> None:
    tell(_progress(what, chore))
    await asyncio.sleep(chore.think_seconds)


def _progress(what: What, chore: Chore, *, code: str = "", by: str = "") -> Progress:
    return Progress(what, chore.number, chore.places[0].key, code, by)
