"""What a call of git writes in the working tree: told from its words, by one table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from commonhold.app.git_risks import RISKY, Files, IsRevision, Move, Untracked, risks_of
from commonhold.app.git_words import GitCall, Valued, Words, sort_words


@dataclass(frozen=True, slots=True)
class Written:
    """Paths, from the folder of the call. `changed`: all files that differ from HEAD. `anywhere`: that cannot be told.

    `made` are folders that it makes for a working tree of its own.
    """

    paths: tuple[str, ...] = ()
    changed: bool = False
    anywhere: bool = False
    made: tuple[str, ...] = ()


_NOTHING: Final = Written()
_ANYWHERE: Final = Written(anywhere=True)
_ASKING: Final = frozenset({"-h", "--help"})
_IN_THE_INDEX: Final = ("--cached", "--check", "--stat", "--numstat", "--summary", "--dry-run")
COMMITTING: Final = frozenset({"commit", "merge", "cherry-pick", "revert", "rebase", "am", "pull"})
"""What runs the hooks of a commit."""


def written_by(call: GitCall, is_revision: IsRevision) -> Written:
    """What a call writes beside git's own folder; nothing for most."""
    if _ASKING & set(call.rest):
        return _NOTHING
    if call.word in _TABLE:
        valued, rule = _TABLE[call.word]
        return rule(sort_words(call.rest, valued))
    return _of_risks(call, is_revision)


def _of_risks(call: GitCall, is_revision: IsRevision) -> Written:
    """What may be thrown away is written over."""
    found = risks_of(call, is_revision)
    files = [risk for risk in found if isinstance(risk, Files | Untracked)]
    return Written(
        paths=tuple(path for risk in files for path in risk.paths),
        changed=any(isinstance(risk, Files) and not risk.paths and risk.source == "HEAD" for risk in files),
        anywhere=any(isinstance(risk, Move) for risk in found) or any(_is_wide(risk) for risk in files),
    )


def _is_wide(risk: Files | Untracked) -> bool:
    """Whether it is about files that no comparison with HEAD names."""
    return not risk.paths and (isinstance(risk, Untracked) or risk.source != "HEAD")


def _joining(words: Words) -> Written:
    return _NOTHING if words.has("--quit", "--edit-todo", "--show-current-patch") else _ANYWHERE


def _applied(words: Words) -> Written:
    return _NOTHING if words.has(*_IN_THE_INDEX) and not words.has("--apply") else _ANYWHERE


def _moved(words: Words) -> Written:
    return Written(words.named)


def _removed(words: Words) -> Written:
    return _NOTHING if words.has("--cached", "-n", "--dry-run") else Written(words.named)


def _reset(words: Words) -> Written:
    if words.has("--keep", "--merge"):
        return _ANYWHERE
    if not words.has("--hard"):
        return _NOTHING
    return _ANYWHERE if words.named and words.named[0] != "HEAD" else Written(changed=True)


def _stash(words: Words) -> Written:
    word, *paths = words.named or ("push",)
    if word in {"pop", "apply", "branch"}:
        return _ANYWHERE
    if word not in {"push", "save"}:
        return _NOTHING
    if words.has("--all", "-a", "--include-untracked", "-u"):
        return _ANYWHERE
    return Written(tuple(paths)) if paths and word == "push" else Written(changed=True)


def _worktree(words: Words) -> Written:
    word, *rest = words.named or ("",)
    if word == "add":
        return Written(made=tuple(rest[:1]))
    return Written(tuple(rest)) if word in {"remove", "move"} else _NOTHING


def _submodule(words: Words) -> Written:
    return _ANYWHERE if words.named[:1] in {("add",), ("update",), ("deinit",)} else _NOTHING


def _everything(_words: Words) -> Written:
    return _ANYWHERE


Rule = Callable[[Words], Written]
_TABLE: Final[dict[str, tuple[Valued, Rule]]] = {
    **dict.fromkeys(("merge", "pull", "cherry-pick", "revert", "am", "rebase"), (Valued(), _joining)),
    **dict.fromkeys(("checkout-index", "read-tree", "sparse-checkout"), (Valued(), _everything)),
    "apply": (Valued("pC", frozenset({"directory", "include", "exclude", "whitespace"})), _applied),
    "mv": (Valued(), _moved),
    "rm": (Valued("", frozenset({"pathspec-from-file"})), _removed),
    "reset": (Valued(), _reset),
    "stash": (Valued("m", frozenset({"message", "pathspec-from-file"})), _stash),
    "worktree": (Valued("bB", frozenset({"reason"})), _worktree),
    "submodule": (Valued(), _submodule),
}
KNOWN: Final = frozenset({*_TABLE, *RISKY, *COMMITTING, "add", "status", "log", "diff", "show", "rev-parse"})
"""Commands that need not be looked up as an alias."""
