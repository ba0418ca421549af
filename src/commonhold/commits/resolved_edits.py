"""Edits with the keys that they name, and the errors of malformed ones."""

from dataclasses import dataclass
from typing import Final

from commonhold.kernel.changeset import Edit, Op
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Key

MIN_BASE_LENGTH: Final = 16
HASH_LENGTH: Final = 64
_WHOLE_FILE: Final = frozenset({Op.CREATE_FILE, Op.DELETE_FILE, Op.REWRITE})


@dataclass(frozen=True, slots=True)
class KeyedEdit:
    """An edit with the canonical keys that it names; their regions need not exist."""

    edit: Edit
    key: Key
    after: Key | None = None
    to: Key | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the edit sets or removes the content of the whole file."""
        return self.edit.op in _WHOLE_FILE or (self.edit.op is Op.REPLACE and not self.key.is_region)


def base_of(keyed: KeyedEdit) -> str | None:
    """Return the base hash of an edit; None if it needs none. Raises InputError `CHANGESET_INVALID`."""
    edit = keyed.edit
    if edit.base is None:
        if edit.op is Op.CHMOD:
            return None
        raise changeset_invalid(
            f"the edit of {keyed.key} has no base, so it cannot be compared with the current text",
            "read the region first and give its hash as base",
        )
    return check_hash(edit.base, f"the base of {keyed.key}")


def check_hash(text: str, what: str) -> str:
    """Check that a text is a hash, or a long enough prefix of one. Raises InputError `CHANGESET_INVALID`."""
    if not MIN_BASE_LENGTH <= len(text) <= HASH_LENGTH or set(text) - set("0123456789abcdef"):
        raise changeset_invalid(
            f"{what} is not a hash: {text[:80]!r}",
            f"give the hash that reading the region gave, or at least its first {MIN_BASE_LENGTH} digits",
        )
    return text


def changeset_invalid(message: str, hint: str) -> InputError:
    """Return the error for an invalid changeset."""
    return InputError(Code.CHANGESET_INVALID, message, hint=hint)
