"""Decide which part of a staging goes into a session's index: of each staged file, the session's own changes."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from commonhold.agents.git.change_attribution import ChangeAttribution
from commonhold.kernel.texts import listed, short_name
from commonhold.merging.branches.histories import Blob
from commonhold.workspace.git.differences import blob_of
from commonhold.workspace.git.indexes import Entries, differing
from commonhold.workspace.line_ownership import OUTSIDE, Authors, Inseparable

_SHOWN: Final = 6
_UNKNOWN: Final = "an unknown author, probably a person"


@dataclass(slots=True)
class Staged:
    """The result: the entries to set, and the reasons for files that are staged in part or left out."""

    entries: dict[str, Blob | None] = field(default_factory=dict)
    in_part: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The reasons, in lines for the agent."""
        lines = []
        if self.in_part:
            lines.append(f"of these files only this session's own changes are staged: {_listed(self.in_part)}")
        if self.left_out:
            lines.append(f"not staged, because this session did not change it: {_listed(self.left_out)}")
        return "\n".join(lines)


def _listed(paths: dict[str, str]) -> str:
    return listed([f"{path} ({why})" for path, why in paths.items()], _SHOWN)


class Staging:
    """Decides about the files that a session has staged."""

    def __init__(self, whose: ChangeAttribution, named: Collection[str]) -> None:
        """Use `whose` to find the session's changes. The files in `named` were given by their paths, one by one."""
        self._whose = whose
        self._holder = whose.holder
        self._named = named

    def own(self, before: Entries, after: Entries) -> Staged:
        """Return the entries to set in an index that had the entries `before`, and into which git staged `after`."""
        staged = Staged()
        was, is_ = differing(before, after)
        for path in sorted({*was, *is_}):
            blob, authors = is_.get(path), self._whose.authors(path)
            # The session began the merge, so it may resolve the conflict.
            is_solved = path in was and was[path] is None
            if is_solved or self._whose.is_ignored(path) or self._is_own(path, authors):
                staged.entries[path] = blob
            elif authors is None or self._holder not in authors.holders:
                staged.left_out[path] = self._by(authors)
            else:
                self._take_part(path, authors, blob, staged)
        return staged

    def _is_own(self, path: str, authors: Authors | None) -> bool:
        """Whether the whole file may be staged: a session may stage an unexplained change by naming the file."""
        if authors is None or authors.is_mode_alone:
            return path in self._named
        return authors.are_only(self._holder)

    def _take_part(self, path: str, authors: Authors, blob: Blob | None, staged: Staged) -> None:
        if not self._is_whole(path, authors, blob):
            staged.left_out[path] = "it was staged in part, or changed meanwhile, and others have changed it, too"
            return
        part = authors.part(self._holder, path)
        if isinstance(part, Inseparable):
            way_on = self._whose.way_on([path], part.others)
            staged.left_out[path] = f"{part.why}: {', '.join(part.others)}. Next: {way_on}, then stage it again"
            return
        staged.in_part[path] = f"the rest belongs to {self._by(authors)}"
        staged.entries[path] = None
        if part is not None:
            mode = "100755" if part.is_executable else "100644"
            staged.entries[path] = Blob(mode, blob_of(self._whose.git, path, part.content))

    def _is_whole(self, path: str, authors: Authors, blob: Blob | None) -> bool:
        """Whether git staged the very text that was inspected."""
        if authors.new is None or blob is None:
            return authors.new is None and blob is None
        return blob_of(self._whose.git, path, authors.new.content) == blob.id

    def _by(self, authors: Authors | None) -> str:
        holders = sorted((authors.holders if authors else {OUTSIDE}) - {self._holder})
        return ", ".join(_UNKNOWN if each == OUTSIDE else short_name(each) for each in holders)
