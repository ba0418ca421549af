"""docs/mcp.md and docs/python.md say what the code does."""

import asyncio
import inspect
import json
import re
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.docs.test_readme import blocks as readme_blocks
from tests.docs.test_reference import TEXT as REFERENCE_TEXT
from tests.docs.test_reference import check_same_form
from tests.e2e.cli_driver import git

import commonhold
from commonhold.merging.branches.candidate_verification import CHECK_SECONDS, MOST_TRIED
from commonhold.merging.branches.histories import Obstacle
from commonhold.merging.verdict import Reason, Verdict
from commonhold.server.tools import TOOLS, call

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
MCP = (DOCS / "mcp.md").read_text(encoding="utf-8")
PYTHON = (DOCS / "python.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"Called with(?: `|\n\n```json call\n)(\{[^\n]*\})(?:`, |\n```\n\n)it answers\n\n```json (\w+)\n(.*?)```", re.DOTALL
)
LATE = re.compile(r"```json (merged|refused)\n(.*?)```", re.DOTALL)
DOCUMENTED = 'def total(items):\n    """In euros."""\n    amount = sum(items)\n    return amount\n'
CLASS = re.compile(r"^\| `(\w+)` \| (`.*) \|$", re.MULTILINE)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (begin,) = (body for body in readme_blocks("sh") if "git init" in body)
    source = begin.partition("<<'END'\n")[2].partition("END\n")[0]
    (tmp_path / "prices.py").write_text(source, encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    return tmp_path


def test_every_tool_is_described_with_its_arguments() -> None:
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", MCP, re.DOTALL | re.MULTILINE))
    assert set(sections) == set(TOOLS)
    for name, tool in TOOLS.items():
        required = tool.input_schema.get("required", [])
        told = re.search(r"Arguments: (.*?)[.;]\s", sections[name].partition("```")[0], re.DOTALL)
        assert told is not None, name
        listed = re.findall(r"`(\w+)`(\?)?", re.sub(r"\([^)]*\)", "", told[1]))
        expected = [(each, "" if each in required else "?") for each in tool.input_schema["properties"]]
        assert sorted(listed) == sorted(expected), name


def test_the_examples_are_real(shop: Path) -> None:
    asyncio.run(_play_examples(str(shop)))


async def _play_examples(shop: str) -> None:
    real: dict[str, str] = {}
    async with commonhold.open_async(shop, agent="agent-1") as ann, commonhold.open_async(shop, agent="agent-2") as ben:
        commit = None
        examples = [(name, json.loads(arguments), json.loads(shown)) for arguments, name, shown in EXAMPLE.findall(MCP)]
        assert sorted(name for name, *_ in examples) == sorted(TOOLS)
        for name, arguments, shown in examples:
            answer = await call(ann, name, _replaced(arguments, real))
            _check(shown, answer, name)
            if name == "acquire":
                real[shown["lease"]["id"]] = answer["lease"]["id"]
            commit = arguments if name == "commit" else commit
        late = {name: json.loads(body) for name, body in LATE.findall(MCP)}
        assert commit is not None
        await ben.acquire("x:1")
        for name, text in (("merged", DOCUMENTED), ("refused", "def total(items):\n    return sum(items, 0)\n")):
            (edit,) = commit["edits"]
            again = {**commit, "intent": "new currency", "edits": [{**edit, "text": text}]}
            _check(late[name], await call(ben, "commit", again), name)


def _replaced(arguments: dict[str, Any], real: dict[str, str]) -> dict[str, Any]:
    return {name: real.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}


def _check(shown: Any, answer: Any, name: str) -> None:
    check_same_form(shown, answer, name)
    assert shown.get("outcome") == answer.get("outcome"), (name, answer)
    assert shown.get("code") == answer.get("code"), (name, answer)


def test_the_fields_of_every_class_are_listed() -> None:
    listed = {name: cell for name, cell in CLASS.findall(PYTHON) if name[0].isupper()}
    for name, cell in listed.items():
        told = re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", cell))
        assert told == [each.name for each in fields(getattr(commonhold, name))], name
    assert {"Changeset", "Edit", "AcquireAnswer", "CommitAnswer", "Lease"} <= set(listed)


def test_every_method_is_listed_as_it_is_called() -> None:
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", PYTHON, re.MULTILINE)
    methods = dict(inspect.getmembers(commonhold.Commonhold, inspect.isfunction))
    del methods["drive"]  # what all the others are made of
    assert {name for name, _ in rows} == {name for name in methods if not name.startswith("_")}
    for name, told in rows:
        parameters = [each for each in inspect.signature(methods[name]).parameters if each != "self"]
        assert re.findall(r"\b([a-z_]+)\b(?=[=,]|$)", re.sub(r"=[^,]+", "=", told)) == parameters, name


def test_the_python_example_runs(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    (block,) = re.findall(r"```python\n(.*?)```", PYTHON, re.DOTALL)
    told: dict[str, Any] = {}
    exec(block, told)  # noqa: S102 - our own page
    assert (told["answer"].outcome, told["stored"].outcome) == ("committed", "stored")
    (block,) = re.findall(r"```python async\n(.*?)```", PYTHON, re.DOTALL)
    exec("async def example():\n" + textwrap.indent(block, "    "), told)  # noqa: S102 - as above
    asyncio.run(told["example"]())
    (block,) = re.findall(r"```python resolver\n(.*?)```", PYTHON, re.DOTALL)
    exec(block, told | {"load_account": str.encode, "Read": commonhold.Read})  # noqa: S102 - as above
    with commonhold.open(".") as hold:
        assert hold.get("account:12345").text == "frozen"
    (block,) = re.findall(r"```python once\n(.*?)```", PYTHON, re.DOTALL)
    with commonhold.open(".", agent="agent-3") as hold:
        for _ in range(2):
            told = {"hold": hold, "commonhold": commonhold}
            exec(block, told)  # noqa: S102 - as above
            assert told["result"] == "applied 42"
        assert hold.acquire("migration:42", once=True).outcome == "done"


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("lease", "Lease"),
        ("deadline", "Deadline"),
        ("waiter", "Waiter"),
        ("bases[]", "Base"),
        ("wish", "Wish"),
        ("changes[]", "UnfinishedChange"),
        ("conflicts[]", "Conflict"),
        ("files[]", "FileChange"),
        ("regions[]", "RegionChange"),
        ("debts[]", "Debt"),
    ],
)
def test_the_parts_of_events_are_listed(part: str, name: str) -> None:
    (row,) = re.findall(rf"^\| `{re.escape(part)}` \| (.*) \|$", REFERENCE_TEXT, re.MULTILINE)
    assert re.findall(r"`(\w+)`", row) == [each.name for each in fields(getattr(commonhold, name))]


@pytest.mark.parametrize("word", [*Verdict, *Reason, *Obstacle, *map(str, (MOST_TRIED, int(CHECK_SECONDS)))])
def test_every_word_of_a_merge_is_explained(word: str) -> None:
    assert re.search(rf"`?\b{word}\b`?", (DOCS / "merging.md").read_text(encoding="utf-8"))
