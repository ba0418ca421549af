"""The expansion of git's aliases."""

from collections.abc import Collection
from itertools import pairwise
from typing import Final

from commonhold.shell.git_words import GitCall, read_call, split_alias
from commonhold.workspace.git.process import Git

_MOST: Final = 10
# Git takes no alias in place of its own commands. For these, the most frequent ones, no query is needed.
_OF_GIT: Final = frozenset(
    {
        *(
            "blame",
            "cat-file",
            "check-ignore",
            "clean",
            "clone",
            "config",
            "describe",
            "diff",
            "diff-files",
            "diff-index",
        ),
        *(
            "diff-tree",
            "fetch",
            "for-each-ref",
            "gc",
            "grep",
            "hash-object",
            "help",
            "init",
            "log",
            "ls-files",
            "ls-tree",
        ),
        *("merge-base", "name-rev", "notes", "push", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show"),
        *("show-ref", "status", "tag", "var", "version", "worktree"),
    }
)


def resolved(git: Git, call: GitCall, known: Collection[str]) -> GitCall:
    """Return the call with its alias expanded, unless that is a shell command; `known` commands are no aliases."""
    for _ in range(_MOST):
        if not call.word or call.word in known or call.word in _OF_GIT:
            return call
        # The settings of this call alone: an alias may be one of them.
        pairs = pairwise((*call.before, ""))
        settings = [word for option, value in pairs if option in {"-c", "--config-env"} for word in (option, value)]
        meant = git.line(*settings, "config", "--get", f"alias.{call.word}")
        if not meant or meant.startswith("!"):
            return call
        call = read_call((*call.before, *split_alias(meant), *call.rest))
    return call
