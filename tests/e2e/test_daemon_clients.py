"""All sorts of clients: many, slow, dying, forked, talking nonsense. The daemon serves the others all the same."""

import os
import random
import resource
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.e2e.cli_driver import snapshot
from tests.e2e.daemon_process import Raw, Serving, client, serving
from tests.patience import PATIENCE_SECONDS, until

import commonhold
from commonhold import Changeset, Code, Commonhold, CommonholdError, Edit, Op
from commonhold.api.wire import calls

pytestmark = pytest.mark.slow


def is_well(daemon: Serving) -> bool:
    """Whether it still serves."""
    with daemon.session("well") as hold:
        answer = hold.acquire("account:well")
        return answer.lease is not None and hold.release(answer.lease.id).outcome == "released"


NONSENSE = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100,
    "ones": b"\xff" * 1000,
    "a huge length": struct.pack(">I", calls.MAX_FRAME_BYTES + 1),
    "a broken list": struct.pack(">I", 5) + b"\x93\x00\xa5hel",
    "deep nesting": struct.pack(">I", 100_000) + b"\x91" * 100_000,
    "an empty frame": struct.pack(">I", 0),
    "no UTF-8": struct.pack(">I", 4) + b"\x93\x00\xa1\xff",
}


@pytest.mark.parametrize("is_introduced", [False, True], ids=["unknown", "known"])
def test_who_talks_nonsense_is_hung_up_on(root: Path, *, is_introduced: bool) -> None:
    with serving(root) as daemon:
        for data in NONSENSE.values():
            with Raw(daemon.address) as raw:
                if is_introduced:
                    raw.introduce(str(root), "ann")
                raw.socket.sendall(data)
                raw.socket.shutdown(socket.SHUT_WR)
                assert raw.is_hung_up()
            assert is_well(daemon)


def test_chance_does_not_end_it(root: Path) -> None:
    chance = random.Random(11)
    hello = calls.encode_hello(calls.Hello(calls.PROTOCOL, commonhold.__version__, str(root), "ann", 0o022))
    whole = [calls.encode_request(1, name, ("a:1", "x"), {"fence": 3}) for name in ("put", "acquire", "renew")]
    with serving(root) as daemon:
        for _ in range(300):
            data = bytearray(chance.choice(whole))
            for _ in range(chance.randrange(1, 5)):
                data[chance.randrange(4, len(data))] = chance.randrange(256)
            with Raw(daemon.address) as raw:
                raw.socket.sendall((hello if chance.randrange(2) else b"") + data)
        assert is_well(daemon)


def test_a_call_that_does_not_exist_is_an_answer(root: Path) -> None:
    with serving(root) as daemon, Raw(daemon.address) as raw:
        raw.introduce(str(root), "ann")
        for number, (name, named) in enumerate([("show", {"more": 1}), ("release", {}), ("get", {"key": 3})], 1):
            raw.socket.sendall(calls.encode_request(number, name, (), named))
            reply = raw.hear()
            assert (reply.number, reply.kind) == (number, "error")
            assert calls.decode_fault(reply.body).code is Code.USAGE
        raw.ask(9, "leases")
        assert raw.hear().kind == "answer"


def test_half_a_request_keeps_nobody_waiting(root: Path) -> None:
    with serving(root) as daemon, Raw(daemon.address) as raw:
        raw.introduce(str(root), "ann")
        frame = calls.encode_request(1, "acquire", ("account:1",), {"task": "x" * 1000})
        for start in range(0, len(frame), 100):
            raw.socket.sendall(frame[start : start + 100])
            assert is_well(daemon)
        assert raw.hear().kind == "answer"


def test_who_does_not_read_what_it_is_sent_keeps_nobody_waiting(root: Path) -> None:
    """Of one that does not take its answers no more questions are taken; in the end it gets them all."""
    with serving(root) as daemon, Raw(daemon.address) as raw:
        raw.introduce(str(root), "ann")
        for number in range(20):
            raw.ask(number + 1, "put", f"account:{number}", "x" * 60_000, expected_version=0)
            raw.hear()
        raw.socket.settimeout(0.5)
        asked = as_many_as_it_takes(raw)
        assert is_well(daemon)
        raw.socket.settimeout(60)
        assert [raw.hear().number for _ in range(asked)] == [99] * asked
    with daemon.session() as hold:
        assert hold.leases() == ()


def as_many_as_it_takes(raw: Raw) -> int:
    """Ask until no question is taken any more; how many were."""
    question = calls.encode_request(99, "log", (), {"after": 0, "limit": 1000})
    for number in range(100_000):
        try:
            raw.socket.sendall(question)
        except TimeoutError:
            return number
    raise AssertionError("all questions were taken, and no answer")


def test_300_that_are_idle_cost_nothing(root: Path) -> None:
    with serving(root) as daemon, ExitStack() as stack:
        for number in range(300):
            raw = stack.enter_context(Raw(daemon.address))
            if number % 2:
                raw.introduce(str(root), f"agent-{number}")
        assert is_well(daemon)


def test_it_takes_all_the_files_that_it_may_have_open(root: Path) -> None:
    """The limit that it is started with is for programs that know no better."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = 64 + max(int(path.name) for path in Path("/dev/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (low, hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        daemon = stack.enter_context(serving(root))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(low + 100):
            stack.enter_context(Raw(daemon.address))
        assert is_well(daemon)


def test_without_descriptors_it_says_so_and_goes_on_once_there_are_some(root: Path) -> None:
    """What fails for that is told as it is, may be repeated, and nothing that was found out then is remembered."""
    (root / "commonhold.toml").write_text("ttl_seconds = 50.0\n")
    (root / "old.py").write_text("x = 1\n")
    # Work in the background would complain for itself that there are none.
    with serving(root, index_after_seconds=PATIENCE_SECONDS * 10) as daemon, daemon.session("ann") as hold:
        assert hold.read("old.py")
        opened = len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))
        soft, hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (opened + 8, hard))
        faults: list[CommonholdError] = []
        with ExitStack() as stack:
            while not faults:
                (root / "commonhold.toml").touch()  # it is read again, and that takes a descriptor
                raw = stack.enter_context(Raw(daemon.address))
                reply = raw.introduce(str(root), f"agent-{len(faults)}")
                faults += [calls.decode_fault(reply.body)] if reply.kind == "error" else []
            for path in ("new.py", "newer.py"):
                with pytest.raises(CommonholdError) as caught:
                    hold.commit(Changeset((Edit(Op.CREATE_FILE, path, text="x = 1\n"),)))
                faults.append(caught.value)
        assert {fault.code for fault in faults} == {Code.STORE_BUSY}
        assert all(fault.retryable for fault in faults)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (soft, hard))
        assert is_well(daemon)
        assert hold.commit(Changeset((Edit(Op.CREATE_FILE, "new.py", text="x = 1\n"),))).outcome == "committed"


def test_large_contents_come_through(root: Path) -> None:
    text = "".join(f"# {number:0100}\n" for number in range(50_000))
    (root / "large.txt").write_text(text)
    with serving(root) as daemon, daemon.session() as hold:
        (read,) = hold.read("large.txt")
        assert read.text == text
        edit = Edit(Op.REPLACE, read.key, read.hash, text + "end\n")
        assert hold.commit(Changeset((edit,))).outcome == "committed"
        assert (root / "large.txt").read_text().endswith("end\n")
        assert hold.content(read.hash) == text.encode()


@contextmanager
def ending_here() -> Iterator[None]:
    """A forked child ends with the block, whatever happens in it: else it would go on with the tests of its parent."""
    status = 1
    try:
        yield
        status = 0
    finally:
        os._exit(status)


def test_a_forked_child_is_a_client_of_its_own_and_takes_nothing_from_its_parent(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        with hold.hold("account:1") as lease:
            pid = os.fork()
            if pid == 0:
                with ending_here():
                    assert hold.acquire("account:2").outcome == "granted"
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            assert {each.keys for each in hold.leases()} == {("account:1",), ("account:2",)}
            lease.check()
        assert [each.keys for each in hold.leases()] == [("account:2",)]


def test_a_child_that_leaves_the_block_does_not_release_its_parents_lease(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        with ExitStack() as stack, hold.hold("account:1"):
            pid = os.fork()
            if pid == 0:
                stack.enter_context(ending_here())
            else:
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
                assert len(hold.leases()) == 1
        assert hold.leases() == ()


def test_files_that_are_made_have_the_modes_that_the_client_gives(root: Path) -> None:
    before = os.umask(0o027)
    try:
        with serving(root) as daemon:
            os.umask(0o022)
            with daemon.session() as hold:
                edits = (Edit(Op.CREATE_FILE, "new/b.py", text="x = 1\n"),)
                assert hold.commit(Changeset(edits)).outcome == "committed"
    finally:
        os.umask(before)
    assert (root / "new/b.py").stat().st_mode & 0o777 == 0o644


def test_a_commit_is_made_in_the_clients_working_tree(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        before = snapshot(root)
        (read,) = hold.read("a.py#one")
        lease = hold.acquire("a.py#one", task="shorten").lease
        assert lease is not None
        changeset = Changeset(
            (Edit(Op.REPLACE, read.key, read.hash, "def one():\n    return 1\n"),),
            leases=(commonhold.LeaseRef(lease.id, lease.fence),),
        )
        assert hold.commit(changeset, dry_run=True).is_dry_run
        assert snapshot(root) == before
        assert hold.commit(changeset).outcome == "committed"
        assert "return 1\n" in (root / "a.py").read_text()


def test_two_commits_at_once_are_both_there(root: Path) -> None:
    with serving(root) as daemon, ExitStack() as stack:
        clients = [
            stack.enter_context(client(root, "commit", agent, name)) for agent, name in [("ann", "one"), ("bob", "two")]
        ]
        for each in clients:
            each.begin()
        assert [each.hear() for each in clients] == [{"outcome": "committed", "why": ""}] * 2
        assert daemon.process.poll() is None
    text = (root / "a.py").read_text()
    assert "return 'ann'" in text
    assert "return 'bob'" in text


ERRORS: dict[str, Callable[[Commonhold], object]] = {
    "a time to live": lambda hold: hold.acquire("account:1", ttl_seconds=-1.0),
    "no keys": lambda hold: hold.acquire(),
    "a file that is not there": lambda hold: hold.read("nothing.py"),
    "a region that is not there": lambda hold: hold.read("a.py#nothing"),
    "a path outside": lambda hold: hold.acquire("../elsewhere.py"),
    "a value of a file": lambda hold: hold.get("a.py"),
    "an unknown content": lambda hold: hold.content("00"),
    "no edits": lambda hold: hold.commit(Changeset((Edit(Op.REPLACE, "a.py#one"),))),
    "a request id": lambda hold: (
        hold.put("account:1", "1", expected_version=0, request_id="r1"),
        hold.put("account:1", "2", expected_version=0, request_id="r1"),
    ),
}


def parts(hold: Commonhold, call: Callable[[Commonhold], object]) -> tuple[object, ...]:
    with pytest.raises(CommonholdError) as caught:
        call(hold)
    fault = caught.value
    return type(fault), fault.code, fault.message, fault.hint, fault.retry_after_seconds, fault.fields


def test_an_error_is_the_same_as_without_a_daemon(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        through = {name: parts(hold, call) for name, call in ERRORS.items()}
    with commonhold.open(str(root), agent="ann", daemon=False) as hold:
        assert {name: parts(hold, call) for name, call in ERRORS.items()} == through


def test_an_error_of_the_store_comes_through(root: Path) -> None:
    """Git is in the middle of something: nobody else may write."""
    with serving(root) as daemon, daemon.session() as hold:
        (root / ".git/index.lock").touch()
        (root / ".git/MERGE_HEAD").touch()
        (root / ".git/rebase-merge").mkdir()
        (read,) = hold.read("a.py#one")
        edit = Edit(Op.REPLACE, read.key, read.hash, "def one():\n    return 1\n")
        with pytest.raises(commonhold.StoreError) as caught:
            hold.commit(Changeset((edit,)))
        assert caught.value.code is Code.REPOSITORY_BUSY
        assert caught.value.retryable
        assert caught.value.hint


def test_a_session_without_an_agent_can_ask_and_not_act(root: Path) -> None:
    with serving(root) as daemon, commonhold.open(str(root), daemon=True) as hold:
        assert hold.status().leases == ()
        with pytest.raises(CommonholdError) as caught:
            hold.acquire("account:1")
        assert caught.value.code is Code.HOLDER_MISSING
        assert daemon.process.poll() is None


def test_who_goes_over_to_the_socket_is_not_kept_waiting_at_the_gate(root: Path) -> None:
    """Clients that write without a daemon go on while it begins, and over to it; nothing is lost between."""
    with ExitStack() as stack:
        writers = [stack.enter_context(client(root, "direct", f"w{number}", f"count:{number}")) for number in range(3)]
        for each in writers:
            each.hear()
        daemon = stack.enter_context(serving(root))
        with daemon.session() as hold:
            before = [hold.get(f"count:{number}").version for number in range(3)]
            until(lambda: all(hold.get(f"count:{number}").version > before[number] for number in range(3)))
            for number in range(3):
                (root / f"stop-w{number}").touch()
            done = [each.hear()["done"] for each in writers]
            texts = [hold.get(f"count:{number}").text for number in range(3)]
        assert texts == [str(count - 1) for count in done]
