"""Notes for tests, in memory."""

from collections.abc import Mapping, Sequence

from commonhold.stores.archive.sections import SqliteSections
from commonhold.tasks.archive import Archive
from commonhold.tasks.notes import Note, read_note


class FakeFiles:
    """Files that are texts by path; their stamps are their texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.read_paths: list[str] = []

    def stamps(self) -> Mapping[str, str]:
        return self.texts

    def read(self, path: str) -> Note | None:
        self.read_paths.append(path)
        return read_note(path, self.texts[path].encode())


def archive_of(notes: Mapping[str, str] | FakeFiles, links: Mapping[str, Sequence[str]] | None = None) -> Archive:
    files = notes if isinstance(notes, FakeFiles) else FakeFiles(notes)
    return Archive(files, SqliteSections(None, "/tree"), lambda: links or {})
