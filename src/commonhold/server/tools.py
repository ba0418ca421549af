"""The tools that an agent sees: for each its schema, how its arguments are read, and the answer it gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

from commonhold.app.service import Commonhold
from commonhold.domain.changeset import Op
from commonhold.domain.errors import Code, UsageError
from commonhold.domain.modes import Mode
from commonhold.server.thrift import thrifty
from commonhold.wire import shapes
from commonhold.wire.changesets import changeset
from commonhold.wire.text import Json


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `answer` takes the decoded arguments; it raises CommonholdError for requests that make no sense."""

    name: str
    description: str
    input_schema: Json
    arguments: type[msgspec.Struct]
    answer: Callable[[Commonhold, Any], Json]


class _Regions(msgspec.Struct, forbid_unknown_fields=True):
    path: str


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    keys: Annotated[list[str], msgspec.Meta(min_length=1)]


class _Acquire(msgspec.Struct, forbid_unknown_fields=True):
    keys: list[str]
    task: str
    ttl_seconds: float | None = None
    mode: Mode = Mode.EXCLUSIVE


class _Renew(msgspec.Struct, forbid_unknown_fields=True):
    lease_id: str
    ttl_seconds: float | None = None


class _Release(msgspec.Struct, forbid_unknown_fields=True):
    lease_id: str


class _Commit(msgspec.Struct, forbid_unknown_fields=True):
    """A changeset, whose parts `wire` judges, and what is to be done with it."""

    edits: Any = msgspec.UNSET
    intent: Any = msgspec.UNSET
    leases: Any = msgspec.UNSET
    reads: Any = msgspec.UNSET
    request_id: Any = msgspec.UNSET
    dry_run: bool = False


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    key: str | None = None


def _regions(hold: Commonhold, asked: _Regions) -> Json:
    return shapes.regions(hold.regions(asked.path))


def _read(hold: Commonhold, asked: _Read) -> Json:
    return {"regions": [shapes.region_text(each) for each in hold.read(*asked.keys)]}


def _acquire(hold: Commonhold, asked: _Acquire) -> Json:
    return shapes.acquire(hold.acquire(*asked.keys, task=asked.task, ttl_seconds=asked.ttl_seconds, mode=asked.mode))


def _renew(hold: Commonhold, asked: _Renew) -> Json:
    return shapes.lease_change(hold.renew(asked.lease_id, ttl_seconds=asked.ttl_seconds))


def _release(hold: Commonhold, asked: _Release) -> Json:
    return shapes.lease_change(hold.release(asked.lease_id))


def _commit(hold: Commonhold, asked: _Commit) -> Json:
    wanted = msgspec.to_builtins(asked)
    is_dry_run = wanted.pop("dry_run")
    return shapes.commit(hold.commit(changeset(wanted), dry_run=is_dry_run))


def _status(hold: Commonhold, asked: _Status) -> Json:
    return shapes.status(hold.status()) if asked.key is None else shapes.who(hold.who(asked.key))


def call(hold: Commonhold, name: str, arguments: Mapping[str, Any]) -> Json:
    """The answer of a tool. Raises CommonholdError, also for a name that no tool has."""
    tool = TOOLS.get(name)
    if tool is None:
        raise UsageError(Code.USAGE, f"there is no tool {name!r}", hint=f"call one of {', '.join(TOOLS)}")
    return thrifty(tool.answer(hold, _decoded(tool, arguments)))


def _decoded(tool: Tool, arguments: Mapping[str, Any]) -> msgspec.Struct:
    try:
        return msgspec.convert(arguments, tool.arguments)
    except msgspec.ValidationError as fault:
        required = tool.input_schema.get("required", [])
        optional = [name for name in tool.input_schema["properties"] if name not in required]
        takes = ", ".join([*required, *(f"{name}?" for name in optional)])
        raise UsageError(
            Code.USAGE, f"the arguments of {tool.name} cannot be read: {fault}", hint=f"{tool.name} takes {takes}"
        ) from fault


def _schema(required: Sequence[str] = (), **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _texts(description: str) -> Json:
    return {"type": "array", "items": _TEXT, "description": description}


def _objects(required: Sequence[str], **properties: Json) -> Json:
    return {"type": "array", "items": _schema(required, **properties)}


_TEXT: Final[Json] = {"type": "string"}
_NUMBER: Final[Json] = {"type": "number"}
_EDITS: Final = _objects(
    ["op", "key"],
    op={"enum": [op.value for op in Op]},
    key=_TEXT,
    base={**_TEXT, "description": "hash you read; not for insert, create_file"},
    text={**_TEXT, "description": "whole new text of the region"},
    after={**_TEXT, "description": "insert: the sibling key before it"},
    span={"type": "integer", "description": "header: the piece replaced"},
    to={**_TEXT, "description": "rename_file"},
    mode={**_TEXT, "description": "chmod: 755"},
)

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(
            "regions",
            "List the regions (functions, methods, headers) of a file: keys and hashes.",
            _schema(["path"], path=_TEXT),
            _Regions,
            _regions,
        ),
        Tool(
            "read",
            "Read regions or whole files before you edit them: text and hash (the base of your edit).",
            _schema(["keys"], keys=_texts("src/a.py, src/a.py#Class.method, src/a.py#@header")),
            _Read,
            _read,
        ),
        Tool(
            "acquire",
            "Lease keys so that others keep off: for contended or long work only; commit needs no lease. "
            "Denied: do other work first.",
            _schema(
                ["keys", "task"],
                keys=_texts("all granted together or none"),
                task={**_TEXT, "description": "shown to others"},
                ttl_seconds=_NUMBER,
                mode={"enum": [mode.value for mode in Mode]},
            ),
            _Acquire,
            _acquire,
        ),
        Tool(
            "renew",
            "Make your lease end ttl_seconds from now.",
            _schema(["lease_id"], lease_id=_TEXT, ttl_seconds=_NUMBER),
            _Renew,
            _renew,
        ),
        Tool(
            "release",
            "End your lease when the work is committed.",
            _schema(["lease_id"], lease_id=_TEXT),
            _Release,
            _release,
        ),
        Tool(
            "commit",
            "Write edits, all or none, if nothing they rest on has changed. Refused: redo your intent on the fresh "
            "text in repair, then call next; never resend old text.",
            _schema(
                ["edits", "intent"],
                edits=_EDITS,
                intent={**_TEXT, "description": "what you want, in a line"},
                leases=_objects(["id", "fence"], id=_TEXT, fence={"type": "integer"}),
                reads={
                    **_objects(["key", "hash"], key=_TEXT, hash=_TEXT),
                    "description": "what you rely on without editing it",
                },
                request_id={**_TEXT, "description": "makes a repeat safe"},
                dry_run={"type": "boolean"},
            ),
            _Commit,
            _commit,
        ),
        Tool(
            "status",
            "Who holds and who changed what: everywhere, or at one key.",
            _schema(key=_TEXT),
            _Status,
            _status,
        ),
    )
}
