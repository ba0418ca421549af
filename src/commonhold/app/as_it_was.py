"""A working tree in which some files are still what they were: for judging what has been written already."""

from collections.abc import Mapping

from commonhold.app.ports import Contents, Files, FileState, Journal, Stamp
from commonhold.domain.keys import Key, Spec
from commonhold.regions.region import hash_bytes


class AsItWas:
    """The files of a working tree, but for some that are as they were before. Nothing can be written through it."""

    def __init__(self, files: Files, before: Mapping[str, FileState | None]) -> None:
        """Show `before` in place of what is there; None: no file."""
        self._files = files
        self._before = before

    @property
    def root(self) -> str:
        """The absolute path of the working tree."""
        return self._files.root

    def at(self, root: str) -> Files:
        """The files of another working tree, as they are."""
        return self._files.at(root)

    def locate(self, spec: Spec) -> Key:
        """The canonical key. What is shown as it was has its name by letters alone, whatever is in its place now."""
        named = spec.key()
        return named if named.file_path in self._before else self._files.locate(spec)

    def path_of(self, raw: str) -> str:
        """What keys call it now."""
        return self._files.path_of(raw)

    def missing_folders(self, path: str) -> tuple[str, ...]:  # noqa: ARG002 - none has to be made
        """No folder is missing: what is written is there already."""
        return ()

    @property
    def new_file_mode(self) -> int:
        """The permission bits of a file that nobody gave any."""
        return self._files.new_file_mode

    def exists(self, path: str) -> bool:
        """Whether anything was at `path`."""
        return self._before[path] is not None if path in self._before else self._files.exists(path)

    def load(self, path: str) -> FileState | None:
        """The whole file as it was."""
        return self._before[path] if path in self._before else self._files.load(path)

    def stamp(self, path: str) -> Stamp | None:
        """What the file was."""
        state = self._before.get(path)
        if path in self._before:
            return Stamp(hash_bytes(state.content), state.mode) if state else None
        return self._files.stamp(path)

    def check_size(self, path: str, content: bytes) -> None:
        """Raise InputError `FILE_TOO_LARGE` for content over the limit."""
        self._files.check_size(path, content)

    def check_idle(self) -> None:
        """Nothing stands in the way of looking back."""

    def stage(self, journal: Journal, contents: Contents) -> None:
        """Never: what has been written is not written again."""
        raise NotImplementedError

    def swap(self, journal: Journal) -> None:
        """Never, as `stage`."""
        raise NotImplementedError

    def flush(self, journal: Journal) -> None:
        """Never, as `stage`."""
        raise NotImplementedError

    def undo(self, journal: Journal, contents: Contents) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Never, as `stage`."""
        raise NotImplementedError

    def has_swapped(self, journal: Journal) -> bool:
        """Never, as `stage`."""
        raise NotImplementedError
