"""Submodules of a workspace: copies of the starter's, whose work is kept in the starter's git folders for them.

Each is a clone that borrows the objects of its module in `.git/modules`, so nothing is fetched from elsewhere. The
place of the module is noted before the agent begins: the clone's own settings are the agent's.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from commonhold.kernel.refs import BRANCHES
from commonhold.workspace.git.process import Git

REFS: Final = "refs/commonhold/sessions"
_GITLINK: Final = b"160000"
_AUTHOR: Final = {
    "GIT_AUTHOR_NAME": "Commonhold",
    "GIT_AUTHOR_EMAIL": "commonhold@localhost",
    "GIT_COMMITTER_NAME": "Commonhold",
    "GIT_COMMITTER_EMAIL": "commonhold@localhost",
}


class Submodule(NamedTuple):
    """A submodule of a workspace: its path there, the starter's git folder for it, and the commit it began at."""

    path: str
    module: str
    base: str


def make_submodules(workspace: Path, common_dir: Path) -> tuple[Submodule, ...]:
    """Check out the submodules that the starter has, those in them too. Raises StoreError `GIT_FAILED`, OSError."""
    made: list[Submodule] = []
    open_ones = [(workspace, common_dir)]
    while open_ones:
        above, git_dir = open_ones.pop()
        for name, path in _listed(above):
            module = git_dir / "modules" / name
            commit = _linked(above, path)
            if commit is None or not _is_within(module, git_dir / "modules") or not (module / "HEAD").is_file():
                continue
            place = above / path
            Git(str(above)).ask("clone", "--quiet", "--shared", "--no-checkout", str(module), str(place))
            clone = Git(str(place))
            clone.ask("checkout", "--quiet", "--detach", commit)
            if url := Git(str(module)).line("config", "remote.origin.url"):
                clone.ask("remote", "set-url", "origin", url)
            made.append(Submodule(str(place.relative_to(workspace)), str(module), commit))
            open_ones.append((place, module))
    return tuple(made)


def _listed(above: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the path of each submodule that a working tree declares."""
    words = ("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    for each in Git(str(above)).run(*words).stdout.split(b"\0"):
        key, _, path = os.fsdecode(each).partition("\n")
        if path:
            yield key.removeprefix("submodule.").removesuffix(".path"), path


def _linked(above: Path, path: str) -> str | None:
    """Return the commit of a submodule at the commit that is checked out; None if there is none at this very path."""
    entry = Git(str(above)).run("ls-tree", "-z", "--full-tree", "HEAD", "--", path).stdout.partition(b"\0")[0]
    kind, _, found = entry.partition(b"\t")
    return kind.split(b" ")[2].decode() if kind.startswith(_GITLINK) and os.fsdecode(found) == path else None


def _is_within(module: Path, modules: Path) -> bool:
    """Whether a module lies below the folder of modules: `.gitmodules`, which names it, comes from anybody."""
    found, above = os.path.realpath(module), os.path.realpath(modules)
    return ".." not in module.parts and Path(found).is_relative_to(above) and found != above


def harvest_submodule(made: Submodule, workspace: Path, ref: str, index: Path) -> bool:
    """Keep the commits of a submodule below `ref`, and its uncommitted work as `ref`. Return whether all is kept.

    Raises StoreError `GIT_FAILED`.
    """
    place = workspace / made.path
    if not place.exists():
        return True  # the agent has removed it
    git_dir = place / ".git"
    if git_dir.is_symlink() or not git_dir.is_dir():
        return False
    module = Git(made.module)
    branches = f"+{BRANCHES}*:{ref}-branches/*"
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", str(git_dir))
    module.ask(*words, f"+HEAD:{ref}-head", branches)
    tip = module.ask("rev-parse", f"{ref}-head").decode().strip()
    there = {"GIT_DIR": made.module, "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(index)}
    module.ask("read-tree", tip, settings=there)
    snapshot, is_complete = snapshot_of(module, Git(str(place)), there, tip, f"Uncommitted work in {made.path}", None)
    module.ask("update-ref", ref, snapshot)
    return is_complete and not (git_dir / "modules").exists()


def snapshot_of(
    keeper: Git, git: Git, there: Mapping[str, str], tip: str, message: str, known: Collection[str] | None
) -> tuple[str, bool]:
    """Return a commit on `tip` with all changes of a working tree (`tip` without any), and whether it has them all.

    It has not if a file could not be read, or if another repository lies there, except in the `known` paths (None: in
    all where a submodule is). The index that `there` names is used and removed.
    """
    added = git.run("-c", "advice.addEmbeddedRepo=false", "add", "--all", "--ignore-errors", settings=there)
    changes = git.ask("diff-index", "--cached", "--raw", "-z", "--no-renames", tip, settings=there)
    fields = changes.split(b"\0")
    strange = [
        os.fsdecode(path)
        for entry, path in zip(fields[::2], fields[1::2], strict=False)
        if entry.split(b" ")[1] == _GITLINK and not (known is None and entry.startswith(b":" + _GITLINK))
    ]
    snapshot = tip
    if changes:
        tree = git.ask("write-tree", settings=there).decode().strip()
        words = ("commit-tree", "--no-gpg-sign", tree, "-p", tip, "-m", message)
        snapshot = keeper.ask(*words, settings=_AUTHOR).decode().strip()
    with suppress(FileNotFoundError):
        os.unlink(there["GIT_INDEX_FILE"])  # noqa: PTH108 - a text
    return snapshot, added.returncode == 0 and set(strange) <= set(known or ())
