"""Uncommitted work of others that a command replaced: found with the log and git, and reported to both sides."""

from collections.abc import Sequence
from typing import Final

from commonhold.agents.git.change_attribution import ChangeAttribution
from commonhold.client.session import Commonhold
from commonhold.commits.external.overwrite_notices import MOST_TOLD, Replaced, overwritten
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import Committed
from commonhold.kernel.keys import canonical, contains
from commonhold.kernel.texts import NOBODY
from commonhold.workspace.git.differences import Irregular, find_tree
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore import IsIgnored

_MOST_FILES: Final = 500
"""The former owner is looked up for up to this many files of one command: more are a build, or git itself."""


class Overwrites:
    """Informs the writer and the owners."""

    def __init__(self, is_ignored: IsIgnored) -> None:
        """Leave out files that `is_ignored`."""
        self._is_ignored = is_ignored

    def told(self, session: Commonhold, taken: RecordAnswer, head: str) -> tuple[str, ...]:
        """Tell the owners which uncommitted work the change just recorded replaced; return the notices for the writer.

        Content of the commit `head`, where HEAD stood before the change, counts as committed.
        """
        found = [each for each in self._found(session, taken, head) if not _is_told(session, each)]
        for each in found:
            session.send([each.owner], each.told_owner())
        more = f"and {len(found) - MOST_TOLD} more places, whose owners get a notice" if len(found) > MOST_TOLD else ""
        return (*(each.told_writer() for each in found[:MOST_TOLD]), *filter(None, [more]))

    def _found(self, session: Commonhold, taken: RecordAnswer, head: str) -> Sequence[Replaced]:
        if taken.sequence is None:
            return ()
        events = [each.event for each in session.log(after=taken.sequence - 1, limit=1)]
        commit = events[0] if events else None
        tree = find_tree(Git(session.root))
        if not isinstance(commit, Committed) or tree is None:
            return ()
        whose = ChangeAttribution(tree, session, session.holder, self._is_ignored, at=head)
        found: list[Replaced] = []
        for file in [each for each in commit.files if not whose.is_ignored(each.path)][:_MOST_FILES]:
            for owner, lines in _replaced(whose, file.path).items():
                found += overwritten(commit, file, owner, lines, lambda each: _kept(session, each))
        return found


def _replaced(whose: ChangeAttribution, path: str) -> dict[str, tuple[bytes, ...]]:
    try:
        return {owner: lines for owner, lines in whose.replaced(path).items() if owner != NOBODY}
    except Irregular:
        return {}


def _is_told(session: Commonhold, replaced: Replaced) -> bool:
    """Whether the owner holds the replaced region: then the log has informed both sides already, with the way back."""
    if replaced.owner.partition("/")[0] == replaced.by.partition("/")[0]:  # they get no notices about each other
        return False
    place = canonical(replaced.key)
    keys = (key for lease in session.leases() if lease.holder == replaced.owner for key in lease.keys)
    return any(contains(canonical(key), place) for key in keys)


def _kept(session: Commonhold, content_hash: str) -> bytes | None:
    try:
        return session.content(content_hash)
    except CommonholdError:
        return None
