"""From the bytes of a file to its summary, by its language."""

from commonhold.linking.languages import linked
from commonhold.linking.summary import Summary
from commonhold.regions.languages import language_for


def summarise(path: str, source: bytes) -> Summary | None:
    """The summary of a file; None for a language without summaries. Never raises: what cannot be read is a problem."""
    language = language_for(path, source)
    entry = linked(language.name) if language else None
    return entry.summarise(source) if entry else None
