"""Files that a parser would need minutes for: whoever looks at one learns that it is text, and the others work on."""

import threading
from pathlib import Path

import pytest
from tests.e2e.daemon_process import serving
from tests.patience import PATIENCE_SECONDS
from tests.unit.code.regions.hostile import ENDLESS, KNOWN, repeated

from commonhold import Changeset, Code, CommonholdError, Edit, Op

pytestmark = pytest.mark.slow


def test_a_bystander_is_answered_while_a_hostile_file_is_read(root: Path) -> None:
    cases = [*KNOWN, *ENDLESS]
    for number, (path, unit) in enumerate(cases):
        (root / f"evil{number}-{path}").write_bytes(repeated(unit, 25_000))
    problems: list[str] = []
    with serving(root) as daemon, daemon.session("bad") as bad, daemon.session("good") as good:
        assert good.put("k:1", "x", expected_version=0).outcome == "stored"

        def read_all() -> None:
            for number, (path, _) in enumerate(cases):
                problems.extend(each.code for each in bad.regions(f"evil{number}-{path}").problems)

        reader = threading.Thread(target=read_all)
        reader.start()
        answered = 0
        while reader.is_alive():
            assert good.get("k:1").text == "x"
            answered += 1
        reader.join(PATIENCE_SECONDS)
        assert problems == ["PARSE_BUDGET"] * len(cases)
        assert answered > len(cases)


def test_an_ordinary_commit_goes_through_beside_hostile_files(root: Path) -> None:
    for number, (path, unit) in enumerate((*KNOWN, *ENDLESS)):
        (root / f"evil{number}-{path}").write_bytes(repeated(unit, 25_000))
    with serving(root) as daemon, daemon.session("ann") as hold:
        (read,) = hold.read("a.py#two")
        edit = Edit(Op.REPLACE, read.key, read.hash, "def two(value, scale=1):\n    return value * scale\n")
        assert hold.commit(Changeset((edit,), "a scale")).outcome == "committed"


def test_a_commit_that_would_make_text_of_code_is_refused(root: Path) -> None:
    (root / "a.ts").write_text("export function f(): number {\n  return 1\n}\n", encoding="utf-8")
    with serving(root) as daemon, daemon.session("ann") as hold:
        (read,) = hold.read("a.ts#f")
        text = f"export function f(): number {{\n  return {'***a' * 5_000}\n}}\n"
        answer = hold.commit(Changeset((Edit(Op.REPLACE, read.key, read.hash, text),), "stars"))
        assert (answer.outcome, answer.code) == ("refused", "PARSE_INVALID")
        with pytest.raises(CommonholdError) as caught:
            hold.read("a.ts#g")
        assert caught.value.code is Code.REGION_UNKNOWN
