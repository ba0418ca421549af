"""`commonhold check` with the real type checker: what is wrong with both branches, and with neither alone."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.branches import Files, state, two_branches
from tests.e2e.cli_driver import Call, Outcome, call

from commonhold.code.type_checkers import TypeReport
from commonhold.kernel.errors import Code, StoreError
from commonhold.typecheck import CopyCheckers, Patience
from commonhold.workspace.git.scratch import TreeCopy

pytestmark = pytest.mark.slow

LIB = "def price(value: int) -> int:\n    return value * 2\n"
APP = "from lib import price\n\n\ndef total(items: list[int]) -> int:\n    return sum(price(each) for each in items)\n"
BASE = {"src/lib.py": LIB, "src/app.py": APP, "notes.txt": "one\n"}
WORDED = {
    "src/lib.py": LIB.replace("-> int", "-> int | str"),
    "src/app.py": APP.replace("price(each)", "int(price(each))"),
}
MORE = {"src/more.py": "from lib import price\n\n\ndef more() -> int:\n    return 3 + price(3)\n"}
WORDED_LIB = {"src/lib.py": WORDED["src/lib.py"]}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made: a folder of the test's own, to see what is left."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def check(
    tmp_path: Path, scratch: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Call:
    """Call it in the repository of the test, with types on. Nothing may be left behind."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMMONHOLD_TYPES", "on")
    words = ("-C", str(tmp_path / "r"), "check", "--theirs", "other")

    def run(*more: str) -> Outcome:
        done = call(capsysbinary, monkeypatch, *words, *(more or ("--json",)))
        assert list(scratch.iterdir()) == []
        assert children_in(scratch) == []
        return done

    return run


def children_in(folder: Path) -> list[str]:
    """The processes that were started in a folder that is there, or was."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            place = str((process / "cwd").readlink())
        except OSError:
            continue
        if place.startswith(f"{folder}{os.sep}"):
            found.append(process.name)
    return found


def kinds(done: Outcome) -> set[str]:
    assert done.json["outcome"] in {"admitted", "escalated"}
    return {each["evidence"] for each in done.json["findings"]}


def repository(tmp_path: Path, ours: Files, theirs: Files, base: Files = BASE) -> Path:
    return two_branches(tmp_path / "r", base, ours, theirs)


def found(done: Outcome) -> list[tuple[str, str, str | None, str]]:
    return [
        (each["evidence"], each["by"], each["place"]["key"], each["cause"]["key"]) for each in done.json["findings"]
    ]


def test_a_use_of_what_the_other_side_makes_another_type_refuses(tmp_path: Path, check: Call) -> None:
    root = repository(tmp_path, WORDED, MORE)
    before = state(root)
    done = check()
    assert (done.status, done.json["outcome"]) == (1, "refused"), done
    assert found(done) == [("types", "ours", "file:src/more.py#more", "file:src/lib.py#price")]
    (finding,) = done.json["findings"]
    assert (finding["place"]["line"], finding["place"]["ours_line"], finding["place"]["theirs_line"]) == (5, None, 5)
    assert "together" in finding["why"]
    assert done.json["notices"] == []
    assert state(root) == before


def test_the_sides_may_be_exchanged(tmp_path: Path, check: Call) -> None:
    """What is complained of then stands in a file that is checked although the merge does not touch it."""
    repository(tmp_path, MORE, WORDED)
    assert found(check()) == [("types", "theirs", "file:src/more.py#more", "file:src/lib.py#price")]


def test_in_one_file_too(tmp_path: Path, check: Call) -> None:
    rest = '\n\ndef rest() -> str:\n    return "rest"\n'
    ours = {"src/lib.py": WORDED["src/lib.py"], "src/app.py": f"{WORDED['src/app.py']}{rest}"}
    theirs = {"src/app.py": APP + rest.replace('"rest"', '"rest" * (1 + price(1))')}
    repository(tmp_path, ours, theirs, {**BASE, "src/app.py": APP + rest})
    done = check()
    assert done.json["outcome"] == "refused"
    assert ("types", "ours", "file:src/app.py#rest", "file:src/lib.py#price") in found(done)


def test_a_file_that_both_change_is_looked_at_and_admitted(
    tmp_path: Path, check: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = {**BASE, "src/app.py": APP + "\n\ndef one() -> int:\n    return 1\n\n\ndef two() -> int:\n    return 2\n"}
    ours, theirs = ({"src/app.py": base["src/app.py"].replace(f"return {n}", f"return {n} + 1")} for n in "12")
    repository(tmp_path, {"src/app.py": "LIMIT: int = 3\n" + ours["src/app.py"]}, theirs, base)
    asked: list[TypeReport] = []
    compare = CopyCheckers.compare

    def seen(checkers: CopyCheckers, *given: Any) -> TypeReport:
        asked.append(compare(checkers, *given))
        return asked[-1]

    monkeypatch.setattr(CopyCheckers, "compare", seen)
    assert check().json["outcome"] == "admitted"
    assert [(each.new, each.checker[:2], each.why) for each in asked] == [((), "ty", "")]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param(WORDED, {"src/more.py": str(MORE["src/more.py"]).replace("price(3)", "int(price(3))")}, id="fits"),
        pytest.param(WORDED_LIB, {"src/other.py": "ANSWER = 42\n"}, id="broken by ours in its own branch"),
        pytest.param({"src/other.py": "ANSWER = 42\n"}, WORDED_LIB, id="broken by theirs in its own branch"),
        pytest.param(WORDED_LIB, {"src/app.py": "# more\n" + APP}, id="broken by ours where theirs writes"),
        pytest.param({"src/app.py": "# more\n" + APP}, WORDED_LIB, id="broken by theirs where ours writes"),
        pytest.param(
            WORDED, {"src/more.py": 'from lib import price\nONE: int = "1"\nTWO = price(2)\n'}, id="theirs own"
        ),
        pytest.param({"notes.txt": "two\n"}, MORE, id="nothing to do with each other"),
    ],
)
def test_what_fits_or_is_one_sides_own_matter_is_no_finding(
    tmp_path: Path, check: Call, ours: Files, theirs: Files
) -> None:
    repository(tmp_path, ours, theirs)
    done = check()
    assert done.json["notices"] == []
    assert kinds(done) <= {"suspicion"}, done.json


def test_it_is_not_asked_where_the_settings_say_so(
    tmp_path: Path, check: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path, WORDED, MORE)
    monkeypatch.delenv("COMMONHOLD_TYPES")
    (root / "commonhold.toml").write_text('types = "off"\n', encoding="utf-8")
    assert kinds(check()) == {"suspicion"}
    (root / "commonhold.toml").write_text('types = "on"\n', encoding="utf-8")
    assert check().json["outcome"] == "refused"


def test_what_the_project_has_installed_is_known_in_the_copy(tmp_path: Path, check: Call) -> None:
    """Types of a package that no commit has: without it, the call would give nobody knows what."""
    base = {".gitignore": ".venv\n", "app.py": "from rates import rate\n\n\ndef tax() -> int:\n    return rate()\n"}
    ours = {"app.py": base["app.py"].replace("-> int", "-> str").replace("rate()", "str(rate())")}
    theirs = {
        "more.py": "from app import tax\nfrom rates import rate\n\n\ndef more() -> int:\n    return rate() + tax()\n"
    }
    root = repository(tmp_path, ours, theirs, base)
    packages = root / ".venv" / "lib" / f"python{'.'.join(map(str, sys.version_info[:2]))}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "rates.py").write_text("def rate() -> int:\n    return 7\n", encoding="utf-8")
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n", encoding="utf-8")
    done = check()
    assert found(done) == [("types", "ours", "file:more.py#more", "file:app.py#tax")]
    assert "int" in done.json["findings"][0]["why"]


def test_a_missing_checker_is_one_notice(tmp_path: Path, check: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is copied for it."""
    repository(tmp_path, WORDED, MORE)
    for module in ("copied_files", "checker"):
        monkeypatch.setattr(f"commonhold.typecheck.{module}.locate", lambda *_: None)
    monkeypatch.setattr(CopyCheckers, "_copy", None)
    done = check()
    assert kinds(done) == {"suspicion"}
    (notice,) = done.json["notices"]
    assert "ty is not found" in notice


def test_one_that_says_nothing_degrades(tmp_path: Path, check: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, WORDED, MORE)
    program = tmp_path / "deaf"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr("commonhold.typecheck.checker.locate", lambda *_: str(program))
    monkeypatch.setattr("commonhold.typecheck.copied_files.PATIENCE", Patience(0.2, 0.2))
    done = check()
    assert kinds(done) == {"suspicion"}
    (notice,) = done.json["notices"]
    assert "types were not compared" in notice


def test_a_copy_that_cannot_be_made_degrades(tmp_path: Path, check: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, WORDED, MORE)

    def fail(*_: object) -> None:
        raise StoreError(Code.GIT_FAILED, "no space", hint="make some")

    monkeypatch.setattr(TreeCopy, "__call__", fail)
    done = check()
    assert kinds(done) == {"suspicion"}
    (notice,) = done.json["notices"]
    assert "no space" in notice


def test_words_and_sarif_name_it(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, WORDED, MORE)
    target = tmp_path / "out.sarif"
    text = check("--sarif", str(target)).text
    assert text.startswith("refused: 1 by types\n")
    assert "  ours changed src/lib.py:1 (price)\n" in text
    assert "  theirs has src/more.py:5 (more)\n" in text
    (result,) = json.loads(target.read_text(encoding="utf-8"))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("commonhold/types", "error")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 5}


def test_what_is_tied_is_not_told_again_by_types(tmp_path: Path, check: Call) -> None:
    ours = {
        "src/lib.py": LIB.replace("value: int", "value: int, scale: int"),
        "src/app.py": APP.replace("price(each)", "price(each, 2)"),
    }
    repository(tmp_path, ours, MORE)
    assert [each[0] for each in found(check())] == ["contract"]
