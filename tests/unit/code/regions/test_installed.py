"""Discovery over all Python that is installed here: the standard library and every package beside us."""

import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest
from tests.effort import is_stress
from tests.unit.code.regions.checks import BODIES, check_tiling

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.region import Region, RegionMap

_ROOTS: Final = {name: Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
_CHUNKS: Final = 24
_INDENT: Final = re.compile(rb"[ \t]*")
_STATEMENT: Final = re.compile(rb"\s+(return|raise|yield|self\.\w+ =|assert) [^()\[\]{}]*$")


def _files() -> Iterator[Path]:
    for root in _ROOTS.values():
        for path in root.rglob("*.py"):
            if root.name == "site-packages" or "site-packages" not in path.parts:
                yield path


def _chunk(number: int) -> Iterator[Path]:
    return (path for path in _files() if crc32(str(path).encode(errors="replace")) % _CHUNKS == number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, _CHUNKS, 1 if is_stress() else 12))
def test_every_installed_file(number: int) -> None:
    failed = [f"{path}: {why}" for path in _chunk(number) if (why := _failure(path.read_bytes()))]
    assert failed == []


def _failure(source: bytes) -> str:
    found = discover(source)
    check_tiling(found)
    if len(found.by_key) != len(found.regions):
        return "two regions share a key"
    leaf = _sample(found)
    return _difference(found, leaf) if leaf and not found.problems else ""


def _sample(found: RegionMap) -> Region | None:
    """Pick a function that has more than one line, always the same one of a file."""
    long = [each for each in found.leaves() if each.kind in BODIES and b"\n" in found.bytes_of(each).rstrip()]
    return long[crc32(found.source) % len(long)] if long else None


def _difference(before: RegionMap, leaf: Region) -> str:
    """Add a line to a function, and name the regions that this should have left alone."""
    after = rediscover(before, _with_a_line_more(before, leaf))
    if after.problems:
        return ""
    if [each.key for each in before.regions] != [each.key for each in after.regions]:
        return f"an edit in {leaf.id} changed an id"
    around = {
        each.key
        for each in before.regions
        if each.start <= leaf.start and leaf.end <= each.end and not each.key.is_header
    }
    wrong = [
        old.id
        for old, new in zip(before.regions, after.regions, strict=True)
        if (old.hash != new.hash) is not (old.key in around)
    ]
    return f"an edit in {leaf.id} changed the hash of {wrong}" if wrong else ""


def _with_a_line_more(before: RegionMap, leaf: Region) -> bytes:
    """Put a statement above the last line where that is one itself, else a comment below it."""
    text = before.bytes_of(leaf)
    above, last = text.rstrip().rsplit(b"\n", 1)
    if _STATEMENT.match(last):
        changed = above + b"\n" + _INDENT.match(last)[0] + b"pass\n" + last  # type: ignore[index]
    else:
        changed = above + b"\n" + last + b"\n" + _INDENT.match(text)[0] + b"        # one comment more"  # type: ignore[index]
    return before.source[: leaf.start] + changed + text[len(text.rstrip()) :] + before.source[leaf.end :]


def test_there_is_something_to_read() -> None:
    assert sum(1 for _ in _files()) > 500
