"""The files that count in a git repository: those that git tracks or would track. Git itself is asked."""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

import msgspec

from commonhold.machine import file_stamps
from commonhold.machine.decoding import from_msgpack
from commonhold.machine.file_stamps import Stamp
from commonhold.workspace import generated_folders
from commonhold.workspace.files.canonical_paths import RESERVED
from commonhold.workspace.git.process import Git, failed
from commonhold.workspace.scan.listing import IGNORING, inside
from commonhold.workspace.scan.state import Folder

_ABSENT: Final[Stamp] = (0, 0, 0, 0)
_ANY_IGNORED: Final = (0, 1)
# Paths are literal names here, not patterns; `-t` marks the tracked ones.
_LIST: Final = ("ls-files", "-t", "-z", "--cached")
_ALSO_UNTRACKED: Final = ("--others", *generated_folders.TOLD_TO_GIT, "--exclude-standard")
_LITERAL: Final = {"GIT_LITERAL_PATHSPECS": "1"}
_UNTRACKED: Final = b"? "


@dataclass(frozen=True, slots=True)
class _Ground:
    """The files by which git decided. `index` changes often, `tracked` (a digest of the names in it) seldom.

    `place` is the path of the index. `others` are the files with ignore rules, global or of one folder, with their
    stamps; a stamp that cannot be relied on is None.
    """

    place: str
    index: Stamp | None
    tracked: bytes
    others: tuple[tuple[str, Stamp | None], ...]


class GitRules:
    """Git's decisions, queried again when one of the files behind them changed."""

    # A repository of its own is not entered from here.
    closing = RESERVED

    def __init__(self, git: Git) -> None:
        """Ask `git` about its working tree."""
        self._git = git

    def still(self, known: bytes) -> bytes | None:
        """Return the rules now, if they decide as before. A folder's marks show a file of rules that came or went."""
        ground = _decoded(known)
        if ground is None:
            return None
        now = time.time_ns()
        if any(stamp is None or _stamp(place, now) != stamp for place, stamp in ground.others):
            return None
        index = _stamp(ground.place, now)
        if index is not None and index == ground.index:
            return known
        is_same = _digest(_listed(self._git, ())) == ground.tracked
        return _encoded(replace(ground, index=index)) if is_same else None

    def scope(self, names: Collection[str]) -> "GitScope":
        """Return git's decision on these names, or on everything."""
        return GitScope(self._git, names)


class GitScope:
    """One answer of git's."""

    def __init__(self, git: Git, names: Collection[str]) -> None:
        """Ask about these names, or about everything."""
        self._git = git
        self._began = time.time_ns()
        # All files behind the decision are stamped before git is asked: changes meanwhile will be noticed.
        ground = None if names else _begun(git, self._began)
        listed = _listed(git, _ALSO_UNTRACKED, names)
        self._ground = replace(ground, tracked=_digest(listed)) if ground else None
        self._files = {os.fsdecode(entry[2:]) for entry in listed}
        self._parents = set(_parents(self._files))

    def has(self, path: str) -> bool:
        """Whether git tracks a file, or would."""
        return path in self._files

    def entered(self, folders: Collection[str]) -> Collection[str]:
        """The folders with files that git listed, and those whose files it would list."""
        told = [path for path in folders if path in self._parents]
        unknown = [path for path in folders if path not in self._parents]
        return [*told, *not_ignored(self._git, unknown)]

    def kept(self, folders: Mapping[str, Folder]) -> bytes:
        """Return the files by which git decided, to be stored."""
        if self._ground is None:
            return b""
        own = (inside(path, IGNORING) for path, folder in folders.items() if IGNORING in folder.marks)
        also = ((place, _stamp(place, self._began)) for place in (f"{self._git.root}/{path}" for path in own))
        return _encoded(replace(self._ground, others=(*self._ground.others, *also)))


def _begun(git: Git, now_nanoseconds: int) -> _Ground:
    """Return the files by which git will decide; what it tracks is not known yet."""
    words = [word for name in ("index", "info/exclude", "config") for word in ("--git-path", name)]
    told = os.fsdecode(git.ask("rev-parse", *words)).splitlines()
    chosen = git.line("config", "--type=path", "--get", "core.excludesFile")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    own = chosen or os.path.join(home, "git", "ignore")
    index, *others = (os.path.join(git.root, place) for place in (*told, own))
    # A path that is no Unicode text cannot be stored.
    texts = (place for place in others if place.encode("utf-8", "replace").decode() == place)
    stamps_of_others = tuple((place, _stamp(place, now_nanoseconds)) for place in texts)
    return _Ground(index, _stamp(index, now_nanoseconds), b"", stamps_of_others)


def _decoded(known: bytes) -> _Ground | None:
    try:
        return from_msgpack(known, _Ground) if known else None
    except msgspec.DecodeError:
        return None


def _encoded(ground: _Ground) -> bytes:
    return msgspec.msgpack.encode(ground)


def _stamp(place: str, now_nanoseconds: int) -> Stamp | None:
    found = file_stamps.at(place)
    return _ABSENT if found is None else file_stamps.settled(found, now_nanoseconds)


def _listed(git: Git, words: tuple[str, ...], names: Collection[str] = ()) -> list[bytes]:
    """Return the paths that git lists, each after a letter and a space."""
    told = git.ask(*_LIST, *words, "--", *names, settings=_LITERAL)
    return [entry for entry in told.split(b"\0") if entry]


def _digest(listed: Iterable[bytes]) -> bytes:
    digest = sha256()
    for entry in listed:
        if not entry.startswith(_UNTRACKED):
            digest.update(entry[2:] + b"\0")
    return digest.digest()


def _parents(paths: Iterable[str]) -> Iterator[str]:
    seen = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in seen:
            seen.add(folder)
            yield folder
            folder = folder.rpartition("/")[0]


def not_ignored(git: Git, folders: Collection[str]) -> list[str]:
    """Those of some folders that neither git ignores nor tools fill. Raises StoreError `GIT_FAILED`."""
    asked = generated_folders.not_made(folders)
    if not asked:
        return []
    done = git.run("check-ignore", "-z", "--stdin", given=b"\0".join(map(os.fsencode, asked)))
    if done.returncode not in _ANY_IGNORED:
        raise failed("check-ignore", done)
    ignored = {os.fsdecode(path) for path in done.stdout.split(b"\0")}
    return [path for path in asked if path not in ignored]
