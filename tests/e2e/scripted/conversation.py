"""What a model is told and what it answers, whatever the dialect; a script is a generator that plays the model."""

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MARKER: Final = re.compile(r"^[\s'\"]*\[script:([\w.-]+)\]", re.MULTILINE)
_CALL_ID: Final = re.compile(r"(\d+_\d+)_\d+\Z")


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a tool. An `input` that is text is a free-form one, as Codex's apply_patch takes it."""

    tool: str
    input: Mapping[str, Any] | str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says: calls, all at once, or else a text."""

    uses: tuple[Use, ...] = ()
    text: str = ""


def do(tool: str, input_: Mapping[str, Any] | str = "", **fields: Any) -> Turn:
    """The turn that calls one tool, with an input or with its fields."""
    return Turn((Use(tool, input_ or fields),))


def say(text: str) -> Turn:
    return Turn(text=text)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a user, or the agent's program in its name, tells the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """What the model said before: a text, or a call by its id and its tool."""

    text: str = ""
    call: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered. Only Anthropic's dialect has a word for failure."""

    text: str
    call: str = ""
    tool: str = ""
    has_failed: bool = False


Entry = Prompt | Said | Result
Results = tuple[Result, ...]
Script = Callable[[], Generator[Turn, Results, str]]
"""Yields turns and is sent what their tools answered; the text that it returns is the last thing that is said."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the model.

    `script` is the name in the last marker that a prompt begins a line with. `history` holds for each turn since that
    marker what its tools answered, `prompts` what else was told since, the marker's own prompt first.
    """

    model: str
    tools: tuple[str, ...]
    streams: bool
    script: str = ""
    history: tuple[Results, ...] = ()
    prompts: tuple[str, ...] = ()
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def results(self) -> Results:
        """All that tools have answered."""
        return tuple(result for turn in self.history for result in turn)


def asked(entries: Sequence[Entry], *, tools: Iterable[str], body: Mapping[str, Any], streams: bool) -> Asked:
    """The request that these entries make, oldest first."""
    name, start = _marked(entries)
    since = entries[start:]
    return Asked(
        model=str(body.get("model", "")),
        tools=tuple(tools),
        streams=streams,
        script=name,
        history=_by_turn(since),
        prompts=tuple(entry.text for entry in since if isinstance(entry, Prompt)),
        body=body,
    )


def _marked(entries: Sequence[Entry]) -> tuple[str, int]:
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if isinstance(entry, Prompt) and (found := MARKER.search(entry.text)):
            return found[1], index
    return "", 0


def _by_turn(entries: Sequence[Entry]) -> tuple[Results, ...]:
    """Some programs tell calls and results in pairs: the ids that we gave say which calls were made at once."""
    turns: list[list[Result]] = []
    current = before = None
    for entry in entries:
        if isinstance(entry, Said):
            turn = _turn_of(entry.call)
            if not isinstance(before, Said) and (turn is None or turn != current):
                turns.append([])
            current = turn
        elif isinstance(entry, Result) and turns:
            turns[-1].append(entry)
        before = entry
    return tuple(tuple(turn) for turn in turns)


def _turn_of(call: str) -> str | None:
    found = _CALL_ID.search(call)
    return found[1] if found else None


def call_id(serial: int, turn: int, index: int) -> str:
    """The id of a call: unlike any other of one server, and its turn can be read from it."""
    return f"{serial}_{turn}_{index}"


def play(script: Script, history: Sequence[Results]) -> Turn:
    """The turn that a script is at when its turns so far were answered like this."""
    playing = script()
    try:
        turn = next(playing)
        for results in history:
            turn = playing.send(results)
    except StopIteration as ended:
        return say(ended.value or "Done.")
    return turn


def in_turn(*turns: Turn) -> Script:
    """The script that takes these turns whatever is answered; the last may be a text."""

    def playing() -> Generator[Turn, Results, str]:
        for turn in turns:  # noqa: UP028 - nothing can be sent to a tuple
            yield turn
        return "Done."

    return playing


def text_of(content: Any) -> str:
    """The text in a message's content: a string, or blocks of which some hold text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, Mapping))
