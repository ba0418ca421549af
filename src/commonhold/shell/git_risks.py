"""The data that a call of git may destroy for good: derived from its words, by one table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.shell.git_options import words_of
from commonhold.shell.git_words import GitCall, Words


@dataclass(frozen=True, slots=True)
class Files:
    """Uncommitted changes of tracked files. No `paths`: all. `source`: the tree that replaces them.

    `is_stash`: they go into the stash.
    """

    paths: tuple[str, ...] = ()
    source: str = "HEAD"
    is_stash: bool = False


@dataclass(frozen=True, slots=True)
class Untracked:
    """Untracked files. No `paths`: all. `ignored`: also those that git ignores. `is_stash`: as above.

    `spared` are patterns, as in `.gitignore`, of files that are left alone.
    """

    paths: tuple[str, ...] = ()
    ignored: bool = False
    is_stash: bool = False
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commits:
    """Commits that are reachable from `lost`, and neither from `kept` nor from another branch or tag."""

    lost: str
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of the whole working tree to another commit (`target`, if named), under all sessions that work in it."""

    target: str = ""


@dataclass(frozen=True, slots=True)
class Stashes:
    """Entries of the stash, which all working trees share. Empty: the newest; None: all."""

    entry: str | None = ""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A whole working tree, with its uncommitted changes."""

    path: str


@dataclass(frozen=True, slots=True)
class Pushed:
    """Commits of others in a remote repository. `is_checked`: git verifies that they are the ones it knows."""

    is_checked: bool


@dataclass(frozen=True, slots=True)
class Unknowable:
    """A loss that cannot be determined in advance."""

    what: str


Risk = Files | Untracked | Commits | Move | Stashes | Worktree | Pushed | Unknowable
IsRevision = Callable[[str], bool]
"""A function that says whether a word names a commit (otherwise it can only be a path)."""

_GONE: Final = ("--continue", "--quit", "--edit-todo", "--show-current-patch")
_OBJECTS: Final = Unknowable("contents that only another session's index, or no branch, refers to")
_HISTORY: Final = Unknowable("the history that lost work can be found by")


def risks_of(call: GitCall, is_revision: IsRevision) -> tuple[Risk, ...]:
    """Return the risks of a call; none for most."""
    if {"-h", "--help"} & set(call.rest):
        return ()
    judge = _TABLE.get(call.word)
    return judge(words_of(call), is_revision) if judge is not None else ()


def _reset(words: Words, is_revision: IsRevision) -> tuple[Risk, ...]:
    target = words.words[0] if words.words and is_revision(words.words[0]) else ""
    is_whole = not words.paths and len(words.words) == bool(target)
    moved = (Commits("HEAD", target),) if target and is_whole else ()
    return (*((Files(),) if words.has("--hard") else ()), *moved)


def _checkout(words: Words, is_revision: IsRevision) -> tuple[Risk, ...]:
    made = words.values.get("-B")
    if made is not None or words.has("-b", "--orphan"):
        start = words.words[0] if words.words else ""
        return (*((Commits(made, start or "HEAD"),) if made else ()), *_moved(words, start))
    first, *others = words.words or ("",)
    is_target = first == "-" or (bool(first) and is_revision(first))
    paths = (*(others if is_target else words.words), *(words.paths or ()))
    if paths or words.has("--patch", "-p", "--pathspec-from-file"):
        return (Files(paths, first if is_target else ""),)
    return _moved(words, first if is_target else "")


def _moved(words: Words, target: str) -> tuple[Risk, ...]:
    """Return the risks of a switch to another commit: force discards changes, and a merge writes into them."""
    if words.has("-f", "--force", "--discard-changes", "-m", "--merge"):
        return (Files(), Move(target))
    return (Move(target),) if target else ()


def _switch(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    made = words.values.get("-C") or words.values.get("--force-create")
    is_new = made or words.has("-c", "--create")
    if words.has("--orphan"):
        return (Move(),)  # it removes all tracked files
    start = words.words[0] if words.words else ("" if is_new else "-")
    return (*((Commits(made, start or "HEAD"),) if made else ()), *_moved(words, start))


def _restore(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    if words.has("--staged", "-S") and not words.has("--worktree", "-W"):
        return ()
    return (Files(words.named, words.values.get("--source") or words.values.get("-s") or ""),)


def _stash(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    word, *others = words.words or ("push",)
    if word in {"pop", "drop"}:
        return (Stashes(others[0] if others else ""),)
    if word == "clear":
        return (Stashes(None),)
    if word == "branch":
        return (Move("stash"), Stashes(others[1] if len(others) > 1 else ""))
    if word not in {"push", "save"}:
        return ()
    paths = (*others, *(words.paths or ())) if word == "push" else ()
    with_all = words.has("--all", "-a")
    untracked = (
        (Untracked(paths, with_all, is_stash=True),) if with_all or words.has("--include-untracked", "-u") else ()
    )
    return (Files(paths, is_stash=True), *untracked)


def _clean(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    if words.has("--dry-run", "-n"):
        return ()
    return (Untracked(words.named, words.has("-x", "-X"), spared=tuple(_spared(words))),)


def _spared(words: Words) -> Iterator[str]:
    """Yield the patterns that `clean` excludes: `-e PATTERN`, `-fe PATTERN`, `-ePATTERN`, `--exclude PATTERN`."""
    for name, *value in words.options:
        is_long = name.startswith("--")
        if value and (name.startswith("--ex") or (not is_long and name.endswith("e"))):
            yield value[0]
        elif is_long and name.startswith("--ex") and "=" in name:
            yield name.partition("=")[2]
        elif not is_long and "e" in name:
            yield name.partition("e")[2]


def _forced_on_files(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    is_forced = words.has("--force", "-f") and not words.has("--cached", "-n", "--dry-run")
    return (Files(words.named),) if is_forced else ()


def _move_of_file(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return (Files(words.named[-1:]),) if words.has("--force", "-f") else ()


def _joining(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    """Return the risks of merging, picking and the like. Aborting a merge is safe: git keeps files it did not touch."""
    if words.has("--abort", *_GONE) and not words.has("--autostash"):
        return ()
    return (Files(), Move()) if words.has("--autostash") else (Move(),)


def _rebase(words: Words, is_revision: IsRevision) -> tuple[Risk, ...]:
    return (Files(),) if words.has("--abort", "--skip") else _joining(words, is_revision)


def _bisect(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return () if words.words[:1] in {("log",), ("view",), ("visualize",), ("terms",), ("help",)} else (Move(),)


def _branch(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    if words.has("-r", "--remotes"):
        return ()
    if words.has("-D") or (words.has("-d", "--delete") and words.has("-f", "--force")):
        return tuple(Commits(name) for name in words.words)
    if words.has("-M", "-C"):
        return tuple(Commits(name) for name in words.words[-1:])
    if words.has("-f", "--force") and words.words:
        return (Commits(words.words[0], words.words[1] if words.words[1:] else "HEAD"),)
    return ()


def _worktree(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    word, *others = words.named or ("",)
    if word == "add" and (made := words.values.get("-B")):
        return (Commits(made, others[1] if others[1:] else "HEAD"),)
    is_forced = word == "remove" and words.has("--force", "-f")
    return tuple(Worktree(path) for path in others[:1]) if is_forced else ()


def _push(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    refs = words.named[1:]
    if words.has("-f", "--force", "--mirror", "--prune", "--delete", "-d") and "--force-with-lease" not in words.flags:
        return (Pushed(is_checked=False),)
    if any(ref.startswith(("+", ":")) for ref in refs):
        return (Pushed(is_checked=False),)
    return (Pushed(is_checked=True),) if words.has("--force-with-lease") else ()


def _fetch(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    """Return the commits of local branches that a forced fetch overwrites."""
    is_forced = words.has("-f", "--force")
    pairs = (ref.removeprefix("+").partition(":") for ref in words.named[1:] if is_forced or ref.startswith("+"))
    return tuple(Commits(into) for _, _, into in pairs if into and not into.startswith("refs/remotes/"))


def _update_ref(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    if words.has("--stdin"):
        return (Unknowable("the commits that the references lead to"),)
    name, new = (*words.words, "", "")[:2]
    return (Commits(name, "" if words.has("-d") else new),) if name else ()


def _collecting(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return (_OBJECTS,) if words.values.get("--prune") in {"now", "all"} else ()


def _pruning(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return () if words.has("-n", "--dry-run") else (_OBJECTS,)


def _reflog(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return (_HISTORY,) if words.words[:1] in {("expire",), ("delete",)} else ()


def _rewriting(_words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return (Unknowable("everyone's commits, which it rewrites"),)


def _read_tree(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    return (Files(),) if words.has("-u") else ()


def _submodule(words: Words, _is_revision: IsRevision) -> tuple[Risk, ...]:
    is_forced = words.words[:1] in {("deinit",), ("update",)} and words.has("-f", "--force")
    return (Unknowable("changes inside submodules"),) if is_forced else ()


Judge = Callable[[Words, IsRevision], tuple[Risk, ...]]
_TABLE: Final[Mapping[str, Judge]] = {
    "reset": _reset,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "stash": _stash,
    "clean": _clean,
    "rm": _forced_on_files,
    "checkout-index": _forced_on_files,
    "mv": _move_of_file,
    **dict.fromkeys(("merge", "pull", "cherry-pick", "revert", "am"), _joining),
    "rebase": _rebase,
    "bisect": _bisect,
    "branch": _branch,
    "worktree": _worktree,
    "push": _push,
    "fetch": _fetch,
    "update-ref": _update_ref,
    "gc": _collecting,
    "prune": _pruning,
    "reflog": _reflog,
    "filter-branch": _rewriting,
    "filter-repo": _rewriting,
    "read-tree": _read_tree,
    "submodule": _submodule,
}
RISKY: Final = frozenset(_TABLE)
"""Commands that may destroy data."""
