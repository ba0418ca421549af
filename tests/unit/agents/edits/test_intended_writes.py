"""What tools make of files, foretold as the programs were found to do it."""

import difflib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.agents.edits.intended_writes import result, results
from commonhold.agents.hook_events import (
    TO_THE_LETTER,
    CellEdit,
    Deleting,
    Ends,
    Hunk,
    IntendedWrite,
    Manner,
    Part,
    Patched,
    Removed,
    Swap,
    Unclear,
    Whole,
)
from commonhold.agents.patches import read_patch

CLAUDE = Manner(ends=Ends.MOST, deleting=Deleting.LINE_END, bends_quotes=True)
CODEX = Manner(ends=Ends.FIRST, keeps_context=True)
GEMINI = Manner(ends=Ends.ANY, keeps_last_end=True)
OPENCODE = Manner(ends=Ends.SPOKEN)
COPILOT = Manner(ends=Ends.SPOKEN, deleting=Deleting.WHOLE_LINES)
MANNERS = (TO_THE_LETTER, CLAUDE, GEMINI, OPENCODE, COPILOT)


@pytest.mark.parametrize(
    ("manner", "before", "old", "new", "after"),
    [
        (TO_THE_LETTER, "a\r\nb\n", "a\r\nb", "c", "c\n"),
        (CLAUDE, "one\ntwo\nthree\n", "two", "", "one\nthree\n"),
        (CLAUDE, "one\ntwo\nthree\n", "wo", "", "one\ntthree\n"),
        (CLAUDE, "one\ntwo\n", "two\n", "", "one\n"),
        (CLAUDE, "one\r\ntwo\r\nthree\r\n", "one\ntwo", "eins\nzwei\nzwo", "eins\r\nzwei\r\nzwo\r\nthree\r\n"),
        (CLAUDE, "a\r\nb\nc\n", "a\nb", "A\nB", "A\nB\nc\n"),
        (CLAUDE, "\ufeffone\ntwo\n", "one", "eins", "\ufeffeins\ntwo\n"),
        (
            CLAUDE,
            "say \u201chi\u201d and it\u2019s\n",
            'say "hi" and it\'s',
            'say "ho" ("x") and it\'s \'so\'',
            "say \u201cho\u201d (\u201cx\u201d) and it\u2019s \u2018so\u2019\n",
        ),
        (CLAUDE, " \n", "", "made\n", "made\n"),
        (CLAUDE, "a\n", "a", "b\r\nc", "b\r\nc\n"),
        (GEMINI, "a\nb\n", "a\r\nb", "b\r\nc", "b\nc\n"),
        (GEMINI, "a\nb\n", "b\n", "c", "a\nc\n"),
        (GEMINI, "a\nb", "b", "c\n", "a\nc"),
        (GEMINI, "a\r\nb\nc\n", "b", "B", "a\r\nB\r\nc\r\n"),
        (OPENCODE, "a\r\nb\r\n", "a\nb", "A\nB\nC", "A\r\nB\r\nC\r\n"),
        (OPENCODE, "one\ntwo\n", "two", "", "one\n\n"),
        (COPILOT, "one\ntwo\nthree\n", "two", "", "one\nthree\n"),
        (COPILOT, "one\ntwo\nthree\n", "wo", "", "one\nt\nthree\n"),
        (COPILOT, "one\r\ntwo\r\nthree\r\n", "two", "", "one\r\nthree\r\n"),
        (COPILOT, "one\ntwo", "two", "", "one\n"),
        (COPILOT, "a\nb\nc\n", "a\nb", "", "c\n"),
    ],
)
def test_a_swap_is_foretold_in_the_manner_of_its_tool(
    manner: Manner, before: str, old: str, new: str, after: str
) -> None:
    assert result(Swap("f", old, new, manner=manner), before.encode()) == after.encode()


@pytest.mark.parametrize(
    ("wish", "content", "why"),
    [
        (Swap("f", "x", "y"), b"a", "the text to replace is not in the file"),
        (Swap("f", "a", "y"), b"a a", "in the file 2 times"),
        (Swap("f", "a", "y"), None, "no such file"),
        (Swap("f", "", "y"), b"a", "but the file exists"),
        (Swap("f", "a", "y"), b"a\xff", "not UTF-8"),
        (Swap("f", "a", "\ud800"), b"a", "not valid Unicode"),
        (Swap("f", 'say "hi"', "y", manner=COPILOT), "say \u201chi\u201d".encode(), "not in the file"),
        (Whole("f", "\ud800"), None, "not valid Unicode"),
        (Removed("f"), None, "no such file"),
        (Patched("f", ()), None, "no such file"),
        (Patched("f", (), "f"), b"a", "moves the file to where it is"),
        (CellEdit("f", "a", "x"), None, "no such notebook"),
        (CellEdit("f", "a", "x"), b"{", "not JSON"),
        (CellEdit("f", "a", "x"), b"[" * 100_000, "not JSON"),
        (CellEdit("f", "a", "x"), b"[]", "not a notebook"),
        (CellEdit("f", "a", "x"), b'{"cells": [1]}', "not a notebook"),
        (CellEdit("f", "a", "x"), b'{"cells": []}', "no cell 'a'"),
        (CellEdit("f", "cell-1", "x"), b'{"cells": [{}]}', "no cell 'cell-1'"),
        (CellEdit("f", "", "x"), b'{"cells": [{}]}', "no cell was named"),
    ],
)
def test_what_cannot_be_foretold_is_unclear(wish: IntendedWrite, content: bytes | None, why: str) -> None:
    unclear = result(wish, content)
    assert isinstance(unclear, Unclear)
    assert why in unclear.why
    assert unclear.path == "f"


@pytest.mark.parametrize(
    ("manner", "before", "content", "after"),
    [
        (TO_THE_LETTER, None, "x\n", "x\n"),
        (TO_THE_LETTER, "a\r\n", "x\n", "x\n"),
        (Manner(ends=Ends.ANY), "a\r\nb\n", "x\ny\n", "x\r\ny\r\n"),
        (Manner(ends=Ends.ANY), "a\n", "x\ny\n", "x\ny\n"),
        (Manner(keeps_mark=True), "\ufeffa", "x", "\ufeffx"),
        (Manner(keeps_mark=True), "\ufeffa", "\ufeffx", "\ufeffx"),
        (Manner(keeps_mark=True), "a", "x", "x"),
        (TO_THE_LETTER, "\ufeffa", "x", "x"),
    ],
)
def test_a_whole_file_is_foretold(manner: Manner, before: str | None, content: str, after: str) -> None:
    assert result(Whole("f", content, manner), before and before.encode()) == after.encode()  # type: ignore[arg-type]


def patched(before: str, body: str, manner: Manner = CODEX) -> bytes | Unclear | None:
    asked = read_patch(f"*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch", manner)
    assert asked.trouble == ""
    return result(asked.wishes[0], before.encode())


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("a\nb\na\nb\n", "@@\n a\n-b\n+B", "a\nB\na\nb\n"),
        ("a\nb\nx\na\nb\n", "@@\n a\n-b\n+B\n*** End of File", "a\nb\nx\na\nB\n"),
        ("def f():\n  x\ndef g():\n  x\n", "@@ def g():\n-  x\n+  y", "def f():\n  x\ndef g():\n  y\n"),
        ("A:\n f:\n  x\nB:\n f:\n  x\n", "@@ B:\n@@  f:\n-  x\n+  y", "A:\n f:\n  x\nB:\n f:\n  y\n"),
        ("x\nx\nx\n", "@@ x\n-x\n+y", "x\ny\nx\n"),
        ("a  \nb\n", "@@\n a\n-b\n+B", "a  \nB\n"),
        ("   a\n    b\n", "@@\n a\n-b\n+B", "   a\nB\n"),
        ("  a\nx\na\n", "@@\n-a\n+A", "  a\nx\nA\n"),
        ("x \u2014 y\n", "@@\n-x - y\n+z", "z\n"),
        ("a\u00a0b\n", "@@\n-a b\n+A", "A\n"),
        ("a\n\nb\n", "@@\n a\n\n-b\n+B", "a\n\nB\n"),
        ("a\nb\n", "@@\n a\n-b\n+B\n ", "a\nB\n"),
        ("a\nb\n", "@@\n+new", "a\nb\nnew\n"),
        ("a\nb\nc\n", "@@ a\n+new", "a\nb\nc\nnew\n"),
        ("a\nb\n", "@@\n+tail\n@@\n-a\n+A", "A\nb\ntail\n"),
        ("a\nb", "@@\n+new", "a\nb\nnew\n"),
        ("a\nb\nc", "@@\n-a\n+A", "A\nb\nc\n"),
        ("a\nb", "@@\n a\n-b", "a\n"),
        ("a\n", "@@\n-a", ""),
        ("", "@@\n+x", "x\n"),
        ("a\r\nb\nc\r\n", "@@\n a\n-b\n+B\n+B2\n c", "a\r\nB\r\nB2\r\nc\r\n"),
        ("a\nb\r\nc\nd\r\n", "@@\n-c\n+C", "a\nb\r\nC\nd\r\n"),
        ("a\rb\n", "@@\n-a\n+A", "A\rb\n"),
        ("a\nb\nc\nd\n", "@@\n-a\n+A\n b\n-c\n+C", "A\nb\nC\nd\n"),
    ],
)
def test_a_patch_is_foretold_as_codex_applies_it(before: str, body: str, after: str) -> None:
    assert patched(before, body) == after.encode()


@pytest.mark.parametrize(
    ("before", "body", "why"),
    [
        ("\ufeffa\nb\n", "@@\n-a\n+A", "not in the file, or not after the last change: a"),
        ("a\nb\nx\n", "@@\n a\n-b\n+B\n*** End of File", "not at the end of the file: a"),
        (
            "def f():\n",
            "@@ def g():\n+  y",
            "names a line that is not in the file, or not after its last change: def g():",
        ),
        ("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A", "not after the last change: a"),
        ("a\n", "@@\n-\n-\n+x", "a blank line"),
    ],
)
def test_a_patch_that_does_not_fit_is_unclear(before: str, body: str, why: str) -> None:
    unclear = patched(before, body)
    assert isinstance(unclear, Unclear)
    assert why in unclear.why


def test_a_tool_that_indents_anew_is_not_foretold_where_it_would() -> None:
    reindenting = Manner(ends=Ends.FIRST, keeps_context=True, reindents=True)
    assert patched("a \nb\n", "@@\n a\n-b\n+B", reindenting) == b"a \nB\n"
    assert isinstance(patched("  a\n  b\n", "@@\n a\n-b\n+B", reindenting), Unclear)


def test_a_tool_that_keeps_no_context_writes_it_as_the_patch_has_it() -> None:
    assert patched("a  \r\nb\r\n", "@@\n a\n-b\n+B", TO_THE_LETTER) == b"a\nB\n"


def test_a_tool_that_does_not_heed_the_end_takes_the_first_place() -> None:
    body = "@@\n-a\n+A\n*** End of File"
    assert patched("a\na\n", body) == b"a\nA\n"
    assert patched("a\na\n", body, Manner(heeds_end=False)) == b"A\na\n"


def test_a_tool_that_keeps_the_mark_finds_lines_behind_it() -> None:
    assert patched("\ufeffa\nb", "@@\n-a\n+A", Manner(keeps_mark=True)) == "\ufeffA\nb\n".encode()


line_texts = st.text("abé \u2014", max_size=3)
texts = st.lists(line_texts, max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(texts, texts)
def test_the_hunks_of_a_difference_make_the_one_of_the_other(before: str, after: str) -> None:
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    kept = tuple(
        (at, to)
        for tag, i, j, m, n in blocks
        if tag == "equal"
        for at, to in zip(range(i, j), range(m, n), strict=True)
    )
    wish = Patched("f", (Hunk(tuple(old), tuple(new), kept=kept),), manner=CODEX)
    assert result(wish, before.encode()) == after.encode()


@given(texts, texts, texts, st.text("abc\n", min_size=1), st.sampled_from(MANNERS))
def test_a_swap_leaves_the_rest_alone(head: str, middle: str, tail: str, new: str, manner: Manner) -> None:
    old = f"<{middle}>"
    before, after = f"{head}{old}{tail}", f"{head}{new}{tail}"
    if manner.keeps_last_end:
        after = after.removesuffix("\n") + "\n" * before.endswith("\n")
    assert result(Swap("f", old, new, manner=manner), before.encode()) == after.encode()


@given(texts, texts, texts, texts, st.sampled_from((CLAUDE, GEMINI, OPENCODE, COPILOT)))
def test_a_file_of_crlf_stays_one(head: str, middle: str, tail: str, new: str, manner: Manner) -> None:
    wish = Swap("f", f"<{middle}>", new, manner=manner)
    plain = f"\n{head}<{middle}>{tail}"
    expected = result(wish, plain.encode())
    assert isinstance(expected, bytes)
    assert result(wish, plain.replace("\n", "\r\n").encode()) == expected.replace(b"\n", b"\r\n")


wishes: st.SearchStrategy[IntendedWrite] = st.one_of(
    st.builds(
        Swap, st.just("f"), st.text("ab\n", max_size=3), st.text(max_size=3), st.booleans(), st.sampled_from(MANNERS)
    ),
    st.builds(Whole, st.just("f"), st.text(), st.sampled_from(MANNERS)),
    st.builds(CellEdit, st.just("f"), st.text(max_size=3), st.text(), st.sampled_from(Part), st.text(max_size=3)),
    st.builds(
        Patched,
        st.just("f"),
        st.lists(
            st.builds(Hunk, *[st.lists(line_texts, max_size=2).map(tuple)] * 3, at_end=st.booleans()), max_size=3
        ).map(tuple),
        st.just(""),
        st.sampled_from((CODEX, TO_THE_LETTER)),
    ),
    st.just(Removed("f")),
)


@given(wishes, st.none() | st.binary(max_size=20) | texts.map(str.encode))
def test_any_wish_of_any_file_is_foretold_or_unclear(wish: IntendedWrite, content: bytes | None) -> None:
    after = result(wish, content)
    assert after is None or isinstance(after, bytes | Unclear)
    assert results([wish], {"f": content}.get) == (after if isinstance(after, Unclear) else {"f": after})


def test_wishes_are_done_one_after_the_other() -> None:
    files = {"a": b"one\n", "gone": b""}
    asked: list[IntendedWrite] = [
        Swap("a", "one", "two"),
        Swap("a", "two", "three"),
        Patched("a", (Hunk(("three",), ("four",)),), "b"),
        Swap("b", "four", "five"),
        Swap("a", "", "anew"),
        Removed("gone"),
    ]
    assert results(asked, files.get) == {"a": b"anew", "b": b"five\n", "gone": None}
    unclear = results([*asked, Swap("gone", "x", "y")], files.get)
    assert isinstance(unclear, Unclear)
    assert unclear.path == "gone"


NOTEBOOK: dict[str, Any] = {
    "cells": [
        {
            "cell_type": "code",
            "id": "one",
            "source": ["x = 1\n", "y"],
            "metadata": {"n": 1.0},
            "execution_count": 3,
            "outputs": [{"data": {}}],
            "attachments": {},
        },
        {"cell_type": "markdown", "source": "# \u00e9", "metadata": {}, "outputs": []},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def edited(wish: CellEdit, text: str = json.dumps(NOTEBOOK)) -> Any:
    after = result(wish, text.encode())
    assert isinstance(after, bytes), after
    return json.loads(after.decode("utf-8-sig"))


def test_a_cell_that_is_replaced_loses_what_it_had_put_out() -> None:
    code, text = edited(CellEdit("n", "one", "z = 2"))["cells"]
    assert text == NOTEBOOK["cells"][1]
    assert list(code) == ["cell_type", "id", "source", "metadata", "execution_count", "outputs"]
    assert (code["source"], code["execution_count"], code["outputs"]) == ("z = 2", None, [])
    assert edited(CellEdit("n", "cell-1", "z", kind="code"))["cells"][1]["cell_type"] == "code"
    assert "outputs" not in edited(CellEdit("n", "cell-1", "z"))["cells"][1]


def test_a_cell_is_put_in_after_another_or_first() -> None:
    last = edited(CellEdit("n", "one", "# hi", Part.INSERT, "markdown"))["cells"][1]
    assert list(last) == ["cell_type", "id", "source", "metadata"]
    first = edited(CellEdit("n", "", "y", Part.INSERT, "code"))["cells"][0]
    assert list(first) == ["cell_type", "id", "source", "metadata", "execution_count", "outputs"]
    older = json.dumps(NOTEBOOK | {"nbformat_minor": 4})
    assert "id" not in edited(CellEdit("n", "", "y", Part.INSERT, "code"), older)["cells"][0]


def test_a_cell_is_taken_out() -> None:
    assert edited(CellEdit("n", "one", "", Part.DELETE))["cells"] == NOTEBOOK["cells"][1:]


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ("1.0", "1"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("1.5e-9", "1.5e-9"),
        ("0.000001", "0.000001"),
        ("123456789012345678901234", "1.2345678901234569e+23"),
        ("9007199254740993", "9007199254740992"),
        ("1e20", "100000000000000000000"),
        ("-0.0", "0"),
        ("-123456789.125", "-123456789.125"),
        ("1e999", "null"),
        ("true", "true"),
        ("null", "null"),
        ("[]", "[]"),
        ("{}", "{}"),
        ('[1,{"a":2}]', '[\n  1,\n  {\n   "a": 2\n  }\n ]'),
        ('"\\u007f\\u2028\\u00e9\\/\\u0001"', '"\u007f\u2028\u00e9/\\u0001"'),
        ('"\\ud800"', '"\\ud800"'),
    ],
)
def test_a_notebook_is_written_as_javascript_writes_json(there: str, written: str) -> None:
    text = '{"v": ' + there + ', "cells": [{"id": "a", "source": ""}]}'
    after = result(CellEdit("n", "a", "", Part.DELETE), text.encode())
    assert after == ('{\n "v": ' + written + ',\n "cells": []\n}').encode()


def test_a_notebook_keeps_its_mark_its_ends_and_its_last_line() -> None:
    text = "\ufeff" + json.dumps(NOTEBOOK, indent=1).replace("\n", "\r\n") + "\r\n"
    after = result(CellEdit("n", "one", "", Part.DELETE), text.encode())
    assert isinstance(after, bytes)
    assert after.startswith(b"\xef\xbb\xbf{\r\n ")
    assert after.endswith(b"}\r\n")
    assert after.count(b"\n") == after.count(b"\r\n")
