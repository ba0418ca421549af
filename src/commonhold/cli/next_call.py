"""The one call to make now, as a command line that can be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from commonhold.api.wire.text import dumps
from commonhold.cli.common_options import Given
from commonhold.cli.opening import rooted
from commonhold.cli.output import shown, shown_text
from commonhold.kernel.changeset import Op
from commonhold.kernel.keys import parse

if TYPE_CHECKING:
    from commonhold.kernel.answers import Next

Words = Sequence[str]
NEEDS_TEXT: Final = (Op.REPLACE, Op.INSERT, Op.CREATE_FILE, Op.REWRITE)
_FLAGS: Final = {Op.REPLACE: [], Op.INSERT: ["--insert"], Op.DELETE: ["--delete"], Op.CREATE_FILE: ["--create"]}
# A file that is not there: pasted as it is, the line is refused by the shell, and nothing is committed.
_TO_FILL_IN: Final = " < NEW_TEXT"
_PARTS: Final = frozenset({"op", "key", "base", "after", "span"})


def next_lines(call: Next | None, given: Given, label: str = "next") -> list[str]:
    """Why, then `next:` and the command line."""
    if call is None:
        return []
    why = [shown(call.why)] if call.why else []
    return [*why, *_what_to_fill_in(call), f"{label}: {shown_text(command_line(call, given))}"]


def command_line(call: Next, given: Given) -> str:
    """The command line; for a commit with several edits, with a changeset to fill in.

    Text that the agent must write is left out in such a way that the line does nothing until it is filled in.
    """
    if call.call == "commit" and not _is_simple(call.arguments):
        return _with_changeset(call.arguments, given)
    words = _WORDS.get(call.call, _any_words)(call.arguments)
    note = _TO_FILL_IN if call.call == "commit" and "--delete" not in words else ""
    return shlex.join(["commonhold", *call.call.replace("_", "-").split(), *words, *given.words()]) + note


def _what_to_fill_in(call: Next) -> list[str]:
    arguments: Mapping[str, Any] = call.arguments
    ops = {edit["op"] for edit in arguments["edits"]} if call.call == "commit" else set()
    wanting = [op.value for op in NEEDS_TEXT if op in ops]
    if not wanting:
        return []
    if _is_simple(arguments):
        return ["NEW_TEXT stands for a file with the new text"]
    return [f'add "text" with the new text to each {" and ".join(wanting)}; without it nothing is committed']


def _typed(key: str) -> str:
    """Return the key in a form for any folder: in a changeset, unlike here, a plain path is relative to the root."""
    path, mark, qualname = key.partition("#")
    return rooted(path) + mark + qualname if parse(key).is_plain else key


def _is_simple(arguments: Mapping[str, Any]) -> bool:
    edits = arguments["edits"]
    return len(edits) == 1 and set(edits[0]) <= _PARTS and edits[0]["op"] in _FLAGS and "reads" not in arguments


def _with_changeset(arguments: Mapping[str, Any], given: Given) -> str:
    command = shlex.join(["commonhold", "commit", "--changeset", "-", *given.words()])
    return f"{command} <<'END'\n{dumps(arguments)}\nEND"


def _acquire_words(arguments: Mapping[str, Any]) -> Words:
    task = ["--task", arguments["task"]] if arguments.get("task") else []
    mode = ["--mode", str(arguments["mode"])] if arguments.get("mode") else []
    ttl = _seconds("--ttl", arguments.get("ttl_seconds"))
    return [*map(_typed, arguments["keys"]), *task, *mode, *ttl, *_waiting_words(arguments)]


def _waiting_words(arguments: Mapping[str, Any]) -> Words:
    queue = ["--queue", *_seconds("--patience", arguments.get("patience_seconds"))] if "ticket" in arguments else []
    ticket = ["--ticket", arguments["ticket"]] if "ticket" in arguments else []
    replaces = ["--replace", arguments["replaces"]] if arguments.get("replaces") else []
    return [*_seconds("--wait", arguments.get("wait_seconds")), *queue, *ticket, *replaces]


def _seconds(option: str, seconds: float | None) -> Words:
    return [option, f"{seconds:.15g}"] if seconds else []


def _commit_words(arguments: Mapping[str, Any]) -> Words:
    edit = arguments["edits"][0]
    words = ["--key", _typed(edit["key"]), *_FLAGS[edit["op"]]]
    words += ["--after", _typed(edit["after"])] if edit.get("after") else []
    words += ["--base", edit["base"]] if edit.get("base") else []
    words += ["--span", str(edit["span"])] if "span" in edit else []
    words += ["--intent", arguments["intent"]] if arguments.get("intent") else []
    words += [] if arguments.get("merge", True) else ["--no-merge"]
    for lease in arguments.get("leases", ()):
        words += ["--lease", f"{lease['id']}:{lease['fence']}"]
    return words


def _lease_words(arguments: Mapping[str, Any]) -> Words:
    return [arguments["lease_id"]]


def _resolve_words(arguments: Mapping[str, Any]) -> Words:
    return [arguments["lease_id"], "--note", "WHAT-YOU-DID"]


def _who_words(arguments: Mapping[str, Any]) -> Words:
    return [_typed(arguments["key"])]


def _show_words(arguments: Mapping[str, Any]) -> Words:
    return [*map(_typed, arguments["keys"])]


def _regions_words(arguments: Mapping[str, Any]) -> Words:
    return [rooted(arguments["path"])]


def _task_words(arguments: Mapping[str, Any]) -> Words:
    task = [arguments["task"]] if "task" in arguments else []
    return [*task, *_any_words({name: value for name, value in arguments.items() if name != "task"})]


def _explain_words(arguments: Mapping[str, Any]) -> Words:
    return [arguments["what"]]


def _undo_words(arguments: Mapping[str, Any]) -> Words:
    only = [word for path in arguments.get("only", ()) for word in ("--only", rooted(path))]
    return [arguments["what"], *only, *(["--apply"] if arguments.get("apply") else [])]


def _any_words(arguments: Mapping[str, Any]) -> Words:
    return [word for name, value in arguments.items() for word in _option(name, value)]


def _option(name: str, value: object) -> Iterable[str]:
    return (f"--{name.replace('_', '-')}", str(value))


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Words]]] = {
    "acquire": _acquire_words,
    "explain": _explain_words,
    "get": _show_words,
    "commit": _commit_words,
    "regions": _regions_words,
    "release": _lease_words,
    "renew": _lease_words,
    "review show": _lease_words,
    "review resolve": _resolve_words,
    "review waive": _show_words,
    "show": _show_words,
    "task claim": _task_words,
    "task done": _task_words,
    "task show": _task_words,
    "undo": _undo_words,
    "who": _who_words,
}
