"""The Markdown files of a working tree."""

import os
from collections.abc import Iterator, Mapping
from typing import Final

from commonhold.kernel.errors import CommonholdError
from commonhold.tasks.notes import MOST_BYTES, Note, read_note
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.git.process import Git

MOST_FILES: Final = 5_000
_ENDINGS: Final = (".md", ".markdown")


class MarkdownFiles:
    """The notes of one working tree: all Markdown files that git does not ignore. Links are not followed.

    In a plain folder they are all Markdown files outside of hidden folders.
    """

    def __init__(self, files: WorkingTree, git: Git | None) -> None:
        """Read through `files`; `git` is None in a plain folder."""
        self._files = files
        self._git = git

    def stamps(self) -> Mapping[str, str]:
        """Return the path and the stamp of each file, at most MOST_FILES."""
        found: dict[str, str] = {}
        for path in sorted(set(_in_git(self._git) if self._git else self._in_folder())):
            try:
                status = os.lstat(os.path.join(self._files.root, path))
            except OSError:
                continue
            found[path] = f"{status.st_mode:o} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
            if len(found) == MOST_FILES:
                break
        return found

    def _in_folder(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self._files.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if name.lower().endswith(_ENDINGS):
                    yield os.path.relpath(os.path.join(folder, name), self._files.root)

    def read(self, path: str) -> Note | None:
        """Read one; None if it is gone. A link, or a file that is too large or no text, is a note with a problem."""
        full = os.path.join(self._files.root, path)
        if os.path.islink(full):
            target = os.path.realpath(full)
            if target != self._files.root and not target.startswith(self._files.root + os.sep):
                return Note(path, problem="it is a link that leads out of the working tree")
            name = os.path.relpath(target, self._files.root)
            return Note(path, problem=f"it is a link; its target {name} is read under its own name")
        try:
            if os.path.getsize(full) > MOST_BYTES:
                return Note(path, problem=f"it has {os.path.getsize(full)} bytes, and a note has at most {MOST_BYTES}")
            state = self._files.load(path)
        except CommonholdError as fault:
            return Note(path, problem=fault.message)
        except OSError as fault:
            return None if isinstance(fault, FileNotFoundError) else Note(path, problem=fault.strerror or str(fault))
        return None if state is None else read_note(path, state.content)


def _in_git(git: Git) -> Iterator[str]:
    patterns = [f":(icase,glob)**/*{ending}" for ending in _ENDINGS]
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
    return map(os.fsdecode, filter(None, git.ask(*words).split(b"\0")))
