"""What people report of leases in public trackers (EVIDENCE, 14 to 35): each is tried here, and does not happen."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.daemon_process import Raw, client, serving
from tests.fakes import CountingIds, FakeClock
from tests.patience import until
from tests.reports.actors import actor, at_once
from tests.services.fixtures import NewRedis

import commonhold
from commonhold import Changeset, Code, Commonhold, Edit, Op
from commonhold.api.service import Service
from commonhold.bootstrap import open_repository
from commonhold.client import lease_keeper
from commonhold.client import session as sessions
from commonhold.kernel.clock import Now
from commonhold.kernel.errors import RefusedError, StoreError
from commonhold.kernel.events import Committed, LeaseBroken, LeaseExpired
from commonhold.kernel.refusals import Refusal
from commonhold.machine import file_systems
from commonhold.machine.system import SystemClock
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace import daemon_files
from commonhold.workspace.files import WorkingTree

if TYPE_CHECKING:
    from tests.services.pooler import Pooler
    from tests.services.postgres_server import Database

pytestmark = pytest.mark.slow
KEY = "account:1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "work")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


def direct(root: Path, agent: str) -> Commonhold:
    """A session without a daemon."""
    return commonhold.open(str(root), agent=agent, daemon=False)


def granted(hold: Commonhold, key: str = KEY, ttl_seconds: float = 600.0) -> commonhold.Lease:
    answer = hold.acquire(key, ttl_seconds=ttl_seconds)
    assert answer.lease is not None, answer
    return answer.lease


class Clockwork:
    """Sessions on one store, by a clock that the test turns."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.clock = FakeClock()
        self._folder = folder
        self._ids = CountingIds()

    def service(self, agent: str) -> Service:
        store = SqliteStore(str(self._folder / "state"), synchronous="OFF")
        files = WorkingTree(str(self._folder))
        return Service(store=store, files=files, clock=self.clock, ids=self._ids, agent=agent)


class Jumping:
    """The machine's own clock, as all sessions of this process see it, which the test lets jump ahead."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._seconds = 0.0
        now = SystemClock.now

        def later(clock: SystemClock) -> Now:
            found = now(clock)
            return replace(found, ticks=found.ticks + self._seconds, wall=found.wall + self._seconds)

        patch.setattr(SystemClock, "now", later)

    def ahead(self, seconds: float) -> None:
        self._seconds += seconds


@pytest.fixture
def jumping(monkeypatch: pytest.MonkeyPatch) -> Jumping:
    return Jumping(monkeypatch)


@pytest.fixture
def clockwork(tmp_path: Path) -> Clockwork:
    return Clockwork(tmp_path / "clockwork")


def state(root: Path) -> Path:
    return root / ".git/commonhold"


def test_14_unlink_on_release_splits_a_lock_files_inode(root: Path) -> None:
    """A lock file was unlinked at each release: one waited on the old file, the next made a new one, both went in."""
    with direct(root, "ann") as ann, direct(root, "bob") as bob:
        granted(ann, "account:0")
        before = (state(root) / "gate").stat().st_ino
        for hold in (ann, bob) * 20:
            assert hold.release(granted(hold).id).outcome == "released"
        assert (state(root) / "gate").stat().st_ino == before
        (state(root) / "gate").unlink()
        with pytest.raises(StoreError) as caught:
            granted(ann)
        assert caught.value.code is Code.STORE_UNSAFE


def test_15_a_short_metadata_write_makes_two_holders(root: Path) -> None:
    """Who held was written into the lock file; a write cut short read as "nobody", and a second one went in."""

    def hold_until_killed(pipe: Connection) -> None:
        with direct(root, "ann") as ann:
            granted(ann)
            pipe.send("held")
            pipe.recv()

    with actor(hold_until_killed) as ann:
        ann.hear()
        ann.kill()
    with (state(root) / "state.db-wal").open("ab") as log:
        log.write(b"\x00\x01" * 1000)
    with direct(root, "bob") as bob:
        assert bob.acquire(KEY).outcome == "denied"
    with serving(root) as daemon:
        Path(daemon_files.lock_path(str(daemon.state))).write_text("")
        second = [sys.executable, "-m", "commonhold.server.daemon", str(root)]
        said = subprocess.run(second, check=True, capture_output=True, text=True, timeout=60).stderr
        assert "serves this repository already" in said
        with daemon.session("bob") as bob:
            assert bob.acquire(KEY).outcome == "denied"


@pytest.mark.parametrize("has_daemon", [False, True], ids=["direct", "daemon"])
def test_16_a_forked_child_releases_its_parents_lock(root: Path, stack: ExitStack, *, has_daemon: bool) -> None:
    """The child inherited the lock, and its end (or its clean-up) gave it back while the parent went on."""
    if has_daemon:
        stack.enter_context(serving(root))
    hold = stack.enter_context(commonhold.open(str(root), agent="ann", daemon=has_daemon))
    with hold.hold(KEY) as lease:
        pid = os.fork()
        if pid == 0:
            hold.close()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        lease.check()
        with commonhold.open(str(root), agent="bob", daemon=has_daemon) as bob:
            assert bob.acquire(KEY).outcome == "denied"


def test_17_two_break_a_stale_lock(root: Path) -> None:
    """Both saw it stale, one broke it and took it, the other then broke the new one."""
    with direct(root, "ann") as ann:
        lease = granted(ann)

        def break_it(agent: str) -> tuple[str, Refusal | None]:
            with direct(root, agent) as hold:
                answer = hold.break_lease(lease.id, reason="stale")
                if answer.outcome == "broken":
                    granted(hold)
                return answer.outcome, answer.code

        outcomes = at_once(*(partial(break_it, agent) for agent in ("bob", "cid", "dan", "eve")))
        assert sorted(outcomes, key=str) == [("broken", None), *[("refused", Refusal.LEASE_LOST)] * 3]
        (left,) = ann.leases()
        assert left.holder == ann.log(lease_id=lease.id)[-1].event.by  # type: ignore[union-attr]


@pytest.mark.parametrize("robbery", ["break", "expiry"])
def test_18_a_live_holder_is_robbed_in_the_middle_of_its_commit(root: Path, robbery: str, jumping: Jumping) -> None:
    """Its lock was taken between the check and the writing, and both wrote."""
    asked, got = threading.Event(), threading.Event()

    def rob() -> None:
        with direct(root, "bob") as bob:
            if robbery == "break":
                asked.set()
                bob.break_lease(lease.id, reason="mine")
            asked.set()
            granted(bob, "a.py#one")
            got.set()

    def at_step(step: str) -> None:
        if step == "journalled":
            robber.start()
            assert asked.wait(60)
            if robbery == "expiry":
                jumping.ahead(601.0)
            time.sleep(0.5)  # whoever can get in is in
            assert not got.is_set()

    robber = threading.Thread(target=rob)
    with open_repository(str(root), agent="ann", at_step=at_step) as ann:
        (read,) = ann.read("a.py#one")
        answer = ann.acquire("a.py#one", ttl_seconds=600.0)
        assert answer.lease is not None
        lease = answer.lease
        edit = Edit(Op.REPLACE, read.key, read.hash, "def one():\n    return 1\n")
        changeset = Changeset((edit,), leases=(commonhold.LeaseRef(lease.id, lease.fence),))
        assert ann.commit(changeset).outcome == "committed"
        robber.join()
        kinds = [type(each.event) for each in ann.log(after=0)]
    ended = LeaseBroken if robbery == "break" else LeaseExpired
    assert kinds.index(Committed) < kinds.index(ended)


def test_19_a_silent_reconnect_makes_two_holders(root: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client lost its connection, and with it the lock; it reconnected unseen and wrote on beside the next one."""
    monkeypatch.setattr(lease_keeper, "LOOK_SECONDS", 600.0)  # else it may be the one to say so, in other words
    daemon = stack.enter_context(serving(root))
    ann = stack.enter_context(daemon.session("ann"))
    # The end of the block says so, too.
    with pytest.raises(RefusedError, match="was ended by bob"), ann.hold(KEY, ttl_seconds=600.0) as lease:  # noqa: PT012 - all of it is the story
        daemon.process.kill()
        daemon.process.wait()
        with direct(root, "bob") as bob:
            assert bob.acquire(KEY).outcome == "denied"
            bob.break_lease(lease.id, reason="nobody is there")
            newer = granted(bob)
        stack.enter_context(serving(root))
        late = ann.put(KEY, "late", expected_version=0, fence=lease.fence)
        assert (late.outcome, late.code) == ("refused", Refusal.LEASE_LOST)
        assert newer.fence > lease.fence
        assert ann.renew(lease.id).code is Refusal.LEASE_LOST


def test_20_a_cancelled_release_loses_the_token(root: Path) -> None:
    """The release was cancelled half way: the lock stayed, and nobody had the token any more."""

    async def story(pid: int) -> None:
        async with commonhold.open_async(str(root), agent="ann", daemon=True) as ann:
            lease = (await ann.acquire(KEY)).lease
            assert lease is not None
            os.kill(pid, signal.SIGSTOP)
            releasing = asyncio.ensure_future(ann.release(lease.id))
            await asyncio.sleep(0.2)
            releasing.cancel()
            os.kill(pid, signal.SIGCONT)
            with pytest.raises(asyncio.CancelledError):
                await releasing
            assert await ann.leases() == ()

    with serving(root) as daemon:
        asyncio.run(story(daemon.process.pid))


def test_21_a_token_in_thread_local_storage_is_shared_by_tasks(root: Path) -> None:
    """Two tasks of one thread had one token: the one released what the other held."""

    async def story() -> None:
        session = commonhold.open_async(str(root), agent="ann", daemon=False)
        async with session as ann, ann.hold("account:1") as first:
            async with ann.hold("account:2") as second:
                assert (first.id, first.fence) != (second.id, second.fence)
            first.check()
            assert [lease.keys for lease in await ann.leases()] == [("account:1",)]

    asyncio.run(story())


def test_22_extend_adds_to_the_time(clockwork: Clockwork) -> None:
    """Each extension was added to what was left: a lock that was renewed often outlived its holder by hours."""
    ann = clockwork.service("ann")
    lease = ann.acquire(KEY, ttl_seconds=10.0).lease
    assert lease is not None
    for _ in range(5):
        clockwork.clock.advance(1.0)
        renewed = ann.renew(lease.id, ttl_seconds=10.0).lease
        assert renewed is not None
        assert renewed.deadline.ticks == clockwork.clock.seconds + 10.0


def test_23_renewal_starves_on_a_blocked_loop(root: Path, jumping: Jumping) -> None:
    """The loop was busy, the lock ran out unrenewed, and the write that came after it was made all the same."""

    async def story() -> None:
        session = commonhold.open_async(str(root), agent="ann", daemon=False)
        async with session as ann, ann.hold(KEY, ttl_seconds=600.0) as lease:
            lease.check()
            jumping.ahead(601.0)  # and the loop has not got on meanwhile
            with direct(root, "bob") as bob:
                granted(bob)
            with pytest.raises(RefusedError) as caught:
                lease.check()
            assert caught.value.code is Code.LEASE_LOST
            late = await ann.put(KEY, "late", expected_version=0, fence=lease.fence)
            assert late.code is Refusal.LEASE_LOST

    # The end of the block says so, too.
    with pytest.raises(RefusedError, match="lapsed"):
        asyncio.run(story())


def test_24_a_release_between_the_check_and_the_wait_is_missed(root: Path) -> None:
    """It was held when looked at, released before the waiting began, and the wake-up was lost: it waited forever."""
    with serving(root) as daemon, daemon.session("ann") as ann, daemon.session("bob") as bob:
        for number in range(40):
            key = f"account:{number}"
            lease = granted(ann, key)
            releasing = threading.Thread(target=ann.release, args=(lease.id,))
            releasing.start()
            assert bob.acquire(key, wait_seconds=50.0).outcome == "granted"
            releasing.join()
        held = granted(ann, "account:x")
        with Raw(daemon.address) as first, Raw(daemon.address) as second:
            first.introduce(str(root), "ann")
            second.introduce(str(root), "bob")
            second.ask(1, "acquire", "account:x", ticket="b", patience_seconds=50.0, hold_seconds=50.0)
            first.ask(1, "release", held.id)
            assert b"granted" in bytes(second.hear().body)


@pytest.mark.parametrize("has_daemon", [False, True], ids=["direct", "daemon"])
def test_25_it_is_granted_after_the_waiters_own_time_was_over(
    root: Path, stack: ExitStack, clockwork: Clockwork, *, has_daemon: bool
) -> None:
    """The waiter had given up; it was granted the lock all the same, which then nobody knew of."""
    if has_daemon:
        stack.enter_context(serving(root))
    ann, bob = (
        stack.enter_context(commonhold.open(str(root), agent=name, daemon=has_daemon)) for name in ("ann", "bob")
    )
    lease = granted(ann)
    assert bob.acquire(KEY, wait_seconds=0.1).outcome == "denied"
    ann.release(lease.id)
    assert ann.leases() == ()

    ann_, bob_ = clockwork.service("ann"), clockwork.service("bob")
    held = ann_.acquire(KEY).lease
    assert held is not None
    assert bob_.acquire(KEY, patience_seconds=5.0).outcome == "queued"
    clockwork.clock.advance(6.0)
    ann_.release(held.id)
    assert ann_.leases() == ()


@pytest.mark.parametrize("has_daemon", [False, True], ids=["direct", "daemon"])
def test_26_an_orphan_waiter_blocks_the_queue(root: Path, stack: ExitStack, *, has_daemon: bool) -> None:
    """One that stood in line was killed; all behind it waited for it."""

    def stand_in_line(pipe: Connection) -> None:
        with commonhold.open(str(root), agent="bob", daemon=has_daemon) as bob:
            pipe.send("ready")
            bob.acquire(KEY, wait_seconds=600.0, patience_seconds=2.0)

    if has_daemon:
        stack.enter_context(serving(root))
    ann, cid = (
        stack.enter_context(commonhold.open(str(root), agent=name, daemon=has_daemon)) for name in ("ann", "cid")
    )
    lease = granted(ann)
    with actor(stand_in_line) as bob:
        bob.hear()
        until(lambda: [waiter.holder for waiter in ann.status().waiters] == ["bob"])
        bob.kill()
        ann.release(lease.id)
        assert cid.acquire(KEY, wait_seconds=50.0).outcome == "granted"


@pytest.mark.parametrize("has_daemon", [False, True], ids=["direct", "daemon"])
def test_27_acquiring_ones_own_lock_again_blocks(root: Path, stack: ExitStack, *, has_daemon: bool) -> None:
    """A function that took the lock called another that took it too, and waited for itself."""
    if has_daemon:
        stack.enter_context(serving(root))
    ann = stack.enter_context(commonhold.open(str(root), agent="ann", daemon=has_daemon))
    with ann.hold("a.py", wait_seconds=0.0), ann.hold("a.py#one", wait_seconds=0.0), ann.hold("a.py", wait_seconds=0.0):
        assert len(ann.leases()) == 3


@pytest.mark.parametrize("jump_seconds", [86_400.0 * 365, -86_400.0 * 365])
def test_28_a_clock_jump_expires_everything(root: Path, monkeypatch: pytest.MonkeyPatch, jump_seconds: float) -> None:
    """The wall clock was set (by NTP, by hand): all locks ended at once, or never."""
    with direct(root, "ann") as ann, direct(root, "bob") as bob:
        granted(ann, ttl_seconds=600.0)
        brief = granted(ann, "account:2", ttl_seconds=0.3)
        jumped = time.time() + jump_seconds
        monkeypatch.setattr(time, "time", lambda: jumped)
        assert bob.acquire(KEY).outcome == "denied"
        until(lambda: bob.acquire("account:2").outcome == "granted")
        assert ann.renew(brief.id).code is Refusal.LEASE_LOST


def test_29_failover_to_a_replica_that_lags(root: Path, new_redis: NewRedis) -> None:
    """The grant had not reached the replica that took over: two held the lock, with the same token."""
    primary = new_redis()
    replica = new_redis(follows=primary)

    def session(agent: str, url: str) -> Commonhold:
        return commonhold.open(str(root), agent=agent, store=url, namespace="work")

    with session("ann", primary.url) as ann:
        first = granted(ann, "account:0")
        with replica.client() as client_:
            until(lambda: any(client_.scan_iter()))
        replica.promote()  # nothing reaches it any more
        lost = granted(ann)
        primary.kill()
    with session("bob", replica.url) as bob, session("ann", replica.url) as late:
        newer = granted(bob)
        assert newer.fence > lost.fence > first.fence
        assert late.put(KEY, "late", expected_version=0, fence=lost.fence).code is Refusal.LEASE_LOST
        assert bob.put(KEY, "5", expected_version=0, fence=newer.fence).outcome == "stored"


def test_30_a_transaction_pooler_strands_a_session_lock(root: Path, database: "Database", pooler: "Pooler") -> None:
    """The lock belonged to a session of the server, which the pooler lent to others: nobody could free it any more."""
    url = pooler.url(database.name)

    def take_and_let_go(agent: str, pipe: Connection | None, rounds: int) -> int:
        with commonhold.open(str(root), agent=agent, store=url, namespace="work") as hold:
            for number in range(rounds):
                lease = granted(hold, f"account:{agent}", ttl_seconds=5.0)
                if pipe is not None and number == 3:
                    pipe.send("busy")
                hold.release(lease.id)
        return rounds

    def play(pipe: Connection) -> None:
        with suppress(Exception):  # it is killed in the middle of this
            take_and_let_go("ann", pipe, 10_000)

    with actor(play) as ann:
        ann.hear()
        assert at_once(*(partial(take_and_let_go, f"w{number}", None, 10) for number in range(4))) == [10] * 4
        ann.kill()
    with commonhold.open(str(root), agent="bob", store=url, namespace="work") as bob:
        assert bob.acquire("account:ann", wait_seconds=50.0).outcome == "granted"
    with psycopg.connect(database.url, autocommit=True) as connection:
        until(lambda: advisory_locks(connection) == 0)


def advisory_locks(connection: "psycopg.Connection[tuple[int]]") -> int:
    row = connection.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
    assert row is not None
    return row[0]


def test_31_a_three_hour_lease_vanishes_after_fifty_idle_minutes(
    root: Path, clockwork: Clockwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idle time of the server was shorter than the lease, and ended it."""
    ann, bob = clockwork.service("ann"), clockwork.service("bob")
    ann.acquire(KEY, ttl_seconds=3 * 3600.0)
    for minutes in (50, 60, 60):
        clockwork.clock.advance(minutes * 60.0)
        bob.sweep()
        assert bob.acquire(KEY).outcome == "denied"
    clockwork.clock.advance(10 * 60.0)
    assert bob.acquire(KEY).outcome == "granted"

    monkeypatch.chdir(root)
    with direct(root, "ann") as hold:
        lease = granted(hold, ttl_seconds=3 * 3600.0)
    with serving(root, idle_seconds=0.1) as daemon, daemon.session("ann") as hold:
        with pytest.raises(subprocess.TimeoutExpired):
            daemon.process.wait(1.5)
        assert [each.id for each in hold.leases()] == [lease.id]


@pytest.mark.parametrize("has_daemon", [False, True], ids=["direct", "daemon"])
def test_32_a_release_by_another_says_success(root: Path, stack: ExitStack, *, has_daemon: bool) -> None:
    """Whoever knew the name could release the lock, or was told that it had."""
    if has_daemon:
        stack.enter_context(serving(root))
    ann, bob = (
        stack.enter_context(commonhold.open(str(root), agent=name, daemon=has_daemon)) for name in ("ann", "bob")
    )
    lease = granted(ann)
    assert bob.release(lease.id).code is Refusal.NOT_HOLDER
    assert bob.renew(lease.id).code is Refusal.NOT_HOLDER
    assert bob.release("lease-never").code is Refusal.LEASE_LOST
    assert [each.id for each in bob.leases()] == [lease.id]
    assert ann.release(lease.id).outcome == "released"
    assert ann.release(lease.id).code is Refusal.LEASE_LOST


def test_33_two_servers_on_one_store_corrupt_it(root: Path, tmp_path: Path) -> None:
    """A second server was started on the same files, under another path, and both wrote from their own memory."""
    (tmp_path / "alias").symlink_to(root)
    with serving(root) as daemon, daemon.session("ann") as ann:
        granted(ann)
        for path in (root, tmp_path / "alias"):
            command = [sys.executable, "-m", "commonhold.server.daemon", str(path)]
            second = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
            assert (second.returncode, "serves this repository already" in second.stderr) == (0, True)
            with pytest.raises(StoreError) as caught, direct(path, "bob") as bob:
                bob.acquire(KEY)
            assert caught.value.code is Code.STORE_OWNED
        with commonhold.open(str(tmp_path / "alias"), agent="bob", daemon=True) as bob:
            assert bob.acquire(KEY).outcome == "denied"


def test_34_a_store_on_a_network_file_system_is_corrupted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's log and its locks need the memory of one machine; over a network they fail in silence."""
    mounts = f"22 1 0:21 / {root} rw - nfs4 server:/export rw\n"
    monkeypatch.setattr(file_systems, "read_mounts", lambda: mounts)
    file_systems.check_ground.cache_clear()
    try:
        with pytest.raises(StoreError) as caught, direct(root, "ann") as ann:
            ann.acquire(KEY)
    finally:
        file_systems.check_ground.cache_clear()
    assert caught.value.code is Code.STORE_UNSAFE
    assert not state(root).exists()


def hold_and_write(root: Path, ttl_seconds: float, pipe: Connection) -> None:
    """Hold, wait until told, then say whether it still holds, and what came of a write under the lease."""
    with direct(root, "ann") as ann, ann.hold(KEY, ttl_seconds=ttl_seconds) as lease:
        pipe.send(lease.fence)
        pipe.recv()
        is_lost = lease.is_lost
        written = ann.put(KEY, "ann's", expected_version=0, fence=lease.fence)
        pipe.send((is_lost, written.outcome))


def is_free(gate: Path) -> bool:
    """Whether nobody is inside."""
    with gate.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize("is_changed", [False, True], ids=["same fence", "changed"])
def test_35_after_a_suspension_the_holder_goes_on_where_it_must_not(root: Path, *, is_changed: bool) -> None:
    """The machine slept; the holder woke, did not know how long, and wrote on. The same fence: go on. Changed: stop."""
    ttl_seconds = 1.0 if is_changed else 600.0
    with actor(lambda pipe: hold_and_write(root, ttl_seconds, pipe)) as ann, direct(root, "bob") as bob:
        fence = ann.hear()
        ann.suspend()
        while not is_free(state(root) / "gate"):  # in there it would keep all others out
            ann.resume()
            ann.suspend()
        if is_changed:
            newer = bob.acquire(KEY, wait_seconds=50.0).lease
            assert newer is not None
            assert newer.fence > fence
        ann.tell()
        ann.resume()
        assert ann.hear() == ((True, "refused") if is_changed else (False, "stored"))


def test_35_the_holders_clock_goes_on_while_the_machine_sleeps(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still in the meantime would tell it that no time has passed."""
    with direct(root, "ann") as ann, ann.hold(KEY, ttl_seconds=600.0) as lease:
        lease.check()
        monkeypatch.setattr(sessions, "ticks", lambda: time.clock_gettime(time.CLOCK_BOOTTIME) + 599.0)
        assert lease.is_lost
        monkeypatch.undo()
        assert abs(sessions.ticks() - time.clock_gettime(time.CLOCK_BOOTTIME)) < 60.0


def test_the_line_of_real_processes_moves_on(root: Path) -> None:
    """26 once more with processes of their own: of three in line the first two are killed."""
    with serving(root) as daemon, daemon.session("ann") as ann, ExitStack() as stack:
        lease = granted(ann)
        line = [stack.enter_context(client(root, "stand", name, KEY, 60)) for name in ("bob", "cid", "dan")]
        for number, each in enumerate(line, 1):
            each.begin()
            until(lambda: len(ann.status().waiters) == number)  # noqa: B023 - asked at once
        line[0].kill()
        line[1].kill()
        ann.release(lease.id)
        assert line[2].hear()["outcome"] == "granted"
