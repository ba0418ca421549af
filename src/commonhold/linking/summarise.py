"""From the bytes of a file to its summary, by its language."""

from commonhold.linking.languages import linked
from commonhold.linking.summary import Summary
from commonhold.regions.languages import language_for


def summarise(path: str, source: bytes, like: Summary | None = None) -> Summary | None:
    """The summary of a file; None for a language without summaries. Never raises: what cannot be read is a problem.

    `like` is the summary of a similar text, if there is one: what both have in common is not read again where the
    language allows it. The result is the same.
    """
    language = language_for(path, source)
    entry = linked(language.name) if language else None
    if entry is None:
        return None
    return entry.update(like, source) if like is not None and entry.update is not None else entry.summarise(source)
