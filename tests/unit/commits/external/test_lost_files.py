"""Files that sessions wrote and that were deleted by somebody without one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_tools import Workshop, workshop

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.external.lost_files import BY_GIT, OFFERED_SECONDS, lost_files

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def lost(shop: Workshop) -> list[tuple[str, str, str]]:
    service = shop.service(None)
    found = lost_files(service.log(limit=100), str(service.root), shop.clock.now().wall)
    return [(each.path, each.hash, each.holder) for each in found]


def delete(shop: Workshop, path: str, intent: str = "by a person") -> None:
    shop.write(path, None)
    shop.service(None).record_external_changes([path], intent=intent)


def test_what_a_session_wrote_and_nobody_deleted_is_offered(shop: Workshop) -> None:
    shop.hand("one").edit({"new.py": "x = 1\n"})
    delete(shop, "new.py")
    assert lost(shop) == [("new.py", hash_bytes(b"x = 1\n"), "one")]
    shop.clock.advance(OFFERED_SECONDS)
    assert lost(shop) == []


def test_what_came_back_a_session_deleted_or_git_took_away_is_not(shop: Workshop) -> None:
    one = shop.hand("one")
    one.edit({"new.py": "x = 1\n"}, call="first")
    delete(shop, "new.py", BY_GIT)
    assert lost(shop) == []
    one.edit({"new.py": "x = 2\n"}, call="second")
    delete(shop, "new.py")
    one.edit({"new.py": "x = 3\n"}, call="third")
    assert lost(shop) == []
    one.edit({"new.py": None}, call="fourth")
    assert lost(shop) == []


def test_what_no_session_ever_wrote_is_no_matter(shop: Workshop) -> None:
    shop.service("one").read("a.py#f")
    shop.service("one").record_read("a.py")
    delete(shop, "a.py")
    assert lost(shop) == []
