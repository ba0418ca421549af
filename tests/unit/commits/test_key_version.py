"""The version of a key: of a value its number, of a region its hash and that of its file; and nothing is recorded."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.key_version import KeyVersion
from commonhold.kernel.errors import Code, InputError
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

SOURCE = b"import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"


@dataclass
class Shop:
    """A working tree with one file, and a session in it."""

    file: Path
    service: Service

    def version(self, key: str) -> KeyVersion:
        return self.service.key_version(key)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_bytes(SOURCE)
    store = SqliteStore(str(tmp_path / "state"), synchronous="OFF")
    files = WorkingTree(str(root))
    with Service(store=store, files=files, clock=FakeClock(), ids=CountingIds(), agent="one") as service:
        yield Shop(root / "a.py", service)


def test_a_free_key_has_the_version_of_its_value(shop: Shop) -> None:
    assert shop.version("account:1") == KeyVersion("account:1", version=0)
    shop.service.put("account:1", "open", expected_version=0)
    assert shop.version("account:1") == KeyVersion("account:1", version=1)


def test_a_region_has_its_hash_and_that_of_its_file(shop: Shop) -> None:
    one, file = shop.version("a.py#one"), shop.version("a.py")
    assert file == KeyVersion("file:a.py", hash=hash_bytes(SOURCE), file_hash=hash_bytes(SOURCE))
    assert (one.key, one.version, one.file_hash) == ("file:a.py#one", None, file.hash)
    (read,) = shop.service.read("a.py#one")
    assert one.hash == read.hash


def test_a_change_elsewhere_in_the_file_changes_the_hash_of_the_file_alone(shop: Shop) -> None:
    before = shop.version("a.py#one")
    shop.file.write_bytes(SOURCE.replace(b"return 2", b"return 3"))
    after = shop.version("a.py#one")
    assert after.hash == before.hash
    assert after.file_hash != before.file_hash


def test_a_key_whose_version_was_asked_for_does_not_count_as_read(shop: Shop) -> None:
    shop.version("a.py#one")
    (seen,) = shop.service.last_read("a.py#one")
    assert seen.hash is None


@pytest.mark.parametrize(
    ("key", "code"),
    [("b.py", Code.FILE_NOT_FOUND), ("a.py#nope", Code.REGION_UNKNOWN), ("file:src/", Code.NOT_A_FILE)],
)
def test_a_key_that_names_nothing_is_an_error(key: str, code: Code, shop: Shop) -> None:
    with pytest.raises(InputError) as caught:
        shop.version(key)
    assert caught.value.code is code
