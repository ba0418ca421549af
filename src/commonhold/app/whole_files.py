"""Whole files as edits: for who knows what a file is to hold, and not which regions that changes."""

from commonhold.domain.changeset import Edit, Op
from commonhold.domain.keys import file_key


def made_to_hold(path: str, base: str | None, content: bytes | None) -> Edit:
    """The edit that makes a file hold `content`; None: that it is gone. `base` is None where there is no file yet."""
    key = str(file_key(path))
    if content is None:
        return Edit(Op.DELETE_FILE, key, base=base)
    return Edit(Op.CREATE_FILE if base is None else Op.REWRITE, key, base=base, data=content)
