"""What was left half done, in words."""

from collections.abc import Iterator, Sequence

from commonhold.app.answers import Next
from commonhold.cli.describe import work
from commonhold.cli.given import Given
from commonhold.cli.next_call import next_lines
from commonhold.domain.partial_work import PartialWork


def works(left: Sequence[PartialWork], given: Given) -> Iterator[str]:
    """What waits for review, and how to look at it."""
    if not left:
        yield "nothing waits for review"
        return
    yield "left half done when a lease was lost; nothing was reverted:"
    yield from (f"  {line}" for each in left for line in work(each))
    look = Next("review show", {"lease_id": left[0].lease_id}, "see what was changed:")
    yield from next_lines(look, given)
