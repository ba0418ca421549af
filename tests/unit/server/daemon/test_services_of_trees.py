"""The services of a daemon: which it sweeps with, and that they go by the settings as they are."""

import gc
import os
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.e2e.cli_driver import make_repository

import commonhold
from commonhold.api.service import Service
from commonhold.api.wire.calls import PROTOCOL, Hello
from commonhold.commits.cross_file_admission import Insight
from commonhold.kernel.errors import InputError
from commonhold.machine import file_stamps
from commonhold.server.daemon.services import MOST_UNUSED, Services
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "work")


@pytest.fixture
def services(root: Path) -> Iterator[Services]:
    found = find_repository(str(root))
    store = SqliteStore(found.state_folder, synchronous="OFF")
    made = Services(found, store)
    yield made
    made.keep(())
    store.close()


def hello(root: Path, agent: str | None = None) -> Hello:
    return Hello(PROTOCOL, commonhold.__version__, str(root), agent, 0o022)


def test_a_working_tree_is_swept_in_nobodys_name(root: Path, services: Services) -> None:
    """A sweep in an agent's name would be a sign of life of it."""
    _, of_nobody, _ = [services.service(hello(root, agent)) for agent in ("ann", None, "bob")]
    assert services.of_trees() == [of_nobody]


def test_a_working_tree_is_swept_by_the_settings_as_they_are(root: Path, services: Services) -> None:
    settings = root / "commonhold.toml"
    first = services.service(hello(root))
    settings.write_text("retention_days = 2.0\n", encoding="utf-8")
    [second] = services.of_trees()
    assert second is not first
    assert services.present(hello(root)) is second
    settings.write_text("retention_days =", encoding="utf-8")
    assert services.of_trees() == [second], "what cannot be read says nothing"
    with pytest.raises(InputError):
        services.service(hello(root))


@pytest.mark.parametrize("is_old", [True, False], ids=["settled", "just written"])
def test_settings_that_stay_as_they_are_make_no_other_service(root: Path, services: Services, *, is_old: bool) -> None:
    settings = root / "commonhold.toml"
    for days in (1, 2, 3):
        settings.write_text(f"retention_days = {days}\n", encoding="utf-8")
        if is_old:
            os.utime(settings, (days, days))
        made = services.service(hello(root, "ann"))
        assert services.service(hello(root, "ann")) is made
        assert services.service(hello(root)) is not made


def test_what_somebody_still_works_with_stays_open(
    root: Path, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever began before the settings were changed is in the middle of something."""
    closed: list[Insight] = []

    def close(insight: Insight) -> None:
        closed.append(insight)

    monkeypatch.setattr(Insight, "close", close)
    before = services.service(hello(root, "ann"))
    before.sweep()
    [view] = services._views
    (root / "commonhold.toml").write_text("max_file_bytes = 100\n", encoding="utf-8")
    after = services.service(hello(root, "ann"))
    services.keep({before, after})
    assert closed == []
    services.keep({after})
    assert closed == [view.insight]


def test_services_of_those_who_are_gone_are_let_go_of_in_time(root: Path, services: Services) -> None:
    """Objects are counted: how much memory there is says little."""
    of_nobody = services.service(hello(root))
    made: list[weakref.ref[Service]] = []
    for number in range(3 * MOST_UNUSED):
        made.append(weakref.ref(services.service(hello(root, f"agent-{number}"))))
        if services.has_too_many:
            services.let_go({of_nobody})
    gc.collect()
    assert sum(each() is not None for each in made) <= MOST_UNUSED
    assert services.service(hello(root)) is of_nobody


def test_all_who_ask_in_one_turn_share_one_look_at_the_settings(
    root: Path, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, looked = root / "commonhold.toml", list[str]()
    behind = file_stamps.behind

    def noted(places: Iterable[str]) -> file_stamps.Stamps:
        looked.append("once")
        return behind(places)

    monkeypatch.setattr(file_stamps, "behind", noted)
    settings.write_text("retention_days = 1\n", encoding="utf-8")
    os.utime(settings, (1, 1))
    with services.one_look():
        before = services.service(hello(root, "ann"))
        services.service(hello(root, "bob"))
    assert looked == ["once"]
    settings.write_text("retention_days = 2\n", encoding="utf-8")
    with services.one_look():
        assert services.service(hello(root, "ann")) is not before, "the next turn looks again"
