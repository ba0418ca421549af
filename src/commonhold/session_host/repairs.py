"""The words by which the agent of a new attempt learns why its earlier work did not land."""

from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.kernel.entry import EntryRecord, RepairPacket
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionMove
from commonhold.kernel.refs import short_ref
from commonhold.kernel.texts import CONTROL_IN_LINES

_MOST_BYTES: Final = 20_000
"""The output of a check, and the reasons of many places, can be long."""


def prompt_of(record: ManagedSessionRecord, entries: Iterable[EntryRecord]) -> str:
    """Return the task of a session that is tried again by itself, and why its last attempt was not enough.

    `entries` are those of the merge queue, among them those that were added for it.
    """
    task = record.session.task
    returned = [each for each in entries if each.entry.session == record.id and each.packet is not None]
    if returned and (packet := returned[-1].packet) is not None:
        # The output of a check may have characters that no argument of a program can have.
        words = CONTROL_IN_LINES.sub("", "\n".join(_returned(returned[-1], packet)))
        return f"{task}\n\n{words.encode(errors='ignore')[:_MOST_BYTES].decode(errors='ignore')}"
    failed = [each.note for each in record.attempts[-2:-1] if each.end is SessionMove.FAIL]
    return f"{task}\n\nAn earlier attempt failed: {failed[0]}" if failed else task


def _returned(record: EntryRecord, packet: RepairPacket) -> Iterator[str]:
    commit, branch = record.entry.commit[:12], short_ref(record.entry.onto)
    yield f"Your earlier work, the commit {commit}, was not merged into {branch}: `git show {commit}` shows it."
    yield f"The files here are those of {branch} as it is now, without that work: do the task again in them."
    yield f"Reason: {packet.why}"
    for each in packet.conflicts:
        region = f", {each.region}" if each.region else ""
        by = f"; changed by: {'; '.join(each.changed_by)}" if each.changed_by else ""
        yield f"- {each.path}{region}: {each.why}{by}"
    if packet.check:
        yield f"This command failed on the merged files: {packet.check}"
        yield packet.output
