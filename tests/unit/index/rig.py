"""A working tree, its index, and what that should say: a shelf made from scratch, for which git is asked everything."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from commonhold.code.analysis.repository.library import Library, Shelf
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary
from commonhold.index.index import SqliteIndex
from commonhold.workspace.git.process import Git

MADE = {"node_modules", "__pycache__", "build", "dist", "target", "bower_components"}


class Rig:
    """One working tree, in git or not."""

    def __init__(self, folder: Path, *, has_git: bool = True) -> None:
        self.root = folder / "tree"
        self.state = folder / "state"
        self.root.mkdir(parents=True)
        self.state.mkdir()
        self.has_git = has_git
        if has_git:
            self.git("init", "--quiet")
        self.index = self.opened()

    def opened(self, processes: int = 1, **options: Any) -> SqliteIndex:
        """Make another index of the same tree, as another process would."""
        git = Git(str(self.root)) if self.has_git else None
        return SqliteIndex(str(self.state), str(self.root), git, processes=processes, **options)

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com")
        command = ["git", *identity, *words]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(
            command, cwd=self.root, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def remove(self, path: str) -> None:
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "state")
        return self.git("rev-parse", "HEAD")

    def expected(self) -> Shelf:
        """Read everything that counts."""
        paths = self._of_git() if self.has_git else self._of_folder()
        return shelf({path: (self.root / path).read_bytes() for path in paths if self._is_regular(path)})

    def _is_regular(self, path: str) -> bool:
        place = self.root / path
        return place.is_file() and not any(part.is_symlink() for part in (place, *place.parents))

    def _of_git(self) -> Iterable[str]:
        listed = self.git("ls-files", "-z", "--cached").split("\0")
        listed += self.git("ls-files", "-z", "--others", "--exclude=node_modules/", "--exclude-standard").split("\0")
        own = {path for path in listed if path.endswith(".py")}
        return {path for path in own if not any(self._is_closed(part) for part in folders(path))}

    def _is_closed(self, folder: str) -> bool:
        return any((self.root / folder / mark).exists() for mark in (".git", ".commonhold"))

    def _of_folder(self) -> Iterable[str]:
        for folder, names, files in os.walk(self.root):
            marks = {"pyvenv.cfg", "CACHEDIR.TAG", ".git", ".commonhold"} & {*names, *files}
            is_closed = marks and Path(folder) != self.root
            names[:] = [] if is_closed else [name for name in names if name not in MADE and not name.startswith(".")]
            place = os.path.relpath(folder, self.root)
            for name in () if is_closed else files:
                if name.endswith(".py") and not name.startswith("."):
                    yield os.path.normpath(f"{place}/{name}")

    def fail(self) -> Library:
        """There should have been a library."""
        raise AssertionError(self.root)

    def check(self, index: SqliteIndex | None = None) -> Library:
        """Hold the library against the shelf."""
        library = (index or self.index).library()
        assert_same(library, self.expected())
        return library


def folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def shelf(files: dict[str, bytes]) -> Shelf:
    found = {path: summarise(path, content) for path, content in files.items()}
    return Shelf({path: each for path, each in found.items() if each is not None})


def assert_same(library: Library, expected: Shelf) -> None:
    assert sorted(library.paths) == sorted(expected.paths)
    summaries: dict[str, Summary | None] = {path: library.summary(path) for path in library.paths}
    assert summaries == expected.files
    names = {name for each in expected.files.values() for name in (*each.used_names, *each.offered_names)}
    for name in (*names, "nobody_uses_this"):
        assert sorted(library.users(name)) == sorted(expected.users(name))
        assert sorted(library.definers(name)) == sorted(expected.definers(name))
