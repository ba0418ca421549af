"""Values: a text that any free key can store, with a version for compare-and-swap."""

from dataclasses import dataclass
from typing import Final

from commonhold.kernel.errors import Code, InputError, UsageError

MAX_VALUE_LENGTH: Final = 65536
MAX_NUMBER: Final = 2**63
RESULTS: Final = "once"
"""The scheme of the keys whose values are the results of work that is done once for all."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a key. `version` grows with every change and is 0 if there never was a value.

    `text` is None if there is no value (yet, or any more). `holder` stored it `at` that wall time.
    """

    key: str
    version: int = 0
    text: str | None = None
    holder: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Version:
    """A key that was read, and the version that it had."""

    key: str
    version: int


def result_key(key: str) -> str:
    """The key that carries the result of the work on `key` which is done once for all."""
    return f"{RESULTS}:{key}"


def check_value(text: str | None) -> str | None:
    """Check the text of a value. Raises InputError `TEXT_INVALID` if it exceeds 65,536 characters or is not UTF-8."""
    if text is None or (len(text) <= MAX_VALUE_LENGTH and _is_encodable(text)):
        return text
    is_too_long = len(text) > MAX_VALUE_LENGTH
    raise InputError(
        Code.TEXT_INVALID,
        f"a value has at most {MAX_VALUE_LENGTH} characters; this one has {len(text)}"
        if is_too_long
        else "a value is UTF-8 text without a NUL character, and this one is not",
        hint="keep large things in a file or a service, and put its name or hash here",
        fields={"field": "value"},
    )


def check_number(number: int) -> int:
    """Check a version or a fence. Raises UsageError `USAGE` for one that no store can have given out."""
    if 0 <= number < MAX_NUMBER:
        return number
    raise UsageError(
        Code.USAGE,
        f"{str(number)[:30]} is no version and no fence",
        hint="take the number from the answer to get, put or acquire",
    )


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
