"""The tools for an agent: for each its schema, the decoding of its arguments, and its answer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

import msgspec

from commonhold.api.wire import shapes, task_shapes
from commonhold.api.wire.changesets import changeset
from commonhold.api.wire.text import Json
from commonhold.client.async_session import AsyncCommonhold
from commonhold.kernel.changeset import Op
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.modes import Mode
from commonhold.kernel.task import Task
from commonhold.kernel.values import Version
from commonhold.machine.decoding import from_plain
from commonhold.server.compact_responses import thrifty
from commonhold.tasks.answers import TaskAction

# Clients give up on a call after a minute or so.
MAX_WAIT_SECONDS: Final = 50.0


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `answer` takes the decoded arguments; it raises CommonholdError for a senseless request."""

    name: str
    description: str
    input_schema: Json
    arguments: type[msgspec.Struct]
    answer: Callable[[AsyncCommonhold, Any], Awaitable[Json]]


class _Regions(msgspec.Struct, forbid_unknown_fields=True):
    path: str


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    keys: Annotated[list[str], msgspec.Meta(min_length=1)]


class _Acquire(msgspec.Struct, forbid_unknown_fields=True):
    keys: list[str]
    task: str
    ttl_seconds: float | None = None
    mode: Mode = Mode.EXCLUSIVE
    wait_seconds: float = 0.0


class _Renew(msgspec.Struct, forbid_unknown_fields=True):
    lease_id: str
    ttl_seconds: float | None = None


class _Release(msgspec.Struct, forbid_unknown_fields=True):
    lease_id: str


class _Commit(msgspec.Struct, forbid_unknown_fields=True):
    """A changeset, whose parts `wire` checks, and options for it."""

    edits: Any = msgspec.UNSET
    intent: Any = msgspec.UNSET
    leases: Any = msgspec.UNSET
    reads: Any = msgspec.UNSET
    request_id: Any = msgspec.UNSET
    merge: Any = msgspec.UNSET
    dry_run: bool = False


class _Get(msgspec.Struct, forbid_unknown_fields=True):
    keys: Annotated[list[str], msgspec.Meta(min_length=1)]


class _Put(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    text: str | None
    expected_version: int
    fence: int | None = None
    reads: list[Version] = []


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    key: str | None = None


class _Task(msgspec.Struct, forbid_unknown_fields=True):
    """A call about tasks; which fields it needs depends on the action, and the service says so."""

    action: Literal["list", "add", "propose", "accept", "decline", "claim", "done", "unchanged", "fail", "cancel"]
    task: str | None = None
    title: str = ""
    intent: str = ""
    keys: list[str] = []
    needs: list[str] = []
    fence: int | None = None
    commit: str = ""
    note: str = ""


async def _regions(hold: AsyncCommonhold, asked: _Regions) -> Json:
    return shapes.regions(await hold.regions(asked.path))


async def _read(hold: AsyncCommonhold, asked: _Read) -> Json:
    return {"regions": [shapes.region_text(each) for each in await hold.read(*asked.keys)]}


async def _acquire(hold: AsyncCommonhold, asked: _Acquire) -> Json:
    wait = min(asked.wait_seconds, MAX_WAIT_SECONDS)
    return shapes.acquire(
        await hold.acquire(
            *asked.keys, task=asked.task, ttl_seconds=asked.ttl_seconds, mode=asked.mode, wait_seconds=wait
        )
    )


async def _renew(hold: AsyncCommonhold, asked: _Renew) -> Json:
    return shapes.lease_change(await hold.renew(asked.lease_id, ttl_seconds=asked.ttl_seconds))


async def _release(hold: AsyncCommonhold, asked: _Release) -> Json:
    return shapes.lease_change(await hold.release(asked.lease_id))


async def _commit(hold: AsyncCommonhold, asked: _Commit) -> Json:
    wanted = msgspec.to_builtins(asked)
    is_dry_run = wanted.pop("dry_run")
    return shapes.commit(await hold.commit(changeset(wanted), dry_run=is_dry_run))


async def _get(hold: AsyncCommonhold, asked: _Get) -> Json:
    return shapes.values([await hold.get(key) for key in asked.keys])


async def _put(hold: AsyncCommonhold, asked: _Put) -> Json:
    return shapes.put(
        await hold.put(
            asked.key, asked.text, expected_version=asked.expected_version, fence=asked.fence, reads=asked.reads
        )
    )


async def _status(hold: AsyncCommonhold, asked: _Status) -> Json:
    return shapes.status(await hold.status()) if asked.key is None else shapes.who(await hold.who(asked.key))


async def _task(hold: AsyncCommonhold, asked: _Task) -> Json:
    if asked.action == "list":
        found = await (hold.tasks() if asked.task is None else hold.tasks(asked.task))
    elif asked.action == "claim":
        found = await hold.claim_task(asked.task)
    elif asked.action in ("add", "propose"):
        task = Task(asked.task or "", asked.title, asked.intent, tuple(asked.keys), tuple(asked.needs))
        found = await (hold.add_tasks(task) if asked.action == "add" else hold.propose_tasks(task))
    elif asked.task is None:
        raise UsageError(Code.USAGE, f"{asked.action} needs a task", hint="name it: task")
    else:
        action = TaskAction(asked.action)
        found = await hold.change_task(asked.task, action, fence=asked.fence, commit=asked.commit, note=asked.note)
    return _with_tool_next(task_shapes.answer(found))


def _with_tool_next(shape: Json) -> Json:
    """Return the answer with its next call in the form of this tool: the command's second word is the action."""
    if "next" not in shape:
        return shape
    _, _, verb = shape["next"]["call"].partition(" ")
    arguments = {"action": "list" if verb == "show" else verb, **shape["next"]["arguments"]}
    return {**shape, "next": {**shape["next"], "call": "task", "arguments": arguments}}


async def call(hold: AsyncCommonhold, name: str, arguments: Mapping[str, Any]) -> Json:
    """Return the answer of a tool. Raises CommonholdError, also for an unknown name."""
    tool = TOOLS.get(name)
    if tool is None:
        raise UsageError(Code.USAGE, f"there is no tool {name!r}", hint=f"call one of {', '.join(TOOLS)}")
    answer = await tool.answer(hold, _decoded(tool, arguments))
    news = [each.notice for each in await hold.news()]
    return thrifty({**answer, "notices": [*answer.get("notices", ()), *news]} if news else answer)


def _decoded(tool: Tool, arguments: Mapping[str, Any]) -> msgspec.Struct:
    try:
        return from_plain(arguments, tool.arguments)
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
_INTEGER: Final[Json] = {"type": "integer"}
_EDITS: Final = _objects(
    ["op", "key"],
    op={"enum": [op.value for op in Op]},
    key=_TEXT,
    base={**_TEXT, "description": "hash you read; not for insert, create_file"},
    text={**_TEXT, "description": "whole new text of the region"},
    after={**_TEXT, "description": "insert: the sibling key before it"},
    span={**_INTEGER, "description": "header: the piece replaced"},
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
            "Denied: do other work first, or wait in line (wait_seconds, up to 50).",
            _schema(
                ["keys", "task"],
                keys=_texts("all granted together or none"),
                task={**_TEXT, "description": "shown to others"},
                ttl_seconds=_NUMBER,
                mode={"enum": [mode.value for mode in Mode]},
                wait_seconds=_NUMBER,
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
            "Write edits, all or none. If others changed a base: merged where proven (see how it differs from your "
            "text), or refused: redo your intent on the fresh text in repair, then call next; never resend old text.",
            _schema(
                ["edits", "intent"],
                edits=_EDITS,
                intent={**_TEXT, "description": "what you want, in a line"},
                leases=_objects(["id", "fence"], id=_TEXT, fence=_INTEGER),
                reads={
                    **_objects(["key", "hash"], key=_TEXT, hash=_TEXT),
                    "description": "what you rely on without editing it",
                },
                request_id={**_TEXT, "description": "makes a repeat safe"},
                merge={"type": "boolean"},
                dry_run={"type": "boolean"},
            ),
            _Commit,
            _commit,
        ),
        Tool(
            "get",
            "Values of named keys, with versions.",
            _schema(["keys"], keys=_texts("account:12345")),
            _Get,
            _get,
        ),
        Tool(
            "put",
            "Change a named key's value, if it still has expected_version (0: none yet).",
            _schema(
                ["key", "text", "expected_version"],
                key=_TEXT,
                text={**_TEXT, "description": "null: nothing any more"},
                expected_version=_INTEGER,
                fence={**_INTEGER, "description": "of your lease"},
                reads={
                    **_objects(["key", "version"], key=_TEXT, version=_INTEGER),
                    "description": "what you rely on",
                },
            ),
            _Put,
            _put,
        ),
        Tool(
            "status",
            "Who holds, waits for and changed what: everywhere, or at one key.",
            _schema(key=_TEXT),
            _Status,
            _status,
        ),
        Tool(
            "task",
            "Shared tasks. claim gives the best free or the named one, with a fence; end it by done, unchanged, fail.",
            _schema(
                ["action"],
                action={"enum": list(get_args(get_type_hints(_Task)["action"]))},
                task=_TEXT,
                title={**_TEXT, "description": "add"},
                intent=_TEXT,
                keys=_texts("add: keys that it changes"),
                needs=_texts("add: tasks that must land before"),
                fence={**_INTEGER, "description": "of your claim"},
                commit={**_TEXT, "description": "done: git revision"},
                note={**_TEXT, "description": "why"},
            ),
            _Task,
            _task,
        ),
    )
}
