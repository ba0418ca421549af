"""Summarise the bytes of a file, by its language."""

from commonhold.code.analysis.repository.languages import LINKED
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.regions.languages import language_for


def summarise(path: str, source: bytes, like: Summary | None = None) -> Summary | None:
    """Return the summary of a file; None if its language has none. Never raises: unreadable text gives a problem.

    `like` is the summary of a similar text, if there is one: common parts are not read again if the language allows it.
    The result is the same.
    """
    language = language_for(path, source)
    entry = LINKED.get(language.name) if language else None
    if entry is None:
        return None
    return entry.update(like, source) if like is not None and entry.update is not None else entry.summarise(source)
