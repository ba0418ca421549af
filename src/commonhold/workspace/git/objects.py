"""The objects of a repository: blobs read and written many at a time, trees compared and made."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.merging.branches.histories import Blob, Settled
from commonhold.merging.tree import Changed
from commonhold.workspace.git.process import Git

INDEX: Final = "GIT_INDEX_FILE"
_NOTHING: Final = "000000"
_REGULAR: Final = "100"
_SHA1_DIGITS: Final = 40


@dataclass(frozen=True, slots=True)
class Change:
    """The old and the new state of a file: None if it was, or is, absent. `old_path` differs from `path` if renamed."""

    path: str
    old_path: str
    old: Blob | None
    new: Blob | None


_NO_CHANGE: Final = Change("", "", None, None)


@lru_cache(maxsize=8)
def changes(git: Git, before: str, after: str, *renames: str) -> Mapping[str, Change]:
    """Return the differences between two trees or commits, by path. `renames` are git's options for finding them.

    Both are named by their ids, so the answer never changes.
    """
    words = renames or ("--no-renames",)
    parts = iter(git.ask("diff-tree", "-r", "-z", "--raw", "--full-index", *words, before, after).split(b"\0"))
    found: dict[str, Change] = {}
    for head in parts:
        if head.startswith(b":"):
            old_mode, new_mode, old_id, new_id, status = head[1:].decode("ascii").split(" ")
            old_path = os.fsdecode(next(parts))
            path = os.fsdecode(next(parts)) if status[0] in "RC" else old_path
            found[path] = Change(path, old_path, _blob(old_mode, old_id), _blob(new_mode, new_id))
    return found


def _blob(mode: str, blob_id: str) -> Blob | None:
    return None if mode == _NOTHING else Blob(mode, blob_id)


def read_blobs(git: Git, ids: Sequence[str]) -> Mapping[str, bytes]:
    """Bytes by id, all with one call."""
    wanted = tuple(dict.fromkeys(ids))
    if not wanted:
        return {}
    data = git.ask("cat-file", "--batch", given="".join(f"{each}\n" for each in wanted).encode())
    found, at = {}, 0
    for each in wanted:
        end = data.index(b"\n", at)
        header = data[at:end].decode("utf-8", "replace").split(" ")
        if header[1:2] != ["blob"]:
            raise StoreError(
                Code.GIT_FAILED,
                f"git has no readable object {each}",
                hint="`git fsck` lists damaged objects; `git fetch` may bring the missing ones",
                fields={"object": each},
            )
        size = int(header[2])
        found[each] = data[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found


def read_changes(
    git: Git, ours: Mapping[str, Change], theirs: Mapping[str, Change], concerns: Callable[[str], bool]
) -> tuple[Changed, ...]:
    """The regular files that either side changed and whose path `concerns` us, in three versions each."""
    found: dict[str, tuple[Blob | None, Blob | None, Blob | None]] = {}
    for path in sorted({*ours, *theirs}):
        one, other = ours.get(path), theirs.get(path)
        old = (one or other or _NO_CHANGE).old
        versions = (old, one.new if one else old, other.new if other else old)
        if concerns(path) and all(each is None or each.mode.startswith(_REGULAR) for each in versions):
            found[path] = versions
    blobs = read_blobs(git, [each.id for versions in found.values() for each in versions if each])
    read = {path: [None if each is None else blobs[each.id] for each in versions] for path, versions in found.items()}
    return tuple(Changed(path, base, mine, other) for path, (base, mine, other) in read.items())


def holds(blob: Blob, content: bytes) -> bool:
    """Whether the id of `blob` is that of these bytes."""
    told = hashlib.new("sha1" if len(blob.id) == _SHA1_DIGITS else "sha256", b"blob %d\0" % len(content))
    told.update(content)
    return told.hexdigest() == blob.id


def write_blobs(git: Git, contents: Sequence[bytes]) -> list[str]:
    """Put bytes into the repository, all with one call; their ids, in order."""
    if not contents:
        return []
    with tempfile.TemporaryDirectory(prefix="commonhold-") as folder:
        places = [os.path.join(folder, str(number)) for number in range(len(contents))]
        for place, content in zip(places, contents, strict=True):
            with open(place, "wb") as file:
                file.write(content)
        listed = "".join(f"{place}\n" for place in places)
        return git.ask("hash-object", "-w", "--no-filters", "--stdin-paths", given=os.fsencode(listed)).decode().split()


def tree_with(git: Git, tree: str, files: Mapping[str, Settled]) -> str:
    """The tree with other bytes in these files."""
    if not files:
        return tree
    ids = write_blobs(git, [each.source for each in files.values()])
    blobs = {path: Blob(each.mode, blob_id) for (path, each), blob_id in zip(files.items(), ids, strict=True)}
    with tempfile.TemporaryDirectory(prefix="commonhold-") as folder:
        settings = {INDEX: os.path.join(folder, "index")}
        git.ask("read-tree", tree, settings=settings)
        put_in_index(git, [index_line(path, blob) for path, blob in blobs.items()], settings)
        return git.ask("write-tree", settings=settings).decode().strip()


def put_in_index(git: Git, lines: Sequence[bytes], settings: Mapping[str, str]) -> None:
    """Write entries into the index that the settings name, or into the user's."""
    git.ask("update-index", "-z", "--index-info", given=b"".join(lines), settings=settings)


def index_line(path: str, blob: Blob, stage: int = 0) -> bytes:
    """An entry of an index; stages 1 to 3 are base, ours and theirs of a conflict."""
    return f"{blob.mode} {blob.id} {stage}\t".encode() + os.fsencode(path) + b"\0"


def removal_line(path: str, blob_id: str) -> bytes:
    """Return the entry that removes all stages of a path from an index; the id only shows how long ids are here."""
    return f"0 {'0' * len(blob_id)}\t".encode() + os.fsencode(path) + b"\0"


def tree_of(git: Git, blobs: Mapping[str, Blob | None]) -> str:
    """A tree of files with these plain names."""
    lines = [f"100644 blob {blob.id}\t{name}\n" for name, blob in blobs.items() if blob is not None]
    return git.ask("mktree", given="".join(lines).encode()).decode().strip()


def loose_commit(git: Git, tree: str, *parents: str) -> str:
    """Make an unreferenced commit, for git to merge from; no branch will ever have it."""
    words = [word for parent in parents for word in ("-p", parent)]
    return git.ask("commit-tree", tree, *words, given=b"for a merge\n", settings=_NOBODY).decode().strip()


_NOBODY: Final = {f"GIT_{who}_{what}": "commonhold" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
