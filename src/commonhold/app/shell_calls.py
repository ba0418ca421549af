"""The calls of git in a line of shell: found in its syntax, without running anything."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from commonhold.regions.language import parse
from commonhold.regions.languages.scripting import SHELL

_WRAPPERS: Final = frozenset(
    {"sudo", "env", "command", "exec", "nohup", "time", "nice", "ionice", "timeout", "stdbuf", "xargs", "builtin"}
)
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_ESCAPED: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r"\\([$`\"\\\n])")
_GLOB: Final = re.compile(r"(?<!\\)(?:[*?\[]|\{[^}]*(?:,|\.\.))")
_BARE: Final = frozenset({"word", "number"})
_MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class ShellCall:
    """A call of git: its words, as far as they stand in the text (None: known only when it runs).

    `folder` is where the shell went before, from where it began; None where that cannot be told.
    """

    argv: tuple[str | None, ...]
    folder: str | None = ""


def git_calls_in(text: str, depth: int = 0) -> tuple[ShellCall, ...]:
    """The calls of git that a line of shell makes, in order, also inside of `bash -c '…'` and substitutions."""
    tree = parse(text.encode("utf-8", "replace"), SHELL)
    return tuple(_Walk(depth).calls(tree.root_node))


class _Walk:
    """One walk through a line, which remembers the folder that it went to."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._folder: str | None = ""

    def calls(self, node: Node) -> Iterator[ShellCall]:
        if node.type == "command":
            yield from self._of_command(node)
        before = self._folder
        for child in node.named_children:
            yield from self.calls(child)
        if node.type in {"subshell", "command_substitution", "pipeline"}:
            self._folder = before

    def _of_command(self, node: Node) -> Iterator[ShellCall]:
        words = [_word(each) for each in node.named_children if each.type not in _NO_WORDS]
        first = words[0] if words else None
        if first == "cd":
            self._folder = _joined(self._folder, next((each for each in words[1:] if each != "--"), None))
            return
        at = _program(words)
        name = (words[at] or "").rpartition("/")[2] if at < len(words) else ""
        if name == "git":
            yield ShellCall(tuple(words[at + 1 :]), self._folder)
        elif name in _SHELLS and self._depth < _MAX_DEPTH:
            yield from self._of_script(words[at + 1 :])
        elif name == "eval" and self._depth < _MAX_DEPTH and None not in words:
            yield from self._inside(" ".join(word or "" for word in words[at + 1 :]))

    def _of_script(self, words: list[str | None]) -> Iterator[ShellCall]:
        for flag, script in pairwise(words):
            if flag and re.fullmatch(r"-\w*c", flag):
                yield from self._inside(script or "")
                return

    def _inside(self, script: str) -> Iterator[ShellCall]:
        for call in git_calls_in(script, self._depth + 1):
            yield ShellCall(call.argv, _joined(self._folder, call.folder))


def _joined(folder: str | None, then: str | None) -> str | None:
    if folder is None or then is None or then.startswith("~") or then == "-":
        return None
    return then if then.startswith("/") or not folder else f"{folder}/{then}" if then else folder


_NO_WORDS: Final = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"})


def _program(words: list[str | None]) -> int:
    """The number of the word that is run: behind `sudo`, `env X=1` and their like."""
    at = 0
    while at < len(words) and (words[at] or "").rpartition("/")[2] in _WRAPPERS:
        at += 1
        while at < len(words) and _is_of_wrapper(words[at]):
            at += 1
    return at


def _is_of_wrapper(word: str | None) -> bool:
    return word is None or word.startswith("-") or bool(re.fullmatch(r"\w+=.*|[0-9.]+[smhd]?", word, re.DOTALL))


def _word(node: Node) -> str | None:
    """What a word says; None where that depends on what is only known when it runs."""
    text = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "command_name":
            return _word(node.named_children[0]) if node.named_children else text
        case kind if kind in _BARE:
            return None if _GLOB.search(text) else _ESCAPED.sub(_unescaped, text)
        case "raw_string":
            return text[1:-1]
        case "string":
            is_plain = all(each.type == "string_content" for each in node.named_children)
            return _ESCAPED_IN_QUOTES.sub(_unescaped, text[1:-1]) if is_plain else None
        case "concatenation":
            return _joined_word(node.named_children)
        case _:
            return None


def _joined_word(nodes: Sequence[Node]) -> str | None:
    """What several pieces say together; the shell looks for patterns in all that is not quoted."""
    parts = [_word(each) for each in nodes]
    bare = "".join((each.text or b"").decode("utf-8", "replace") for each in nodes if each.type in _BARE)
    return None if None in parts or _GLOB.search(bare) else "".join(part or "" for part in parts)


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]
