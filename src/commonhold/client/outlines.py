"""The regions of a file without a daemon, for commands that must start as fast as Python does.

Finding regions takes a parser, which takes longer to load than Python itself. So outlines are cached beside the state:
an outline depends on nothing but the path, the bytes, and the code that finds it, which are all compared. The cache may
be deleted at any time; a damaged entry counts as missing. If anything about the file is unusual, this raises `Unread`:
the service handles it.
"""

import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeGuard

import commonhold
from commonhold.client.reader import Unread

if TYPE_CHECKING:
    from commonhold.code.regions.region import Region, RegionMap

FOLDER = "outlines"
MOST_FILE_BYTES = 10_000_000
"""The largest file that the default settings allow; if they set another limit, the service answers."""
MOST_KEPT_BYTES = 1_000_000
_SLOT_DIGITS = 3
"""The number of digits that name the slot of an outline in the cache; the newest outline of a slot stays."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FINDING = ("code/regions", "code/regions/languages", "commits/region_list.py", "kernel/keys.py")
"""The code that finds regions, in our package."""
_PARSER = "tree_sitter"
_BUDGET = "PARSE_BUDGET"
_PLAIN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class Outlines:
    """Finds the regions of files below `root`, and caches them in a state folder."""

    def __init__(self, state_folder: str, root: str) -> None:
        """Find the cache in the state folder."""
        self._folder = f"{state_folder}/{FOLDER}"
        self._root = root

    def regions(self, key: str) -> SimpleNamespace:
        """Return the service's answer to `list_regions`. Raises Unread."""
        path, content = self._read(key)
        return self._outline(path, content)

    def region(self, key: str) -> SimpleNamespace:
        """Return the service's answer to `read`, of one region of one span. Raises Unread."""
        path, content = self._read(key.partition("#")[0])
        found = [each for each in self._outline(path, content).regions if each.key == key]
        if len(found) != 1 or found[0].span is None:
            raise Unread
        (region,) = found
        text = content[slice(*region.span)]
        if hashlib.sha256(text).hexdigest() != region.hash:
            raise Unread
        return SimpleNamespace(key=key, kind=region.kind, hash=region.hash, text=text.decode(), data=None, pieces=())

    def _read(self, key: str) -> tuple[str, bytes]:
        path = key.removeprefix("file:")
        try:
            return path, _content(self._root, path.split("/"))
        except OSError as fault:
            raise Unread from fault

    def _outline(self, path: str, content: bytes) -> SimpleNamespace:
        digest = _digest(path, content)
        place = f"{self._folder}/{hashlib.sha256(path.encode()).hexdigest()[:_SLOT_DIGITS]}"
        kept = _kept(place, digest)
        if kept is None:
            kept = json.loads(json.dumps(_found(path, content)))
            _keep(place, digest, kept)
        return _thing(kept)


def _content(root: str, parts: list[str]) -> bytes:
    """Return the content of a file whose path is spelt as on the disk, without any link. Raises OSError, Unread."""
    folder = os.open(root, _FOLDER_FLAGS)
    try:
        for part in parts[:-1]:
            _check_spelt(folder, part)
            inner = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        _check_spelt(folder, parts[-1])
        return _all_of(os.open(parts[-1], _FILE_FLAGS, dir_fd=folder), MOST_FILE_BYTES)
    finally:
        os.close(folder)


def _check_spelt(folder: int, name: str) -> None:
    """Check that a name stands for itself in a key, and is in the folder as it is spelt. Raises Unread."""
    if not _PLAIN_NAME.issuperset(name) or name in ("", ".", "..") or name not in os.listdir(folder):
        raise Unread


def _all_of(descriptor: int, most: int) -> bytes:
    """Return the content of an open file. Raises Unread if it is not a regular file, or larger than `most`."""
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise Unread
        return file.readall()


def _digest(path: str, content: bytes) -> str:
    """Return the cache key of an outline: a digest of all that it depends on."""
    known = hashlib.sha256()
    for part in (*_code(), path.encode(), content):
        known.update(len(part).to_bytes(8, "big") + part)
    return known.hexdigest()


def _code() -> Iterator[bytes]:
    """Yield the identity of the code that finds regions: our files by stamps, packages and Python by their versions."""
    yield sys.version.encode()
    package = os.path.dirname(commonhold.__file__)
    for name in _FINDING:
        place = f"{package}/{name}"
        modules = [place] if name.endswith(".py") else sorted(each.path for each in os.scandir(place) if each.is_file())
        for each in modules:
            status = os.stat(each)
            yield f"{each} {status.st_size} {status.st_mtime_ns}".encode()
    parsers = next((each for each in sys.path if os.path.isdir(f"{each}/{_PARSER}")), None)
    yield from (name.encode() for name in sorted(os.listdir(parsers)) if name.startswith(_PARSER)) if parsers else ()


def _kept(place: str, digest: str) -> dict[str, Any] | None:
    """Return the outline that is cached there, if it is the one of this digest."""
    try:
        kept = json.loads(_all_of(os.open(place, _FILE_FLAGS), MOST_KEPT_BYTES))
    except (OSError, ValueError, RecursionError, Unread):
        return None
    if not isinstance(kept, dict) or kept.get("digest") != digest:
        return None
    outline = kept.get("outline")
    return outline if isinstance(outline, dict) else None


def _keep(place: str, digest: str, outline: dict[str, Any]) -> None:
    """Cache it, if possible. A reader of the entry that it replaces still reads a whole one."""
    data = json.dumps({"digest": digest, "outline": outline}).encode()
    made = f"{place}.{os.getpid()}"
    if len(data) > MOST_KEPT_BYTES:
        return
    try:
        os.makedirs(place.rpartition("/")[0], 0o700, exist_ok=True)
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(data)
        os.replace(made, place)
    except OSError:  # a full disk, or a read-only one: the outline is found again each time
        return


def _found(path: str, content: bytes) -> dict[str, Any]:
    """Find the regions now. Raises Unread if that took too long: then the result depends on the machine."""
    from commonhold.code.regions.budget import TRIALS  # noqa: PLC0415
    from commonhold.code.regions.discover import discover  # noqa: PLC0415
    from commonhold.commits.region_list import listed  # noqa: PLC0415 - loaded here, as below: it takes the longest

    TRIALS.is_quick = _is_quick
    found = discover(content, path)
    if any(each.code == _BUDGET for each in found.problems):
        raise Unread
    lines = listed(found)
    is_plain = _is_plain(found)
    return {
        "regions": [
            {
                "key": each.key,
                "kind": str(each.kind),
                "hash": each.hash,
                "lines": each.lines,
                "is_empty": each.is_empty,
                "span": _span(region) if is_plain else None,
            }
            for each, region in zip(lines.regions, found.regions, strict=True)
        ],
        "problems": [{"code": each.code, "message": each.message, "line": each.line} for each in lines.problems],
    }


def _is_plain(found: "RegionMap") -> bool:
    """Whether all of the file is text as Python decodes it by itself."""
    from commonhold.code.regions.encoding import encoding_of  # noqa: PLC0415 - loaded here: discovery has loaded it
    from commonhold.code.regions.languages import language_for  # noqa: PLC0415

    encoding = encoding_of(found.source, language_for(found.path, found.source))
    try:
        return encoding.bom == b"" and encoding.decode(found.source) == found.source.decode()
    except UnicodeError:
        return False


def _span(region: "Region") -> tuple[int, int] | None:
    """Return the place of a region's text, if it is in one piece and is shown as one."""
    return region.spans[0] if len(region.spans) == 1 and not region.key.is_header else None


def _is_quick(source: bytes, language: str) -> bool:
    from commonhold.workspace import parse_trials  # noqa: PLC0415 - loaded here: hardly any file needs it

    return parse_trials.is_quick(source, language)


def _thing(outline: dict[str, Any]) -> SimpleNamespace:
    """Return the outline as an object with attributes. Raises Unread if it does not have the form of ours."""
    regions, problems = outline.get("regions"), outline.get("problems")
    if not (_are_all(regions, _REGION) and _are_all(problems, _PROBLEM)):
        raise Unread
    return SimpleNamespace(
        regions=[SimpleNamespace(**each) for each in regions],
        problems=[SimpleNamespace(**each) for each in problems],
    )


def _are_all(found: object, shape: dict[str, Callable[[object], bool]]) -> TypeGuard[list[dict[str, Any]]]:
    """Whether all are objects with these fields, each with a valid value."""
    if not isinstance(found, list):
        return False
    fits = (isinstance(each, dict) and each.keys() == shape.keys() for each in found)
    return all(fits) and all(check(each[name]) for each in found for name, check in shape.items())


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and [*map(type, value)] == [int, int]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_REGION: dict[str, Callable[[object], bool]] = {
    "key": _is_text,
    "kind": _is_text,
    "hash": _is_text,
    "lines": lambda value: isinstance(value, list) and all(map(_is_pair, value)),
    "is_empty": lambda value: isinstance(value, bool),
    "span": lambda value: value is None or _is_pair(value),
}
_PROBLEM: dict[str, Callable[[object], bool]] = {
    "code": _is_text,
    "message": _is_text,
    "line": lambda value: type(value) is int,
}
