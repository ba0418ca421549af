"""What an alias of git stands for."""

from collections.abc import Collection
from itertools import pairwise
from typing import Final

from commonhold.adapters.git.running import Git
from commonhold.app.git_words import GitCall, read_call, split_alias

_MOST: Final = 10


def resolved(git: Git, call: GitCall, known: Collection[str]) -> GitCall:
    """The call with what its alias stands for, where that is no shell command; commands that are `known` are none."""
    for _ in range(_MOST):
        if not call.word or call.word in known:
            return call
        meant = git.line(*_settings_of(call), "config", "--get", f"alias.{call.word}")
        if not meant or meant.startswith("!"):
            return call
        call = read_call((*call.before, *split_alias(meant), *call.rest))
    return call


def _settings_of(call: GitCall) -> list[str]:
    """The settings of this call alone: an alias may be one of them."""
    pairs = pairwise((*call.before, ""))
    return [word for option, value in pairs if option in {"-c", "--config-env"} for word in (option, value)]
