"""Find the commands in a line of shell from its syntax, without running anything."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.shell.here_documents import HereDocument, Line, line_of, unescaped
from commonhold.shell.scripts import SHELLS, Call, Word
from commonhold.shell.wrappers import behind

MAX_LENGTH: Final = 200_000
"""A longer line is not analysed, nor one whose syntax is too costly to parse."""
_MAX_DEPTH: Final = 4
_MOST_READ: Final = 2 * MAX_LENGTH
_SCRIPT_FLAG: Final = re.compile(r"-\w*c")
_NO_WORDS: Final = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"})
_SCOPES: Final = frozenset({"subshell", "command_substitution", "process_substitution", "pipeline"})
_WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_GLOB: Final = re.compile(r"(?<!\\)(?:[*?\[]|\{[^}]*(?:,|\.\.))")
_ESCAPED: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r"\\([$`\"\\\n])")


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command: its name without folders, and its words (None: known only when it runs).

    `folder` is where the shell went before, relative to its start; None if that is unknown. `targets` are the files
    that its output is redirected to.
    """

    name: str
    words: tuple[Word | None, ...]
    folder: str | None
    targets: tuple[Word, ...] = ()


def commands_in(argv: Sequence[str]) -> tuple[ShellCommand, ...]:
    """Return the commands that a command runs: those of the script, if it is a shell with one, or else itself."""
    return tuple(_Walk("", 0, _Known()).run(Call([Word(each) for each in argv], argv)))


def joined(folder: str | None, then: str) -> str | None:
    """Return the path of `then` in a folder; None if that is unknown."""
    if folder is None or then.startswith("~") or then == "-":
        return None
    return then if then.startswith("/") or not folder else f"{folder}/{then}"


def shown(argv: Sequence[str]) -> str:
    """Return a command as a person would type it: for a shell with nothing but a script, the script alone."""
    match argv:
        case [shell, flag, script] if shell.rpartition("/")[2] in SHELLS and _SCRIPT_FLAG.fullmatch(flag):
            return script
        case _:
            return shlex.join(argv)


@dataclass(slots=True)
class _Known:
    """The state that all walks through a command share: the files that it has written, and the remaining budget."""

    files: dict[str, str] = field(default_factory=dict)
    left: int = _MOST_READ


class _Walk:
    """One walk through a line, which tracks the current folder."""

    def __init__(self, folder: str | None, depth: int, known: _Known) -> None:
        self._folder = folder
        self._depth = depth
        self._known = known
        self._line: Line | None = None

    def run(self, call: Call) -> Iterator[ShellCommand]:
        """Yield the actual commands of one call, behind `sudo`, `env X=1` and the like, and inside of `bash -c`."""
        call = call.behind(behind(call.texts))
        script = call.script(self._read)
        if script is not None and self._depth < _MAX_DEPTH and len(script) <= min(MAX_LENGTH, self._known.left):
            self._known.left -= len(script)
            with suppress(BudgetExceededError):
                line = line_of(script)
                yield from _Walk(self._folder, self._depth + 1, self._known).through(line)
                return
        yield ShellCommand(call.name, tuple(call.words[1:]), self._folder)
        for part in call.parts():
            yield from self.run(part)

    def through(self, line: Line) -> Iterator[ShellCommand]:
        """Yield the commands in a line."""
        self._line = line
        yield from self._commands(line.root, None)

    def _commands(self, node: Node, fed: str | None) -> Iterator[ShellCommand]:
        before = self._folder
        if node.type == "command":
            call = _call(node, self._fed(node, fed))
            if call.name == "cd" and call.texts[0] == "cd":
                to = next((word for word in call.words[1:] if word != Word("--")), None)
                self._folder = joined(self._folder, to.text) if to and not to.is_pattern else None
            else:
                yield from self.run(call)
            fed = None  # substitutions in its words get no input of their own
        elif node.type == "redirected_statement":
            fed = self._fed(node, fed)
            self._remember(node, fed)
        for child in node.named_children:
            yield from self._commands(child, fed)
            fed = self._output(child, fed) if node.type == "pipeline" else fed
        if node.type in _SCOPES:
            self._folder = before
        if node.type == "file_redirect":
            if target := _target(node):
                yield ShellCommand("", (), self._folder, (target,))
            elif document := self._document(node):
                for each in document.expanded:
                    yield from self._commands(each, None)

    def _fed(self, node: Node, fed: str | None) -> str | None:
        """Return the input of a node; `fed` if it redirects none."""
        for each in node.named_children:
            if each.type == "herestring_redirect":
                fed = _source(each.named_children[-1])
            elif each.type == "file_redirect" and each.children[0].type == "<":
                document = self._document(each)
                fed = document.text if document else self._read(name.text if (name := _named(each)) else None)
        return fed

    def _document(self, redirect: Node) -> HereDocument | None:
        name = _named(redirect)
        return self._line.document(name.text) if self._line and name else None

    def _output(self, node: Node, fed: str | None) -> str | None:
        """Return the output of a part of a pipeline, if it is literal in the line."""
        if node.type == "redirected_statement":
            fed = self._fed(node, fed)
            is_kept = any(_is_for_output(each) and _target(each) for each in node.named_children)
            return None if is_kept else self._output(node.named_children[0], fed)
        if node.type == "list":
            return self._output(node.named_children[-1], fed)
        return _call(node, self._fed(node, fed)).output() if node.type == "command" else None

    def _remember(self, node: Node, fed: str | None) -> None:
        """Keep the text that is written to a file: a shell may run it later in the line."""
        for each in node.named_children[1:]:
            if _is_for_output(each) and (target := _target(each)):
                text = self._output(node.named_children[0], fed)
                path = self._path(target.text)
                if text is not None and path:
                    self._known.files[path] = text

    def _read(self, name: str | None) -> str | None:
        path = self._path(name) if name else None
        return self._known.files.get(path) if path else None

    def _path(self, name: str) -> str | None:
        path = joined(self._folder, name)
        return posixpath.normpath(path) if path else None


def _call(node: Node, fed: str | None) -> Call:
    words = [each for each in node.named_children if each.type not in _NO_WORDS]
    # Words after the file of a redirection belong to the command; the grammar assigns them to the redirection.
    for each in node.parent.named_children[1:] if node.parent and node.parent.type == "redirected_statement" else ():
        words += _named_in(each)[1:]
    return Call([_word(each) for each in words], [_source(each) for each in words], fed)


def _is_for_output(node: Node) -> bool:
    return node.type == "file_redirect" and not any(child.type == "file_descriptor" for child in node.named_children)


def _target(redirect: Node) -> Word | None:
    """Return the file that a redirection writes; None if it reads, or goes to another stream."""
    return _named(redirect) if any(child.type in _WRITING for child in redirect.children) else None


def _named(redirect: Node) -> Word | None:
    """Return the file of a redirection."""
    named = _named_in(redirect)
    return _word(named[0]) if named and named[0].type != "number" else None


def _named_in(redirect: Node) -> list[Node]:
    is_file = redirect.type == "file_redirect"
    return [each for each in redirect.named_children if each.type != "file_descriptor"] if is_file else []


def _word(node: Node) -> Word | None:
    """Return the value of a word; None if it is known only when the command runs."""
    match node.type:
        case "command_name" if node.named_children:
            return _word(node.named_children[0])
        case "word" | "number" | "command_name" if _GLOB.search(text := _text(node)):
            return Word(text, is_pattern=True)
        case "concatenation":
            parts = [_word(each) for each in node.named_children]
            joint = "".join(part.text for part in parts if part)
            return Word(joint, bool(_GLOB.search(joint))) if all(parts) else None
        case "word" | "number" | "command_name" | "raw_string":
            return Word(_source(node))
        case "string" if not _expanded(node):
            return Word(_source(node))
        case _:
            return None


def _source(node: Node) -> str:
    """Return a word without its quotes, and with its expansions left unexpanded."""
    match node.type:
        case "command_name" if node.named_children:
            return _source(node.named_children[0])
        case "concatenation":
            return "".join(_source(each) for each in node.named_children)
        case "word" | "number" | "command_name":
            return unescaped(node, (), _ESCAPED)
        case "raw_string":
            return _text(node)[1:-1]
        case "string":
            return unescaped(node, _expanded(node), _ESCAPED_IN_QUOTES)[1:-1]
        case _:
            return _text(node)


def _expanded(string: Node) -> list[Node]:
    return [each for each in string.named_children if each.type != "string_content"]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
