"""Execute the writes of a tool as one commit, and report the result to the agent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.agents.edits.intended_writes import results
from commonhold.agents.hook_events import IntendedWrite, Unclear, is_about
from commonhold.client.session import Commonhold
from commonhold.code.regions.region import hash_bytes
from commonhold.integrations.langgraph.telling import refusal, success, unread
from commonhold.integrations.langgraph.views import View, Views
from commonhold.kernel.answers import CommitAnswer
from commonhold.kernel.changeset import Changeset, made_to_hold
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.unified_diff import difference

MOST_SHOWN: Final = 30_000
"""Longer texts are not shown to the agent by us: it has a tool to read them in part."""


@dataclass(frozen=True, slots=True)
class Told:
    """The message for the agent, and whether it says that nothing was written."""

    text: str
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Desk:
    """Executes the writes of one agent's tools."""

    hold: Commonhold
    views: Views

    def carry_out(self, wishes: Sequence[IntendedWrite], intent: str) -> Told:
        """Make all of the writes, or none and return why. The agent must have read a file before it changes it."""
        views: dict[str, View] = {}
        for path in is_about(wishes):
            found = self._view(path)
            if found is None:
                return Told(unread(path, self._shown(path)), is_refused=True)
            views[path] = found
        after = results(wishes, lambda path: views[path].content)
        if isinstance(after, Unclear):
            texts = {path: self._shown(path) for path, view in views.items() if view.content is not None}
            return Told(refusal(f"{after.path}: {after.why}", texts), is_refused=True)
        # Other agents' changes in the rest of a file, unknown to this one, stay as they are.
        changed = {path: content for path, content in after.items() if content != views[path].content}
        edits = tuple(made_to_hold(path, views[path].hash, content) for path, content in changed.items())
        if not edits:
            return Told("nothing is to be changed: you have it so already")
        return self._told(self.hold.commit(Changeset(edits, intent)), views, after)

    def look(self, path: str) -> None:
        """Record that the agent is about to see a file. Raises as `record_read`."""
        if Path(self.hold.root, path).is_file():
            self.hold.record_read(f"file:{path}")
            self.views.read(self.hold.holder, path)

    def _view(self, path: str) -> View | None:
        """Return the file as the agent knows it; None if it exists and was never read."""
        if not Path(self.hold.root, path).exists():
            return View(path)
        known = self.views.get(self.hold.holder, path)
        if known is not None:
            return known
        (seen,) = self.hold.last_read(f"file:{path}")
        content = None if seen.hash is None else self._kept(seen.hash)
        return None if content is None else View(path, seen.hash, content)

    def _kept(self, content_hash: str) -> bytes | None:
        """Return bytes that were read or written; None if they never were, or so long ago that they are gone."""
        try:
            return self.hold.content(content_hash)
        except InputError as fault:
            if fault.code is Code.CONTENT_UNKNOWN:
                return None
            raise

    def _shown(self, path: str) -> str | None:
        """Return the present text; the agent sees all of it, so this counts as a read. None if it is too long."""
        file = Path(self.hold.root, path)
        if not file.is_file() or file.stat().st_size > MOST_SHOWN:
            return None
        (region,) = self.hold.read(f"file:{path}")
        self.views.read(self.hold.holder, path)
        return region.text

    def _told(self, answer: CommitAnswer, views: Mapping[str, View], after: Mapping[str, bytes | None]) -> Told:
        if answer.outcome == "refused":
            stale = {each.key.removeprefix("file:").partition("#")[0] for each in answer.repair.regions}
            return Told(refusal(answer, {path: self._shown(path) for path in after if path in stale}), is_refused=True)
        for path, content in after.items():
            self.views.wrote(self.hold.holder, self._after(views[path], content))
        return Told(success(answer, dict(self._other(after))))

    def _after(self, view: View, content: bytes | None) -> View:
        """Return the author's view after a write.

        Its hash is that of the agent's own text if exactly that was written, else the old one.
        """
        if content is None:
            return View(view.path)
        made = hash_bytes(content)
        return View(view.path, view.hash if self._kept(made) is None else made, content)

    def _other(self, after: Mapping[str, bytes | None]) -> Iterator[tuple[str, str]]:
        """Yield, by path, the difference between the present content and the agent's view."""
        for path, content in after.items():
            file = Path(self.hold.root, path)
            if content is not None and file.is_file():
                diff = difference(_lines(content), _lines(file.read_bytes()), "yours", "there now")
                if diff:
                    yield path, diff


def _lines(content: bytes) -> list[str]:
    return content.decode(errors="replace").splitlines()
