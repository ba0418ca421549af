"""Check the arguments of a call, of any kind: each text can be written as UTF-8, and the state can keep each number."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from commonhold.kernel.errors import Code, InputError, UsageError

GREATEST: Final = 2**63 - 1
"""The greatest whole number that the state keeps."""


def check_arguments(*values: Any) -> None:  # noqa: ANN401 - of any kind
    """Check values and all that they contain. Raises InputError `TEXT_INVALID`, UsageError `USAGE`."""
    for value in values:
        match value:
            case str():
                if not value.isascii():
                    _check_text(value)
            case int():
                _check_number(value)
            case Mapping():
                check_arguments(*value, *value.values())
            case list() | tuple() | set() | frozenset():
                check_arguments(*value)
            case _ if is_dataclass(value):
                check_arguments(*(getattr(value, each.name) for each in fields(value)))
            case _:
                pass


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise InputError(
            Code.TEXT_INVALID,
            f"a text has half a character, {text[fault.start]!a}, which no UTF-8 can write",
            hint="decode what you read as UTF-8 before you pass it on",
        ) from fault


def _check_number(number: int) -> None:
    if not -GREATEST - 1 <= number <= GREATEST:
        raise UsageError(
            Code.USAGE,
            f"there is a whole number beyond {GREATEST}, and the state keeps none",
            hint="give a smaller number",
        )
