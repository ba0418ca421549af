"""docs/reference.md says what the code does: nothing is missing, nothing is stale, every example has the right form."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.docs.blocks import BLOCK, BLOCKS, PYTHON, REFERENCE, SERVER, renewed
from tests.e2e.cli_driver import SAMPLE, call, git, make_repository

from commonhold.api.wire.changesets import changeset
from commonhold.cli.commands import COMMANDS
from commonhold.cli.exit_status import FAMILIES, MEANINGS, status_of
from commonhold.cli.explanations import ERRORS, EXPLANATIONS, REFUSALS
from commonhold.client.opening import open_session
from commonhold.code.regions import languages
from commonhold.code.regions.region import hash_bytes
from commonhold.config import Settings
from commonhold.kernel.changeset import Op
from commonhold.kernel.errors import (
    Code,
    CommonholdError,
    InputError,
    InternalError,
    RefusedError,
    StoreError,
    UsageError,
)
from commonhold.kernel.events import KINDS
from commonhold.kernel.refusals import Refusal

TEXT = REFERENCE.read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```json (\w+)\n(.*?)```", re.DOTALL)
ZERO = "0" * 16
WRITTEN = b"def one(): pass\n"


def examples(name: str) -> list[Any]:
    return [json.loads(body) for kind, body in EXAMPLE.findall(TEXT) if kind == name]


def test_the_made_parts_are_up_to_date() -> None:
    pages = [TEXT, PYTHON.read_text(encoding="utf-8"), SERVER.read_text(encoding="utf-8")]
    assert {match[1] for page in pages for match in BLOCK.findall(page)} == set(BLOCKS)
    for page in pages:
        assert renewed(page) == page, "run: make generate"


def test_every_code_is_explained() -> None:
    assert set(ERRORS) == set(Code)
    assert set(REFUSALS) == set(Refusal)
    assert all(each.meaning.endswith(".") and each.remedy.endswith(".") for each in EXPLANATIONS.values())


@pytest.mark.parametrize(
    "word",
    [
        *(f"### commonhold {name}\n" for name in COMMANDS),
        *(f"| {code} |" for code in MEANINGS),
        *dict.fromkeys(f"`{code}`" for code in (*Code, *Refusal, *KINDS)),
        *(f"`{name}`" for name in [each.name for each in fields(Settings)]),
        *(f'"op": "{op}"' for op in Op),
    ],
)
def test_it_names(word: str) -> None:
    assert word in TEXT


def test_the_exit_codes_are_those_of_the_errors() -> None:
    assert set(FAMILIES) == set(CommonholdError.__subclasses__())
    assert set(FAMILIES.values()) < set(MEANINGS)


@pytest.mark.parametrize(
    ("kind", "status"), [(RefusedError, 1), (UsageError, 2), (InputError, 3), (StoreError, 4), (InternalError, 5)]
)
def test_each_family_has_its_exit_status(kind: type[CommonholdError], status: int) -> None:
    class Special(kind):  # type: ignore[misc, valid-type]
        pass

    assert status_of(kind(Code.INTERNAL, "m", hint="h")) == status_of(Special(Code.INTERNAL, "m", hint="h")) == status


def test_the_changeset_is_one() -> None:
    (shape,) = examples("changeset")
    assert {edit.op for edit in changeset(shape).edits} == set(Op)


COMMANDS_SHOWN: dict[str, list[tuple[str, ...]]] = {
    "regions": [("regions", "broken.py")],
    "show": [("show", "a.py#one")],
    "acquire": [
        ("acquire", "a.py#one"),
        ("acquire", "a.py", "--agent", "ben"),
        ("acquire", "a.py", "--agent", "ben", "--queue"),
    ],
    "lease_change": [("release", "lease-none")],
    "commit": [
        ("commit", "--key", "a.py#one", "--base", ZERO, "--agent", "ann"),
        ("commit", "--key", "a.py#one", "--base", hash_bytes(WRITTEN), "--agent", "ann"),
    ],
    "get": [("get", "x:1")],
    "put": [("put", "x:1", "z", "--expect", "7")],
    "version_of": [("version-of", "a.py#one"), ("version-of", "x:1")],
    "leases": [("leases",)],
    "review": [("review",)],
    "explain": [("explain", "1")],
    "replay": [("replay",)],
    "undo": [("undo", "ann")],
    "who": [("who", "a.py")],
    "status": [("status",)],
    "log": [("log",)],
    "merge_file": [("merge-file", "--path", "a.py", "base", "a.py", "theirs", "--check", "false")],
    "merge": [("merge", "other")],
    "check": [("check", "other")],
    "impact": [("impact", "a.py#one")],
    "callers": [("callers", "a.py#one")],
    "contract": [("contract", "a.py#two")],
    "install": [("install", "git")],
    "doctor": [("doctor",)],
    "error": [("show", "nope.py")],
}


@pytest.mark.parametrize("name", COMMANDS_SHOWN)
def test_examples_have_the_form_of_real_answers(
    name: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "work")
    (root / "broken.py").write_text("def f(:\n", encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("COMMONHOLD_AGENT", "ann")
    prepare(root, lambda *words: call(capsysbinary, monkeypatch, *words, "--json").json, name)
    real = [call(capsysbinary, monkeypatch, *words, "--json", stdin=WRITTEN).json for words in COMMANDS_SHOWN[name]]
    assert len(examples(name)) == len(real)
    for shown, answer in zip(examples(name), real, strict=True):
        check_same_form(shown, answer, name)


def prepare(root: Path, run: Callable[..., Any], name: str) -> None:
    """See to it that there is something to be shown."""
    if name in ("get", "put", "explain", "replay"):
        run("put", "x:1", "y", "--expect", "0")
    if name in ("merge_file", "merge", "check"):
        diverge(root)
    if name == "commit":
        (root / "a.py").write_bytes(WRITTEN)
        run("show", "a.py#one")
        (root / "a.py").write_text("def one(): return 1\n", encoding="utf-8")
    if name == "undo":
        base = run("show", "a.py#one")["regions"][0]["hash"]
        change = {"edits": [{"op": "replace", "key": "a.py#one", "base": base, "text": WRITTEN.decode()}]}
        (root / "change.json").write_text(json.dumps(change), encoding="utf-8")
        assert run("commit", "--changeset", "change.json")["outcome"] == "committed"
    if name in ("leases", "review"):
        lease = run("acquire", "a.py#one")["lease"]["id"]
        (root / "a.py").write_text("def one(): return 1\n", encoding="utf-8")
        run("acquire", "a.py", "--agent", "ben", "--queue")
        run("ask", lease, "--why", "it is needed", "--agent", "ben")
        if name == "review":
            lose_a_file(root)
            run("break", lease, "--reason", "its machine is gone")


def lose_a_file(root: Path) -> None:
    """One that a session has made, and somebody without a session has deleted."""
    (root / "made.py").write_text("x = 1\n", encoding="utf-8")
    with open_session(str(root), agent="ann") as ann:
        ann.record_external_writes({"made.py": None}, intent="made")
        (root / "made.py").unlink()
        ann.record_external_changes(["made.py"], intent="by a person")


def diverge(root: Path) -> None:
    """Two branches, and three versions of a file, that nobody can merge."""
    git(root, "branch", "other")
    for branch, limit in (("other", 5), (None, 4)):
        if branch:
            git(root, "checkout", "--quiet", branch)
        source = SAMPLE.replace("LIMIT = 3", f"LIMIT = {limit}")
        (root / "a.py").write_text(source, encoding="utf-8")
        git(root, "commit", "--quiet", "--all", "--message", f"limit {limit}")
        if branch:
            (root / "theirs").write_text(source, encoding="utf-8")
            git(root, "checkout", "--quiet", "-")
    (root / "base").write_text(SAMPLE, encoding="utf-8")


def check_same_form(shown: Any, real: Any, where: str) -> None:
    """Compare field names as deep as both go; the first item stands for a list."""
    if isinstance(shown, dict) and isinstance(real, dict):
        if where.rpartition(".")[2] not in ("arguments", "event", "facts", "fields"):
            assert list(shown) == list(real), where
        for key in shown.keys() & real.keys():
            check_same_form(shown[key], real[key], f"{where}.{key}")
    elif isinstance(shown, list) and isinstance(real, list) and shown and real:
        check_same_form(shown[0], real[0], where)


def test_every_language_has_its_row() -> None:
    (table,) = re.findall(r"^\| language \|.*\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    rows = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()[1:]]
    assert sorted(name for row in rows for name in row) == sorted(
        each.name for each in (*languages.LANGUAGES, languages.TEXT)
    )
