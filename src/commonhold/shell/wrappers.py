"""The commands that programs such as `sudo`, `env` and `xargs` run: the words after their own, by one table. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """The options that take a value, by their letters and their long names, and the words before the command.

    `words` is the number of its own words there, or a set of which one must be there.
    """

    letters: str = ""
    names: frozenset[str] = frozenset()
    words: int | frozenset[str] = 0


def _with(letters: str = "", names: str = "", words: int | str = 0) -> _Wrapper:
    return _Wrapper(letters, frozenset(names.split()), frozenset(words.split()) if isinstance(words, str) else words)


_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_WRAPPERS: Final = {
    **dict.fromkeys(("command", "builtin", "nohup", "setsid", "npx", "bunx"), _with()),
    "exec": _with("a"),
    "sudo": _with("CDghpRrTtUu", "chdir close-from group host prompt role type user other-user command-timeout"),
    "doas": _with("Cu"),
    "env": _with("uC", "unset chdir"),
    "time": _with("fo", "format output"),
    "nice": _with("n", "adjustment"),
    "ionice": _with("cnp", "class classdata pid"),
    "timeout": _with("ks", "kill-after signal", 1),
    "stdbuf": _with("ioe", "input output error"),
    "xargs": _with("aEILndPs", "arg-file delimiter max-args max-chars max-lines max-procs process-slot-var replace"),
    "flock": _with("wE", "timeout wait conflict-exit-code", 1),
    "uv": _with("p", "python with with-requirements extra group project directory env-file package", "run"),
    "poetry": _with("CP", "directory project", "run"),
    "pipenv": _with("", "python", "run"),
    "hatch": _with("e", "env", "run"),
    "pdm": _with("p", "project", "run"),
    "bundle": _with("", "", "exec"),
    "pnpm": _with("C", "dir filter", "exec dlx"),
    "npm": _with("w", "prefix workspace", "exec x"),
    "watch": _with("nq", "interval equexit"),
}


def behind(texts: Sequence[str | None]) -> int:
    """Return the index of the actual command in these words (None: known only when they run), after all wrappers."""
    at = 0
    while at < len(texts) and (wrapper := _WRAPPERS.get((texts[at] or "").rpartition("/")[2])):
        then = _behind_options(texts, at + 1, wrapper)
        if isinstance(wrapper.words, int):
            at = then + wrapper.words
        elif then < len(texts) and texts[then] in wrapper.words:
            at = _behind_options(texts, then + 1, wrapper)
        else:
            break  # it runs no command
    return at


def _behind_options(texts: Sequence[str | None], at: int, wrapper: _Wrapper) -> int:
    while at < len(texts):
        text = texts[at]
        if text == "--":
            return at + 1
        if text is not None and not text.startswith("-") and not _ASSIGNED.fullmatch(text):
            break
        at += 2 if text and _takes_next(text, wrapper) else 1
    return at


def _takes_next(text: str, wrapper: _Wrapper) -> bool:
    if text.startswith("--"):
        return text[2:] in wrapper.names
    valued = next((at for at, letter in enumerate(text[1:], 1) if letter in wrapper.letters), None)
    return text.startswith("-") and valued == len(text) - 1
