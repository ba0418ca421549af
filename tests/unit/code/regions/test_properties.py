"""What holds for every file, and for every edit."""

import ast
import re
from typing import Final

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.code.regions.checks import BODIES, HEADERS, check_map, spliced
from tests.unit.code.regions.modules import ANY_BYTES, FRAGMENTS, MODULES, NEARLY

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.edit import Delete, Insert, RegionEdit, Replace, splice, text_of
from commonhold.code.regions.encoding import BOM, encoding_of
from commonhold.code.regions.languages import PYTHON
from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.regions.scope import breach, placed_region
from commonhold.code.regions.syntax import problem_in
from commonhold.kernel.errors import InputError
from commonhold.kernel.keys import Kind, Name

CODECS: Final = ["utf-8", "latin-1", "shift_jis"]


@given(ANY_BYTES)
def test_any_bytes_are_tiled(source: bytes) -> None:
    check_map(discover(source))
    check_map(discover(source, "notes.txt"))
    check_map(discover(b"#!/usr/bin/python\n" + source, "script"))


@given(st.sampled_from(["latin-1", "shift_jis", "utf-8", "hz", "utf-16", "cp037", "big5", "none"]), ANY_BYTES)
def test_any_bytes_in_any_declared_encoding_are_tiled(codec: str, source: bytes) -> None:
    check_map(discover(b"# coding: %s\n" % codec.encode() + source))


@given(MODULES)
def test_a_sound_module_has_all_the_definitions_that_python_sees(source: bytes) -> None:
    found = discover(source)
    check_map(found)
    assert problem_in(source, "module.py") is None
    assert found.problems == ()
    shown = [
        (each.key.names[-1].text, each.kind is Kind.CLASS)
        for each in found.regions
        if each.kind in (*BODIES, Kind.CLASS)
    ]
    assert shown == _definitions(ast.parse(source))


def _definitions(tree: ast.AST) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append((node.name, isinstance(node, ast.ClassDef)))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.extend(_definitions(node))
    return found


@st.composite
def _changed(draw: st.DrawFn, source: bytes) -> bytes:
    start = draw(st.integers(0, len(source)))
    end = draw(st.integers(start, min(len(source), start + 30)))
    text = "".join(draw(st.lists(st.sampled_from(FRAGMENTS), max_size=3)))
    return source[:start] + text.encode() + source[end:]


@given(MODULES | NEARLY, st.data())
@examples(2)
def test_rediscovery_is_discovery(source: bytes, data: st.DataObject) -> None:
    found = discover(source)
    for _ in range(4):
        source = data.draw(_changed(found.source))
        found = rediscover(found, source)
        assert found == discover(source)


def _leaf_states(found: RegionMap) -> list[tuple[str, str]]:
    return [(each.id, each.hash) for each in found.leaves()]


@given(MODULES, st.data())
def test_an_edit_inside_one_leaf_changes_no_other(source: bytes, data: st.DataObject) -> None:
    """Invariant I7."""
    before = discover(source)
    bodies = [each for each in before.leaves() if each.kind in BODIES]
    assume(bodies)
    leaf = data.draw(st.sampled_from(bodies))
    text = before.bytes_of(leaf)
    after = discover(source[: leaf.start] + re.sub(rb"pass|\.\.\.", b"return 12345", text) + source[leaf.end :])
    check_map(after)
    assert [each.id for each in after.regions] == [each.id for each in before.regions]
    changed = {old[0] for old, new in zip(_leaf_states(before), _leaf_states(after), strict=True) if old != new}
    assert changed == {leaf.id}
    above = {
        each.id
        for each in before.regions
        if each.start <= leaf.start and leaf.end <= each.end and each.kind in (Kind.CLASS, Kind.FILE)
    }
    hashes = zip(before.regions, after.regions, strict=True)
    assert {old.id for old, new in hashes if old.hash != new.hash} == {leaf.id, *above}


def _own_text_edits(found: RegionMap) -> list[RegionEdit]:
    edits: list[RegionEdit] = []
    for each in found.regions:
        spans = range(len(each.spans)) if each.kind in HEADERS else [None]
        edits.extend(Replace(each, text_of(found, each, span), span) for span in spans)
    return edits


@given(MODULES | NEARLY, st.sampled_from(CODECS))
def test_a_region_replaced_by_its_own_text_changes_no_byte(source: bytes, codec: str) -> None:
    head = f"# coding: {codec}\n".encode()
    recoded = head + source.decode(errors="replace").encode(codec, "replace")
    for each in (source, recoded):
        before = discover(each)
        assume(before.problems == () or before.problems[0].code != "ENCODING")
        for edit in _own_text_edits(before):
            result, _, found = spliced(before, edit)
            assert result.source == each
            assert found is None


@given(MODULES)
def test_all_leaves_replaced_at_once_change_no_byte(source: bytes) -> None:
    before = discover(source)
    edits = [
        edit
        for edit in _own_text_edits(before)
        if isinstance(edit, Replace) and edit.region.kind in (*BODIES, *HEADERS)
    ]
    result, _, found = spliced(before, *edits)
    assert (result.source, found) == (source, None)


def _containers(found: RegionMap) -> list[Region]:
    inside = (Kind.CLASS, Kind.FILE)
    return [each for each in found.regions if each.kind in inside and each.key not in found.inline_classes]


@st.composite
def _insert(draw: st.DrawFn, found: RegionMap) -> Insert:
    container = draw(st.sampled_from(_containers(found)))
    siblings = [each for each in found.regions if each.parent == container.key]
    after = draw(st.none() | st.sampled_from(siblings))
    in_line = next((each for each in siblings if each.kind not in HEADERS), None)
    indent = b" " * 4 * len(container.key.names)
    if in_line is not None and after is not None and after.kind not in HEADERS:
        indent = _indent(found, after)
    elif container.kind is Kind.CLASS:
        indent = _indent(found, container) + b"    "
    text = f"{indent.decode()}def new{len(siblings)}():\n{indent.decode()}    return 1\n"
    return Insert(container.key.child(Name(f"new{len(siblings)}")), after, container, text)


def _indent(found: RegionMap, region: Region) -> bytes:
    data = found.bytes_of(region)
    return data[: len(data) - len(data.lstrip(b" "))]


def _substance(source: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in source.removeprefix(BOM).split(b"\n") if line.strip()]


@given(MODULES, st.data())
@examples(2)
def test_insert_then_delete_gives_back_the_substance(source: bytes, data: st.DataObject) -> None:
    before = discover(source)
    result, after, found = spliced(before, data.draw(_insert(before)))
    assume(problem_in(result.source, "module.py") is None)
    check_map(after)
    assert found is None
    back, last, found = spliced(after, Delete(placed_region(after, result.placed[0])))
    assert found is None
    assert _substance(back.source) == _substance(source)
    assert [each.id for each in last.regions] == [each.id for each in before.regions]


@st.composite
def _edits(draw: st.DrawFn, found: RegionMap) -> list[RegionEdit]:
    edits: list[RegionEdit] = []
    for _ in range(draw(st.integers(1, 4))):
        region = draw(st.sampled_from(found.regions))
        kind = draw(st.integers(0, 2))
        text = "".join(draw(st.lists(st.sampled_from(FRAGMENTS), max_size=4)))
        if kind == 0:
            edits.append(draw(_insert(found)))
        elif kind == 1:
            edits.append(Delete(region))
        else:
            edits.append(
                Replace(
                    region,
                    draw(st.sampled_from([text, "def f():\n    pass", "x = 2\n"])),
                    draw(st.none() | st.integers(0, 2)),
                )
            )
    return edits


@given(MODULES, st.data())
@examples(3)
def test_in_scope_means_that_all_else_is_still_there(source: bytes, data: st.DataObject) -> None:
    """Any edits at all: refused, found out of scope, or every leaf that they do not name is as it was."""
    before = discover(source)
    edits = data.draw(_edits(before))
    try:
        result = splice(before, edits)
    except InputError:
        return
    assert len(result.placed) == len(edits)
    after = discover(result.source)
    check_map(after)
    if breach(before, after, result.placed) is not None or any(
        isinstance(each, Replace) and each.region.kind is Kind.FILE for each in edits
    ):
        return
    named = {each.region.key for each in edits if not isinstance(each, Insert)}
    untouched = [
        each for each in before.leaves() if each.kind in BODIES and not any(key in named for key in each.key.upward())
    ]
    remaining = [after.bytes_of(each).rstrip() for each in after.leaves()]
    for each in untouched:
        data_before = before.bytes_of(each).rstrip()
        assert data_before in remaining
        remaining.remove(data_before)


@given(st.binary(max_size=60))
def test_any_declared_encoding_is_survived(name: bytes) -> None:
    source = b"# coding: " + name + b"\nx = 1\n"
    encoding_of(source, PYTHON)
    check_map(discover(source))
    problem_in(source, "module.py")


@given(ANY_BYTES)
def test_the_gate_never_raises(source: bytes) -> None:
    each = problem_in(source, "module.py")
    if each is not None:
        assert 0 <= each.span[0] <= each.span[1] <= len(source)
