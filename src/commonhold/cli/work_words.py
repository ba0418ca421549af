"""Unfinished work and debts, in words."""

import shlex
from collections.abc import Iterator, Sequence

from commonhold.cli.common_options import Given
from commonhold.cli.describe import HASH_DIGITS, owed, quoted, when, who, work
from commonhold.cli.next_call import next_lines
from commonhold.cli.output import shown
from commonhold.commits.external.lost_files import LostFile
from commonhold.kernel.answers import Next
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.pictures import Status


def works(left: Sequence[PartialWork], given: Given) -> Iterator[str]:
    """Yield the work that waits for review, and how to look at it."""
    if not left:
        yield "nothing waits for review"
        return
    yield "left half done when a lease was lost; nothing was reverted:"
    yield from (f"  {line}" for each in left for line in work(each))
    look = Next("review show", {"lease_id": left[0].lease_id}, "see the changes:")
    yield from next_lines(look, given)


def to_review(found: Status, lost: Sequence[LostFile], given: Given) -> Iterator[str]:
    """Yield all that needs a review, and how to do it."""
    if found.works or not (found.debts or lost):
        yield from works(found.works, given)
    yield from debts(found, given)
    if lost:
        yield "lost: deleted outside of any session; the contents are kept:"
        for each in lost:
            by = f"written by {who(each.holder)}{quoted(each.intent)}"
            yield f"  {shown(each.path)}  gone {when(each.lost_at)}  {by}"
        first = lost[0]
        yield f"next: {shlex.join(('commonhold', 'show', first.hash[:HASH_DIGITS], '--to', first.path))}"


def debts(found: Status, given: Given) -> Iterator[str]:
    """Yield the debts, and the way out if there is nothing to repair."""
    yield from owed(found.debts, found.root)
    here = [value.key for value in found.debts if value.worktree == found.root]
    if here:
        why = "fix it, and commit it; if it needs no change, say why with --note:"
        yield from next_lines(Next("review waive", {"keys": here[:1]}, why), given)
