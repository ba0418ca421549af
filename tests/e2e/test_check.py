"""`commonhold check` in real repositories: what two branches break together, and nothing else."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.branches import Files, asked, commit, state, two_branches, write
from tests.e2e.cli_driver import Call, Outcome, call, git, process

pytestmark = pytest.mark.slow

LIB = """def price(value):
    return value * 2


def tax(value):
    return value // 5


class Store:
    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)

    def first(self):
        return self.items[0]

    def report(self):
        return self.first()
"""
APP = """from lib import price, tax


def total(items):
    return sum(price(each) for each in items)


def with_tax(value):
    return value + tax(value)
"""
TEST = """from app import total, with_tax


def test_total():
    assert total([1, 2]) == 6


def test_with_tax():
    assert with_tax(20) == 24
"""
BASE: Files = {"src/lib.py": LIB, "src/app.py": APP, "tests/test_app.py": TEST, "notes.txt": "one\n"}
SCALED: Files = {
    "src/lib.py": LIB.replace(
        "def price(value):\n    return value * 2", "def price(value, scale):\n    return value * scale"
    ),
    "src/app.py": APP.replace("price(each)", "price(each, 2)"),
}
MORE: Files = {"src/more.py": "from lib import price\n\n\ndef more():\n    return price(3)\n"}
RUN = "PYTHONPATH=src python -m pytest -q -p no:cacheprovider {tests}"


@pytest.fixture
def check(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call it in the repository of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    words = ("-C", str(tmp_path / "r"), "check")
    return lambda *more: call(capsysbinary, monkeypatch, *words, *(more or ("--theirs", "other", "--json")))


def repository(tmp_path: Path, ours: Files, theirs: Files, base: Files = BASE) -> Path:
    return two_branches(tmp_path / "r", base, ours, theirs)


def found(done: Outcome) -> list[tuple[str, str, str | None, str]]:
    """How each finding is known, who changed what, and where it is counted on."""
    return [
        (each["evidence"], each["by"], each["place"]["key"], each["cause"]["key"]) for each in done.json["findings"]
    ]


def test_a_new_caller_of_what_the_other_side_changed_refuses(tmp_path: Path, check: Call) -> None:
    root = repository(tmp_path, SCALED, MORE)
    before = state(root)
    done = check()
    assert (done.status, done.json["outcome"]) == (1, "refused")
    assert found(done) == [("contract", "ours", "file:src/more.py#more", "file:src/lib.py#price")]
    (finding,) = done.json["findings"]
    assert (finding["place"]["line"], finding["place"]["ours_line"], finding["place"]["theirs_line"]) == (5, None, 5)
    assert "price" in finding["why"]
    assert "more" in finding["why"]
    assert done.json["hint"]
    assert done.json["next"] == "git switch other && git merge main"
    assert state(root) == before


def test_the_sides_may_be_exchanged(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, MORE, SCALED)
    assert found(check()) == [("contract", "theirs", "file:src/more.py#more", "file:src/lib.py#price")]
    done = check("main", "--ours", "other", "--json")
    assert found(done) == [("contract", "ours", "file:src/more.py#more", "file:src/lib.py#price")]


def test_in_one_file_too(tmp_path: Path, check: Call) -> None:
    more = {"src/lib.py": LIB + "\n\ndef more():\n    return price(3)\n"}
    repository(tmp_path, SCALED, more)
    done = check()
    assert done.json["outcome"] == "refused"
    assert ("contract", "ours", "file:src/lib.py#more", "file:src/lib.py#price") in found(done)


def test_a_call_that_the_changing_side_has_broken_itself_is_not_told(tmp_path: Path, check: Call) -> None:
    """It is there without the other side, so it is no matter of the two together."""
    repository(tmp_path, {"src/lib.py": SCALED["src/lib.py"]}, {"src/other.py": "ANSWER = 42\n"})
    done = check()
    assert (done.status, done.json["outcome"], found(done)) == (0, "admitted", [])


def test_a_second_call_beside_one_that_was_mended_is_told(tmp_path: Path, check: Call) -> None:
    theirs = {"src/app.py": APP.replace("def with_tax(value):\n", "def with_tax(value):\n    price(value)\n")}
    repository(tmp_path, SCALED, theirs)
    assert found(check()) == [("contract", "ours", "file:src/app.py#with_tax", "file:src/lib.py#price")]


def test_what_one_side_took_away_and_the_other_came_to_use_refuses(tmp_path: Path, check: Call) -> None:
    base = {**BASE, "src/spare.py": "def spare():\n    return 1\n\n\ndef kept():\n    return 2\n"}
    ours = {"src/spare.py": "def kept():\n    return 2\n"}
    theirs = {"src/more.py": "from spare import spare\n\n\ndef more():\n    return spare()\n"}
    repository(tmp_path, ours, theirs, base)
    done = check()
    assert done.json["outcome"] == "refused"
    causes = {each["cause"]["key"] for each in done.json["findings"]}
    assert causes == {"file:src/spare.py#spare"}
    assert all(each["by"] == "ours" for each in done.json["findings"])


def test_bodies_that_depend_on_each_other_escalate(tmp_path: Path, check: Call) -> None:
    ours = {"src/lib.py": LIB.replace("value // 5", "value // 4")}
    theirs = {"src/app.py": APP.replace("value + tax(value)", "value + 2 * tax(value)")}
    repository(tmp_path, ours, theirs)
    done = check()
    assert (done.status, done.json["outcome"]) == (1, "escalated")
    assert found(done) == [("suspicion", "ours", "file:src/app.py#with_tax", "file:src/lib.py#tax")]
    assert [each["path"] for each in done.json["tests"]] == ["tests/test_app.py"]
    assert "{tests}" in done.json["hint"]


def test_a_project_may_want_only_to_be_told(tmp_path: Path, check: Call) -> None:
    ours = {"src/lib.py": LIB.replace("value // 5", "value // 4")}
    theirs = {"src/app.py": APP.replace("value + tax(value)", "value + 2 * tax(value)")}
    root = repository(tmp_path, ours, theirs)
    for pattern, outcome in (("src/app.py", "admitted"), ("src/lib.py", "escalated")):
        (root / "commonhold.toml").write_text(f'[suspicion]\n"{pattern}" = "notice"\n', encoding="utf-8")
        done = check()
        assert done.json["outcome"] == outcome
        assert [each["evidence"] for each in done.json["findings"]] == ["suspicion"]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (
            ("self.items.append(item)", "self.items.insert(0, item)"),
            ("self.items[0]", "self.items[-1]"),
            ("file:src/lib.py#Store.put", "file:src/lib.py#Store.first"),
        ),
        (
            ("return self.items[0]", "return self.items[-1]"),
            ("return self.first()", "return str(self.first())"),
            ("file:src/lib.py#Store.report", "file:src/lib.py#Store.first"),
        ),
    ],
)
def test_methods_of_one_class_that_share_or_call_escalate(
    tmp_path: Path, check: Call, ours: tuple[str, str], theirs: tuple[str, str], expected: tuple[str, str]
) -> None:
    repository(tmp_path, {"src/lib.py": LIB.replace(*ours)}, {"src/lib.py": LIB.replace(*theirs)})
    done = check()
    assert done.json["outcome"] == "escalated"
    assert set(expected) in [{each["place"]["key"], each["cause"]["key"]} for each in done.json["findings"]]


def test_what_has_nothing_to_do_with_each_other_is_admitted(tmp_path: Path, check: Call) -> None:
    ours = {"src/lib.py": LIB.replace("value // 5", "value // 4"), "notes.txt": "two\n"}
    theirs = {"src/lib.py": LIB.replace("return self.items[0]", "return self.items[-1]"), "src/new.py": "A = 1\n"}
    repository(tmp_path, ours, theirs)
    done = check()
    assert (done.status, done.json["outcome"], found(done), done.json["unmerged"]) == (0, "admitted", [], [])
    assert done.json["hint"] is None


def test_what_differs_in_comments_alone_is_no_change(tmp_path: Path, check: Call) -> None:
    ours = {"src/lib.py": LIB.replace("    return value // 5", "    # a fifth\n    return value // 5")}
    theirs = {"src/app.py": APP.replace("value + tax(value)", "value + 2 * tax(value)")}
    repository(tmp_path, ours, theirs)
    assert check().json["outcome"] == "admitted"


def test_lines_that_conflict_refuse_and_the_rest_is_examined_all_the_same(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, {**SCALED, "notes.txt": "two\n"}, {**MORE, "notes.txt": "three\n"})
    done = check()
    assert done.json["outcome"] == "refused"
    assert [each["path"] for each in done.json["unmerged"]] == ["notes.txt"]
    assert done.json["ours"]["name"] == "main", "HEAD would be another branch where the next step is done"
    assert found(done) == [("contract", "ours", "file:src/more.py#more", "file:src/lib.py#price")]


def test_a_file_that_one_side_deleted_and_the_other_changed_refuses(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, {"notes.txt": None}, {"notes.txt": "two\n"})
    done = check()
    assert [each["path"] for each in done.json["unmerged"]] == ["notes.txt"]
    assert "notes.txt" in check("--theirs", "other").text


def test_what_a_merge_by_structure_proves_does_not_refuse(tmp_path: Path, check: Call) -> None:
    ours, theirs = ({"src/names.py": f'NAMES = [\n    "a",\n    "{name}",\n]\n'} for name in "bc")
    repository(tmp_path, ours, theirs, {**BASE, "src/names.py": 'NAMES = [\n    "a",\n]\n'})
    assert check().json["outcome"] == "admitted"


@pytest.mark.parametrize(
    ("rate", "status", "outcome"), [("value // 5 + 0", 0, "admitted"), ("value // 4", 1, "refused")]
)
def test_the_impacted_tests_decide_what_is_suspected(
    tmp_path: Path, check: Call, rate: str, status: int, outcome: str
) -> None:
    ours = {"src/lib.py": LIB.replace("value // 5", rate)}
    theirs = {"src/app.py": APP.replace("return value + tax(value)", "return tax(value) + value")}
    root = repository(tmp_path, ours, theirs)
    before = state(root)
    words = ("--theirs", "other", "--tests", RUN)
    done = check(*words, "--json")
    assert (done.status, done.json["outcome"]) == (status, outcome), done.json
    assert done.json["check"]["passed"] is (outcome == "admitted")
    assert "tests/test_app.py" in done.json["check"]["command"]
    assert [each["evidence"] for each in done.json["findings"]] == ["suspicion"]
    assert ("test_with_tax" in check(*words).text) is (outcome == "refused")
    assert state(root) == before


def test_tests_see_the_merged_state(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, {"src/ours.py": "A = 1\n"}, {"src/theirs.py": "B = 2\n"})
    words = ("--theirs", "other", "--json", "--tests")
    assert check(*words, "test -e src/ours.py && test -e src/theirs.py").json["outcome"] == "admitted"
    assert check(*words, "test -e src/nothing.py").json["outcome"] == "refused"


def test_where_no_test_is_impacted_none_is_run(tmp_path: Path, check: Call) -> None:
    base = {"src/lib.py": LIB, "src/app.py": APP}
    ours = {"src/lib.py": LIB.replace("value // 5", "value // 4")}
    theirs = {"src/app.py": APP.replace("value + tax(value)", "value + 2 * tax(value)")}
    repository(tmp_path, ours, theirs, base)
    done = check("--theirs", "other", "--json", "--tests", "exit 1 {tests}")
    assert (done.json["outcome"], done.json["tests"], done.json["check"]) == ("escalated", [], None)


def test_what_is_refused_runs_no_tests(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, SCALED, MORE)
    done = check("--theirs", "other", "--json", "--tests", f"touch {tmp_path}/ran")
    assert (done.json["outcome"], done.json["check"]) == ("refused", None)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("theirs", ["main", "main~1"])
def test_a_side_that_has_all_of_the_other_has_nothing_to_clash_with(tmp_path: Path, check: Call, theirs: str) -> None:
    repository(tmp_path, SCALED, MORE)
    done = check("--theirs", theirs, "--json")
    assert (done.status, done.json["contained"]) == (0, True)
    assert (check("--ours", theirs, "--theirs", "main", "--json").json["contained"]) is True


def test_the_base_may_be_told(tmp_path: Path, check: Call) -> None:
    """Histories that were rewritten have other commits in common than the work has."""
    root = repository(tmp_path, SCALED, MORE)
    begin = asked(root, "rev-parse", "main~1")
    git(root, "checkout", "--quiet", "--orphan", "anew", "main~1")
    commit(root, {}, "begin anew")
    commit(root, MORE, "more")
    git(root, "checkout", "--quiet", "main")
    strangers = check("--theirs", "anew", "--json")
    assert (strangers.status, strangers.json["code"]) == (3, "REVISION_UNKNOWN")
    assert "--base" in strangers.json["hint"]
    done = check("--theirs", "anew", "--base", begin, "--json")
    assert done.json["bases"] == [begin]
    assert found(done) == [("contract", "ours", "file:src/more.py#more", "file:src/lib.py#price")]


def test_uncommitted_work_has_no_say_and_is_left_alone(tmp_path: Path, check: Call) -> None:
    root = repository(tmp_path, SCALED, MORE)
    write(root, {"src/lib.py": LIB, "src/new.py": "def (:\n"})
    before = state(root)
    assert check().json["outcome"] == "refused"
    assert state(root) == before


@pytest.mark.parametrize(
    "words",
    [("--theirs", "nowhere"), ("--theirs", "other", "--ours", "nowhere"), ("--theirs", "other", "--base", "nowhere")],
)
def test_an_unknown_revision_is_told(tmp_path: Path, check: Call, words: tuple[str, ...]) -> None:
    repository(tmp_path, SCALED, MORE)
    done = check(*words, "--json")
    assert (done.status, done.json["code"], done.json["fields"]) == (3, "REVISION_UNKNOWN", {"name": "nowhere"})


def test_theirs_has_to_be_named(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, SCALED, MORE)
    assert check("--json").status == 2


def test_outside_of_git_it_says_so(tmp_path: Path, check: Call) -> None:
    (tmp_path / "r").mkdir()
    done = check()
    assert (done.status, done.json["code"]) == (3, "REPOSITORY_PLAIN")


def test_names_that_are_no_utf8_are_told_with_escapes(tmp_path: Path, check: Call) -> None:
    odd = os.fsdecode(b"od\xff.txt")
    repository(tmp_path, {odd: "two\n"}, {odd: "three\n"}, {**BASE, odd: "one\n"})
    done = check()
    assert [each["path"] for each in done.json["unmerged"]] == ["od\\xff.txt"]
    assert check("--theirs", "other").status == 1


def test_the_words_name_both_places_as_each_side_has_them(tmp_path: Path, check: Call) -> None:
    ours = {**SCALED, "src/lib.py": "import os\n" + str(SCALED["src/lib.py"])}
    repository(tmp_path, ours, MORE)
    text = check("--theirs", "other").text
    assert text.startswith("refused: 1 by contract\n")
    assert "  ours changed src/lib.py:2 (price)\n" in text
    assert "  theirs has src/more.py:5 (more)\n" in text
    assert "\nnext: " in text


# SARIF, as its schema demands it of a producer.


def sarif(tmp_path: Path, check: Call, *words: str) -> Any:
    target = tmp_path / "out.sarif"
    check("--theirs", "other", "--sarif", str(target), *words)
    return json.loads(target.read_text(encoding="utf-8"))


def check_schema(log: Any) -> None:
    """The required fields, and the rules about them that a reader of SARIF 2.1.0 relies on."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in {"none", "note", "warning", "error"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert all(result["partialFingerprints"].values())
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            physical = place["physicalLocation"]
            uri = physical["artifactLocation"]["uri"]
            assert uri
            assert not uri.startswith("/")
            assert ":" not in uri
            assert " " not in uri
            assert physical["region"]["startLine"] >= 1
        for place in result.get("relatedLocations", ()):
            assert place["message"]["text"]
            assert place["id"] >= 0


def test_a_broken_contract_is_an_error_where_theirs_uses_it(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, SCALED, MORE)
    log = sarif(tmp_path, check)
    check_schema(log)
    (result,) = log["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("commonhold/contract", "error")
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/more.py"
    assert place["physicalLocation"]["region"] == {"startLine": 5}
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "src/lib.py"


def test_what_theirs_changed_is_noted_where_they_changed_it(tmp_path: Path, check: Call) -> None:
    """What breaks is in no file of theirs: a note on their pull request can only stand at the change."""
    repository(tmp_path, MORE, SCALED)
    (result,) = sarif(tmp_path, check)["runs"][0]["results"]
    (place,), (related,) = result["locations"], result["relatedLocations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/lib.py"
    assert place["physicalLocation"]["region"] == {"startLine": 1}
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "src/more.py"


def test_a_suspicion_is_a_warning_and_a_note_once_tests_pass(tmp_path: Path, check: Call) -> None:
    ours = {"src/lib.py": LIB.replace("value // 5", "value // 4")}
    theirs = {"src/app.py": APP.replace("value + tax(value)", "value + 2 * tax(value)")}
    repository(tmp_path, ours, theirs)
    for words, level in (((), "warning"), (("--tests", "true"), "note")):
        log = sarif(tmp_path, check, *words)
        check_schema(log)
        assert [each["level"] for each in log["runs"][0]["results"]] == [level]


def test_failing_tests_and_conflicts_are_errors(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, {"src/lib.py": LIB.replace("// 5", "// 4")}, {"src/app.py": APP + "\n\nA = 1\n"})
    log = sarif(tmp_path, check, "--tests", "echo no; false")
    check_schema(log)
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == ["commonhold/tests"]


def test_paths_are_written_as_uris(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, {"ä b#.txt": "two\n"}, {"ä b#.txt": "three\n"}, {**BASE, "ä b#.txt": "one\n"})
    log = sarif(tmp_path, check)
    check_schema(log)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "commonhold/unmerged"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%C3%A4%20b%23.txt"


def test_a_fingerprint_outlives_other_lines(tmp_path: Path, check: Call) -> None:
    root = repository(tmp_path, SCALED, MORE)
    first = sarif(tmp_path, check)["runs"][0]["results"][0]
    git(root, "checkout", "--quiet", "other")
    commit(root, {"src/more.py": "# more\n" + str(MORE["src/more.py"])}, "comment")
    git(root, "checkout", "--quiet", "main")
    second = sarif(tmp_path, check)["runs"][0]["results"][0]
    assert first["partialFingerprints"] == second["partialFingerprints"]
    assert first["locations"] != second["locations"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, check: Call) -> None:
    repository(tmp_path, SCALED, MORE)
    done = check("--theirs", "other", "--sarif", str(tmp_path / "no" / "out.sarif"), "--json")
    assert done.status == 4


def test_as_a_process(tmp_path: Path) -> None:
    root = repository(tmp_path, SCALED, MORE)
    done = process("check", "--theirs", "other", cwd=root)
    assert done.returncode == 1
    assert done.stdout.startswith(b"refused: 1 by contract\n")
    assert done.stderr == b""
