"""Carrying out what a tool would do to files as one commit, and telling the agent what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.app.answers import CommitAnswer
from commonhold.app.differences import difference
from commonhold.client.session import Commonhold
from commonhold.domain.changeset import Changeset
from commonhold.domain.errors import Code, InputError
from commonhold.integrations.langgraph.edits import Unfit, edits_between, resulting
from commonhold.integrations.langgraph.telling import refusal, success, unread
from commonhold.integrations.langgraph.tools import FileWish
from commonhold.integrations.langgraph.views import View, Views
from commonhold.regions.region import hash_bytes

MOST_SHOWN: Final = 30_000
"""Longer texts are not shown to the agent by us: it has a tool to read them in part."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the agent is told, and whether it is that nothing was written."""

    text: str
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Desk:
    """Carries out what one agent's tools would do."""

    hold: Commonhold
    views: Views

    def carry_out(self, wishes: Sequence[FileWish], intent: str) -> Told:
        """Do all of it, or nothing and say why. A file must have been read by this agent before it is changed."""
        views: dict[str, View] = {}
        for path in dict.fromkeys(wish.path for wish in wishes):
            found = self._view(path)
            if found is None:
                return Told(unread(path, self._shown(path)), is_refused=True)
            views[path] = found
        try:
            results = {path: resulting(view, [w for w in wishes if w.path == path]) for path, view in views.items()}
        except Unfit as why:
            texts = {path: self._shown(path) for path, view in views.items() if view.text is not None}
            return Told(refusal(str(why), texts), is_refused=True)
        edits = tuple(edit for path, view in views.items() for edit in edits_between(view, results[path]))
        if not edits:
            return Told("nothing is to be changed: you have it so already")
        return self._told(self.hold.commit(Changeset(edits, intent)), views, results)

    def look(self, path: str) -> None:
        """The agent is about to be shown a file. Raises what `saw` raises."""
        if Path(self.hold.root, path).is_file():
            self.hold.saw(f"file:{path}")
            self.views.read(self.hold.holder, path)

    def _view(self, path: str) -> View | None:
        """The file as the agent knows it; None where it is there and was never read."""
        if not Path(self.hold.root, path).exists():
            return View(path)
        known = self.views.get(self.hold.holder, path)
        if known is not None:
            return known
        (seen,) = self.hold.seen(f"file:{path}")
        data = None if seen.hash is None else self._kept(seen.hash)
        try:
            return None if data is None else View(path, seen.hash, data.decode())
        except UnicodeDecodeError as fault:
            raise _no_text(path) from fault

    def _kept(self, content_hash: str) -> bytes | None:
        """Bytes that were read or written; None where they never were, or that is so long ago that they are gone."""
        try:
            return self.hold.content(content_hash)
        except InputError as fault:
            if fault.code is Code.CONTENT_UNKNOWN:
                return None
            raise

    def _shown(self, path: str) -> str | None:
        """The text that is there now, shown to the agent in full: so it has read it. None where it is too long."""
        file = Path(self.hold.root, path)
        if not file.is_file() or file.stat().st_size > MOST_SHOWN:
            return None
        (region,) = self.hold.read(f"file:{path}")
        self.views.read(self.hold.holder, path)
        return region.text

    def _told(self, answer: CommitAnswer, views: Mapping[str, View], results: Mapping[str, str | None]) -> Told:
        if answer.outcome == "refused":
            stale = {each.key.removeprefix("file:").partition("#")[0] for each in answer.repair.regions}
            texts = {path: self._shown(path) for path in results if path in stale}
            return Told(refusal(answer, texts), is_refused=True)
        for path, after in results.items():
            self.views.wrote(self.hold.holder, self._after(views[path], after))
        return Told(success(answer, dict(self._other(results))))

    def _after(self, view: View, text: str | None) -> View:
        """The view of who has written: from its own text on, if just that was there; else from where it began."""
        if text is None:
            return View(view.path)
        made = hash_bytes(text.encode())
        return View(view.path, view.hash if self._kept(made) is None else made, text)

    def _other(self, results: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
        """By path, how what is there now differs from what the agent takes to be there."""
        for path, after in results.items():
            file = Path(self.hold.root, path)
            if after is not None and file.is_file():
                now = file.read_bytes().decode(errors="replace")
                diff = difference(after.splitlines(), now.splitlines(), "yours", "there now")
                if diff:
                    yield path, diff


def _no_text(path: str) -> InputError:
    return InputError(
        Code.ENCODING_INVALID,
        f"{path} is not valid UTF-8, so it cannot be edited as text",
        hint="change it with a tool of its own, under a lease on the file",
        fields={"path": path},
    )
