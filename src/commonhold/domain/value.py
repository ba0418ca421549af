"""Values: a text that any free key may carry, with a version to check against."""

from dataclasses import dataclass
from typing import Final

from commonhold.domain.errors import Code, InputError

MAX_VALUE_LENGTH: Final = 65536


@dataclass(frozen=True, slots=True)
class Value:
    """What a key carries. `version` grows with every change and is 0 where there never was one.

    `text` is None where nothing is carried (yet, or any more). `holder` put it there `at` that wall time.
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


def check_value(text: str | None) -> str | None:
    """Check a text to be carried. Raises InputError `TEXT_INVALID` over 65,536 characters or for what is not UTF-8."""
    if text is None or (len(text) <= MAX_VALUE_LENGTH and _is_encodable(text)):
        return text
    raise InputError(
        Code.TEXT_INVALID,
        f"a value is UTF-8 text of at most {MAX_VALUE_LENGTH} characters; this one has {len(text)}",
        hint="keep large things in a file or a service, and put its name or hash here",
        fields={"field": "value"},
    )


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
