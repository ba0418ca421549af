"""Record external writes in the log: changes to files that a tool, a command or a person has made.

The files are already written, so nothing can be refused any more. A change that could have been committed is recorded
as if it had been; any other is recorded too, with the reason, and waits for review. Nothing is ever reverted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.admission import Admitted, CommitAdmission, Refused
from commonhold.commits.deferred_changes import Unexamined
from commonhold.commits.external.overwrite_messages import by_holder, told_to_holder, told_to_writer
from commonhold.commits.historical_files import HistoricalFiles
from commonhold.commits.obligations import Obligations
from commonhold.commits.plan import CommitRequest, Plan, Rejected
from commonhold.commits.planning import PlannerOf
from commonhold.commits.record import committed, event_of, shown
from commonhold.commits.use_cases import UseCases
from commonhold.kernel.answers import CommitAnswer, Next, RecordAnswer, Repair
from commonhold.kernel.changeset import Changeset, made_to_hold
from commonhold.kernel.commands import Acquire, Break
from commonhold.kernel.errors import Code, CommonholdError, InputError
from commonhold.kernel.events import Committed, FileChange, Recorded
from commonhold.kernel.files import FileState
from commonhold.kernel.keys import FILE, Spec, canonical, contains, file_key
from commonhold.kernel.lease import Base, Conflict
from commonhold.kernel.modes import Mode
from commonhold.kernel.ports import Reader, Writer
from commonhold.kernel.presence import Proposal
from commonhold.kernel.read_set import StaleRead
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import MAX_TEXT_LENGTH, NOBODY, short_name
from commonhold.reads.read_set_invalidation import leaves_of

OUTSIDE: Final = NOBODY
"""The holder of changes without a known author."""
FOUND: Final = "found"
_FOUND_SECONDS: Final = 60.0
_MOST_COMMITS: Final = 100
_MOMENT_SECONDS: Final = 10.0
"""The time after a file was seen to change in which a tool may still report that it wrote it."""

Before = Mapping[str, str | None]
"""The earlier state of files, by path: content hashes of kept bytes; None if there was no file."""
Step = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Made:
    """A change of files by `holder`, from the state in `before`; `late` is why it came too late."""

    holder: str
    before: Before
    intent: str
    late: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The files that differ, in their present state, and the plan of that change with why it would be rejected."""

    made: Made
    changeset: Changeset
    now: Mapping[str, FileState | None]
    planned: tuple[Plan, Rejected | None] | None
    unknown: tuple[str, ...]


class ExternalWrites:
    """Records external changes of one working tree in the log."""

    def __init__(
        self, uses: UseCases, planner_of: PlannerOf, admission: CommitAdmission, obligations: Obligations
    ) -> None:
        """Plan with `planner_of` on the files' earlier state, judge with `admission`, recompute debts by `obligations`.

        From `uses`, `read_set` records the results, and `notifications` reach the holders whose work was overwritten.
        Changes that affect other files are counted in the turns, for commits to see.
        """
        self._place = uses.place
        self._planner_of = planner_of
        self._obligations = obligations
        self._admission = admission
        self._ids = uses.ids
        self._works = uses.works
        self._read_set = uses.read_set
        self._turns = uses.surroundings.turns
        self._deferred_changes = uses.surroundings.deferred_changes
        self._notifications = uses.notifications

    def record_changes(self, holder: str, before: Before, intent: str) -> RecordAnswer:
        """Record the changes of `holder` to files since their state in `before`, without those of other holders.

        Its changes that were recorded without a session are not recorded again, but it gets the notices for them.
        """
        named = {self._place.files.path_of(path): was for path, was in before.items()}
        seen = self.look(self._own(Made(holder, named, intent)))
        recorded = {path: was for path, was in named.items() if path not in seen.made.before}
        notices = self.noticed_before(recorded, holder, recorded) if recorded and holder != OUTSIDE else []
        if not seen.now:  # usually: then there is no need to wait for writers
            return RecordAnswer("nothing", notices=tuple(notices), unknown=seen.unknown)
        with self._place.together():
            own = self._own(seen.made)
            answer = self.record(seen if own == seen.made else self.look(own))
            return replace(answer, notices=(*notices, *answer.notices))

    def _own(self, made: Made) -> Made:
        """Return it without changes that are logged already, or that proposals of other sessions predict."""
        with self._place.store.read() as reader:
            others = [each for each in reader.proposals(self._place.files.root) if each.holder != made.holder]
            steps = {path: self._steps(reader, path, others) for path in made.before}
        left = {
            path: was
            for path, was in made.before.items()
            if not any(before == was and self.holds(path, after) for before, after in steps[path])
        }
        return replace(made, before=left)

    def _steps(self, reader: Reader, path: str, proposals: Iterable[Proposal]) -> set[Step]:
        """Return the steps of a file, before and after, in the newest commit and in proposals."""
        commits = [commit for _, commit in reader.commits_on(path, 1) if commit.worktree == self._place.files.root]
        made = {(each.before, each.after) for commit in commits for each in commit.files if each.path == path}
        return made | {(each.before, each.after) for each in proposals if each.path == path}

    def holds(self, path: str, content_hash: str | None) -> bool:
        """Whether a file has that content now; None: it is absent."""
        try:
            return _hash_of(self._there(path)) == content_hash
        except CommonholdError as fault:
            if _is_transient(fault):
                raise
            return False  # for example too large: unlike anything written through Commonhold

    def _there(self, path: str) -> FileState | None:
        """Return the present file. If a folder, a link or a pipe is in its place, the file is gone."""
        try:
            return self._place.files.load(path)
        except InputError as fault:
            if fault.code is Code.NOT_A_FILE:
                return None
            raise

    def look(self, made: Made) -> Seen:
        """Return the present state of the files, and the change as a plan: slow, so call it outside of the gate."""
        states, now, unknown = self._differences(made.before)
        contents = {path: there.content if there else None for path, there in now.items()}
        edits = tuple(made_to_hold(path, _hash_of(was), contents[path]) for path, was in states.items())
        changeset = Changeset(edits, intent=made.intent, merge=False)
        if not now:
            return Seen(made, changeset, now, None, unknown)
        plan, flawed = self._planner_of(HistoricalFiles(self._place.files, states)).done(changeset)
        return Seen(made, changeset, now, (self._obligations.weighed(plan), flawed), unknown)

    def record(self, seen: Seen) -> RecordAnswer:
        """Record the changes that were seen; if the files have changed again, their present state."""
        if not seen.now:
            return RecordAnswer("nothing", unknown=seen.unknown)
        with self._place.together(), self._place.store.write() as writer:
            if not all(self.holds(path, _hash_of(state)) for path, state in seen.now.items()):
                seen = self.look(seen.made)
            if seen.planned is None:
                return RecordAnswer("nothing", unknown=seen.unknown)
            made, (plan, flawed) = seen.made, seen.planned
            request = CommitRequest(made.holder, seen.changeset, self._place.files.root)
            verdict = self._verdict(writer, request, made.late, plan, flawed)
            answer = self._record(writer, request, plan, verdict)
            notices = (*answer.notices, *self._told(writer, request.holder, plan))
            if plan.crossed.is_put_off and self._deferred_changes is not None and made.holder != OUTSIDE:
                self._deferred_changes.add(Unexamined(self._place.files.root, made.holder, made.before, made.intent))
            taken = RecordAnswer("recorded", answer.regions, notices, sequence=answer.sequence, unknown=seen.unknown)
            if isinstance(verdict, Admitted):
                return taken
            review = self.await_review(request, plan, verdict)
            return replace(taken, outcome="unadmitted", code=verdict.code, why=verdict.why, review=review)

    def late(self, proposal: Proposal) -> Made:
        """Return the change of a tool that lost its write slot: perhaps over commits of others since then.

        It is credited to the session only if the file has the proposed content.
        """
        made = self.overtaken(proposal)
        return made if self.is_as_foretold(proposal) else Made(OUTSIDE, made.before, made.intent)

    def overtaken(self, proposal: Proposal) -> Made:
        """Return a tool's change to a file with newer records: based on those, if the file is as proposed."""
        was, late = proposal.before, ""
        if (over := self._newer(proposal)) is not None:
            change, by, sequence = over
            was = change.after
            if self.is_as_foretold(proposal):
                late = f"it was written late, and overwrote what {short_name(by)} had committed (event {sequence})"
        return Made(proposal.holder, {proposal.path: was}, proposal.intent, late)

    def is_as_foretold(self, proposal: Proposal) -> bool:
        """Whether the file now has the content that the tool was to write."""
        return self.holds(proposal.path, proposal.after)

    def is_overtaken(self, proposal: Proposal) -> bool:
        """Whether a change of the file was recorded since it was proposed."""
        return self._newer(proposal) is not None

    def overwritten(self, proposal: Proposal) -> str:
        """Return the notice for a session whose late write another write replaced; empty if there is none."""
        after, since = proposal.after, self._since(proposal)
        is_seen = any(each.holder == proposal.holder or after in (file.before, file.after) for file, each, _ in since)
        if is_seen or not since or self.is_as_foretold(proposal):
            return ""
        by, kept = short_name(since[0][1].holder), f"; the text is kept: {after}" if after else ""
        return f"{proposal.path} is as {by} wrote it, not as you did, since you were late: read it, do it again{kept}"

    def _newer(self, proposal: Proposal) -> tuple[FileChange, str, int] | None:
        """Return the newest commit to the file by another holder since the proposal."""
        since = self._since(proposal)
        return (since[0][0], since[0][1].holder, since[0][2]) if since else None

    def _since(self, proposal: Proposal) -> list[tuple[FileChange, Committed, int]]:
        """Return the records of the file after the base of the proposal, with the numbers of the events."""
        found: list[tuple[FileChange, Committed, int]] = []
        with self._place.store.read() as reader:
            newest = reader.commits_on(proposal.path, 1)
            if not newest or newest[0][0].sequence <= proposal.since:
                return []
            commits = reader.commits_on(proposal.path, _MOST_COMMITS)
        for recorded, commit in commits:
            file = next(each for each in commit.files if each.path == proposal.path)
            if commit.worktree == proposal.worktree:
                if recorded.sequence <= proposal.since or file.after == proposal.before:
                    break
                found.append((file, commit, recorded.sequence))
        return found

    def _differences(
        self, before: Before
    ) -> tuple[dict[str, FileState | None], dict[str, FileState | None], tuple[str, ...]]:
        """Return the earlier and present states of files that differ, and the paths where these are unknown."""
        states: dict[str, FileState | None] = {}
        found: dict[str, FileState | None] = {}
        unknown = []
        for path, was in before.items():
            try:
                now = self._there(path)
                if _hash_of(now) == was:
                    continue
                is_named = self._is_named(path)
            except CommonholdError as fault:
                if _is_transient(fault):
                    raise
                now, is_named = None, False
            data = self._kept(was)
            if not is_named or (was is not None and data is None):
                unknown.append(path)
                continue
            mode = now.mode if now else self._place.files.new_file_mode
            states[path] = None if data is None else FileState(data, mode)
            found[path] = now
        return states, found, tuple(unknown)

    def _is_named(self, path: str) -> bool:
        """Whether a key still names the file so: no folder on its path is a link to another place by now."""
        folder = path.rpartition("/")[0]
        return not folder or "/".join(self._place.files.locate(Spec(FILE, folder)).path) == folder

    def _kept(self, content_hash: str | None) -> bytes | None:
        if content_hash is None:
            return None
        with self._place.store.read() as reader:
            return reader.content(content_hash)

    def _verdict(
        self, writer: Writer, request: CommitRequest, late: str, plan: Plan, flawed: Rejected | None
    ) -> Admitted | Refused:
        if late:
            step = Next("review", {}, "compare the previous and the current content")
            return Refused(Refusal.LEASE_LOST, late, Repair(), step)
        if request.holder == OUTSIDE:
            return Admitted(plan, (), ())
        return self._admission.verdict(writer, request, flawed or plan)

    def _record(self, writer: Writer, request: CommitRequest, plan: Plan, verdict: Admitted | Refused) -> CommitAnswer:
        admitted = Admitted(plan, (), ()) if isinstance(verdict, Refused) else verdict
        why = f"{verdict.code}: {verdict.why}" if isinstance(verdict, Refused) else ""
        wall = self._place.clock.now().wall
        writer.keep(admitted.plan.contents.items(), wall)
        event = event_of(writer, request, admitted, unadmitted=why)
        recorded = Recorded(writer.next_sequence, wall, event)
        answer = committed(admitted, recorded.sequence)
        if plan.crossed.is_linked:
            self._turns.add_linked(self._place.files.root)
        writer.record([event], wall)
        is_own = request.holder == self._read_set.holder
        self._read_set.committed(writer, recorded, shown(answer) if is_own else {})
        return answer

    def _told(self, writer: Writer, holder: str, plan: Plan) -> list[str]:
        """Tell the holders of overwritten regions; return the notices for `holder`, which wrote them."""
        written = self._admission.held_by_others(self._admission.writes_of(plan), holder)
        found = by_holder((*written, *self._admission.held_whole_by_others(plan.grown, holder)), holder)
        if not found:
            return []
        recorded, commit = writer.latest_commits(1)[0]
        for each, held in found.items():
            self._notifications.send([each], told_to_holder(held, commit), commit.holder)
            news = writer.overtaken(each, commit.worktree)
            writer.overtake([one.once_told() for one in news if _is_said(one, recorded, held)], recorded.at)
        return [told_to_writer(held, commit) for held in found.values()]

    def noticed_before(self, paths: Iterable[str], holder: str, before: Before | None = None) -> list[str]:
        """Return notices for `holder`, which wrote these files, if the change was recorded without a session.

        That is the newest change if it was made to the state in `before`, or, without that, in the last moments.
        """
        with self._place.store.read() as reader:
            newest = [(path, each) for path in paths for each in reader.commits_on(path, 1)]
        now, told = self._place.clock.now().wall, []
        for path, (recorded, commit) in newest:
            is_it = commit.holder == OUTSIDE and commit.worktree == self._place.files.root
            was = [each.before for each in commit.files if each.path == path]
            if is_it and (now - recorded.at <= _MOMENT_SECONDS if before is None else was == [before[path]]):
                keys = leaves_of(commit.regions)
                found = by_holder(self._admission.held_by_others(keys, holder), holder)
                told += [told_to_writer(held, commit) for held in found.values()]
        return told

    def await_review(self, request: CommitRequest, plan: Plan, refused: Refused) -> str:
        """Queue a change for review like unfinished work: as the partial work of a lease that was broken."""
        lease_id = self._ids.new(FOUND)
        bases = tuple(Base(each.key, each.before) for each in plan.changes if canonical(each.key).is_region)
        bases = bases or tuple(Base(str(file_key(each.path)), each.before) for each in plan.writes)
        task = f"not admitted ({refused.code}): {request.changeset.intent}".rstrip(": ")
        key = canonical(f"{FOUND}:{lease_id}")
        self._place.registry.execute(
            Acquire(
                lease_id,
                FOUND,
                request.holder,
                task,
                (key,),
                Mode.EXCLUSIVE,
                _FOUND_SECONDS,
                worktree=self._place.name,
                bases=bases,
            )
        )
        self._place.registry.execute(Break(lease_id, request.holder, refused.why[:MAX_TEXT_LENGTH]))
        self._works.look_for([key])
        return lease_id


def _is_said(news: StaleRead, recorded: Recorded, held: Iterable[Conflict]) -> bool:
    """Whether this commit's change to the body of a held region is the session's only news of that region."""
    is_no_more = all(each.sequence == recorded.sequence and not each.what for each in news.untold)
    return is_no_more and any(contains(canonical(each.key), canonical(news.key)) for each in held)


def _hash_of(there: FileState | None) -> str | None:
    return hash_bytes(there.content) if there else None


def _is_transient(fault: CommonholdError) -> bool:
    """Whether a later read may succeed: it is no folder or link, not too large, and permission is not denied."""
    return not isinstance(fault, InputError) and fault.code is not Code.PERMISSION_DENIED
