"""Whole files as edits: for callers that know the new content of a file, and not which regions it changes."""

from commonhold.kernel.changeset import Edit, Op
from commonhold.kernel.keys import file_key


def made_to_hold(path: str, base: str | None, content: bytes | None) -> Edit:
    """Return the edit that sets a file's content; None deletes it. `base` is None if there is no file yet."""
    key = str(file_key(path))
    if content is None:
        return Edit(Op.DELETE_FILE, key, base=base)
    return Edit(Op.CREATE_FILE if base is None else Op.REWRITE, key, base=base, data=content)
