"""A session behaves the same whichever way it reaches the service: in its process, over the socket, over HTTP."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.served import served
from tests.patience import PATIENCE_SECONDS

import commonhold
from commonhold import Changeset, Code, Commonhold, CommonholdError, Edit, LeaseRef, Mode, Op, Refusal, Task, TaskAction
from commonhold.kernel.scopes import Scope

pytestmark = pytest.mark.slow

Open = Callable[[str | None], Commonhold]
ONE: Final = "a.py#one"


@pytest.fixture(params=["direct", "daemon", "http"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open sessions in a repository, which are closed with the test."""
    root = make_repository(tmp_path / "work")
    with ExitStack() as stack:
        if request.param == "direct":
            opened: Open = lambda agent: commonhold.open(str(root), agent=agent, daemon=False)  # noqa: E731
        else:
            server = stack.enter_context(served(root))
            over_socket: Open = lambda agent: server.session(agent, daemon=True)  # type: ignore[arg-type]  # noqa: E731
            over_http: Open = lambda agent: server.connect(agent, Scope.ADMIN)  # noqa: E731
            opened = over_socket if request.param == "daemon" else over_http
        yield lambda agent: stack.enter_context(opened(agent))


@pytest.fixture
def ann(way: Open) -> Commonhold:
    return way("ann")


@pytest.fixture
def ben(way: Open) -> Commonhold:
    return way("ben")


def edit(session: Commonhold, key: str, text: str, **more: Any) -> Changeset:
    (region,) = session.read(key)
    return Changeset(intent="change it", edits=(Edit(Op.REPLACE, key, region.hash, text=text),), **more)


def test_it_knows_its_place(ann: Commonhold, way: Open) -> None:
    assert Path(ann.root, "a.py").exists()
    assert ann.holder == "ann"
    with pytest.raises(CommonholdError) as fault:
        _ = way(None).holder
    assert fault.value.code is Code.HOLDER_MISSING


def test_files_are_read_as_they_are(ann: Commonhold) -> None:
    source = Path(ann.root, "a.py").read_bytes()
    found = ann.regions("a.py")
    assert (found.source, found.path, found.language) == (source, "a.py", "python")
    assert [str(each.key) for each in found.regions] == [each.key for each in ann.list_regions("a.py").regions]
    (text,) = ann.read(ONE)
    assert text.text == "def one():\n    return os.sep\n"
    assert ann.last_read(ONE)[0].hash == text.hash == ann.key_version(ONE).hash
    assert ann.content(text.hash) == (text.text or "").encode()


def test_two_sessions_collide_on_a_region_and_the_waiter_gets_it(ann: Commonhold, ben: Commonhold) -> None:
    with ann.hold(ONE, task="change it") as held:
        denied = ben.acquire(ONE)
        assert (denied.outcome, denied.code) == ("denied", Refusal.LOCK_CONFLICT)
        assert [(each.holder, each.task) for each in denied.conflicts] == [("ann", "change it")]
        queued = ben.acquire(ONE, patience_seconds=60.0)
        assert (queued.outcome, queued.position) == ("queued", 1)
        answer = ann.commit(edit(ann, ONE, "def one():\n    return 1\n", leases=(LeaseRef(held.id, held.fence),)))
        assert answer.outcome == "committed", answer.why
    granted = ben.acquire(ONE, ticket=queued.ticket, wait_seconds=PATIENCE_SECONDS)
    assert granted.outcome == "granted"
    assert [each.holder for each in granted.changed] == ["ann"]
    assert [each.holder for each in ben.leases()] == ["ben"]
    assert granted.lease is not None
    assert ben.release(granted.lease.id).outcome == "released"
    assert ben.release(granted.lease.id).code is Refusal.LEASE_LOST


def test_a_commit_on_an_old_base_is_refused_with_what_it_needs(ann: Commonhold, ben: Commonhold) -> None:
    mine, theirs = edit(ann, ONE, "def one():\n    return 1\n"), edit(ben, ONE, "def one():\n    return 2\n")
    assert ann.commit(mine, dry_run=True).is_dry_run
    assert ann.commit(mine).outcome == "committed"
    refused = ben.commit(theirs)
    assert (refused.outcome, refused.code) == ("refused", Refusal.REGION_CHANGED)
    (repair,) = refused.repair.regions
    assert (repair.text, repair.changed_by) == ("def one():\n    return 1\n", "ann")
    assert refused.repair.unmerged[0].obstacles


def test_a_request_id_makes_a_repetition_harmless(ann: Commonhold) -> None:
    change = edit(ann, ONE, "def one():\n    return 1\n", request_id="r1")
    answers = [ann.commit(change) for _ in range(2)]
    assert len({each.sequence for each in answers}) == 1
    puts = [ann.put("x:1", "v", expected_version=0, request_id="r2") for _ in range(2)]
    assert [each.value.version for each in puts if each.value] == [puts[0].value.version if puts[0].value else 0] * 2


def test_values_are_compared_and_swapped(ann: Commonhold, ben: Commonhold) -> None:
    assert ann.get("x:a/b c%").version == 0
    stored = ann.put("x:a/b c%", "über\n", expected_version=0)
    assert stored.value is not None
    assert ben.get("x:a/b c%") == stored.value
    late = ben.put("x:a/b c%", "z", expected_version=0)
    assert (late.code, late.current) == (Refusal.VERSION_CHANGED, (stored.value,))


def test_tasks_are_claimed_once(ann: Commonhold, ben: Commonhold) -> None:
    added = ann.add_tasks(Task(id="price", title="a task", keys=(ONE,)))
    assert added.outcome == "added"
    claimed = ann.claim_task()
    assert claimed.outcome == "claimed"
    assert claimed.lease is not None
    assert ben.claim_task("price").code is Refusal.TASK_TAKEN
    ended = ann.change_task("price", TaskAction.UNCHANGED, fence=claimed.lease.fence, note="it was done")
    assert ended.outcome == "changed", ended.why
    assert [each.record.task.id for each in ben.tasks(all_states=True).tasks] == ["price"]


def test_the_log_is_the_same_for_all(ann: Commonhold, ben: Commonhold) -> None:
    lease = ann.acquire(ONE, mode=Mode.SHARED).lease
    assert lease is not None
    ann.commit(edit(ann, "a.py#two", "def two(value):\n    return value\n"))
    events = ben.log(after=0)
    assert events == ann.log(after=0)
    assert [each.sequence for each in events] == list(range(1, len(events) + 1))
    assert ben.log(after=events[-1].sequence) == ()
    assert ben.log(lease_id=lease.id) == events[:1]
    assert ben.commits_on("a.py") == events[1:]
    assert [each.sequence for each in ben.status().changes] == [events[-1].sequence]


def test_hooks_calls_work_too(ann: Commonhold, ben: Commonhold) -> None:
    ann.start_session("")
    ann.set_intent("tidy up")
    assert ann.intent() == "tidy up"
    assert [each.intent for each in ben.briefing().others] == ["tidy up"]
    ann.store_contents([b"\x00bytes"])
    ben.read(ONE)
    before = {"a.py": None}
    assert ann.record_external_writes(before).outcome in ("nothing", "recorded", "unadmitted")
    ann.send(["ben"], "hello")
    assert "hello" in ben.news()[-1].text
    assert ann.is_at_work("ann")
    assert ann.end_session().outcome == "nothing"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda hold: hold.read("none.py"), Code.FILE_NOT_FOUND),
        (lambda hold: hold.read("../outside.py"), Code.PATH_OUTSIDE),
        (lambda hold: hold.read("a.py#nothing"), Code.REGION_UNKNOWN),
        (lambda hold: hold.acquire("a.py", ttl_seconds=-1.0), Code.TTL_INVALID),
        (lambda hold: hold.acquire("x:"), Code.KEY_INVALID),
        (lambda hold: hold.content("0" * 64), Code.CONTENT_UNKNOWN),
        (lambda hold: hold.tasks("none"), Code.TASK_UNKNOWN),
        (lambda hold: hold.put("x:1", "\udc80", expected_version=0), Code.TEXT_INVALID),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_errors_have_the_same_class_code_and_fields(
    way: Open, call: Callable[[Commonhold], object], code: Code, tmp_path: Path
) -> None:
    faults = []
    plain = make_repository(tmp_path / "plain")
    for session in (way("ann"), commonhold.open(str(plain), agent="ann", daemon=False)):
        with pytest.raises(CommonholdError) as fault:
            call(session)
        faults.append(fault.value)
        session.close()
    found, expected = faults
    assert found.code is code
    assert (type(found), found.code, found.retryable) == (type(expected), expected.code, expected.retryable)


def test_the_awaiting_session_behaves_like_the_blocking_one(tmp_path: Path) -> None:
    async def collide(url: str, tokens: list[str]) -> tuple[str, str]:
        ann = await commonhold.connect_async(url, token=tokens[0], agent="ann")
        ben = await commonhold.connect_async(url, token=tokens[1], agent="ben")
        async with ann, ben:
            async with ann.hold(ONE):
                waiting = asyncio.create_task(ben.acquire(ONE, wait_seconds=PATIENCE_SECONDS))
                while not (await ann.status()).waiters:  # noqa: ASYNC110 - the server has no event for us
                    await asyncio.sleep(0.01)
                denied = (await ben.acquire(ONE)).outcome
            return denied, (await waiting).outcome

    with served(make_repository(tmp_path / "work")) as server:
        assert asyncio.run(collide(server.url, [server.token(), server.token()])) == ("denied", "granted")
