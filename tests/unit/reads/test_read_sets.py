"""What no story can stage about read sets: races, states that cannot be written, what is written and what is not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.kernel.answers import CommitAnswer, RegionHash
from commonhold.kernel.changeset import Changeset, Edit, Op, Read
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.options import Options
from commonhold.kernel.refusals import Refusal
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

F = "def f(x):\n    return x\n"
F_WITH_Y = "def f(x, y=0):\n    return x + y\n"
G = "def g():\n    return 1\n"
G_CALLS_F = "def g():\n    return f(1)\n"


class CountingStore(SqliteStore):
    """Counts what is written, and cannot write while it is `broken`."""

    writes = 0
    broken: Code | None = None

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        if self.broken is not None:
            raise StoreError(self.broken, "it cannot be written", hint="mend it")
        self.writes += 1
        with super()._writing() as session:
            yield session


@dataclass
class House:
    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    stores: dict[str | None, CountingStore] = field(default_factory=dict)

    def service(self, agent: str | None) -> Service:
        self.stores[agent] = CountingStore(str(self.folder / "state"), synchronous="OFF")
        return Service(
            store=self.stores[agent],
            files=WorkingTree(str(self.folder / "root")),
            clock=self.clock,
            ids=self.ids,
            agent=agent,
            options=Options(retention_seconds=100.0),
        )

    def close(self) -> None:
        for store in self.stores.values():
            store.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.py").write_text(f"{F}\n\n{G}")
    house = House(tmp_path)
    yield house
    house.close()


def changed(service: Service, key: str, text: str, **more: Any) -> CommitAnswer:
    """Write a region, from what is there, without having it read for that."""
    (base,) = [region.hash for region in service.regions("a.py").regions if str(region.key) == f"file:{key}"]
    return service.commit(Changeset((Edit(Op.REPLACE, key, base, text),), "mend it", **more))


def test_what_is_known_is_not_written_again(house: House) -> None:
    one, store = house.service("one"), house.stores
    one.read("a.py#f", "a.py#g")
    count = store["one"].writes
    one.read("a.py#f")
    one.record_read("a.py#g")
    one.news()
    assert store["one"].writes == count
    one.read("a.py")
    assert store["one"].writes == count + 1


def test_what_a_session_has_seen_is_what_it_read_or_wrote_last(house: House) -> None:
    one, two, nobody = house.service("one"), house.service("two"), house.service(None)
    assert one.last_read("a.py", "a.py#f") == (RegionHash("file:a.py", None), RegionHash("file:a.py#f", None))
    (was,) = one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    assert one.last_read("a.py#f")[0].hash == was.hash, "what another made of it, it has not seen"
    one.read("a.py#f")
    assert one.last_read("a.py#f") == two.last_read("a.py#f")
    assert nobody.last_read("a.py#f")[0].hash is None


def test_who_has_no_name_reads_and_is_told_nothing(house: House) -> None:
    nobody, two = house.service(None), house.service("two")
    nobody.read("a.py")
    changed(two, "a.py#f", F_WITH_Y)
    assert nobody.news() == ()


@pytest.mark.parametrize("code", [Code.STORE_READ_ONLY, Code.DISK_FULL, Code.STORE_OWNED])
def test_where_nothing_can_be_written_reading_and_telling_go_on(house: House, code: Code) -> None:
    one, two = house.service("one"), house.service("two")
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    house.stores["one"].broken = code
    (news,) = one.news()
    assert news.is_contract
    assert one.news() == (news,), "that it was told could not be kept"
    assert one.read("a.py#g")[0].text == G
    assert one.record_read("a.py#g")[0].key == "file:a.py#g"
    house.stores["one"].broken = None
    assert one.news() == (news,)
    assert one.news() == ()


def test_other_failures_of_the_state_are_not_passed_over(house: House) -> None:
    one = house.service("one")
    one.leases()
    house.stores["one"].broken = Code.STORE_CORRUPT
    with pytest.raises(StoreError):
        one.read("a.py#f")


def test_a_commit_between_the_look_and_its_record_is_not_missed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = house.service("one"), house.service("two")
    look = one._uses.reading.glances

    def slowly() -> Any:
        glances = look()
        assert glances["a.py"] is not None
        changed(two, "a.py#f", F_WITH_Y)
        return glances

    monkeypatch.setattr(one._uses.reading, "glances", slowly)
    assert one.read("a.py#f")[0].text == F
    monkeypatch.undo()
    assert [each.key for each in one.news()] == ["file:a.py#f"]
    assert changed(one, "a.py#g", G_CALLS_F).code is Refusal.CONTRACT_CHANGED


def test_whoever_saw_what_a_commit_made_of_it_was_not_overtaken_by_that(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = house.service("one"), house.service("two")
    newest = one._uses.read_set.newest

    def first() -> int:
        known = newest()
        changed(two, "a.py#f", F_WITH_Y)
        return known

    monkeypatch.setattr(one._uses.read_set, "newest", first)
    assert one.read("a.py#f")[0].text == F_WITH_Y
    monkeypatch.undo()
    assert one.news() == ()
    assert changed(one, "a.py#g", G_CALLS_F).outcome == "committed"


def test_what_was_put_back_need_not_be_read_again(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    changed(two, "a.py#f", F)
    assert changed(one, "a.py#g", G_CALLS_F).outcome == "committed"


def test_the_beginning_of_a_hash_proves_that_it_was_read(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    refused = changed(one, "a.py#g", G_CALLS_F)
    assert refused.next is not None
    proofs: Any = refused.next.arguments["reads"]
    (proof,) = proofs
    short = Read(str(proof["key"]), str(proof["hash"])[:16])
    assert changed(one, "a.py#g", G_CALLS_F, reads=(short,)).outcome == "committed"
    assert changed(one, "a.py#g", G_CALLS_F.replace("1", "2")).outcome == "committed", "it was read, from then on"


def test_a_dry_run_says_the_same_and_changes_nothing(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    (base,) = one.read("a.py#g")
    use = Changeset((Edit(Op.REPLACE, "a.py#g", base.hash, G_CALLS_F),))
    assert one.commit(use, dry_run=True).code is Refusal.CONTRACT_CHANGED
    one.read("a.py#f")
    assert one.commit(use, dry_run=True).outcome == "committed"
    assert two.news() == ()


def test_the_first_answer_to_a_commit_is_repeated_and_tells_what_is_new(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    (base,) = one.read("a.py#g")
    use = Changeset((Edit(Op.REPLACE, "a.py#g", base.hash, G_CALLS_F),), "use it", "r1")
    first = one.commit(use)
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    again = one.commit(use)
    assert (again.outcome, again.sequence, first.notices) == ("committed", first.sequence, ())
    assert len(again.notices) == 1
    assert one.commit(use) == first


def test_what_was_read_is_forgotten_with_its_bytes(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    one.read("a.py#f")
    house.clock.advance(60.0)
    two.read("a.py#g")
    house.clock.advance(60.0)
    one.apply_retention()
    changed(one, "a.py#g", "def g():\n    return 3\n")
    assert len(two.news()) == 1
    changed(two, "a.py#f", F_WITH_Y)
    assert one.news() == ()
    changed(one, "a.py#g", "def g():\n    return 4\n")
    house.clock.advance(120.0)
    one.apply_retention()
    assert two.news() == ()


def test_many_changes_are_told_in_few_words(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    names = [f"f{number}" for number in range(25)]
    text = "\n\n".join(f"def {name}(x):\n    return x\n" for name in names)
    two.commit(Changeset((Edit(Op.CREATE_FILE, "b.py", text=text),)))
    one.read("b.py")
    base = one.record_read("b.py")[0].hash
    other = text.replace("(x)", "(x, y=0)")
    two.commit(Changeset((Edit(Op.REPLACE, "b.py", base, other),), "widen all"))
    news = one.news()
    assert len(news) == 21
    assert all(each.is_contract for each in news)
    assert news[-1].text.endswith("were changed by two (widen all): their contracts changed")


def test_a_long_difference_is_not_in_the_notice(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    one.read("a.py#f")
    changed(two, "a.py#f", "def f(x, y=0):\n" + "    x += y\n" * 60 + "    return x\n")
    (news,) = one.news()
    assert news.diff is not None
    assert news.notice == news.text
    assert "the parameters of `f` changed from (x) to (x, y=0)" in news.text


def test_bytes_that_are_no_text_are_told_without_a_difference(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    two.commit(Changeset((Edit(Op.CREATE_FILE, "logo.png", data=b"\0\1"),)))
    one.read("logo.png")
    base = two.read("logo.png")[0].hash
    two.commit(Changeset((Edit(Op.REPLACE, "logo.png", base, data=b"\0\2"),), "another"))
    (news,) = one.news()
    assert (news.key, news.diff, news.is_contract) == ("file:logo.png", None, False)


@pytest.mark.parametrize(
    ("keys", "code"),
    [(("b.py",), Code.FILE_NOT_FOUND), (("a.py#h",), Code.REGION_UNKNOWN), (("account:1",), Code.NOT_A_FILE)],
)
def test_only_what_is_there_can_have_been_seen(house: House, keys: tuple[str, ...], code: Code) -> None:
    with pytest.raises(InputError) as caught:
        house.service("one").record_read(*keys)
    assert caught.value.code is code


CALLERS: list[tuple[str, str, bool]] = [
    ("from a import f\n", "f(1)", True),
    ("from a import f as other\n", "other(1)", True),
    ("import a\n", "a.f(1)", True),
    ("from . import a\n", "a.f(1)", True),
    ("from elsewhere import f\n", "f(1)", False),
    ("import os\n", "os.f(1)", False),
    ("def f(x):\n    return x\n\n\n", "f(1)", False),
    ("from a import C\n", "C().m(1)", True),
    ("from a import C\n", "C(1)", True),
    ("from a import C\n\n\nclass D(C):\n    pass\n\n\n", "D(1)", True),
    ("from a import C\n\n\nclass D(C):\n    def __init__(self):\n        pass\n\n\n", "D()", False),
    ("from a import C\n", "C", True),
    ("from a import C\n\n\nclass D(C):\n    pass\n\n\n", "D().m(1)", True),
    ("import json\n", "json.loads('1').m(1)", False),
    ("from a import C\n", "[].append(1)", False),
]


@pytest.mark.parametrize(("head", "use", "is_meant"), CALLERS)
def test_a_use_counts_where_it_may_mean_what_changed(house: House, head: str, use: str, *, is_meant: bool) -> None:
    one, two = house.service("one"), house.service("two")
    cls = "class C:\n    def __init__(self, a=0):\n        pass\n\n    def m(self, x):\n        return x\n"
    two.commit(
        Changeset(
            (
                Edit(Op.INSERT, "a.py#C", text=cls),
                Edit(Op.CREATE_FILE, "use.py", text=f"{head}def h():\n    return 1\n"),
            )
        )
    )
    one.read("a.py")
    base = two.read("a.py")[0]
    wider = (base.text or "").replace("x):", "x, y=0):").replace("a=0", "a=0, b=0")
    assert two.commit(Changeset((Edit(Op.REPLACE, "a.py", base.hash, wider),))).outcome == "committed"
    (own,) = one.read("use.py#h")
    answer = one.commit(Changeset((Edit(Op.REPLACE, "use.py#h", own.hash, f"def h():\n    return {use}\n"),)))
    assert (answer.code is Refusal.CONTRACT_CHANGED) is is_meant, answer.why


Say = Callable[[Service], object]


@pytest.mark.parametrize(
    "say",
    [
        lambda hold: hold.acquire("account:1").notices,
        lambda hold: hold.acquire("account:7").notices,
        lambda hold: hold.renew("lease-none").notices,
        lambda hold: hold.release("lease-none").notices,
        lambda hold: hold.ask("lease-none", why="please").notices,
        lambda hold: hold.hand_over("lease-none", to="three").notices,
        lambda hold: hold.break_lease("lease-none", reason="gone").notices,
        lambda hold: changed(hold, "a.py#g", G_CALLS_F.replace("f(1)", "2")).notices,
        lambda hold: [each.notice for each in hold.news()],
    ],
    ids=["grant", "denial", "renew", "release", "ask", "hand over", "break", "commit", "news"],
)
def test_the_next_answer_tells_it_and_the_one_after_does_not(house: House, say: Say) -> None:
    one, two = house.service("one"), house.service("two")
    two.acquire("account:7")
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    assert len(list(say(one))) == 1  # type: ignore[call-overload]
    assert one.news() == ()


def test_who_stands_in_line_is_told_with_the_grant(house: House) -> None:
    one, two = house.service("one"), house.service("two")
    lease = two.acquire("account:1").lease
    one.read("a.py#f")
    changed(two, "a.py#f", F_WITH_Y)
    queued = one.acquire("account:1", patience_seconds=60.0)
    assert (queued.outcome, queued.notices) == ("queued", ())
    assert lease is not None
    two.release(lease.id)
    granted = one.acquire("account:1", patience_seconds=60.0, ticket=queued.ticket)
    assert granted.outcome == "granted"
    assert len(granted.notices) == 1
