"""Typed edits of programs and data: they are merged, and judges accept what is proven."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.merging.generated.edits import edits
from bench.merging.generated.files import own
from bench.merging.generated.front_ends import TOOLS, close, judge
from bench.merging.generated.grammars import GRAMMARS
from bench.merging.generated.in_javascript import Node
from bench.merging.generated.judges import JSON, PYTHON, TOML, YAML, Judge, Typed, is_accepted, lost
from bench.merging.generated.kept import Kept
from bench.merging.generated.measure import Limits, Merged, of_file
from bench.merging.generated.part import Unit, of_unit
from bench.merging.generated.program import Program
from bench.merging.generated.running import Engine, Python, Ran, misbehaving, of_program
from bench.merging.generated.showing import keep, table, tallied
from tests.effort import is_stress
from tests.unit.merging.mutants import pass_over_what_was_moved, see_no_interference, see_nothing_borne

pytestmark = pytest.mark.slow

SEEDS = (7, 8) if is_stress() else (7,)
FEW = Limits(each_kind=2, most_edits=12, most_pairs=60)
MANY = Limits(each_kind=4, most_edits=24, most_pairs=150, refused_share=0)
ALWAYS_THERE: dict[str, Judge] = {"python": Typed(), "json": JSON, "yaml": YAML, "toml": TOML}


def said(merges: list[Merged]) -> list[str]:
    return [f"{each.kinds}: {dict(each.broken)}\n{(each.result or b'').decode()}" for each in merges if each.broken]


@pytest.mark.parametrize("language", ALWAYS_THERE)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_proven_is_accepted(language: str, seed: int) -> None:
    grammar = GRAMMARS[language]
    merges = of_file(grammar, ALWAYS_THERE[language], own(grammar.suffix), seed, FEW)
    assert len(merges) >= 45
    assert any(each.is_proven for each in merges)
    assert said(merges) == []


ENGINES = ("python", "javascript")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "python":
        yield Python()
        return
    if shutil.which("node") is None:
        pytest.skip("no node")
    node = Node.started()
    try:
        yield node
    finally:
        node.conversation.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_proven_runs_as_each_side_meant(seed: int, engine: Engine) -> None:
    merges = of_program(engine, f"{seed}:0")
    assert len(merges) >= 100
    assert said(merges) == []


def test_a_judge_notices_that_a_moved_entry_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    pass_over_what_was_moved(monkeypatch)
    merges = (of_file(GRAMMARS["json"], JSON, own(".json"), seed, MANY) for seed in range(12))
    assert any(map(said, merges))


@pytest.mark.parametrize("engine", ENGINES if is_stress() else ENGINES[:1], indirect=True)
def test_a_run_notices_a_merge_that_sees_no_interference(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    see_no_interference(monkeypatch)
    see_nothing_borne(monkeypatch)
    assert any(said(of_program(engine, f"{seed}:0")) for seed in SEEDS)


@pytest.mark.parametrize("language", GRAMMARS)
def test_edits_are_of_many_kinds_and_the_same_each_time(language: str) -> None:
    grammar = GRAMMARS[language]
    source = own(grammar.suffix).read_bytes()
    made = list(edits(Program(source, grammar, (0, len(source))), "seed", 3))
    assert made == list(edits(Program(source, grammar, (0, len(source))), "seed", 3))
    kinds = {each.kind for each in made}
    assert len(kinds) >= (6 if language in {"json", "yaml", "toml"} else 18)
    assert len({each.source for each in made}) == len(made)


@pytest.mark.parametrize("language", TOOLS)
def test_a_front_end_says_what_is_wrong(language: str, tmp_path: Path) -> None:
    found = judge(language, tmp_path)
    if isinstance(found, str):
        assert found.startswith(("no ", "npm install"))
        return
    place = own(GRAMMARS[language].suffix)
    source = place.read_bytes()
    try:
        right, wrong, again = found.complaints(place, [source, source + b"\n)(\n", source])
    finally:
        close(found)
    assert right == again
    assert is_accepted(right, Counter())
    assert not is_accepted(wrong, right)


def test_a_language_without_its_compiler_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert judge("go", tmp_path) == "no go"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (PYTHON, b"def f(:\n"),
        (JSON, b'{"a": 1, "a": 2}'),
        (TOML, b"a = 1\na = 2\n"),
        (YAML, b"a: 1\na: 2\n"),
        (Typed(), b"print(missing)\n"),
    ],
)
def test_a_reader_refuses_what_is_given_twice_or_wrong(found: Judge, text: bytes) -> None:
    assert found.complaints(Path("text"), [text])[0]


def test_a_value_that_is_lost_or_back_again_is_named() -> None:
    base, ours, theirs = b'{"a": [1, 2]}', b'{"a": [1, 2, 3]}', b'{"a": [2]}'
    assert not lost(JSON.read, base, ours, theirs, b'{"a": [2, 3]}')
    assert lost(JSON.read, base, ours, theirs, b'{"a": [2]}')
    assert lost(JSON.read, base, ours, theirs, b'{"a": [1, 2, 3]}')


def test_a_merge_that_runs_otherwise_is_found() -> None:
    start = b"state = []\nclass Box:\n    def __init__(self, size):\n        self.size, self.seen = size, []\n"
    base = start + b"def work(given):\n    return given\n"
    ours = start + b"def work(given):\n    return given + 1\n"
    theirs = base + b"def more(given):\n    return work(given)\n"
    merged = ours + b"def more(given):\n    return work(given)\n"
    versions = [Ran(text) for text in (base, ours, theirs, merged)]
    assert [*misbehaving(*versions)] != []
    assert not misbehaving(versions[0], versions[1], versions[0], versions[1])


def test_a_change_that_callers_could_see_is_no_change_without_a_difference() -> None:
    start = b"state = []\nclass Box:\n    def __init__(self, size):\n        self.size, self.seen = size, []\n"
    parts = b"def size(given):\n    return 1\ndef risk(given):\n    return given\n"
    user = b"def user(given):\n    return 5 if size(given) > 2 else 5 + risk(0)\n"
    base = start + parts + user
    ours = base.replace(b"    return given\n", b"    raise ValueError\n")
    theirs = base.replace(b"return 1", b"return 3")
    merged = ours.replace(b"return 1", b"return 3")
    assert not misbehaving(*(Ran(text) for text in (base, ours, theirs, merged)))
    unseen = base.replace(b"    return 1", b"    other = given\n    return 1")
    assert misbehaving(*(Ran(text) for text in (base, ours, unseen, merged)))


def test_a_result_that_is_the_same_only_for_one_constant_is_no_change_without_a_difference() -> None:
    start = b"state = []\nclass Box:\n    def __init__(self, size):\n        self.size, self.seen = size, []\n"
    base = start + b"LIMIT = 2\ndef work(given):\n    second = 2\n    third = LIMIT\n    return second\n"
    ours = base.replace(b"second = 2", b"second = 7")
    for theirs, is_told in ((b"return third", False), (b"third = second\n    return second", True)):
        other = base.replace(b"return second", theirs)
        merged = other.replace(b"return second", b"return 2").replace(b"second = 2", b"second = 7")
        assert bool(misbehaving(*(Ran(text) for text in (base, ours, other, merged)))) is is_told


def test_a_result_that_is_equal_by_coincidence_is_no_change_without_a_difference() -> None:
    start = b"state = []\nclass Box:\n    def __init__(self, size):\n        self.size, self.seen = size, []\n"
    base = start + b"def work(given):\n    second = 2\n    return 5 + second\n"
    ours = base.replace(b"    return", b"    if given > 5:\n        return 7\n    return")
    theirs = base.replace(b"    return 5", b"    second = len(state)\n    return 5")
    merged = ours.replace(b"    return 5", b"    second = len(state)\n    return 5")
    assert Ran(ours).seen == Ran(base).seen
    assert not misbehaving(*(Ran(text) for text in (base, ours, theirs, merged)))


def test_javascript_is_run_and_its_errors_are_seen() -> None:
    if shutil.which("node") is None:
        pytest.skip("no node")
    node = Node.started()
    try:
        source = b"state = []\nclass Box:\n    def __init__(self, size=1):\n        self.size = size\n"
        source += b"        self.seen = []\n"
        source += b"def work(given, by=1):\n    first = 9 // given\n    state.append(first)\n    return first + by\n"
        text = node.written(source)
        assert b"  let first = divided(9, given);\n" in text
        assert node.run(text, [3, 0], 11)["work"] == ("4,|,3,|,11,|", "RangeError,|,|,11,|")
        assert node.run(b"(", [3], 11) == {"program": ("SyntaxError",)}
    finally:
        node.conversation.close()


def test_what_was_seen_is_told_and_kept(tmp_path: Path) -> None:
    versions = (b"a", b"b", b"c")
    good = Merged("json", "file.json", ("add key", "delete"), versions, b"bc", Counter())
    bad = Merged("json", "file.json", ("add key", "delete"), versions, b"b", Counter(["lost"]))
    refused = Merged("json", "file.json", ("add key", "move"), versions, None, Counter(), 1, ("GATE",))
    languages, pairs = tallied([good, bad, refused])
    assert pairs["json", ("add key", "delete")].broken == 1
    assert "json               3       2       1        1  1 of 1 judged" in list(table(languages, {"go": "no go"}))
    keep([good, bad, refused], tmp_path)
    assert (tmp_path / "json-001" / "merged.json").read_bytes() == b"b"


def test_what_rust_says_against_one_text_hides_nothing_in_another(tmp_path: Path) -> None:
    found = judge("rust", tmp_path)
    if isinstance(found, str):
        pytest.skip(found)
    texts = [b"pub fn a( -> i32 {}\n", b"pub fn b() -> i32 {\n    true\n}\n", b"pub fn c() -> i32 {\n    1\n}\n"]
    syntax, types, right = found.complaints(tmp_path / "text.rs", texts)
    assert syntax
    assert types
    assert not right


def test_a_header_that_is_no_longer_included_is_missed_in_cpp(tmp_path: Path) -> None:
    found = judge("cpp", tmp_path)
    if isinstance(found, str):
        pytest.skip(found)
    place = tmp_path / "text.cpp"
    use = b"std::vector<int> sizes;\n"
    place.write_bytes(b"#include <string>\n#include <vector>\n" + use)
    right, wrong = found.complaints(place, [place.read_bytes(), b"#include <string>\n" + use])
    assert is_accepted(right, Counter())
    assert not is_accepted(wrong, right)


def test_a_file_that_was_finished_is_read_when_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit("json", own(".json"), 7)
    merges = of_unit(FEW, tmp_path, unit)
    see_no_interference(monkeypatch)
    assert merges
    assert of_unit(FEW, tmp_path, unit) == merges
    bad = Merged(
        "json", "file.json", ("add key", "delete"), (b"a", b"b", b"c"), b"b", Counter(["lost"]), None, ("GATE",)
    )
    Kept(tmp_path).write("bad", [bad])
    assert Kept(tmp_path).read("bad") == [bad]
    assert Kept(tmp_path).read("other") is None
