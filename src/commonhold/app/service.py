"""All use cases of one working tree, for one agent session: what every way in speaks to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self, TypedDict, TypeVar, Unpack

from commonhold.app.answers import (
    AcquireAnswer,
    CommitAnswer,
    LeaseAnswer,
    PutAnswer,
    RegionHash,
    ReviewAnswer,
    WaiveAnswer,
)
from commonhold.app.attendance import Attendance, Briefing, IsRunning
from commonhold.app.commits import Commits
from commonhold.app.crossing import Crossing, Insight
from commonhold.app.forgetting import forget
from commonhold.app.guarding import GateGuard, LeaseGuard
from commonhold.app.joining import Joining
from commonhold.app.judging import Judging
from commonhold.app.lease_answers import wishes
from commonhold.app.lease_requests import (
    AcquireRequest,
    AskRequest,
    BreakRequest,
    HandOverRequest,
    ReleaseRequest,
    RenewRequest,
)
from commonhold.app.leases import Leases
from commonhold.app.news import News, Newsroom
from commonhold.app.noticing import Noticing
from commonhold.app.options import Options
from commonhold.app.owing import Owing
from commonhold.app.partial_work import PartialWorks
from commonhold.app.past import Past
from commonhold.app.place import Place
from commonhold.app.plan import CommitRequest
from commonhold.app.planning import Planner
from commonhold.app.ports import Clock, Files, Ids, Registry, Step, Store, no_step
from commonhold.app.proposing import Proposing, Wanted
from commonhold.app.queries import Queries, Status, Who
from commonhold.app.read_sets import ReadSet
from commonhold.app.reading import Reading, RegionText
from commonhold.app.recovery import recover
from commonhold.app.registry import TableRegistry
from commonhold.app.taking import TakeAnswer, Taking
from commonhold.app.unwritable import although_unwritable
from commonhold.app.values import PutRequest, Values
from commonhold.app.waiving import Waiving
from commonhold.domain import texts
from commonhold.domain.changeset import Changeset
from commonhold.domain.commands import Show
from commonhold.domain.events import CommitUndone, Recorded
from commonhold.domain.keys import FILE, parse
from commonhold.domain.lease import Lease
from commonhold.domain.lease_table import is_short
from commonhold.domain.modes import Mode
from commonhold.domain.partial_work import PartialWork
from commonhold.domain.value import MAX_NUMBER, Value, Version
from commonhold.merging.merge import merge
from commonhold.regions.region import RegionMap, hash_bytes

A = TypeVar("A", AcquireAnswer, LeaseAnswer, CommitAnswer, TakeAnswer)


class AcquireOptions(TypedDict, total=False):
    """What else an acquire may say.

    `patience_seconds`: take a place in line where the keys are not free, and keep it that long. `ticket`: the place
    that this session has already. `replaces`: a lease of this session that ends with the grant, for an upgrade.
    `hold_seconds`: how long a daemon may keep its answer back while this session stands in line; others answer at once.
    """

    acquisition_id: str | None
    request_id: str | None
    patience_seconds: float | None
    ticket: str | None
    replaces: str | None
    hold_seconds: float | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies beyond a working tree and its state.

    Leases are kept in `registry`, where other machines share them; else in the state. What a commit means for other
    files is seen with `insight`; else each file is looked at by itself. A session whose process `is_running` is there,
    however long nothing is heard of it.
    """

    registry: Registry | None = None
    insight: Insight | None = None
    is_running: IsRunning = lambda _: False


_ALONE: Final = Surroundings()


class Service:
    """One agent session's access to the files and leases that it shares with others.

    Keys are taken in any form (`src/a.py`, `src/a.py#C.m`, `file:…`, `method::src/a.py::C.m`, `account:12345`).
    Refusals are answers. Errors are CommonholdError, with a code and a hint; after one, nothing has changed. Threads
    of one process may share an instance; they take turns.
    """

    def __init__(
        self,
        *,
        store: Store,
        files: Files,
        clock: Clock,
        ids: Ids,
        agent: str | None = None,
        options: Options | None = None,
        surroundings: Surroundings = _ALONE,
        at_step: Step = no_step,
    ) -> None:
        """Put the use cases together; `commonhold.open` does so for a repository on disk."""
        registry, self._insight = surroundings.registry, surroundings.insight
        self._is_running = surroundings.is_running
        self._agent = texts.check_holder(agent) if agent is not None else None
        self._options = options or Options()
        self._place = files.root if registry is None else f"{self._options.host}:{files.root}"
        self._store, self._files, self._clock = store, files, clock
        self._is_shared = registry is not None
        self._registry = registry or TableRegistry(store, clock)
        self._read_set = ReadSet(store, clock, files.root, self._agent)
        self._newsroom = Newsroom(store, clock, files.root, self._agent)
        self._reading = Reading(files, self._read_set)
        self._works = PartialWorks(store, self._registry, self._tree)
        self._values = Values(self._registry, self._reading, self._options.policies)
        self._leases = Leases(store, self._registry, self._reading, ids, self._works, self._place, self._read_set)
        self._compose_writing(ids, at_step)
        self._waiving = Waiving(store, clock, self._reading)
        self._queries = Queries(store, self._registry, self._reading, self._leases)

    def _compose_writing(self, ids: Ids, at_step: Step) -> None:
        place = Place(self._store, self._files, self._registry, self._clock, self._place)
        options, read_set = self._options, self._read_set
        past = Past(self._store, self.root)
        insight, joining = self._insight, Joining(past, options.policies, merge)
        crossing = Crossing(insight, self._reading.look, options.policies) if insight else None
        # Of what is written already neither a type checker nor a test can tell how it was before.
        looking_back = Crossing(Insight(insight.index), self._reading.look, options.policies) if insight else None

        def planner_of(files: Files) -> Planner:
            return Planner(files, Reading(files, read_set), past, joining, looking_back)

        planner = Planner(self._files, self._reading, past, joining, crossing)
        judging = Judging(planner, self._registry, self._values, options.policies, self.root, self._place)
        works = self._works
        guard = LeaseGuard(self._registry, works, ids) if self._is_shared else GateGuard(self._registry, works)
        owing = Owing(place, planner_of)
        self._commits = Commits(place, judging, owing, guard, read_set, options.retention_seconds, at_step=at_step)
        self._taking = Taking(place, planner_of, judging, owing, ids, works, read_set)
        self._proposing = Proposing(place, planner, judging, self._leases, self._taking, read_set, options)
        self._noticing = Noticing(place, self._taking, self._proposing)
        self._attendance = Attendance(
            place, self._leases, works, self._proposing, options.idle_seconds, self._is_running
        )

    def _tree(self, place: str) -> Reading | None:
        """How to look at a working tree: where leases are shared by machines, at this one only."""
        if place == self._place:
            return self._reading
        return Reading(self._files.at(place), self._read_set) if self._place == self.root else None

    @property
    def root(self) -> str:
        """The absolute path of the working tree."""
        return self._files.root

    @property
    def is_shared(self) -> bool:
        """Whether leases are kept elsewhere than beside the repository."""
        return self._is_shared

    @property
    def holder(self) -> str:
        """The name under which this session holds leases. Raises UsageError `HOLDER_MISSING` if it has none."""
        return self._agent or texts.check_holder("")

    def regions(self, path: str) -> RegionMap:
        """The regions of a file, found afresh. Raises InputError `FILE_NOT_FOUND`, `FILE_TOO_LARGE`."""
        self._recover_if_possible()
        return self._reading.regions(path)

    def read(self, *keys: str) -> tuple[RegionText, ...]:
        """Regions with their text and hash; what is read is kept, so that later changes to it can be shown.

        What another changes of it later, this session is told: in notices of its answers, or when it asks for `news`.
        Raises InputError `REGION_UNKNOWN`, `REGION_AMBIGUOUS`, `FILE_NOT_FOUND`.
        """
        self._recover_if_possible()
        return self._reading.read(keys)

    def saw(self, *keys: str, shown: str = "") -> tuple[RegionHash, ...]:
        """This session has read files or regions in another way (its own tools, say): as if it had been through `read`.

        They are taken to be what they are now; the answer gives their hashes. Where one file is named and `shown`, the
        text that was read of it, is not there any more, what was there just before is taken in its place. Raises what
        `read` raises.
        """
        self._recover_if_possible()
        return tuple(RegionHash(str(region.key), region.hash) for region in self._reading.saw(keys, shown))

    def seen(self, *keys: str) -> tuple[RegionHash, ...]:
        """What files or regions were when this session last read or wrote them as such; None where it never did."""
        asked = [str(self._reading.locate(key)) for key in keys]
        known = self._read_set.known(asked)
        return tuple(RegionHash(key, known.get(key)) for key in asked)

    def news(self) -> tuple[News, ...]:
        """What others have changed of what this session has read, each once: the answers with notices tell it, too."""
        return self._newsroom.tell()

    def _with_news(self, answer: A) -> A:
        """The answer, which this session gets in any case, with what it is to be told."""
        return replace(answer, notices=answer.notices + self._newsroom.notices())

    def acquire(
        self,
        *keys: str,
        task: str = "",
        ttl_seconds: float | None = None,
        mode: Mode = Mode.EXCLUSIVE,
        **more: Unpack[AcquireOptions],
    ) -> AcquireAnswer:
        """Ask for one lease on all of `keys`: granted as a whole, queued, or denied with every conflict named.

        A lease keeps others from changing what it covers; it ends by release, or `ttl_seconds` after the last sign of
        life of its holder (any call). It does not keep this process from believing that it holds on when it does not:
        the commit checks.
        """
        ttl = self._options.ttl_seconds if ttl_seconds is None else ttl_seconds
        if any(parse(key).scheme == FILE for key in keys):
            self._recover_if_possible()
        more.pop("hold_seconds", None)
        answer = self._leases.acquire(AcquireRequest(self.holder, keys, task, mode, ttl, **more))  # type: ignore[misc]
        # The answer to who stands in line may be kept back, and another given in its place.
        return answer if answer.outcome == "queued" else self._with_news(answer)

    def renew(self, lease_id: str, *, ttl_seconds: float | None = None, request_id: str | None = None) -> LeaseAnswer:
        """Let a live lease end `ttl_seconds` from now. The end is set, never added to."""
        ttl = self._options.ttl_seconds if ttl_seconds is None else ttl_seconds
        return self._with_news(self._leases.renew(RenewRequest(self.holder, lease_id, ttl, request_id)))

    def release(self, lease_id: str, *, request_id: str | None = None) -> LeaseAnswer:
        """End a lease of this session, or give its place in line up."""
        return self._with_news(self._leases.release(ReleaseRequest(self.holder, lease_id, request_id)))

    def ask(self, lease_id: str, *, why: str, request_id: str | None = None) -> LeaseAnswer:
        """Ask whoever holds a lease to release it: it is told so with its next answers."""
        return self._with_news(self._leases.ask(AskRequest(self.holder, lease_id, why, request_id)))

    def hand_over(self, lease_id: str, *, to: str, request_id: str | None = None) -> LeaseAnswer:
        """Give a lease to another holder (a subagent, say), with a new fence: this session writes no more under it."""
        return self._with_news(self._leases.hand_over(HandOverRequest(self.holder, lease_id, to, request_id)))

    def break_lease(self, lease_id: str, *, reason: str, request_id: str | None = None) -> LeaseAnswer:
        """End a lease by force: for people. Who did so and why is kept, and so is what its holder left half done."""
        return self._with_news(self._leases.break_(BreakRequest(self.holder, lease_id, reason, request_id)))

    def get(self, key: str) -> Value:
        """What a free key carries, and its version."""
        self.show()
        return self._values.get(key)

    def put(
        self,
        key: str,
        text: str | None,
        *,
        expected_version: int,
        fence: int | None = None,
        reads: Sequence[Version] = (),
        request_id: str | None = None,
    ) -> PutAnswer:
        """Let a free key carry `text`, if it still has `expected_version` (0: nothing there yet).

        With a `fence` the lease with that fencing token must be live, of this session, and cover the key. `reads` are
        versions of other keys that it was based on: they must be current too, so two sessions that each read what the
        other writes cannot both succeed.
        """
        wish = PutRequest(self.holder, key, text, expected_version, fence, tuple(reads), request_id)
        return self._values.put(wish)

    def partial_works(self) -> tuple[PartialWork, ...]:
        """What holders had changed when their leases were lost, and nobody has reviewed yet."""
        self._recover_if_possible()
        with although_unwritable():
            self._registry.execute(Show(self._agent or ""))
        return self._works.waiting()

    def review(self, lease_id: str, *, note: str = "") -> ReviewAnswer:
        """Close a partial work, after having looked at it."""
        return self._works.review(self.holder, lease_id, note)

    def waive(self, *keys: str, note: str) -> WaiveAnswer:
        """Close what is owed at `keys`, after having looked at it: `note` says why nothing is to be done there.

        All of it or nothing, in this working tree. Who said so and why is kept.
        """
        self._recover_if_possible()
        return self._waiving.waive(self.holder, keys, note)

    def sweep(self) -> None:
        """End what is over, give it to whoever waits for it, and look for what was left half done.

        That is so of leases, and of sessions that have ended without a word.
        """
        self._registry.execute(Show(self._agent or ""))
        self._attendance.end_gone()
        self._works.look_for()

    def show(self) -> None:
        """Let the leases of this session last on: every call of a holder is a sign of life."""
        if self._agent is None:
            return
        now = self._registry.now()
        with self._registry.read() as view:
            held = view.held_by(self._agent)
        if any(is_short(lease, now) for lease in held):
            with although_unwritable():
                self._registry.execute(Show(self._agent))

    def leases(self, *, holder: str | None = None) -> tuple[Lease, ...]:
        """The live leases, oldest first, of all holders or of one."""
        return self._leases.live(holder=holder)

    def commit(self, changeset: Changeset, *, dry_run: bool = False) -> CommitAnswer:
        """Apply all edits of a changeset or none. A dry run gives the verdict and writes nothing.

        Guarantees: edits take effect only if their named leases hold at the moment of writing, and their bases are what
        is there, or the merge of both changes is proven; several files change together, also across a crash. Does not
        guarantee that readers outside Commonhold see several files change in the same instant, nor that a program that
        writes without asking is noticed in time.
        """
        if dry_run:
            self._recover_if_possible()
        answer = self._commits.commit(CommitRequest(self.holder, changeset, self.root, dry_run))
        asked = wishes(self._leases.live(holder=self.holder))
        known = {each.key for each in answer.repair.regions} | {each.key for each in answer.merged}
        return replace(answer, notices=answer.notices + asked + self._newsroom.notices(known))

    def place(self) -> str:
        """The name of the working tree among all that share the leases."""
        return self._place

    def propose(self, changeset: Changeset, *, call: str, blind: Sequence[str] = ()) -> CommitAnswer:
        """Ask whether a tool of this session may write what the changeset says: nothing is written here.

        Admitted: what it changes is leased to the session, until its turn or the edit is over; `settle` records what
        became of it. Refused: the answer holds what the agent needs. The changeset names the lease of the write slot.
        `blind` are files that the tool overwrites without naming what is there: the session must have read them.
        """
        self._recover_if_possible()
        self._noticing.notice([self._reading.locate(edit.key).file_path for edit in changeset.edits], "")
        return self._with_news(self._proposing.propose(Wanted(self.holder, changeset, call, tuple(blind))))

    def settle(self, call: str, paths: Sequence[str] = ()) -> TakeAnswer:
        """See what became of what a call proposed (where calls have no names, for `paths`), and record it."""
        return self._with_news(self._proposing.settle(self.holder, call, tuple(paths)))

    def take(self, before: Mapping[str, str | None], *, intent: str = "") -> TakeAnswer:
        """Record what this session has made of files that were as `before` says: content hashes of kept bytes, by path.

        They are as they are. What could not have been committed is recorded too, and waits for review.
        """
        return self._with_news(self._taking.take(self.holder, before, intent))

    def keep(self, contents: Sequence[bytes]) -> None:
        """Keep bytes, so that what becomes of them can be told, and taken back by hand."""
        with self._store.write() as writer:
            writer.keep(((hash_bytes(each), each) for each in contents), self._clock.now().wall)

    def notice(self, paths: Sequence[str] | None, *, intent: str = "") -> TakeAnswer:
        """Record what others than agents have made of files that agents have read or written, so that those are told.

        `paths` None: of all that agents have read. Nobody is blamed for it. What a tool of a session is just writing is
        left to that session.
        """
        return self._noticing.notice(paths, intent)

    def arrive(self, process: str = "") -> Briefing:
        """This session begins, or goes on, in the process of that name: what it is to know."""
        self._recover_if_possible()
        return self._attendance.arrive(self.holder, process)

    def briefing(self) -> Briefing:
        """What others are doing."""
        return self._attendance.briefing(self._agent or "")

    def intend(self, intent: str) -> None:
        """What this session was asked for: others are told so."""
        self._attendance.intend(self.holder, intent)

    def intent(self) -> str:
        """What this session was asked for last."""
        return self._attendance.intent_of(self.holder)

    def rest(self) -> TakeAnswer:
        """This session has done what it was asked: what was leased to it for that is free again."""
        answer = self._proposing.rest(self.holder)
        self._attendance.rest(self.holder)
        return answer

    def depart(self) -> TakeAnswer:
        """This session is over."""
        answer = self._proposing.rest(self.holder)
        self._attendance.depart(self.holder)
        return answer

    def who(self, key: str) -> Who:
        """Who holds what overlaps `key`, and who changed it last."""
        self._recover_if_possible()
        return self._queries.who(key)

    def status(self) -> Status:
        """Live leases, newest commits, open debts."""
        self._recover_if_possible()
        return self._queries.status()

    def log(self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events in order: those after a sequence (with a lease: after 0), or the newest."""
        after = None if after is None else min(after, MAX_NUMBER - 1)
        return self._queries.log(after=after, limit=limit, lease_id=lease_id)

    def commits_on(self, path: str, *, limit: int = 200) -> tuple[Recorded, ...]:
        """The newest commits in this working tree that touched the file at `path`, oldest first."""
        return self._queries.commits_on(path, limit)

    def content(self, content_hash: str) -> bytes:
        """Bytes that were kept, by hash. Raises InputError `CONTENT_UNKNOWN`."""
        return self._queries.content(content_hash)

    def recover(self) -> tuple[CommitUndone, ...]:
        """Take back commits that a crash interrupted; every commit and read does so first."""
        with self._store.read() as reader:
            if not reader.journals():
                return ()
        with self._store.gate():
            return recover(self._store, self._files, self._clock)

    def _recover_if_possible(self) -> None:
        with although_unwritable():
            self.recover()
        self.show()

    def forget(self) -> None:
        """Drop kept contents whose retention is over."""
        self.recover()
        with self._store.write() as writer:
            forget(writer, self._clock.now(), self._options.retention_seconds)

    def close(self) -> None:
        """Let go of the state. Leases stay as they are."""
        for each in (self._insight, self._registry, self._store):
            if each is not None:
                each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
