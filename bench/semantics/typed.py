"""A tree on disk, where a type checker looks at it."""

import os
import tempfile
from pathlib import Path
from typing import Self

from bench.semantics.callers import write
from bench.semantics.verdicts import Tree
from commonhold.code.type_checkers import TypeChecker
from commonhold.typecheck import open_checkers


class Typed:
    """A folder that holds one tree after the other, and the type checker that knows it."""

    def __init__(self, python: str) -> None:
        """An empty folder; `python` has what the trees import."""
        self._kept = tempfile.TemporaryDirectory(prefix="bench-semantics-")
        self.folder = Path(self._kept.name).resolve()
        self._tree: dict[str, bytes] = {}
        environment = Path(python).parent.parent
        if (environment / "pyvenv.cfg").exists():
            (self.folder / ".venv").symlink_to(environment, target_is_directory=True)
        self.checker: TypeChecker = open_checkers(str(self.folder), dict(os.environ))

    def holding(self, tree: Tree) -> TypeChecker:
        """The checker, once the folder holds this tree."""
        for path in self._tree.keys() - tree.keys():
            (self.folder / path).unlink()
        write(self.folder, {path: source for path, source in tree.items() if self._tree.get(path) != source})
        self._tree = dict(tree)
        return self.checker

    def __enter__(self) -> Self:
        """Nothing is started before it is needed."""
        return self

    def __exit__(self, *_ended: object) -> None:
        """End the checker, and remove the folder."""
        self.checker.close()
        self._kept.cleanup()
