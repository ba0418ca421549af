"""Whatever takes a key takes the name of a module, wherever it is typed: no command means another thing by it."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.e2e.cli_driver import Call
from tests.e2e.test_cli_commands import hash_of, next_words

from commonhold.cli.commands import COMMANDS
from commonhold.cli.program import cli

pytestmark = pytest.mark.slow

PRICES = "def total(items):\n    return sum(items)\n"
TOTAL = "file:src/shop/prices.py#total"
NAMED = "shop.prices.total"
NEW = b"def total(items):\n    return 0\n"

READING = ("show", "version-of", "callers", "contract", "impact", "who", "record-read", "acquire")
IN_TESTS_OF_THEIR_OWN = {
    *("adopt", "commit", "regions", "review waive", "task add", "task propose"),
    *("archive add", "archive link", "archive list", "archive search"),
}
WITHOUT_CODE = {"get", "put"}  # what they name carries a value, and code carries none
FOR_GIT = {"merge-file"}
ANYWHERE = {"backup", "restore"}
"""Their path is that of a file outside the repository."""


@pytest.fixture
def shop(root: Path) -> Path:
    (root / "src" / "shop").mkdir(parents=True)
    (root / "src" / "shop" / "prices.py").write_text(PRICES, encoding="utf-8")
    (root / "inside").mkdir()
    return root


def takers(group: click.Group, before: str = "") -> Iterator[str]:
    """The commands that take keys or paths of the repository, by the name of what they take."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from takers(command, f"{before}{name} ")
        elif command and any(each.name in {"key", "keys", "path", "paths"} for each in command.params):
            yield f"{before}{name}"


def test_every_command_that_takes_a_key_is_looked_at() -> None:
    assert set(takers(cli)) == {*READING, *IN_TESTS_OF_THEIR_OWN, *WITHOUT_CODE, *FOR_GIT, *ANYWHERE}
    assert set(READING) < set(COMMANDS)


@pytest.mark.parametrize("folder", [".", "inside", "src/shop"])
@pytest.mark.parametrize("name", READING)
def test_the_name_of_a_module_means_the_same_as_its_path(shop: Path, run: Call, name: str, folder: str) -> None:
    del shop
    done = run("-C", folder, name, NAMED, "--json")
    assert done.status == 0, done
    assert TOTAL in done.text
    assert run("-C", folder, name, TOTAL, "--json").status == 0


@pytest.mark.parametrize("folder", [".", "inside"])
def test_regions_of_a_module(shop: Path, run: Call, folder: str) -> None:
    del shop
    assert run("-C", folder, "regions", "shop.prices", "--json").json["path"] == "src/shop/prices.py"


@pytest.mark.parametrize("folder", [".", "inside"])
def test_a_commit_of_what_a_module_defines(shop: Path, run: Call, folder: str) -> None:
    base = hash_of(run, TOTAL)
    done = run("-C", folder, "commit", "--key", NAMED, "--base", base, "--intent", "none", stdin=NEW)
    assert done.status == 0, done
    words = ("commit", "--key", "shop.prices.rest", "--insert", "--after", NAMED, "--intent", "rest")
    assert run("-C", folder, *words, stdin=b"def rest():\n    return 1\n").status == 0
    text = (shop / "src" / "shop" / "prices.py").read_text(encoding="utf-8")
    assert text == f"{NEW.decode()}\n\ndef rest():\n    return 1\n"


@pytest.mark.parametrize("folder", [".", "inside"])
def test_what_a_module_owes_is_waived(shop: Path, run: Call, folder: str) -> None:
    used = f"{PRICES}\n\ndef report():\n    return total([])\n"
    (shop / "src" / "shop" / "prices.py").write_text(used, encoding="utf-8")
    assert run("acquire", "shop.prices.report").status == 0
    base = hash_of(run, TOTAL)
    other = b"def total(items, tax):\n    return tax\n"
    assert run("commit", "--key", TOTAL, "--base", base, "--intent", "tax", stdin=other).status == 0
    done = run("-C", folder, "review", "waive", "shop.prices.report", "--note", "it is deleted next", "--json")
    assert [debt["key"] for debt in done.json["debts"]] == ["file:src/shop/prices.py#report"]


def test_the_next_call_after_a_changeset_names_the_file(shop: Path, run: Call) -> None:
    """As a word of a command the name would be a path of the folder first, as `file:` a path in any case."""
    edit = {"op": "replace", "key": NAMED, "base": "0" * 64, "text": NEW.decode()}
    (shop / "change.json").write_text(json.dumps({"intent": "none", "edits": [edit]}), encoding="utf-8")
    words = next_words(run("commit", "--changeset", "change.json").text)
    assert words[:3] == ["commit", "--key", TOTAL]
    assert run(*words, stdin=NEW).status == 0


def test_a_lease_by_the_name_of_a_module_is_one_on_the_file(shop: Path, run: Call) -> None:
    del shop
    assert run("acquire", NAMED).status == 0
    assert run("acquire", "src/shop/prices.py", "--agent", "ben", "--json").json["outcome"] == "denied"


def test_a_file_of_that_name_comes_first_where_one_is(shop: Path, run: Call) -> None:
    (shop / "inside" / "shop.prices").write_text("a list\n", encoding="utf-8")
    assert run("-C", "inside", "show", "shop.prices").out == b"a list\n"
    assert run("show", "shop.prices").out == PRICES.encode()
    (shop / "shop.prices").write_text("another\n", encoding="utf-8")
    assert run("show", "shop.prices").out == b"another\n"


def test_a_file_to_be_lies_where_one_is(shop: Path, run: Call) -> None:
    (shop / "config.py").write_text("A = 1\n", encoding="utf-8")
    for text in ("config.json", "new.py", "no.such.module"):
        keys = run("-C", "inside", "acquire", text, "--json").json["lease"]["keys"]
        assert [each["key"] if isinstance(each, dict) else each for each in keys] == [f"file:inside/{text}"]


def test_the_name_of_two_modules_is_refused_with_the_choices(shop: Path, run: Call) -> None:
    (shop / "shop").mkdir()
    (shop / "shop" / "prices.py").write_text(PRICES, encoding="utf-8")
    done = run("-C", "inside", "show", NAMED, "--json")
    assert (done.status, done.json["code"]) == (3, "REGION_AMBIGUOUS")
    assert set(done.json["fields"]["choices"]) == {TOTAL, "file:shop/prices.py#total"}


@pytest.mark.parametrize("verb", ["add", "propose"])
def test_a_task_names_what_it_changes_by_the_name_of_a_module(shop: Path, run: Call, verb: str) -> None:
    assert shop.is_dir()
    assert run("task", verb, "round it", "--id", "one", "--key", NAMED).status == 0
    assert [each["keys"] for each in run("task", "list", "--json").json["tasks"]] == [[TOTAL]]


def test_a_link_to_nothing_is_named_beside_the_file_that_it_leads_to(shop: Path, run: Call) -> None:
    (shop / "link.py").symlink_to("nothing.py")
    told = "notice: link.py is a link to nothing.py, which does not exist\n"
    assert run("show", "link.py").err.startswith(told)
    assert run("acquire", "link.py").err == told
    assert told not in run("show", "link.py", "--json").err
