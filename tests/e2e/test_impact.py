"""`commonhold impact`, `callers` and `contract` in a real repository."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.e2e.branches import Files, write
from tests.e2e.cli_driver import Call

pytestmark = pytest.mark.slow

FILES: Files = {
    "lib.py": '''def base(x, *, scale: int = 2) -> int:
    """Scaled."""
    return x * scale


class Box(dict):
    size = 1

    def __init__(self, name):
        self.name = name

    @property
    def label(self) -> str:
        return self.name


async def late(*args):
    return args
''',
    "app.py": """from lib import Box, base


def first(x):
    return base(x)


def boxed():
    return Box("a")
""",
    "top.py": "from app import first\n\n\ndef top(x):\n    return first(x)\n",
    "tests/test_top.py": "from top import top\n\n\ndef test_top():\n    assert top(1)\n",
    "guess.py": "def guess(it):\n    return it.label\n",
    "notes.txt": "first\n",
    "many.py": "def many():\n    return 1\n\n\ndef many():\n    return 2\n",
}


@pytest.fixture
def run(run: Call, root: Path) -> Call:
    write(root, FILES)
    return run


def test_the_tree_tells_each_step(run: Call) -> None:
    assert run("impact", "lib.py#base").text == (
        "file:lib.py#base\n"
        "└── first  app.py:5  calls `base(_)`\n"
        "    └── top  top.py:5  calls `first(_)`\n"
        "        └── test_top  tests/test_top.py:5  calls `top(_)`\n"
    )


@pytest.mark.parametrize(("depth", "count"), [("1", 1), ("2", 2), ("9", 3)])
def test_the_depth_is_the_callers_choice(run: Call, depth: str, count: int) -> None:
    assert len(run("impact", "lib.py#base", "--depth", depth, "--json").json["reached"]) == count


@pytest.mark.parametrize("depth", ["0", "-1", "x"])
def test_a_depth_is_a_number_of_steps(run: Call, depth: str) -> None:
    assert run("impact", "lib.py#base", "--depth", depth).status == 2


def test_in_json_each_has_its_way(run: Call) -> None:
    answer = run("impact", "lib.py#base", "--json").json
    assert (answer["keys"], answer["cut"]) == (["file:lib.py#base"], False)
    assert [(each["key"], each["depth"], each["on"], each["sure"]) for each in answer["reached"]] == [
        ("file:app.py#first", 1, "file:lib.py#base", True),
        ("file:top.py#top", 2, "file:app.py#first", True),
        ("file:tests/test_top.py#test_top", 3, "file:top.py#top", True),
    ]
    (use,) = answer["reached"][0]["uses"]
    assert (use["path"], use["line"], use["use"], use["sure"]) == ("app.py", 5, "call", True)


def test_what_only_a_name_says_is_suspected(run: Call) -> None:
    assert "guess  guess.py:2" in run("impact", "lib.py#Box.label").text
    assert "(suspected)" in run("impact", "lib.py#Box.label").text


def test_a_file_stands_for_all_that_it_defines(run: Call) -> None:
    answer = run("impact", "lib.py", "--depth", "1", "--json").json
    assert answer["keys"] == ["file:lib.py#base", "file:lib.py#Box", "file:lib.py#late"]
    assert {each["key"] for each in answer["reached"]} == {"file:app.py#first", "file:app.py#boxed"}
    assert "Box\n" in run("impact", "lib.py").text


def test_what_nothing_uses_is_told_as_such(run: Call) -> None:
    assert "nothing is known to use it" in run("impact", "lib.py#late").text


@pytest.mark.parametrize(
    "key", ["lib.py#base", "lib.py::base", "file:lib.py#base", "function::lib.py::base", "./lib.py#base"]
)
@pytest.mark.parametrize("command", ["impact", "callers"])
def test_keys_may_have_any_form(run: Call, command: str, key: str) -> None:
    assert run(command, key, "--json").json["keys"] == ["file:lib.py#base"]


def test_plain_paths_are_relative_to_where_one_is(run: Call, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "tests")
    assert run("callers", "../lib.py#base", "--json").json["keys"] == ["file:lib.py#base"]


def test_several_definitions_of_one_name_are_one(run: Call) -> None:
    assert run("contract", "many.py#many").status == 0
    assert run("callers", "many.py#many~2", "--json").json["keys"] == ["file:many.py#many"]


def test_what_was_written_a_moment_ago_is_seen(run: Call, root: Path) -> None:
    assert len(run("callers", "lib.py#base", "--json").json["uses"]) == 2
    write(
        root,
        {"new.py": "from lib import base\n\n\ndef new():\n    return base(1)\n", "app.py": "def first(x):\n    pass\n"},
    )
    uses = run("callers", "lib.py#base", "--json").json["uses"]
    assert {each["key"] for each in uses} == {"file:new.py#new", "file:new.py"}


def test_callers_are_listed_flat(run: Call) -> None:
    assert run("callers", "lib.py#base").text == (
        "file:lib.py#base: 2 uses\n  app.py:1  imports it\n  app.py:5  calls `base(_)`  in first\n"
    )
    assert run("callers", "lib.py#late").text == "file:lib.py#late: no uses\n"


def test_a_contract_is_what_others_see(run: Call) -> None:
    assert run("contract", "lib.py#base").text == "file:lib.py#base\n  base(x, *, scale=2) -> int  lines 1-3\n"
    text = run("contract", "lib.py#Box").text
    assert "class Box(dict)" in text
    assert "Box.__init__(self, name)" in text
    assert "@property" in text
    assert "async late(*args)" in run("contract", "lib.py").text


def test_a_contract_in_json_has_the_parameters(run: Call) -> None:
    (offer,) = run("contract", "lib.py#base", "--json").json["offers"]
    assert (offer["key"], offer["sort"], offer["line"]) == ("file:lib.py#base", "function", 1)
    (signature,) = offer["signatures"]
    assert signature["returns"] == "int"
    x, scale = signature["parameters"]
    assert x == {"name": "x", "kind": "positional", "required": True, "default": None, "annotation": None}
    assert scale == {"name": "scale", "kind": "keyword_only", "required": False, "default": "2", "annotation": "int"}


@pytest.mark.parametrize("command", ["impact", "callers", "contract"])
@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("nope.py#f", "FILE_NOT_FOUND"),
        ("lib.py#nope", "REGION_UNKNOWN"),
        ("notes.txt", "LANGUAGE_UNTIED"),
        ("account:1", "NOT_A_FILE"),
    ],
)
def test_what_is_not_there_is_told(run: Call, command: str, key: str, code: str) -> None:
    done = run(command, key, "--json")
    assert (done.status, done.json["code"]) == (3, code)
    assert done.json["hint"]


def test_the_graph_has_all_arrows(run: Call) -> None:
    lines = run("impact", "lib.py#base", "--dot").text.splitlines()
    assert (lines[0], lines[-1]) == ("digraph impact {", "}")
    assert '  "app.py#first" -> "lib.py#base";' in lines
    assert '  "tests/test_top.py#test_top" -> "top.py#top";' in lines
    assert any("style=dashed" in line for line in run("impact", "lib.py#Box.label", "--dot").text.splitlines())
    assert run("impact", "lib.py#base", "--dot", "--json").status == 2


def test_the_picture_has_a_box_for_each_and_none_lies_on_another(run: Call, tmp_path: Path) -> None:
    target = tmp_path / "impact.svg"
    assert run("impact", "lib.py", "--svg", str(target)).status == 0
    picture = ET.fromstring(target.read_text(encoding="utf-8"))  # noqa: S314 - we wrote it
    space = "{http://www.w3.org/2000/svg}"
    boxes = [each.find(f"{space}rect") for each in picture.iter(f"{space}g")]
    places = [(float(box.attrib["x"]), float(box.attrib["y"])) for box in boxes if box is not None]
    reached = run("impact", "lib.py", "--json").json
    assert len(places) == len(reached["keys"]) + len(reached["reached"])
    height = 40
    assert all(
        one is other or one[0] != other[0] or abs(one[1] - other[1]) >= height for one in places for other in places
    )
    inner = float(picture.attrib["width"]), float(picture.attrib["height"])
    assert all(0 <= x < inner[0] and 0 <= y < inner[1] for x, y in places)
    texts = {each.text for each in picture.iter(f"{space}text")}
    assert {"base", "first", "app.py:5", "test_top"} <= texts
    assert len(list(picture.iter(f"{space}path"))) == len(reached["reached"])


def test_names_cannot_leave_their_place_in_a_picture(run: Call, root: Path, tmp_path: Path) -> None:
    write(root, {"a<b&.py": "from lib import base\n\n\ndef f():\n    return base(1)\n"})
    target = tmp_path / "impact.svg"
    run("impact", "lib.py#base", "--svg", str(target))
    assert "a<b&.py:5" in {each.text for each in ET.fromstring(target.read_text(encoding="utf-8")).iter()}  # noqa: S314


def test_who_reads_words_loads_no_json() -> None:
    modules = "commonhold.cli.check, commonhold.cli.impact, commonhold.cli.callers"
    code = f"import sys, {modules}; sys.exit('commonhold.api.wire.check_shapes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_json_is_json(run: Call) -> None:
    for words in (("impact", "lib.py"), ("callers", "lib.py"), ("contract", "lib.py")):
        assert isinstance(json.loads(run(*words, "--json").out), dict)
