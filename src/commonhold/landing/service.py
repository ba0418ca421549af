"""The merge queue of one repository, for one session: the use cases of those who add entries, and of its runner."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from commonhold.kernel.answers import Next
from commonhold.kernel.entry import UNLIMITED, Entry, EntryRecord, EntryState, Landings
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.ports import Revisions, TaskReader
from commonhold.kernel.refs import full_ref
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Task
from commonhold.kernel.texts import MAX_TEXT_LENGTH, check_line
from commonhold.landing.answers import EntryAnswer, EntryView
from commonhold.landing.commands import (
    AddEntry,
    EntriesChanged,
    EntryCommand,
    EntryOutcome,
    EntryRefused,
    EntryStep,
    EntryUnchanged,
    PostEntries,
    RemoveEntry,
)
from commonhold.landing.decide import unknown
from commonhold.landing.queue import EntryQueue
from commonhold.landing.queue_state import queue_states, why_waiting
from commonhold.leases.idempotency import IdentifiedRequest, once
from commonhold.leases.registry import task_storage
from commonhold.tasks.definition import MOST_PARTS
from commonhold.workspace.place import WorktreeState

MOST_PRIORITY: Final = 1_000_000
MOST_LISTED: Final = 1000


class Entries:
    """The entries of one repository, for one session."""

    def __init__(self, place: WorktreeState, revisions: Revisions | None) -> None:
        """Keep entries where the tasks are kept; `revisions` answer about branches and commits."""
        self._queue = EntryQueue(*task_storage(place))
        self._revisions = revisions

    def add(self, holder: str, wish: Entry, request_id: str | None, *, again: bool) -> EntryAnswer:
        """Add an entry as `wish` names it: its branch and `onto` in any form, without its commit.

        Without `onto` it lands on the target of its task, else on the main branch. It must pass the task's checks, too.
        """
        git = self._git()
        for text, what in (
            (wish.branch, "branch"),
            (wish.session, "session"),
            *((each, "check") for each in wish.checks),
        ):
            check_line(text, what, MAX_TEXT_LENGTH)
        if len(wish.checks) > MOST_PARTS or abs(wish.priority) > MOST_PRIORITY:
            raise UsageError(
                Code.USAGE,
                "the entry has too many checks, or its priority is out of range",
                hint=f"give at most {MOST_PARTS} checks, and a priority between -{MOST_PRIORITY} and {MOST_PRIORITY}",
            )
        task = self._task(wish.task)
        onto = git.branch_ref(wish.onto or (task.target if task else "") or git.main_branch())
        commit = git.commit_of(wish.branch)
        entry = Entry(
            "",
            wish.branch,
            commit,
            onto,
            git.title_of(commit),
            wish.task,
            wish.session,
            holder,
            tuple(dict.fromkeys((*wish.checks, *(task.checks if task else ())))),
            wish.priority,
        )
        if onto == full_ref(wish.branch):
            raise UsageError(
                Code.USAGE,
                f"{wish.branch} cannot land on itself",
                hint="name the branch that it is to land on: --onto BRANCH",
            )
        return self._answer(self._run(AddEntry(holder, entry, again), request_id, (wish, again)), "added")

    def _git(self) -> Revisions:
        if self._revisions is None:
            raise InputError(
                Code.REPOSITORY_PLAIN,
                "this folder is in no git repository, so no branch can land",
                hint="go to a working tree of a git repository, or name one with -C",
            )
        return self._revisions

    def _task(self, task_id: str) -> Task | None:
        if not task_id:
            return None
        with self._queue.read() as reader:
            found = reader.tasks_in_question((task_id,))
        return next((each.task for each in found if each.id == task_id), None)

    def remove(self, holder: str, entry: str, note: str, request_id: str | None) -> EntryAnswer:
        """Take an entry out of the queue. Raises InputError `ENTRY_UNKNOWN`."""
        check_line(note, "note", MAX_TEXT_LENGTH)
        command = RemoveEntry(holder, entry, note)
        return self._answer(self._run(command, request_id, command))

    def post(
        self, holder: str, onto: str, steps: Sequence[EntryStep], fence: int, request_id: str | None
    ) -> EntryAnswer:
        """Post steps of entries, all or none."""
        command = PostEntries(holder, onto, fence, tuple(steps))
        return self._answer(self._run(command, request_id, command))

    def list(self, ids: Sequence[str], onto: str, page: tuple[str, int] | None) -> EntryAnswer:
        """Return entries, oldest first: those with an id, or all that are not final, or a page of all.

        A page is the newest entries, at most so many, that were added before the entry with the given id (empty: of
        all). `onto`: of one branch. Raises InputError `ENTRY_UNKNOWN`.
        """
        ref = self._git().branch_ref(onto) if onto else ""
        has_older = False
        with self._queue.read() as reader:
            found = [each for each in reader.entries_in_question(ids) if ref in ("", each.entry.onto)]
            live = [each for each in found if not each.is_final]
            # A branch that was named has a queue, even if nothing was ever added for it.
            landings = reader.landings(ref) or ((Landings(ref, 0, None),) if ref else ())
            queues = queue_states(landings, live, reader.leases(), self._queue.now())
            if ids:
                known = {each.id: each for each in found}
                if missing := [each for each in ids if each not in known]:
                    raise unknown(missing[0])
                wanted = [known[each] for each in ids]
            elif page is None:
                wanted = live
            else:
                before, limit = page[0], max(1, min(page[1], MOST_LISTED))
                listed = reader.entries(ref, before=self._number(reader, before), limit=limit + 1)
                wanted, has_older = list(listed[-limit:]), len(listed) > limit
        by_ref = {each.onto: each for each in queues}
        views = tuple(
            replace(each, why=why_waiting(each.record, live, by_ref[each.record.entry.onto]))
            for each in self._views(wanted)
        )
        return EntryAnswer("listed", views, queues, has_older=has_older)

    def _number(self, reader: TaskReader, entry_id: str) -> int:
        if not entry_id:
            return UNLIMITED
        found = [each for each in reader.entries_in_question((entry_id,)) if each.id == entry_id]
        if not found:
            raise unknown(entry_id)
        return found[0].number

    def _views(self, records: Sequence[EntryRecord]) -> tuple[EntryView, ...]:
        """Return the entries, and whether what has landed is still there: a person may have reset the branch."""
        missing: set[str] = set()
        for onto in {each.entry.onto for each in records if each.state is EntryState.LANDED}:
            landed = [each for each in records if each.state is EntryState.LANDED and each.entry.onto == onto]
            reached = self._revisions.reached(onto, [each.entry.commit for each in landed]) if self._revisions else {}
            missing |= {each.id for each in landed if reached.get(each.entry.commit) is False}
        return tuple(EntryView(each, each.id in missing) for each in records)

    def _run(self, command: EntryCommand, request_id: str | None, content: object) -> EntryOutcome:
        return self._queue.execute(command, once(IdentifiedRequest(command.holder, request_id, content)))

    def _answer(self, outcome: EntryOutcome, change: str = "changed") -> EntryAnswer:
        match outcome:
            case EntriesChanged(records):
                is_new = change == "added" and all(each.number == each.last for each in records)
                return EntryAnswer("added" if is_new else "changed", tuple(map(EntryView, records)))
            case EntryUnchanged(record):
                return EntryAnswer("unchanged", (EntryView(record),))
            case EntryRefused(code, why, record):
                entries = (EntryView(record),) if record else ()
                step = None
                if record is not None and code is Refusal.ENTRY_RETURNED:
                    step = Next("queue show", {"entry": record.id}, "read its repair packet, commit, and add it again")
                return EntryAnswer("refused", entries, code=code, why=why, next=step)
