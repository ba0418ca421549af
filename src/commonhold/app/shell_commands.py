"""The commands in a line of shell: found in its syntax, without running anything."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from commonhold.regions.budget import BudgetExceededError
from commonhold.regions.language import parse
from commonhold.regions.languages.scripting import SHELL

MAX_LENGTH: Final = 200_000
"""Of a longer line nothing is told, nor of one whose syntax takes too much work to read."""
_MAX_DEPTH: Final = 4
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_SCRIPT_FLAG: Final = re.compile(r"-\w*c")
_WRAPPERS: Final = frozenset(
    {"sudo", "env", "command", "exec", "nohup", "time", "nice", "ionice", "timeout", "stdbuf", "xargs", "builtin"}
)
_OF_WRAPPER: Final = re.compile(r"-.*|\w+=.*|[0-9.]+[smhd]?", re.DOTALL)
_NO_WORDS: Final = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"})
_SCOPES: Final = frozenset({"subshell", "command_substitution", "process_substitution", "pipeline"})
_WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_GLOB: Final = re.compile(r"(?<!\\)(?:[*?\[]|\{[^}]*(?:,|\.\.))")
_ESCAPED: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r"\\([$`\"\\\n])")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in the line. What a pattern stands for is only known where the files are."""

    text: str
    is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command: its name without folders, and its words (None: known only when it runs).

    `folder` is where the shell went before, from where it began; None where that cannot be told. `targets` are what its
    output is written to.
    """

    name: str
    words: tuple[Word | None, ...]
    folder: str | None
    targets: tuple[Word, ...] = ()


def commands_in(argv: Sequence[str]) -> tuple[ShellCommand, ...]:
    """The commands that a command runs: those of the script, if it is a shell with one, else itself."""
    return tuple(_run([Word(each) for each in argv], "", 0))


def joined(folder: str | None, then: str) -> str | None:
    """The path of something in a folder; None where that cannot be told."""
    if folder is None or then.startswith("~") or then == "-":
        return None
    return then if then.startswith("/") or not folder else f"{folder}/{then}"


def _run(words: Sequence[Word | None], folder: str | None, depth: int) -> Iterator[ShellCommand]:
    """What one command is, behind `sudo`, `env X=1` and their like, and inside of `bash -c`."""
    words = _unwrapped(words)
    name = words[0].text.rpartition("/")[2] if words and words[0] else ""
    script = _script(name, words[1:])
    if script is None or depth >= _MAX_DEPTH or len(script) > MAX_LENGTH:
        yield ShellCommand(name, tuple(words[1:]), folder)
        return
    try:
        tree = parse(script.encode("utf-8", "replace"), SHELL)
    except BudgetExceededError:
        yield ShellCommand(name, tuple(words[1:]), folder)
        return
    yield from _Walk(folder, depth + 1).commands(tree.root_node)


def _unwrapped(words: Sequence[Word | None]) -> Sequence[Word | None]:
    at = 0
    while at < len(words) and (word := words[at]) and word.text.rpartition("/")[2] in _WRAPPERS:
        at += 1
        while at < len(words) and ((word := words[at]) is None or _OF_WRAPPER.fullmatch(word.text)):
            at += 1
    return words[at:]


def _script(name: str, words: Sequence[Word | None]) -> str | None:
    """The text that a shell is told to run; None where it is told none that can be read."""
    if name == "eval" and None not in words:
        return " ".join(word.text for word in words if word)
    if name in _SHELLS:
        for flag, script in pairwise(words):
            if flag and _SCRIPT_FLAG.fullmatch(flag.text):
                return script.text if script else None
    return None


class _Walk:
    """One walk through a line, which remembers the folder that it went to."""

    def __init__(self, folder: str | None, depth: int) -> None:
        self._folder = folder
        self._depth = depth

    def commands(self, node: Node) -> Iterator[ShellCommand]:
        if node.type == "command":
            yield from self._of_command(node)
        before = self._folder
        for child in node.named_children:
            yield from self.commands(child)
        if node.type in _SCOPES:
            self._folder = before
        if node.type == "file_redirect" and (target := _target(node)):
            yield ShellCommand("", (), self._folder, (target,))

    def _of_command(self, node: Node) -> Iterator[ShellCommand]:
        words = [_word(each) for each in node.named_children if each.type not in _NO_WORDS]
        if words and words[0] == Word("cd"):
            to = next((word for word in words[1:] if word != Word("--")), None)
            self._folder = joined(self._folder, to.text) if to and not to.is_pattern else None
        else:
            yield from _run(words, self._folder, self._depth)


def _target(redirect: Node) -> Word | None:
    """The file that a redirection writes; None where it reads, or goes to another stream."""
    if not any(child.type in _WRITING for child in redirect.children):
        return None
    named = [child for child in redirect.named_children if child.type != "file_descriptor"]
    return _word(named[0]) if named and named[0].type != "number" else None


def _word(node: Node) -> Word | None:
    """What a word says; None where that depends on what is only known when it runs."""
    text = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "command_name":
            return _word(node.named_children[0]) if node.named_children else Word(text)
        case "word" | "number":
            return Word(text, is_pattern=True) if _GLOB.search(text) else Word(_ESCAPED.sub(_unescaped, text))
        case "raw_string":
            return Word(text[1:-1])
        case "string":
            is_plain = all(each.type == "string_content" for each in node.named_children)
            return Word(_ESCAPED_IN_QUOTES.sub(_unescaped, text[1:-1])) if is_plain else None
        case "concatenation":
            return _concatenated([_word(each) for each in node.named_children])
        case _:
            return None


def _concatenated(parts: Sequence[Word | None]) -> Word | None:
    known = [part for part in parts if part]
    text = "".join(part.text for part in known)
    return Word(text, bool(_GLOB.search(text))) if len(known) == len(parts) else None


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]
