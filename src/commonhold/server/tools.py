"""The tools that an agent sees: for each its schema, how its arguments are read, and the answer it gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

import msgspec

from commonhold.app.service import Commonhold
from commonhold.domain.errors import Code, UsageError
from commonhold.domain.modes import Mode
from commonhold.server.thrift import thrifty
from commonhold.wire import shapes
from commonhold.wire.changesets import changeset
from commonhold.wire.shapes import Json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `answer` raises CommonholdError for arguments or requests that make no sense."""

    name: str
    description: str
    input_schema: Json
    answer: Callable[[Commonhold, Mapping[str, Any]], Json]


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


class _DryRun(msgspec.Struct):
    dry_run: bool = False


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    key: str | None = None


def _regions(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    return shapes.regions(hold.regions(_read_as(_Regions, "regions", arguments).path))


def _read(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    found = hold.read(*_read_as(_Read, "read", arguments).keys)
    return {"regions": [shapes.region_text(each) for each in found]}


def _acquire(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    asked = _read_as(_Acquire, "acquire", arguments)
    return shapes.acquire(hold.acquire(*asked.keys, task=asked.task, ttl_seconds=asked.ttl_seconds, mode=asked.mode))


def _renew(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    asked = _read_as(_Renew, "renew", arguments)
    return shapes.lease_change(hold.renew(asked.lease_id, ttl_seconds=asked.ttl_seconds))


def _release(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    return shapes.lease_change(hold.release(_read_as(_Release, "release", arguments).lease_id))


def _commit(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    is_dry_run = _read_as(_DryRun, "commit", arguments).dry_run
    wanted = {name: value for name, value in arguments.items() if name != "dry_run"}
    return shapes.commit(hold.commit(changeset(wanted), dry_run=is_dry_run))


def _status(hold: Commonhold, arguments: Mapping[str, Any]) -> Json:
    key = _read_as(_Status, "status", arguments).key
    return shapes.status(hold.status()) if key is None else shapes.who(hold.who(key))


def _read_as(kind: type[T], tool: str, arguments: Mapping[str, Any]) -> T:
    try:
        return msgspec.convert(arguments, kind)
    except msgspec.ValidationError as fault:
        schema = TOOLS[tool].input_schema
        required = schema.get("required", [])
        optional = [name for name in schema["properties"] if name not in required]
        takes = ", ".join([*required, *(f"{name}?" for name in optional)])
        raise UsageError(
            Code.USAGE, f"the arguments of {tool} cannot be read: {fault}", hint=f"{tool} takes {takes}"
        ) from fault


def call(hold: Commonhold, name: str, arguments: Mapping[str, Any]) -> Json:
    """The answer of a tool. Raises CommonholdError, also for a name that no tool has."""
    tool = TOOLS.get(name)
    if tool is None:
        raise UsageError(Code.USAGE, f"there is no tool {name!r}", hint=f"call one of {', '.join(TOOLS)}")
    return thrifty(tool.answer(hold, arguments))


def _schema(required: Sequence[str] = (), **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _texts(description: str) -> Json:
    return {"type": "array", "items": _TEXT, "description": description}


def _objects(required: Sequence[str], **properties: Json) -> Json:
    return {"type": "array", "items": _schema(required, **properties)}


_TEXT: Final[Json] = {"type": "string"}
_NUMBER: Final[Json] = {"type": "number"}
_OPS: Final = ["replace", "insert", "delete", "create_file", "delete_file", "rename_file", "chmod"]
_EDITS: Final = _objects(
    ["op", "key"],
    op={"enum": _OPS},
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
            _regions,
        ),
        Tool(
            "read",
            "Read regions or whole files before you edit them: text and hash (the base of your edit).",
            _schema(["keys"], keys=_texts("src/a.py, src/a.py#Class.method, src/a.py#@header")),
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
                mode={"enum": ["exclusive", "shared"]},
            ),
            _acquire,
        ),
        Tool(
            "renew",
            "Make your lease end ttl_seconds from now.",
            _schema(["lease_id"], lease_id=_TEXT, ttl_seconds=_NUMBER),
            _renew,
        ),
        Tool("release", "End your lease when the work is committed.", _schema(["lease_id"], lease_id=_TEXT), _release),
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
            _commit,
        ),
        Tool(
            "status",
            "Who holds and who changed what: everywhere, or at one key.",
            _schema(key=_TEXT),
            _status,
        ),
    )
}
