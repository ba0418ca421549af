"""A working tree in which some files still have earlier content, to judge changes that are already written."""

from collections.abc import Mapping

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.files import Contents, Files, FileState, Journal, Stamp
from commonhold.kernel.keys import Key, Spec


class HistoricalFiles:
    """The files of a working tree, some of them in an earlier state. Nothing can be written through it."""

    def __init__(self, files: Files, before: Mapping[str, FileState | None]) -> None:
        """Show `before` in place of the present files; None means that there was no file."""
        self._files = files
        self._before = before

    @property
    def root(self) -> str:
        """The absolute path of the working tree."""
        return self._files.root

    def at(self, root: str) -> Files:
        """Return the files of another working tree, in their present state."""
        return self._files.at(root)

    def locate(self, spec: Spec) -> Key:
        """Return the canonical key. A file in an earlier state keeps its literal name, whatever is at its path now."""
        named = spec.key()
        return named if named.file_path in self._before else self._files.locate(spec)

    def path_of(self, raw: str) -> str:
        """Return the present path in keys."""
        return self._files.path_of(raw)

    def missing_folders(self, path: str) -> tuple[str, ...]:  # noqa: ARG002 - no folder has to be made
        """Return no folders: the written files are there already, and so are their folders."""
        return ()

    @property
    def new_file_mode(self) -> int:
        """Return the default permission bits of a new file."""
        return self._files.new_file_mode

    def exists(self, path: str) -> bool:
        """Whether anything was at `path`."""
        return self._before[path] is not None if path in self._before else self._files.exists(path)

    def load(self, path: str) -> FileState | None:
        """Return the whole file in its earlier state."""
        return self._before[path] if path in self._before else self._files.load(path)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of the file in its earlier state."""
        state = self._before.get(path)
        if path in self._before:
            return Stamp(hash_bytes(state.content), state.mode) if state else None
        return self._files.stamp(path)

    def check_size(self, path: str, content: bytes) -> None:
        """Raise InputError `FILE_TOO_LARGE` for content over the limit."""
        self._files.check_size(path, content)

    def check_idle(self) -> None:
        """Do nothing: an earlier state can be read at any time."""

    def stage(self, journal: Journal, contents: Contents) -> None:
        """Raise NotImplementedError: changes that are already written are not written again."""
        raise NotImplementedError

    def swap(self, journal: Journal) -> None:
        """Raise NotImplementedError, as `stage`."""
        raise NotImplementedError

    def flush(self, journal: Journal) -> None:
        """Raise NotImplementedError, as `stage`."""
        raise NotImplementedError

    def may_come_back(self, root: str) -> bool:
        """Return whether another working tree, out of reach now, is not gone for good."""
        return self._files.may_come_back(root)

    def undo(self, journal: Journal, contents: Contents) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Raise NotImplementedError, as `stage`."""
        raise NotImplementedError

    def has_swapped(self, journal: Journal) -> bool:
        """Raise NotImplementedError, as `stage`."""
        raise NotImplementedError
