"""The stage of the demo: a git repository in a temporary folder, with the sources of an installed package."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self

from commonhold.code.regions.discover import discover
from commonhold.code.regions.python_ast import parse_module
from commonhold.demo.marking import definitions, is_markable, times_marked
from commonhold.demo.workload import Chore
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Kind
from commonhold.workspace.git import process as git

PACKAGE: Final = "rich"
FILES: Final = ("layout.py", "live.py", "color.py", "prompt.py", "align.py", "cells.py")
START: Final = "start"
AUTHOR: Final = ("-c", "user.name=Commonhold demo", "-c", "user.email=demo@localhost")
# The user's own configuration (signing, hooks, default branch) must have no effect here.
OWN_SETTINGS: Final = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_LEAVES: Final = (Kind.FUNCTION, Kind.METHOD)
_CHECK: Final = """\
import compileall, importlib, sys

root, *paths = sys.argv[1:]
sys.path.insert(0, root)
compiled = [compileall.compile_file(f"{root}/{path}", quiet=2, force=True) for path in paths]
loaded = [importlib.import_module(path.removesuffix(".py").replace("/", ".")) for path in paths]
sys.exit(not all(compiled) or any(not module.__file__.startswith(root) for module in loaded))
"""


class Stage:
    """The repository, and how to restore its start."""

    def __init__(self, folder: Path) -> None:
        """Play in `folder`, which belongs to the demo."""
        self.root = folder / "repository"
        self._scratch = folder / "bytecode"
        self.title = f"{PACKAGE} {version(PACKAGE)}"

    @classmethod
    def build(cls, folder: Path) -> Self:
        """Copy the package and commit it."""
        stage = cls(folder)
        found = find_spec(PACKAGE)
        if found is None or found.origin is None:
            raise InputError(Code.FILE_NOT_FOUND, f"{PACKAGE} is not installed", hint="reinstall commonhold")
        source = Path(found.origin).parent
        shutil.copytree(source, stage.root / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        stage._git("init", "--quiet")
        stage.record(START)
        return stage

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are edited."""
        return tuple(f"{PACKAGE}/{name}" for name in FILES)

    def functions(self) -> Mapping[str, Sequence[str]]:
        """The functions of each file that can be edited."""
        return {path: tuple(_functions(path, (self.root / path).read_bytes())) for path in self.paths}

    def record(self, name: str) -> None:
        """Record the present files under a tag."""
        self._git("add", "--all")
        self._git(*AUTHOR, "commit", "--quiet", "--allow-empty", "--message", name)
        self._git("tag", name)

    def restore(self) -> None:
        """Restore the files of the start."""
        self._git("checkout", "--quiet", "--force", "--detach", START)
        self._git("clean", "--quiet", "--force", "-d")

    def lost(self, chores: Iterable[Chore]) -> list[Chore]:
        """Return those edits that are missing, incomplete or present twice."""
        texts = {path: (self.root / path).read_text(encoding="utf-8") for path in self.paths}
        return [chore for chore in chores if not _is_in_place(chore, texts)]

    def works(self) -> bool:
        """Whether all edited files compile, and can be imported with the rest of the package."""
        command = [sys.executable, "-I", "-X", f"pycache_prefix={self._scratch}", "-c", _CHECK, self.root, *self.paths]
        result = subprocess.run([*map(str, command)], capture_output=True, check=False, cwd=self.root)  # noqa: S603 - our own interpreter, our own code
        return result.returncode == 0

    def _git(self, *arguments: str) -> None:
        try:
            git.run(*arguments, folder=str(self.root), settings=OWN_SETTINGS).check_returncode()
        except FileNotFoundError as fault:
            raise InputError(
                Code.FILE_NOT_FOUND, "git is not installed, and the demo needs it", hint="install git"
            ) from fault


def _functions(path: str, source: bytes) -> Iterable[str]:
    names = [name for name, each in definitions(parse_module(source)) if is_markable(each)]
    for region in discover(source, path).regions:
        if region.kind in _LEAVES and names.count(region.key.qualname) == 1:
            yield region.key.qualname


def _is_in_place(chore: Chore, texts: Mapping[str, str]) -> bool:
    return all(times_marked(texts[place.path], chore.marker(index)) == 1 for index, place in enumerate(chore.places))
