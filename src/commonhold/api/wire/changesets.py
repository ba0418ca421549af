"""Changesets from JSON, checked to the letter: a field that is not known is an error, never ignored."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import msgspec

from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Read
from commonhold.kernel.errors import Code, InputError
from commonhold.machine.decoding import from_plain

_PARTS = {"edits": Edit, "leases": LeaseRef, "reads": Read}


def parse_changeset(data: bytes | str) -> Changeset:
    """The changeset that JSON text describes. Raises InputError `CHANGESET_INVALID`, which says where and why."""
    try:
        return changeset(msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise _invalid(f"it is not JSON: {fault}") from fault


def changeset(shape: object) -> Changeset:
    """The changeset that decoded JSON describes. Raises InputError `CHANGESET_INVALID`."""
    if not isinstance(shape, dict):
        raise _invalid("it is not an object with edits")
    _check_names("the changeset", shape, Changeset)
    for name, kind in _PARTS.items():
        for index, part in enumerate(_list(shape, name)):
            _check_names(f"{name}[{index}]", part, kind)
    try:
        return from_plain(shape, Changeset)
    except (msgspec.ValidationError, ValueError) as fault:
        raise _invalid(str(fault)) from fault


def _list(shape: Mapping[str, Any], name: str) -> list[Any]:
    value = shape.get(name, [])
    if not isinstance(value, list):
        raise _invalid(f"{name} is not a list")
    return value


def _check_names(where: str, shape: object, kind: type[Any]) -> None:
    if not isinstance(shape, dict):
        raise _invalid(f"{where} is not an object")
    known = [field.name for field in fields(kind)]
    unknown = [name for name in shape if name not in known]
    if unknown:
        raise _invalid(f"{where} has no field {unknown[0]!r}; it may have {', '.join(known)}")


def _invalid(why: str) -> InputError:
    return InputError(
        Code.CHANGESET_INVALID,
        f"the changeset cannot be read: {why}",
        hint='write {"intent": "...", "edits": [{"op": "replace", "key": "PATH#NAME", "base": HASH, "text": "..."}]}',
    )
