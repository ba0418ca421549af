"""Debts that are settled because nothing is left of what made them owed, and such as somebody waives."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.own_tools import Workshop
from tests.scenarios.stage import Stage

from commonhold.api.service import Service
from commonhold.commits import obligations
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.events import Committed, DebtWaived
from commonhold.kernel.obligations import Debt
from commonhold.kernel.projection import fold

pytestmark = pytest.mark.slow

FROM_LIB = "from lib import price\n"
FITS = "def price(value):\n    return value\n"
TOTAL = "def total(value):\n    return price(value)\n"
IN_ONE = f"{FITS}\n\n{TOTAL}"
WANTS_MORE = "def price(value, more):\n    return value\n"
FITS_AGAIN = "def price(value, more=0):\n    return value\n"
CALLERS = "from lib import price\n\n\ndef total(value):\n    return price({})\n"


def parameters(needed: int, optional: int) -> str:
    names = [f"p{number}" for number in range(needed + optional)]
    return ", ".join(name if number < needed else f"{name}=0" for number, name in enumerate(names))


def replaced(service: Service, key: str, text: str) -> None:
    (there,) = service.read(key)
    leases = tuple(LeaseRef(lease.id, lease.fence) for lease in service.leases(holder=service.holder))
    edit = Edit(Op.REPLACE, key, there.hash, text)
    assert service.commit(Changeset((edit,), intent="another contract", leases=leases)).outcome == "committed"


def owed(service: Service) -> list[str]:
    return [each.key for each in service.status().debts]


@contextmanager
def shared(*, in_one_file: bool) -> Iterator[tuple[Service, Path, str]]:
    """A service that holds all there is, the folder, and the path of the file that defines `price`."""
    with TemporaryDirectory() as folder:
        stage = Stage(Path(folder), sees_all_files=not in_one_file)
        one, root = stage.service("one"), stage.path("")
        try:
            yield one, root, "use.py" if in_one_file else "lib.py"
        finally:
            stage.close()


steps = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(("commits", "outside"))), min_size=1, max_size=4
)


@given(given=st.integers(0, 2), spare=st.integers(0, 1), in_one_file=st.booleans(), steps=steps)
@examples(0.25)
def test_a_region_is_owed_for_just_as_long_as_what_was_changed_does_not_fit(
    given: int, spare: int, steps: list[tuple[int, int, str]], *, in_one_file: bool
) -> None:
    """It fits at first. Whatever is done to the contract then, in whichever way, taking it back included."""
    with shared(in_one_file=in_one_file) as (one, root, path):
        caller = CALLERS.format(", ".join("0" * given))
        first = f"def price({parameters(given, spare)}):\n    return 0\n"
        root.joinpath("use.py").write_text(caller.replace("from lib import price\n", first) if in_one_file else caller)
        if not in_one_file:
            root.joinpath("lib.py").write_text(first)
        assert one.acquire("use.py", "lib.py").outcome == "granted"
        one.read(path)
        is_owed, numbers = False, count(1)
        for needed, optional, by in (*steps, (given, spare, "outside")):
            fits = needed <= given <= needed + optional
            text = f"def price({parameters(needed, optional)}):\n    return {next(numbers)}\n"
            if by == "commits":
                replaced(one, f"{path}#price", text)
                is_owed = not fits
            elif fits or is_owed:  # what another program breaks is nobody's debt
                source = root.joinpath(path).read_text()
                root.joinpath(path).write_text(source.replace(one.read(f"{path}#price")[0].text or "", text))
                assert one.record_external_changes([path]).outcome == "recorded"
                is_owed = not fits
            assert owed(one) == (["file:use.py#total"] if is_owed else [])
        assert owed(one) == []
        assert fold(one.log(after=0, limit=1000)).debts == {}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A definition, another of that name, and a use of the first over a file between them."""
    stage = Stage(tmp_path, sees_all_files=True)
    files = {"lib": FITS, "far": WANTS_MORE, "mid": FROM_LIB, "use": f"from mid import price\n\n\n{TOTAL}"}
    for name, text in files.items():
        stage.path(f"{name}.py").write_text(text)
    assert stage.service("one").acquire("lib.py", "mid.py", "use.py").outcome == "granted"
    yield stage
    stage.close()


def test_a_name_that_leads_elsewhere_meanwhile_is_followed(stage: Stage) -> None:
    """What made it owed is as it was, but is no more what the region that owes comes to."""
    one = stage.service("one")
    replaced(one, "lib.py#price", WANTS_MORE)
    replaced(one, "mid.py", "from far import price\n")
    replaced(one, "lib.py#price", FITS)
    assert owed(one) == ["file:use.py#total"]
    assert "`price` of `mid.py` now comes from `far`" in one.status().debts[0].why
    replaced(one, "mid.py", FROM_LIB)
    replaced(one, "lib.py#price", FITS.replace("return value", "return 2 * value"))
    assert owed(one) == []


def test_what_handed_on_and_takes_the_same_now_is_not_forgotten(stage: Stage) -> None:
    one = stage.service("one")
    stage.path("mid.py").write_text(
        "import lib\n\n\ndef price(*given, **more):\n    return lib.price(*given, **more)\n"
    )
    replaced(one, "lib.py#price", WANTS_MORE)
    assert owed(one) == ["file:mid.py#price", "file:use.py#total"]
    replaced(one, "mid.py#price", "def price(value, more):\n    return lib.price(value, more)\n")
    assert owed(one) == ["file:use.py#total"]
    replaced(one, "lib.py#price", FITS)
    assert "file:use.py#total" in owed(one)


def test_a_file_that_is_broken_from_outside_settles_nothing_elsewhere(stage: Stage) -> None:
    one = stage.service("one")
    replaced(one, "lib.py#price", WANTS_MORE)
    for text, left in (("def price(value, more:\n    return value\n", 1), (WANTS_MORE, 1), (FITS, 0)):
        stage.path("lib.py").write_text(text)
        assert one.record_external_changes(["lib.py"]).outcome == "recorded"
        assert len(owed(one)) == left


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    shop = Workshop(tmp_path)
    shop.write("c.py", IN_ONE)
    yield shop
    shop.close()


def owing_one(shop: Workshop) -> Service:
    one = shop.service("one")
    assert one.acquire("c.py").outcome == "granted"
    replaced(one, "c.py#price", WANTS_MORE)
    assert owed(one) == ["file:c.py#total"]
    return one


def outside(shop: Workshop, one: Service, text: str | None) -> None:
    shop.write("c.py", text)
    assert one.record_external_changes(["c.py"]).outcome == "recorded"


def with_price(text: str) -> str:
    return IN_ONE.replace(FITS, text)


def test_a_debt_names_the_event_that_made_it(shop: Workshop) -> None:
    one = owing_one(shop)
    (debt,) = one.status().debts
    (made,) = one.log(after=debt.since[0] - 1, limit=1)
    assert isinstance(made.event, Committed)
    assert made.event.debts == (debt,)
    assert debt.evidence == "contract"


def test_a_tool_that_takes_its_own_change_back_owes_nothing(shop: Workshop) -> None:
    one = shop.hand("one")
    one.edit({"c.py": IN_ONE.replace("price(value):", "price(value, more):")})
    assert owed(one.service) == ["file:c.py#total"]
    one.edit({"c.py": IN_ONE}, call="back")
    assert owed(one.service) == []


def test_a_file_that_is_gone_owes_nothing(shop: Workshop) -> None:
    one = owing_one(shop)
    outside(shop, one, None)
    assert owed(one) == []


def test_of_a_file_that_cannot_be_read_nothing_is_settled(shop: Workshop) -> None:
    one = owing_one(shop)
    broken = IN_ONE.replace("price(value):", "price(value, more:").replace("def total", "def (total")
    outside(shop, one, broken)
    assert owed(one) == ["file:c.py#total"]
    outside(shop, one, with_price(WANTS_MORE))
    assert owed(one) == ["file:c.py#total"]
    outside(shop, one, broken)
    outside(shop, one, IN_ONE)
    assert owed(one) == []


def test_what_is_not_kept_any_more_settles_nothing_but_the_very_same_bytes_do(shop: Workshop) -> None:
    one = owing_one(shop)
    shop.clock.advance(365 * 86400.0)
    one.apply_retention()
    replaced(one, "c.py#price", FITS_AGAIN)
    assert owed(one) == ["file:c.py#total"]
    outside(shop, one, IN_ONE)
    assert owed(one) == []


@pytest.mark.parametrize("limit", ["_MOST_COMMITS", "_MOST_FILES"])
def test_what_is_too_far_away_is_left_to_be_waived(shop: Workshop, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = owing_one(shop)
    replaced(one, "a.py", "x = 1\n")
    monkeypatch.setattr(obligations, limit, {"_MOST_COMMITS": 1, "_MOST_FILES": 0}[limit])
    replaced(one, "c.py#price", FITS_AGAIN)
    assert owed(one) == ["file:c.py#total"]
    assert one.waive("c.py#total", note="it fits").outcome == "waived"
    assert owed(one) == []


def test_a_debt_from_before_its_cause_was_recorded_is_left_to_be_waived(shop: Workshop) -> None:
    one = shop.service("one")
    assert one.acquire("c.py").outcome == "granted"
    debt = Debt("file:c.py#total", "one", "of old", one.root)
    with closing(shop.store(str(shop.folder / "state"))) as store, store.write() as writer:
        writer.record([Committed("one", "", one.root, (), (), (), (debt,))], 0.0)
    replaced(one, "c.py#price", WANTS_MORE)
    replaced(one, "c.py#price", FITS)
    assert owed(one) == ["file:c.py#total"]
    assert one.waive("c.py#total", note="it fits").outcome == "waived"


def test_a_debt_of_another_working_tree_is_not_this_ones(shop: Workshop) -> None:
    one, there = owing_one(shop), shop.service("two", "other")
    one.release(one.leases()[0].id)
    shop.write("c.py", IN_ONE, "other")
    replaced(there, "c.py#total", "def total(value):\n    return 0\n")
    answer = there.waive("c.py#total", note="not called")
    assert (answer.outcome, answer.debts) == ("refused", ())
    assert answer.why == (
        f"nothing is owed at file:c.py#total in this working tree, but in {one.root}: say it there; nothing was waived"
    )
    assert owed(one) == ["file:c.py#total"]


def test_a_waived_debt_is_closed_by_whom_and_why(shop: Workshop) -> None:
    one, two = owing_one(shop), shop.service("two")
    (debt,) = one.status().debts
    refused = two.waive("c.py#total", "c.py#price", note="not called")
    assert refused.outcome == "refused"
    assert refused.next is not None
    assert refused.next.call == "review"
    assert owed(two) == ["file:c.py#total"]
    assert two.waive("c.py#total", "file:c.py#total", note="not called").debts == (debt,)
    assert two.log(limit=1)[0].event == DebtWaived("two", debt.key, debt.worktree, "not called")
    assert fold(two.log(after=0, limit=1000)).debts == {}
    assert owed(two) == []


@pytest.mark.parametrize(("keys", "note"), [((), "not called"), (("c.py#total",), " ")])
def test_a_waiver_names_what_and_why(shop: Workshop, keys: tuple[str, ...], note: str) -> None:
    one = owing_one(shop)
    with pytest.raises(UsageError) as raised:
        one.waive(*keys, note=note)
    assert raised.value.code is Code.USAGE
    assert owed(one) == ["file:c.py#total"]
