"""The options of git's commands whose value may be a separate word: one table, checked against git's own usage text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from commonhold.shell.git_words import GitCall, Valued, Words, sort_words

_NONE: Final = Valued()
_PATHS: Final = "pathspec-from-file"


def _named(*names: str) -> Valued:
    return Valued(names=frozenset(names))


_ADD: Final = _named("chmod", _PATHS)
_JOIN: Final = ("cleanup", "strategy", "strategy-option")
_PICK: Final = Valued("Xm", frozenset({*_JOIN, "mainline"}), "S")
_FETCH: Final = ("deepen", "depth", "negotiation-tip", "refmap", "server-option", "upload-pack")
_SHALLOW: Final = ("shallow-exclude", "shallow-since")
_PATCH: Final = ("directory", "exclude", "include", "whitespace")
_MESSAGE: Final = ("cleanup", "file", "fixup", "message", "reedit-message", "reuse-message", "squash", "template")
_FILTERS: Final = tuple(f"{each}-filter" for each in ("commit", "env", "index", "msg", "parent", "tag-name", "tree"))

VALUED: Final[Mapping[str, Valued]] = {
    "add": _ADD,
    "am": Valued("Cp", frozenset({*_PATCH, "empty", "patch-format", "quoted-cr", "resolvemsg"}), "S"),
    "apply": Valued("Cp", frozenset({*_PATCH, "build-fake-ancestor"})),
    "bisect": _named("term-bad", "term-good", "term-new", "term-old"),
    "branch": Valued(
        "u",
        frozenset(
            {
                *("contains", "no-contains", "merged", "no-merged", "points-at"),
                *("format", "set-upstream-to", "sort"),
            }
        ),
        "t",
    ),
    "checkout": Valued("Bb", frozenset({"conflict", "orphan", _PATHS}), "t"),
    "checkout-index": _named("prefix", "stage"),
    "cherry-pick": _PICK,
    "clean": Valued("e", frozenset({"exclude"})),
    "commit": Valued("CFcmt", frozenset({*_MESSAGE, "author", "date", _PATHS, "trailer"}), "Su"),
    "fetch": Valued("jo", frozenset({*_FETCH, *_SHALLOW, "filter", "jobs"})),
    "filter-branch": Valued("d", frozenset({*_FILTERS, "original", "setup", "state-branch", "subdirectory-filter"})),
    "merge": Valued("FXms", frozenset({*_JOIN, "file", "into-name", "message"}), "S"),
    "prune": _named("expire"),
    "pull": Valued("Xos", frozenset({*_JOIN, *_FETCH, *_SHALLOW}), "Sjr"),
    "push": Valued("o", frozenset({"exec", "push-option", "receive-pack", "recurse-submodules", "repo"})),
    "read-tree": _named("exclude-per-directory", "index-output", "prefix"),
    "rebase": Valued("CXsx", frozenset({"empty", "exec", "onto", "strategy", "strategy-option", "whitespace"}), "Sr"),
    "reflog": _named("expire", "expire-unreachable"),
    "reset": _named(_PATHS),
    "restore": Valued("s", frozenset({"conflict", _PATHS, "source"})),
    "revert": _PICK,
    "rm": _named(_PATHS),
    "stage": _ADD,
    "stash": Valued("m", frozenset({"message", _PATHS})),
    "submodule": Valued("bj", frozenset({"branch", "depth", "filter", "jobs", "name", "reference", "summary-limit"})),
    "switch": Valued("Cc", frozenset({"conflict", "create", "force-create", "orphan"}), "t"),
    "update-ref": Valued("m"),
    "worktree": Valued("Bb", frozenset({"expire", "reason"})),
}


def words_of(call: GitCall) -> Words:
    """Return the words after the command of a call, sorted by the values that its options take."""
    return sort_words(call.rest, VALUED.get(call.word, _NONE))


def with_absolute_files(call: GitCall, absolute: Callable[[str], str]) -> GitCall:
    """Return a commit with absolute paths of its message and template files, valid in any folder. It names no paths."""
    words = (word for option in words_of(call).options for word in _with_absolute_file(option, absolute))
    return call.with_rest(*words)


def _with_absolute_file(option: Sequence[str], absolute: Callable[[str], str]) -> tuple[str, ...]:
    first, *value = option
    if first.startswith("--"):
        name, is_given, given = first.removeprefix("--").partition("=")
        if VALUED["commit"].whole(name) not in {"file", "template"}:
            return (*option,)
        return (f"--{name}={absolute(given)}",) if is_given else (first, *map(absolute, value))
    for at, letter in enumerate(first[1:], 2):
        if letter in "Ft":
            return (f"{first[:at]}{absolute(first[at:])}",) if first[at:] else (first, *map(absolute, value))
        if letter in VALUED["commit"].letters or letter in VALUED["commit"].attached:
            break
    return (*option,)
