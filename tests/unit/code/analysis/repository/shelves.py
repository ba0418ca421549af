"""Libraries made from the text of files."""

from collections.abc import Mapping

from commonhold.code.analysis.repository.library import Shelf
from commonhold.code.analysis.repository.summarise import summarise


def shelf(files: Mapping[str, str]) -> Shelf:
    """The summaries of some files."""
    made = {path: summarise(path, text.encode()) for path, text in files.items()}
    return Shelf({path: summary for path, summary in made.items() if summary is not None})
