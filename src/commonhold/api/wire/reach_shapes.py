"""The JSON forms of the dependents and of the contract of a definition."""

from collections.abc import Iterable

from commonhold.api.wire.places import key_of
from commonhold.api.wire.text import Json, sound
from commonhold.code.analysis.interface import CallableInterface, Parameter
from commonhold.code.analysis.repository.dependents import Dependent
from commonhold.code.analysis.repository.reach import Definition, Reach, Reached
from commonhold.code.analysis.repository.summary import Offer


def reach(value: Reach) -> Json:
    """Everything that depends on some definitions, the nearest first. `cut`: there is more."""
    return {
        "keys": [key_of(*each) for each in value.starts],
        "reached": [_reached(each) for each in value.reached],
        "cut": value.is_cut,
    }


def _reached(value: Reached) -> Json:
    return {
        "key": key_of(value.path, value.qualname),
        "depth": value.depth,
        "on": key_of(*value.target),
        "sure": value.is_sure,
        "uses": [use(each) for each in value.uses],
    }


def uses(starts: Iterable[Definition], found: Iterable[Dependent]) -> Json:
    """What uses some definitions."""
    return {"keys": [key_of(*each) for each in starts], "uses": [use(each) for each in found]}


def use(value: Dependent) -> Json:
    """One use. `how` is a verb phrase; `sure`: it was tied to the definition, not only guessed from its name."""
    return {
        "key": key_of(value.path, value.qualname),
        "path": sound(value.path),
        "line": value.line,
        "use": value.use.value,
        "how": value.how,
        "sure": value.is_sure,
    }


def contract(path: str, offers: Iterable[Offer]) -> Json:
    """The contract of a definition: itself first, then its members."""
    return {"offers": [_offer(path, each) for each in offers]}


def _offer(path: str, value: Offer) -> Json:
    shape = value.shape
    return {
        "key": key_of(path, value.qualname),
        "sort": value.sort.value,
        "line": value.line,
        "end_line": value.end_line,
        "signatures": [_signature(each) for each in value.signatures],
        "bases": list(shape.texts) if shape else [],
        "decorators": list(shape.decorators) if shape else [],
        "fields": [_parameter(each) for each in shape.fields or ()] if shape else [],
    }


def _signature(value: CallableInterface) -> Json:
    return {
        "text": f"{value}",
        "parameters": [_parameter(each) for each in value.params],
        "returns": value.returns,
        "async": value.is_async,
        "generator": value.is_generator,
        "decorators": list(value.decorators),
    }


def _parameter(value: Parameter) -> Json:
    return {
        "name": value.name,
        "kind": value.kind.value,
        "required": not value.is_optional,
        "default": value.default,
        "annotation": value.annotation,
    }
