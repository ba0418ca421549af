"""Calls of the service, as they go over a socket: which there are, and how their parts are read.

A frame is four bytes of length and a MessagePack list: `[number, method, parameters, correlation]` one way,
`[number, kind, body]` back. A client may omit the correlation id. The types of parameters and answers are those of the
methods of `Service`: there is no second list of them.
"""

import inspect
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, get_args, get_type_hints

import msgspec

from commonhold.api.service import OPERATIONS, Service
from commonhold.api.wire.protocol import HELLO as HELLO  # noqa: PLC0414 - they are of this, too
from commonhold.api.wire.protocol import PROTOCOL as PROTOCOL  # noqa: PLC0414
from commonhold.kernel.errors import Code, CommonholdError, InputError, InternalError, StoreError, UsageError
from commonhold.machine import correlation
from commonhold.machine.decoding import from_msgpack, msgpack_reader

MAX_FRAME_BYTES: Final = 256_000_000
LENGTH: Final = struct.Struct(">I")
NAMES: Final = frozenset(name for name, each in OPERATIONS.items() if each.over_socket)
"""The operations that the daemon offers."""
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised for bytes that are not one of our messages."""
Kind = Literal["answer", "error"]


class Request(msgspec.Struct, array_like=True, frozen=True):
    """A call; `parameters` are read by the method's own types. `correlation` is empty if the client sends no id."""

    number: int
    method: str
    parameters: msgspec.Raw
    correlation: str = ""


class Reply(msgspec.Struct, array_like=True, frozen=True):
    """The answer or error of the call with that number."""

    number: int
    kind: Kind
    body: msgspec.Raw


class Hello(msgspec.Struct, frozen=True):
    """The first message of a client: its working tree, its agent, and the store of its leases."""

    protocol: int
    version: str
    root: str
    agent: str | None
    umask: int
    store: str = ""
    namespace: str = ""


class Welcome(msgspec.Struct, frozen=True):
    """The daemon's answer to `Hello`."""

    version: str
    pid: int


class Fault(msgspec.Struct, frozen=True):
    """An error, in parts."""

    family: str
    code: Code
    message: str
    hint: str
    retry_after_seconds: float | None
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Method:
    """How to read the parameters of a method and its answer. `rest` names the parameter that takes many."""

    name: str
    parameters: type[msgspec.Struct]
    fields: tuple[str, ...]
    rest: str | None
    answer_kind: Any
    decode_parameters: Any

    def arguments(self, raw: msgspec.Raw) -> tuple[Sequence[Any], dict[str, Any]]:
        """Decode positional and named arguments. Raises UNREADABLE if they do not fit."""
        return self.split(self.decode_parameters(raw))

    def split(self, given: msgspec.Struct) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return the positional and the named arguments among decoded parameters."""
        named = {name: value for name in self.fields if (value := getattr(given, name)) is not msgspec.UNSET}
        if self.rest is None:
            return (), named
        rest = named.pop(self.rest, ())
        # Beside positional arguments, the parameters before them can only be given by position.
        return [*(named.pop(name) for name in self.leading), *rest], named

    def named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Return positional arguments by name."""
        given = dict(zip(self.leading, arguments, strict=False))
        return given | {self.rest: arguments[len(self.leading) :]} if self.rest else given

    @property
    def leading(self) -> tuple[str, ...]:
        """Return the names of the parameters before the one that takes many."""
        return self.fields[: self.fields.index(self.rest)] if self.rest else self.fields

    def answer(self, raw: msgspec.Raw) -> Any:  # noqa: ANN401 - each method has its own
        """The answer back."""
        return _answer_decoder(self.answer_kind)(raw)


_encoder: Final = msgspec.msgpack.Encoder()
_request: Final = msgpack_reader(Request)
_reply: Final = msgpack_reader(Reply)
_fault: Final = msgpack_reader(Fault)
FAMILIES: Final[dict[str, type[CommonholdError]]] = {
    each.__name__: each for each in (UsageError, InputError, StoreError, InternalError)
}


@cache
def method(name: str) -> Method:
    """The method of that name. Raises KeyError for one that is not for others to call."""
    if name not in NAMES:
        raise KeyError(name)
    return described(name)


@cache
def described(name: str) -> Method:
    """Any operation of that name, also one that the daemon's socket does not offer."""
    function = getattr(Service, name)
    hints = get_type_hints(function)
    rest: str | None = None
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for each in list(inspect.signature(function).parameters.values())[1:]:
        kind = hints[each.name]
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            fields += [_optional(label, type_) for label, type_ in get_type_hints(_unpacked(kind)).items()]
        elif each.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = each.name
            fields.append(_optional(each.name, list[kind]))  # type: ignore[valid-type]
        else:
            fields.append((each.name, kind) if each.default is each.empty else _optional(each.name, kind))
    parameters = msgspec.defstruct(name, fields, forbid_unknown_fields=True, kw_only=True)
    return Method(
        name,
        parameters,
        tuple(label for label, *_ in fields),
        rest,
        hints["return"],
        msgpack_reader(parameters),
    )


def _optional(label: str, kind: Any) -> tuple[str, Any, Any]:  # noqa: ANN401 - typing's own forms
    """The field of a parameter that need not be given."""
    return label, kind | msgspec.UnsetType, msgspec.UNSET


def _unpacked(kind: Any) -> Any:  # noqa: ANN401 - typing's own forms
    """The TypedDict in an `Unpack[...]`."""
    return get_args(kind)[0] if get_args(kind) else kind


def encode_request(number: int, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> bytes:
    """The frame of a call with these arguments. Raises InputError `TEXT_INVALID` for a text that is not UTF-8."""
    parameters = dict(named)
    if arguments:
        parameters |= method(name).named(arguments)
    try:
        return _framed(_encoder.encode((number, name, parameters, correlation.current())))
    except UnicodeEncodeError as fault:
        raise InputError(
            Code.TEXT_INVALID,
            f"what {name} was given holds {fault.object[fault.start : fault.end]!a}, which is not valid UTF-8",
            hint="give texts and names in UTF-8; bytes that are no text go into `data`",
        ) from fault


def encode_hello(hello: Hello) -> bytes:
    """The frame of the first request."""
    return _framed(_encoder.encode((0, HELLO, hello)))


def decode_request(frame: bytes | bytearray) -> Request:
    """The request in a frame. Raises UNREADABLE."""
    return _request(frame)


def encode_answer(number: int, answer: object) -> bytes:
    """The frame of an answer."""
    return _framed(_encoder.encode((number, "answer", _with_events(answer) if isinstance(answer, tuple) else answer)))


def _with_events(answer: tuple[object, ...]) -> tuple[object, ...]:
    """The answer in the form in which it goes, should it be made of events."""
    # Loaded here, as below: most calls have nothing to do with events, of which there are many kinds.
    from commonhold.api.wire import recorded  # noqa: PLC0415

    return recorded.shape(answer)


@cache
def _answer_decoder(kind: Any) -> Callable[[msgspec.Raw], Any]:  # noqa: ANN401 - each method has its own
    # Recognised by its name: the class itself would be loaded here, with all kinds of events.
    if not any(getattr(each, "__name__", "") == "Recorded" for each in get_args(kind)):
        return msgpack_reader(kind)
    from commonhold.api.wire import recorded  # noqa: PLC0415

    return recorded.decode


def encode_fault(number: int, fault: CommonholdError) -> bytes:
    """The frame of an error."""
    fields = msgspec.to_builtins(fault.fields, enc_hook=str)
    body = Fault(type(fault).__name__, fault.code, fault.message, fault.hint, fault.retry_after_seconds, fields)
    return _framed(_encoder.encode((number, "error", body)))


def decode_reply(frame: bytes) -> Reply:
    """The reply in a frame. Raises UNREADABLE."""
    return _reply(frame)


def decode_fault(raw: msgspec.Raw) -> CommonholdError:
    """The error in a reply, to be raised."""
    fault = _fault(raw)
    return FAMILIES.get(fault.family, InternalError)(
        fault.code,
        fault.message,
        hint=fault.hint,
        retry_after_seconds=fault.retry_after_seconds,
        fields=fault.fields,
    )


def decode_hello(raw: msgspec.Raw) -> Hello:
    """A hello. Raises UNREADABLE."""
    return from_msgpack(raw, Hello)


def _framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body
