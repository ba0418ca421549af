"""A copy of a commit with another tree: with its message, its author, its dates and its parents."""

import os
import tempfile
from pathlib import Path
from typing import Final

from commonhold.workspace.git.indexes import Entries, Index
from commonhold.workspace.git.process import Git

_PEOPLE: Final = ("AUTHOR_NAME", "AUTHOR_EMAIL", "AUTHOR_DATE", "COMMITTER_NAME", "COMMITTER_EMAIL", "COMMITTER_DATE")
_FORMAT: Final = "%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%P%x00%B"


def changed_tree(git: Git, tree: str, entries: Entries) -> str:
    """Return the tree with other entries at these paths; None removes one."""
    with tempfile.TemporaryDirectory() as folder:
        index = Index(git, str(Path(folder, "index")))
        git.ask("read-tree", tree, settings=index.settings)
        index.put(entries)
        return index.tree()


def remade(git: Git, commit: str, tree: str) -> str:
    """Make a commit like `commit`, of another tree, signed if the settings say so; return its id. Raises StoreError."""
    shown = git.ask("show", "--no-patch", f"--format={_FORMAT}", commit).split(b"\0", len(_PEOPLE) + 1)
    people = {f"GIT_{name}": os.fsdecode(value) for name, value in zip(_PEOPLE, shown, strict=False)}
    parents = [word for each in shown[-2].decode("ascii").split() for word in ("-p", each)]
    signed = ("-S",) if git.line("config", "--bool", "commit.gpgSign") == "true" else ()
    words = ("commit-tree", *signed, *parents, "-F", "-", tree)
    return git.ask(*words, given=shown[-1].rstrip(b"\n") + b"\n", settings=people).decode("ascii").strip()
