"""A call of git as words: the global options, the command, and the words after it."""

import posixpath
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_GLOBAL_VALUES: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
)


@dataclass(frozen=True, slots=True)
class GitCall:
    """The words of a call, without `git` itself. `word` is the command, or an alias; empty if there is none."""

    before: tuple[str, ...]
    word: str
    rest: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """Return all words."""
        return (*self.before, self.word, *self.rest) if self.word else self.before

    def with_rest(self, *rest: str) -> "GitCall":
        """Return the same command with other words after it."""
        return GitCall(self.before, self.word, rest)


def read_call(argv: Sequence[str]) -> GitCall:
    """Return the call with these words."""
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _GLOBAL_VALUES else 1
    word = argv[at] if at < len(argv) else ""
    return GitCall(tuple(argv[:at]), word, tuple(argv[at + 1 :]))


def placed(call: GitCall, cwd: str) -> tuple[GitCall, str]:
    """Return the call without its `-C`, and the folder in which it runs."""
    before: list[str] = []
    left: Sequence[str] = call.before
    while left:
        if left[0] == "-C" and left[1:]:
            cwd, left = posixpath.join(cwd, left[1]), left[2:]
        else:
            before.append(left[0])
            left = left[1:]
    return GitCall(tuple(before), call.word, call.rest), cwd


def split_alias(meant: str) -> tuple[str, ...]:
    """Return the words of an alias; none if they cannot be split."""
    try:
        return tuple(shlex.split(meant))
    except ValueError:
        return ()


EXACT: Final = frozenset({"force"})
"""Options without a value that are a prefix of one with a value."""
_SHORTEST: Final = 4
_SHORTEST_NAME: Final = 2


@dataclass(frozen=True, slots=True)
class Valued:
    """The options of a command that take a value: letters, and long names without the dashes.

    Letters in `attached` may have one too, but only in the same word.
    """

    letters: str = ""
    names: frozenset[str] = frozenset()
    attached: str = ""

    def whole(self, name: str) -> str:
        """Return the full name of an option with a value, from a prefix that git accepts; otherwise `name` itself."""
        if name in self.names or name in EXACT or len(name) < _SHORTEST_NAME:
            return name
        return min((each for each in self.names if each.startswith(name)), default=name)


@dataclass(frozen=True, slots=True)
class Words:
    """The words after a command, sorted.

    `flags` are options, each separate (`-fd` is `-f` and `-d`); `values` are the values given to some; `words` come
    before `--`, `paths` after it (None: there is no `--`). `options` are all the options as given, each with its value
    if that is a separate word.
    """

    flags: frozenset[str]
    values: dict[str, str]
    words: tuple[str, ...]
    paths: tuple[str, ...] | None
    options: tuple[tuple[str, ...], ...] = ()

    def has(self, *flags: str) -> bool:
        """Whether one of these options is given; like git, this accepts a prefix of a long one."""
        return any(flag in self.flags or _is_begun(flag, self.flags) for flag in flags)

    @property
    def named(self) -> tuple[str, ...]:
        """Return all words that are no options."""
        return self.words + (self.paths or ())


def _is_begun(flag: str, flags: Iterable[str]) -> bool:
    return flag.startswith("--") and any(
        each.startswith("--") and len(each) >= _SHORTEST and flag.startswith(each) for each in flags
    )


def sort_words(rest: Sequence[str], valued: Valued) -> Words:
    """Sort the words after a command."""
    flags: set[str] = set()
    values: dict[str, str] = {}
    words: list[str] = []
    options: list[tuple[str, ...]] = []
    left = list(rest)
    paths: tuple[str, ...] | None = None
    while left and paths is None:
        each, behind = left.pop(0), len(left)
        if each == "--":
            paths = tuple(left)
        elif not each.startswith("-") or each == "-":
            words.append(each)
        else:
            given = left[:1]
            _sort_option(each, valued, left, flags, values)
            options.append((each, *given) if len(left) < behind else (each,))
    return Words(frozenset(flags), values, tuple(words), paths, tuple(options))


def _sort_option(each: str, valued: Valued, left: list[str], flags: set[str], values: dict[str, str]) -> None:
    """Sort one option; its value, if any, is removed from `left`."""
    if each.startswith("--"):
        begun, is_given, value = each.removeprefix("--").partition("=")
        name = valued.whole(begun)
        flags.add(f"--{name}")
        if is_given or (name in valued.names and left):
            values[f"--{name}"] = value if is_given else left.pop(0)
        return
    for at, letter in enumerate(each[1:], 2):
        flags.add(f"-{letter}")
        if letter in valued.letters:
            values[f"-{letter}"] = each[at:] or (left.pop(0) if left else "")
            return
        if letter in valued.attached:
            return
