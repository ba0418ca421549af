"""An index that keeps nothing: every file is read and summarised when a library is asked for."""

import os
from pathlib import Path

from commonhold.adapters.git.objects import read_blobs
from commonhold.adapters.git.running import Git
from commonhold.app.histories import Blob
from commonhold.app.indexes import Progress, silent
from commonhold.domain.errors import Code, InputError
from commonhold.linking.library import Library, Shelf
from commonhold.linking.summarise import summarise
from commonhold.linking.summary import Summary
from commonhold.regions.languages import language_for


class PlainIndex:
    """The files of one git working tree."""

    def __init__(self, root: str) -> None:
        """Look from the working tree at `root`."""
        self._git = Git(root)

    def library(self, progress: Progress = silent) -> Library:
        """The working tree as it is on disk now."""
        listed = self._git.ask("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
        places = {
            os.fsdecode(each): Path(self._git.root, os.fsdecode(each)) for each in dict.fromkeys(filter(None, listed))
        }
        found = {path: place for path, place in places.items() if place.is_file() and _may_be(path)}
        return self._shelf({path: place.read_bytes() for path, place in found.items()}, progress)

    def of_revision(self, revision: str, progress: Progress = silent) -> Library:
        """A commit or tree of git's."""
        if self._git.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}") is None:
            raise InputError(
                Code.REVISION_UNKNOWN,
                f"there is no revision {revision!r}",
                hint="`git branch --all` lists the branches",
                fields={"name": revision},
            )
        listed = self._git.ask("ls-tree", "-r", "-z", "--full-tree", revision).split(b"\0")
        blobs = dict(_blob(each) for each in listed if each)
        wanted = {path: blob for path, blob in blobs.items() if blob.mode.startswith("100") and _may_be(path)}
        contents = read_blobs(self._git, [blob.id for blob in wanted.values()])
        return self._shelf({path: contents[blob.id] for path, blob in wanted.items()}, progress)

    def _shelf(self, contents: dict[str, bytes], progress: Progress) -> Shelf:
        found: dict[str, Summary] = {}
        for number, (path, content) in enumerate(contents.items(), 1):
            if (made := self.summary(path, content)) is not None:
                found[path] = made
            progress(number, len(contents))
        return Shelf(found)

    def summary(self, path: str, content: bytes) -> Summary | None:
        """The summary of these bytes, were they at `path`."""
        return summarise(path, content)

    def close(self) -> None:
        """Let go."""


def _blob(entry: bytes) -> tuple[str, Blob]:
    about, _, path = entry.partition(b"\t")
    mode, _, blob_id = about.decode("ascii").split(" ")
    return os.fsdecode(path), Blob(mode, blob_id)


def _may_be(path: str) -> bool:
    return language_for(path, b"") is not None
