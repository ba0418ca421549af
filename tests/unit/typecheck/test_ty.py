"""ty itself, on a small package."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.patience import until
from tests.processes import is_alive
from tests.unit.typecheck.rig import PATIENT, said

from commonhold.code.type_checkers import TypeReport
from commonhold.typecheck import ServerChecker, open_checkers
from commonhold.typecheck import checker as checker_module
from commonhold.typecheck.servers import TY

pytestmark = pytest.mark.slow

PRICES = """def price(item: str) -> int:
    return len(item)


class Cart:
    def total(self) -> int:
        return price('x')
"""
SHOP = "from pkg.prices import Cart, price\n\n\ndef sell(item: str) -> int:\n    return price(item) + Cart().total()\n"
WITH_SCALE = PRICES.replace("item: str", "item: str, scale: int").replace("('x')", "('x', 2)").encode()
MISSING = "No argument provided for required parameter `scale` of function `price`"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    for path, text in {"pkg/__init__.py": "", "pkg/prices.py": PRICES, "pkg/shop.py": SHOP}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def checker(root: Path) -> Iterator[ServerChecker]:
    made = ServerChecker(TY, str(root), ENVIRONMENT, patience=PATIENT)
    yield made
    made.close()


def test_a_changed_signature_is_an_error_at_its_callers(checker: ServerChecker) -> None:
    report = checker.compare({"pkg/prices.py": WITH_SCALE}, ["pkg/shop.py"])
    assert said(report) == [f"pkg/shop.py:5 {MISSING}"]
    assert (report.checker, report.why) == ("ty 0.0.108", "")
    assert checker.compare({"pkg/prices.py": WITH_SCALE}, ["pkg/shop.py"], ["pkg/prices.py"]) == report
    mended = SHOP.replace("price(item)", "price(item, 3)").encode()
    assert checker.compare({"pkg/prices.py": WITH_SCALE, "pkg/shop.py": mended}) == TypeReport((), "ty 0.0.108")


def test_what_the_project_leaves_out_of_its_checks_is_said_apart(checker: ServerChecker, root: Path) -> None:
    (root / "pyproject.toml").write_text('[tool.mypy]\nfiles = ["pkg/prices.py"]\n')
    report = checker.compare({"pkg/prices.py": WITH_SCALE}, ["pkg/shop.py"])
    assert report.new == ()
    assert [f"{each.path}:{each.line} {each.message}" for each in report.unchecked] == [f"pkg/shop.py:5 {MISSING}"]


@pytest.mark.parametrize(
    ("changes", "also", "expected"),
    [
        (
            {
                "pkg/rates.py": b"def rate(x: int) -> int:\n    return x\n",
                "pkg/shop.py": b"from .rates import rate\n\nrate('x')\n",
            },
            [],
            ['pkg/shop.py:3 Argument to function `rate` is incorrect: Expected `int`, found `Literal["x"]`'],
        ),
        ({"pkg/prices.py": None}, ["pkg/shop.py"], ["pkg/shop.py:1 Cannot resolve imported module `pkg.prices`"]),
        (
            {"pkg/prices.py": None, "pkg/costs.py": PRICES.encode()},
            ["pkg/shop.py"],
            ["pkg/shop.py:1 Cannot resolve imported module `pkg.prices`"],
        ),
        (
            {"pkg/prices.py": None, "pkg/prices/__init__.py": WITH_SCALE, "pkg/prices/more.py": b""},
            ["pkg/shop.py"],
            [f"pkg/shop.py:5 {MISSING}"],
        ),
        (
            {"other/__init__.py": b"", "other/user.py": b"from pkg.shop import sell\n\nsell(1)\n"},
            [],
            ["other/user.py:3 "],
        ),
    ],
    ids=["created", "deleted", "renamed", "module to package", "new package"],
)
def test_files_that_come_and_go(
    checker: ServerChecker, changes: Mapping[str, bytes | None], also: list[str], expected: list[str]
) -> None:
    report = checker.compare(changes, also)
    found = said(report)
    assert [line[: len(start)] for line, start in zip(found, expected, strict=True)] == expected
    assert report.why == ""


def test_what_others_do_on_disk_is_seen(checker: ServerChecker, root: Path) -> None:
    new = {"pkg/shop.py": SHOP.replace("price(item)", "price(item, 3)").encode()}
    assert len(said(checker.compare(new))) == 1
    (root / "pkg" / "prices.py").write_bytes(WITH_SCALE)
    assert said(checker.compare(new)) == []
    (root / "pkg" / "rates.py").write_text("def rate(x: int) -> int:\n    return x\n")
    use = {"pkg/shop.py": b"from pkg.rates import rate\n\nrate(1)\n"}
    assert said(checker.compare(use)) == []
    (root / "pkg" / "rates.py").unlink()
    assert said(checker.compare(use)) == ["pkg/shop.py:1 Cannot resolve imported module `pkg.rates`"]


def test_warnings_and_old_errors_do_not_count(checker: ServerChecker, root: Path) -> None:
    (root / "pkg" / "old.py").write_text("x: int = 'no'\nimport nowhere\n")
    moved = b"\n\n\ndef unused(y): ...\nx: int = 'no'\nimport nowhere\n"
    assert checker.compare({"pkg/old.py": moved}, ["pkg/shop.py"]) == TypeReport((), "ty 0.0.108")


def test_the_projects_own_environment_counts_whatever_is_active(root: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv", tmp_path / "other"], check=True)
    (installed,) = (root / ".venv").glob("lib/*/site-packages")
    (installed / "wares.py").write_text("def ware() -> int:\n    return 1\n")
    checker = ServerChecker(TY, str(root), ENVIRONMENT | {"VIRTUAL_ENV": str(tmp_path / "other")}, patience=PATIENT)
    use = {"pkg/shop.py": b"from wares import ware\n\nx: str = ware()\n"}
    expected = ["pkg/shop.py:3 Object of type `int` is not assignable to `str`"]
    assert said(checker.compare(use)) == expected
    assert said(checker.compare(use | {"pkg/new.py": b""})) == expected
    (installed / "more.py").write_text("")
    assert said(checker.compare({"pkg/shop.py": b"import more\n"})) == []
    checker.close()


def test_it_dies_with_the_process_that_started_it(root: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from commonhold.typecheck import Patience, ServerChecker\n"
        "from commonhold.typecheck.servers import TY\n"
        "checker = ServerChecker(TY, sys.argv[1], dict(os.environ), patience=Patience(60, 60))\n"
        "assert checker.compare({'pkg/shop.py': b''}).checker\n"
        "print(checker._asking._dialogue.connection._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, root], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    until(lambda: not is_alive(int(done.stdout)))


def test_all_that_are_known_are_asked_in_the_environment_of_this_process(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker_module, "Patience", lambda: PATIENT)
    checkers = open_checkers(str(root))
    assert checkers.compare({"notes.txt": b""}) == TypeReport()
    assert checkers.compare({"pkg/prices.py": PRICES.encode()}).checker == "ty 0.0.108"
    checkers.close()
