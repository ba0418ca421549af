"""A working tree for one commit: it holds what one index holds, so that the hooks of that commit see nothing else."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.adapters.git.differing import Tree
from commonhold.adapters.git.indexes import Index
from commonhold.adapters.git.objects import INDEX
from commonhold.adapters.git.running import Git, run

PREFIX: Final = "commonhold-commit-"
_IGNORED: Final = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
_MADE: Final = ("ls-files", "-z", "--others", "--exclude-standard")
_RULES: Final = ".gitignore"
_AT_ONCE: Final = ("-c", "checkout.workers=4")
_AS_IT_IS: Final = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")


def has_hook(tree: Tree, name: str) -> bool:
    """Whether git would run a hook of that name in a working tree."""
    done = run("-C", tree.root, "rev-parse", "--git-path", f"hooks/{name}")
    place = Path(tree.root, os.fsdecode(done.stdout).removesuffix("\n"))
    return done.returncode == 0 and os.access(place, os.X_OK) and place.is_file()


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a file in there: its bytes before and after (None: not there)."""

    path: str
    before: bytes | None
    after: bytes | None


class PrivateTree:
    """A copy of the files of an index, which git takes for its working tree: with the same HEAD, branches and settings.

    What git ignores in the true working tree (`node_modules`, `.venv`, caches) is there by links, since hooks need it.
    """

    def __init__(self, tree: Tree, index: Index, temporary: str = "") -> None:
        """Put it into a new folder in `temporary` (empty: the system's). `index` is to be used with it from now on.

        Raises StoreError `GIT_FAILED`; nothing is left then.
        """
        self._tree = tree
        self.root = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=temporary or None))
        self._git = Git(self.root)
        self._begun = f"{index.path}-begun"
        try:
            self._fill(index)
            index.copied_to(self._begun)
        except BaseException:  # nobody else knows of it
            self.remove()
            raise

    def _fill(self, index: Index) -> None:
        if self._tree.git_dir != self._tree.common:
            # Git would note this place down as that of the linked working tree, if it has noted none for a day.
            os.utime(os.path.join(self._tree.git_dir, "gitdir"))
        Path(self.root, ".git").write_text(f"gitdir: {self._tree.git_dir}\n", encoding="utf-8")
        self._git.ask(*_AS_IT_IS, *_AT_ONCE, "checkout-index", "--all", "--index", settings=self.settings(index.path))
        ignored = self._ignored(self._tree.root, {INDEX: index.path})
        links = [each for path in ignored for each in self._linked(path)]
        while links:
            # A rule for folders alone (`build/`) does not ignore a link: then what is in there is linked.
            seen = set(self._listed(_MADE, self.settings(index.path)))
            links = [each for path in links if path in seen for each in self._linked(f"{path}/")]

    def settings(self, index: str) -> dict[str, str]:
        """The environment in which git uses it, with the index at that path."""
        return {INDEX: index, "GIT_DIR": self._tree.git_dir, "GIT_WORK_TREE": self.root}

    @property
    def options(self) -> tuple[str, ...]:
        """Options of git: no monitor of the true working tree is to be asked what changed here."""
        return _AS_IT_IS

    def folder(self, folder: str) -> str:
        """The folder here that stands for one of the true working tree; the root where there is none."""
        place = os.path.join(self.root, os.path.relpath(os.path.realpath(folder), self._tree.root))
        return os.path.normpath(place) if os.path.isdir(place) else self.root

    def _ignored(self, root: str, settings: Mapping[str, str]) -> Iterator[str]:
        done = Git(root).run(*_AS_IT_IS, *_IGNORED, settings=settings)
        yield from (os.fsdecode(each) for each in done.stdout.split(b"\0") if each)

    def _linked(self, path: str) -> list[str]:
        """Link a file of the true working tree; of a folder (`path` ends in a slash) what is in it. The links made."""
        place, there = Path(self.root, path), Path(self._tree.root, path)
        if place.is_symlink():
            place.unlink()
        try:
            names = [each for each in os.listdir(there) if each != ".git"] if path.endswith("/") else [""]
            (place if path.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
            for name in names:
                if name == _RULES:  # git follows no link to these
                    shutil.copyfile(there / name, place / name)
                else:
                    (place / name).symlink_to(there / name)
        except OSError:  # it is gone by now, or what the index holds is in its place
            return []
        return [f"{path}{name}" for name in names]

    def made(self) -> tuple[Made, ...]:
        """What has changed in here since, less what git ignores."""
        settings = self.settings(self._begun)
        self._git.run(*_AS_IT_IS, "update-index", "-q", "--refresh", settings=settings)
        changed = self._listed(("diff-files", "-z", "--name-only", "--ignore-submodules=all"), settings)
        added = self._listed(_MADE, settings)
        found = (Made(path, self._before(path), self._now(path)) for path in (*changed, *added))
        return tuple(each for each in found if each.before != each.after)

    def _listed(self, words: tuple[str, ...], settings: Mapping[str, str]) -> list[str]:
        done = self._git.run(*_AS_IT_IS, *words, settings=settings)
        return [os.fsdecode(each) for each in done.stdout.split(b"\0") if each]

    def _before(self, path: str) -> bytes | None:
        words = ("cat-file", "--filters", f":{path}")
        done = self._git.run(*words, settings=self.settings(self._begun))
        return done.stdout if done.returncode == 0 else None

    def _now(self, path: str) -> bytes | None:
        place = Path(self.root, path)
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    def hand_over_ignored(self) -> None:
        """Move what was made in here and git ignores to where it would have been made, if nothing is there."""
        for path in self._ignored(self.root, self.settings(self._begun)):
            place, there = Path(self.root, path), Path(self._tree.root, path)
            with suppress(OSError):
                if not place.is_symlink() and there.parent.is_dir() and not os.path.lexists(there):
                    shutil.move(place, there)

    def remove(self) -> None:
        """Take it away."""
        shutil.rmtree(self.root, ignore_errors=True)
        with suppress(FileNotFoundError):
            os.unlink(self._begun)
