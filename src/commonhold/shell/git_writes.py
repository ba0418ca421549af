"""The files that a call of git writes in the working tree: derived from its words, by one table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from commonhold.shell.git_options import words_of
from commonhold.shell.git_risks import RISKY, Files, IsRevision, Move, Untracked, risks_of
from commonhold.shell.git_words import GitCall, Words


@dataclass(frozen=True, slots=True)
class Written:
    """Paths, relative to the folder of the call. `changed`: all files that differ from HEAD. `anywhere`: unknown.

    `compared` are pairs of commits (`A..B`, `A...B`) whose differences it writes, `patched` the words after `git apply`
    that name the patches which it applies.
    """

    paths: tuple[str, ...] = ()
    changed: bool = False
    anywhere: bool = False
    compared: tuple[str, ...] = ()
    patched: tuple[str, ...] = ()


_NOTHING: Final = Written()
_ANYWHERE: Final = Written(anywhere=True)
_BEFORE: Final = "@{-1}"
_UPSTREAM: Final = "@{upstream}"
_GOING_ON: Final = ("--abort", "--continue", "--quit", "--resolved", "--skip", "-r")
_ASKING: Final = frozenset({"-h", "--help"})
_OF_PATCHES: Final = frozenset({"p", "R", "--directory", "--exclude", "--include", "--reverse"})
"""Options that determine the files of a patch."""
_IN_THE_INDEX: Final = ("--cached", "--check", "--stat", "--numstat", "--summary", "--dry-run")
COMMITTING: Final = frozenset({"commit", "merge", "cherry-pick", "revert", "rebase", "am", "pull"})
"""Commands that run the hooks of a commit."""


def written_by(call: GitCall, is_revision: IsRevision) -> Written:
    """Return the files that a call writes outside of git's own folder; none for most."""
    if _ASKING & set(call.rest):
        return _NOTHING
    if call.word in _TABLE:
        return _TABLE[call.word](words_of(call))
    # It overwrites the files that are at risk.
    found = risks_of(call, is_revision)
    files = [risk for risk in found if isinstance(risk, Files | Untracked)]
    moves = [risk.target for risk in found if isinstance(risk, Move)]
    return Written(
        paths=tuple(path for risk in files for path in risk.paths),
        changed=any(isinstance(risk, Files) and not risk.paths and risk.source == "HEAD" for risk in files),
        anywhere=not all(moves) or any(_is_wide(risk) for risk in files),
        compared=tuple(f"HEAD..{_BEFORE if target == '-' else target}" for target in moves if target),
    )


def _is_wide(risk: Files | Untracked) -> bool:
    """Whether a risk includes files that no comparison with HEAD names."""
    return not risk.paths and (isinstance(risk, Untracked) or risk.source != "HEAD")


def _merged(words: Words) -> Written:
    if words.has("--quit"):
        return _NOTHING
    if words.has("--abort", "--continue"):
        return _ANYWHERE
    return Written(compared=tuple(f"HEAD...{each}" for each in words.named or (_UPSTREAM,)))


def _rebased(words: Words) -> Written:
    if words.has("--quit", "--edit-todo", "--show-current-patch"):
        return _NOTHING
    is_wider = words.has("--abort", "--continue", "--skip", "--onto", "--root")
    upstream, *more = words.named or (_UPSTREAM,)
    return _ANYWHERE if more or is_wider else Written(compared=(f"HEAD..{upstream}",))


def _picked(words: Words) -> Written:
    if words.has("--quit"):
        return _NOTHING
    is_of_first_parent = words.values.get("--mainline", words.values.get("-m", "1")) == "1"
    are_plain = words.named and not any(".." in each or each.startswith("-") for each in words.named)
    are_plain = are_plain and is_of_first_parent
    return Written(compared=tuple(f"{each}~..{each}" for each in words.named)) if are_plain else _ANYWHERE


def _applied(words: Words) -> Written:
    if words.has(*_IN_THE_INDEX) and not words.has("--apply"):
        return _NOTHING
    return _patched(words)


def _patched(words: Words) -> Written:
    """Return the writes of patches from files; patches on the standard input may write anywhere."""
    if not words.named or "-" in words.named:
        return _ANYWHERE
    told = (option for option in words.options if _OF_PATCHES.intersection((option[0].partition("=")[0], option[0][1])))
    return Written(patched=(*(word for option in told for word in option), "--", *words.named))


def _mailed(words: Words) -> Written:
    return _ANYWHERE if any(option[0].startswith(_GOING_ON) for option in words.options) else _patched(words)


def _moved(words: Words) -> Written:
    return Written(words.named)


def _removed(words: Words) -> Written:
    return _NOTHING if words.has("--cached", "-n", "--dry-run") else Written(words.named)


def _reset(words: Words) -> Written:
    if words.has("--keep", "--merge"):
        return _ANYWHERE
    if not words.has("--hard"):
        return _NOTHING
    return Written(changed=True, compared=tuple(f"HEAD..{each}" for each in words.words[:1]))


def _stash(words: Words) -> Written:
    word, *paths = words.named or ("push",)
    if word in {"pop", "apply"}:
        entry = paths[0] if paths else "stash@{0}"
        return Written(compared=(f"{entry}^..{entry}",)) if "stash@" in entry else _ANYWHERE
    if word == "branch":
        return _ANYWHERE
    if word not in {"push", "save"}:
        return _NOTHING
    if words.has("--all", "-a", "--include-untracked", "-u"):
        return _ANYWHERE
    return Written(tuple(paths)) if paths and word == "push" else Written(changed=True)


def _worktree(words: Words) -> Written:
    word, *rest = words.named or ("",)
    return Written(tuple(rest)) if word in {"remove", "move"} else _NOTHING


def _submodule(words: Words) -> Written:
    return _ANYWHERE if words.named[:1] in {("add",), ("update",), ("deinit",)} else _NOTHING


def _everything(_words: Words) -> Written:
    return _ANYWHERE


Rule = Callable[[Words], Written]
_TABLE: Final[dict[str, Rule]] = {
    "merge": _merged,
    "rebase": _rebased,
    **dict.fromkeys(("cherry-pick", "revert"), _picked),
    "pull": _everything,
    "am": _mailed,
    **dict.fromkeys(("checkout-index", "read-tree", "sparse-checkout"), _everything),
    "apply": _applied,
    "mv": _moved,
    "rm": _removed,
    "reset": _reset,
    "stash": _stash,
    "worktree": _worktree,
    "submodule": _submodule,
}
KNOWN: Final = frozenset({*_TABLE, *RISKY, *COMMITTING, "add", "status", "log", "diff", "show", "rev-parse"})
"""Commands that need no lookup as an alias."""
