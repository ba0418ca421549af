"""What applying edits costs: the edit, not the file."""

from collections.abc import Callable

import pytest

from commonhold.code.regions import syntax
from commonhold.code.regions.edit import Replace, splice
from commonhold.code.regions.find import find
from commonhold.code.regions.region import RegionMap, hash_bytes
from commonhold.commits import apply_edits
from commonhold.commits.apply_edits import Content, applied, flaw_in
from commonhold.commits.resolved_edits import KeyedEdit
from commonhold.kernel.changeset import Edit, Op, made_to_hold
from commonhold.kernel.keys import parse_names
from commonhold.reads import recent_maps
from commonhold.reads.recent_maps import Recent, discovered, rediscovered

SOURCE = b"import os\n\n\n" + b"".join(b"def f%d():\n    return %d\n\n\n" % (each, each) for each in range(50))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all texts that are compiled."""
    lengths: list[int] = []

    def spied(source: bytes, *args: object, **options: object) -> object:
        lengths.append(len(source))
        return compile(source, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(syntax, "compile", spied, raising=False)
    monkeypatch.setattr(apply_edits, "_COMPILED", Recent[bytes, bool](8))
    return lengths


def _edited(before: RegionMap, name: str, text: str) -> Content:
    made = splice(before, [Replace(find(before, parse_names(name)), text)])
    return Content(made.source, rediscovered(before, made.source), made.placed)


def test_the_second_edit_of_a_file_compiles_its_definition_alone(compiled: list[int]) -> None:
    before = discovered(SOURCE, "a.py")
    first = _edited(before, "f1", "def f1():\n    return 'one'\n")
    assert flaw_in(before, first, ()) is None
    assert compiled == [len(first.source or b"")]
    second = _edited(first.map, "f2", "def f2():\n    return 'two'\n")
    assert flaw_in(first.map, second, ()) is None
    assert len(compiled) == 2
    assert compiled[1] < 100


def test_content_that_compiled_is_not_compiled_again(compiled: list[int]) -> None:
    before = discovered(SOURCE, "a.py")
    content = _edited(before, "f1", "def f1():\n    return 'one'\n")
    for _ in range(2):
        assert flaw_in(before, content, ()) is None
    assert len(compiled) == 1


def test_a_broken_definition_is_told_with_its_line_in_the_file(compiled: list[int]) -> None:
    before = discovered(SOURCE, "a.py")
    first = _edited(before, "f1", "def f1():\n    return 'one'\n")
    assert flaw_in(before, first, ()) is None
    flaw = flaw_in(first.map, _edited(first.map, "f2", "def f2():\n    return 'a' 1\n"), ())
    assert flaw is not None
    assert "line 13" in flaw.why
    assert compiled


def _written(before: RegionMap, source: bytes) -> Content:
    """The whole file, as a tool of an agent writes it."""
    return applied(before, [KeyedEdit(made_to_hold("a.py", hash_bytes(before.source), source), before.file.key)])


def _replaced(before: RegionMap, source: bytes) -> Content:
    """The whole file, as a client gives its text."""
    edit = Edit(Op.REPLACE, "a.py", hash_bytes(before.source), source.decode())
    return applied(before, [KeyedEdit(edit, before.file.key)])


Write = Callable[[RegionMap, bytes], Content]
WRITES = pytest.mark.parametrize("write", [_written, _replaced])


@WRITES
def test_a_whole_file_that_differs_in_one_definition_costs_that(
    compiled: list[int], monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    before = discovered(SOURCE, "a.py")
    first = write(before, SOURCE.replace(b"return 1\n", b"return 'first'\n"))
    assert flaw_in(before, first, ()) is None
    monkeypatch.setattr(recent_maps, "discover", lambda *_: pytest.fail("the regions around the edit are known"))
    second = write(first.map, first.map.source.replace(b"return 2\n", b"return 'two'\n    # done\n"))
    assert flaw_in(first.map, second, ()) is None
    assert compiled[0] == len(first.map.source)
    assert len(compiled) == 2
    assert compiled[1] < 100


@WRITES
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"    return 2\n", b"    return 'a' 1\n"),
        (b"    return 2\n", b"    return 2\n\n\nreturn\n"),
        (b"    return 2\n", b"return 2\n"),
        (b"def f2():\n    return 2\n", b"nonlocal f2\n"),
        (b"    return 2\n\n\ndef f3():\n", b"    return 2\n\n\ndef f3(:\n"),
        (b"    return 2\n", b"    global f2\n    f2 = f2; nonlocal f3\n"),
        (b"import os\n", b"import os\nbreak\n"),
        (b"    return 2\n", b"    return '''\n"),
        (b"    return 2\n", b"    return (\n"),
        (b"    return 2\n", b"    return 2\n    def f3(): nonlocal x\n"),
        (b"def f2():\n    return 2\n", b"class f2:\n    return 2\n"),
    ],
)
def test_a_whole_file_that_would_not_compile_has_a_flaw(
    compiled: list[int], old: bytes, new: bytes, write: Write
) -> None:
    before = discovered(SOURCE, "a.py")
    first = write(before, SOURCE.replace(b"return 1\n", b"return 'one'\n"))
    assert flaw_in(before, first, ()) is None
    source = first.map.source.replace(old, new, 1)
    with pytest.raises(SyntaxError):
        compile(source, "a.py", "exec")
    assert flaw_in(first.map, write(first.map, source), ()) is not None
    assert compiled


def test_what_an_edit_made_of_a_file_is_known_to_the_next_read() -> None:
    before = discovered(SOURCE, "a.py")
    content = _edited(before, "f3", "def f3():\n    return 'three'\n")
    assert discovered(bytes(bytearray(content.map.source)), "a.py") is content.map


def test_the_entry_used_least_recently_makes_room() -> None:
    kept = Recent[str, int](2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)
