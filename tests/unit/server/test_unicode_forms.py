"""Files whose names differ in nothing but their Unicode form: two where both are there, else one, however typed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hooked import Agent, House, house

from commonhold.agents.hook_events import Caller, Response, Swap
from commonhold.agents.runtime import editing
from commonhold.api.service import Service
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.events import Committed

COMPOSED, APART = "src/Garçon.py", "src/Garc\u0327on.py"
ONE, TWO = "def f():\n    return 1\n", "def f():\n    return 2\n"
FORMS = pytest.mark.parametrize(("mine", "other"), [(COMPOSED, APART), (APART, COMPOSED)], ids=["NFC", "NFD"])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(editing, "PATIENCE_SECONDS", 0.0)
    with house(tmp_path) as made:
        yield made


@pytest.fixture
def both(home: House) -> House:
    home.write(COMPOSED, ONE)
    if home.root.joinpath(APART).exists():
        pytest.skip("this disk takes both forms for one name")
    home.write(APART, TWO)
    return home


def changed(service: Service, path: str) -> list[str]:
    """The files that were changed by the commits on a path."""
    commits = (each.event for each in service.commits_on(path))
    return [file.path for commit in commits if isinstance(commit, Committed) for file in commit.files]


@FORMS
def test_of_two_the_one_that_is_named_is_shown_leased_and_written(both: House, mine: str, other: str) -> None:
    service, beside = both.service("one"), both.service("two")
    (shown,) = service.read(f"{mine}#f")
    assert shown.text == {COMPOSED: ONE, APART: TWO}[mine]
    leases = [each.acquire(f"{path}#f").lease for each, path in ((service, mine), (beside, other))]
    assert all(leases), "two files are two leases"
    edit = Edit(Op.REPLACE, f"{mine}#f", base=shown.hash, text="def f():\n    return 3\n")
    assert service.commit(Changeset((edit,), intent="three")).outcome == "committed"
    assert both.text(mine) == "def f():\n    return 3\n"
    assert both.text(other) == {COMPOSED: ONE, APART: TWO}[other]
    assert changed(service, mine) == [mine]
    assert changed(service, other) == []


@FORMS
def test_a_tool_may_edit_either(both: House, mine: str, other: str) -> None:
    agent, beside = (Agent(both, Caller("claude", name)) for name in ("one", "two"))
    for each, path in ((agent, mine), (beside, other)):
        assert each.reads(path) == Response()
        assert each.edits(Swap(path, "return", "return 7 +")) == Response()
        assert "return 7 +" in both.text(path)
    held = sorted(key for lease in both.service(None).leases() for key in lease.keys if key.startswith("file:"))
    assert held == sorted(f"file:{path}#f" for path in (mine, other))


@FORMS
def test_what_is_changed_from_outside_is_told_of_the_right_one(both: House, mine: str, other: str) -> None:
    service = both.service("one")
    service.read(mine)
    service.read(other)
    both.write(mine, "def f():\n    return 9\n")
    taken = both.service("watch").record_external_changes([mine, other])
    assert taken.outcome == "recorded"
    assert changed(service, mine) == [mine]
    assert changed(service, other) == []


@FORMS
def test_the_only_one_has_one_key_whichever_form_is_typed(home: House, mine: str, other: str) -> None:
    home.write(mine, ONE)
    service, beside = home.service("one"), home.service("two")
    assert service.acquire(f"{other}#f").outcome == "granted"
    assert beside.acquire(mine).outcome == "denied"
    assert service.read(other)[0].key == service.read(mine)[0].key == f"file:{COMPOSED}"
    home.write(mine, TWO)
    assert home.service("watch").record_external_changes([mine]).outcome == "recorded"
    assert changed(service, mine) == changed(service, other) == [COMPOSED]


@FORMS
def test_a_name_that_is_not_there_yet_is_one_key(home: House, mine: str, other: str) -> None:
    service, beside = home.service("one"), home.service("two")
    assert service.acquire(mine).outcome == "granted"
    assert beside.acquire(other).outcome == "denied"
