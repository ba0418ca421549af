"""Events with their hashes in files: written before a compaction, and checked as one chain with the log."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from commonhold.api.wire.text import Json
from commonhold.cli.common_options import Given
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.output import answer
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.hash_chain import ChainLink, ReadPage, broken_at, links_after
from commonhold.machine.decoding import from_json

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class _Line(msgspec.Struct):
    sequence: int
    at: float
    kind: str
    event: msgspec.Raw
    hash: str | None


def write(path: str, links: Iterator[ChainLink]) -> None:
    """Write events to a new file, one JSON object a line, durably. Raises InputError `FILE_EXISTS`, `IO_FAILED`."""
    try:
        with open(os.open(path, _FLAGS, 0o600), "wb") as file:  # noqa: PTH123 - its flags let it replace no file
            for each in links:
                hash_ = each.hash.hex() if each.hash else None
                line = _Line(each.sequence, each.at, each.kind, msgspec.Raw(each.body.encode()), hash_)
                file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as fault:
        raise InputError(
            Code.FILE_EXISTS,
            f"there is a file {path!r} already, and no export replaces one",
            hint="name another file",
            fields={"path": path},
        ) from fault
    except BaseException as fault:  # also Ctrl-C: half an export must not stay
        with suppress(OSError):
            Path(path).unlink()
        if not isinstance(fault, OSError):
            raise
        raise InputError(
            Code.IO_FAILED,
            f"the events could not be written to {path!r}, so none was deleted: {fault.strerror}",
            hint="name a file in a folder that exists and has space",
            fields={"path": path},
        ) from fault


def _read(path: str) -> Iterator[ChainLink]:
    """Yield the events of an export. Raises InputError `FILE_NOT_FOUND`, UsageError for another file."""
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    each = from_json(line, _Line)
                    hash_ = None if each.hash is None else bytes.fromhex(each.hash)
                    yield ChainLink(each.sequence, each.at, each.kind, bytes(each.event).decode(), hash_)
                except ValueError as fault:
                    raise UsageError(
                        Code.USAGE,
                        f"line {number} of {path!r} is no event with its hash",
                        hint="name a file that `commonhold doctor --compact --export FILE` has written",
                        fields={"path": path, "line": number},
                    ) from fault
    except OSError as fault:
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"{path!r} cannot be read: {fault.strerror}",
            hint="name the files of the exports, the oldest first",
            fields={"path": path},
        ) from fault


@dataclass
class _Whole:
    """The events of exports, then those of the log after them, counted while they are read."""

    page_after: ReadPage
    paths: Sequence[str]
    first: int = 0
    last: int = 0
    before_last: int = 0
    exported: int = 0
    stored: int = 0

    def links(self) -> Iterator[ChainLink]:
        """Yield them."""
        for path in self.paths:
            for each in _read(path):
                self.exported += 1
                yield self._seen(each)
        for each in links_after(self.page_after, self.last):
            self.stored += 1
            yield self._seen(each)

    def _seen(self, link: ChainLink) -> ChainLink:
        self.first = self.first or link.sequence
        self.before_last, self.last = self.last, link.sequence
        return link


def verify(given: Given, page_after: ReadPage, paths: Sequence[str]) -> int:
    """Check that the events in these files and those of the log are one chain; return the exit status."""
    whole = _Whole(page_after, [os.path.join(given.folder or "", path) for path in paths])  # noqa: PTH118 - as named
    links = whole.links()
    begin = next(links, None)
    if begin is None or begin.sequence == 1:
        number = broken_at(chain((begin,) if begin else (), links))
    else:  # an earlier export is not given, so that the hash of the event before is not known
        number = broken_at(links, begin.hash)
    lacking = number is not None and number > whole.before_last + 1
    shape: Json = {
        "outcome": "whole" if number is None else "broken",
        "first": whole.first,
        "last": whole.last,
        "exported": whole.exported,
        "stored": whole.stored,
        "event": number,
        "missing": [whole.before_last + 1, whole.last - 1] if lacking else None,
    }
    answer(given, shape, lambda found: found, _lines)
    return DONE if number is None else REFUSED


def _lines(found: Json) -> str:
    if found["event"] is None:
        parts = f"{found['exported']:,} from the files, {found['stored']:,} from the log"
        return f"events {found['first']} to {found['last']} are one chain: {parts}"
    if found["missing"] is not None:
        first, last = found["missing"]
        return f"events {first} to {last} are missing: name the files of all exports, the oldest first"
    return f"event {found['event']} does not fit: it, or the one before it, was changed, removed or inserted"
