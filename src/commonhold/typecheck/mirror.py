"""A scratch folder that looks like the working tree: links to it, and real folders only where files come and go.

A type checker decides by the disk whether a file exists, whatever was opened; and we must not write to the working tree
before a commit is admitted.
"""

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Final

_LEFT_OUT: Final = frozenset({".git", ".commonhold"})


@contextmanager
def mirrored(root: str, paths: Collection[str]) -> Iterator[str]:
    """A mirror of `root` in which `paths` can be written, for as long as the block runs. Raises OSError."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="commonhold-types-"))
    try:
        own = {above for path in paths for above in _folders_above(path)}
        _link(root, folder, "", own)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put(mirror: str, path: str, content: bytes | None) -> None:
    """Give a file of the mirror this content, None: remove it. Raises OSError, also if a folder is a link."""
    place = os.path.join(mirror, path)
    with suppress(FileNotFoundError):
        os.unlink(place)
    if content is None:
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)


def _link(root: str, mirror: str, folder: str, own: Collection[str]) -> None:
    """Link to all that is in one folder, except to the folders that must be the mirror's own."""
    for name in os.listdir(os.path.join(root, folder)):
        path = f"{folder}{name}"
        if path in own and os.path.isdir(os.path.join(root, path)):
            os.mkdir(os.path.join(mirror, path))
            _link(root, mirror, f"{path}/", own)
        elif path not in _LEFT_OUT:
            os.symlink(os.path.join(root, path), os.path.join(mirror, path))


def _folders_above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))
