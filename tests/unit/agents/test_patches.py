"""Patches as agents write them: read into what they ask for, or told what cannot be read of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.agents.hook_events import Hunk, IntendedWrite, Patched, Removed, Whole
from commonhold.agents.patches import called_in_shell, read_patch

ALL = """\
*** Begin Patch
*** Add File: new.py
+a = 1
+
*** Update File: src/app.py
*** Move to: src/main.py
@@ class A:
@@     def f(self):
         x = 1
-        y = 2
+        y = 3

@@
-last
+end
*** End of File
*** Delete File: old.py
*** End Patch"""
WISHES: tuple[IntendedWrite, ...] = (
    Whole("new.py", "a = 1\n\n"),
    Patched(
        "src/app.py",
        (
            Hunk(
                ("        x = 1", "        y = 2", ""),
                ("        x = 1", "        y = 3", ""),
                ("class A:", "    def f(self):"),
                kept=((0, 0), (2, 2)),
            ),
            Hunk(("last",), ("end",), at_end=True),
        ),
        "src/main.py",
    ),
    Removed("old.py"),
)
CONTEXT = Hunk(("*** Delete",), ("*** Delete",), kept=((0, 0),))


@pytest.mark.parametrize(
    "text",
    [
        ALL,
        ALL.replace("\n", "\r\n"),
        f"\n  {ALL}\n\n",
        f"apply_patch <<'EOF'\n{ALL}\nEOF\n",
        f"<<-X\n{ALL}\nX",
        f'cat <<"END"\n{ALL}\nEND',
    ],
)
def test_a_patch_is_read_bare_and_wrapped(text: str) -> None:
    asked = read_patch(text)
    assert (asked.wishes, asked.trouble) == (WISHES, "")


@pytest.mark.parametrize(
    ("body", "wishes"),
    [
        ("*** Update File: a\n-x\n+y", (Patched("a", (Hunk(("x",), ("y",)),)),)),
        ("*** Update File: a\n@@\n+y", (Patched("a", (Hunk((), ("y",)),)),)),
        ("*** Update File: a\n*** Move to: b", (Patched("a", (), "b"),)),
        ("*** Environment ID: e\n\n  *** Delete File:  a  ", (Removed("a"),)),
        ("*** Update File: a\n@@\n *** Delete", (Patched("a", (CONTEXT,)),)),
        ("*** Add File: a", (Whole("a", ""),)),
        ("", ()),
    ],
)
def test_forms_of_a_patch(body: str, wishes: tuple[IntendedWrite, ...]) -> None:
    asked = read_patch(f"*** Begin Patch\n{body}\n*** End Patch")
    assert (asked.wishes, asked.trouble) == (wishes, "")


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("", "does not begin with"),
        ("*** Begin Patch", "does not end with"),
        ("*** Begin Patch\n*** Delete File: a", "does not end with"),
        ("--- a\n+++ b\n", "does not begin with"),
        ("*** Begin Patch\n*** Rename File: a\n*** End Patch", "'*** Rename File: a'"),
        ("*** Begin Patch\n*** Delete File:\n*** End Patch", "'*** Delete File:'"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\nrubbish\n*** End Patch", "'rubbish'"),
        ("*** Begin Patch\n*** Update File: a\nrubbish\n*** End Patch", "'rubbish'"),
        ("*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch", "'no plus'"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n*** Move to: b\n*** End Patch", "'*** Move to: b'"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, trouble: str) -> None:
    assert trouble in read_patch(text).trouble


@given(st.text() | st.lists(st.sampled_from([*ALL.split("\n"), "", " ", "x", "@@", "***"])).map("\n".join))
def test_rubbish_never_raises(text: str) -> None:
    for each in (text, f"*** Begin Patch\n{text}\n*** End Patch"):
        asked = read_patch(each)
        assert asked.trouble or isinstance(asked.wishes, tuple)
        called_in_shell(each)


lines = st.text("ab @+-*é", max_size=5)
paths = st.text("ab/.", min_size=1, max_size=5)


@st.composite
def hunks(draw: st.DrawFn) -> Hunk:
    before: list[str] = []
    after: list[str] = []
    kept: list[tuple[int, int]] = []
    for mark, line in draw(st.lists(st.tuples(st.sampled_from(" +-"), lines), min_size=1, max_size=5)):
        if mark == " ":
            kept.append((len(before), len(after)))
        before += [line] * (mark != "+")
        after += [line] * (mark != "-")
    anchors = draw(st.lists(lines.filter(str.strip), max_size=2))
    return Hunk(tuple(before), tuple(after), tuple(anchors), at_end=draw(st.booleans()), kept=tuple(kept))


def written(hunk: Hunk) -> str:
    """The hunk as a patch has it, with what is removed before what is new."""
    kept = [*hunk.kept, (len(hunk.before), len(hunk.after))]
    found = [*(f"@@ {anchor}" for anchor in hunk.anchors)] or ["@@"]
    was = new = 0
    for at, to in kept:
        found += [f"-{line}" for line in hunk.before[was:at]] + [f"+{line}" for line in hunk.after[new:to]]
        found += [f" {line}" for line in hunk.before[at : at + 1]]
        was, new = at + 1, to + 1
    return "\n".join([*found, *["*** End of File"] * hunk.at_end])


wishes = st.one_of(
    st.builds(Whole, paths, st.lists(lines).map(lambda each: "".join(f"{line}\n" for line in each))),
    st.builds(Removed, paths),
    st.builds(Patched, paths, st.lists(hunks(), min_size=1, max_size=3).map(tuple), st.just("") | paths),
)


def as_text(wish: IntendedWrite) -> str:
    match wish:
        case Whole(path, content):
            return "\n".join([f"*** Add File: {path}", *(f"+{line}" for line in content.split("\n")[:-1])])
        case Patched(path, hunks, to):
            return "\n".join([f"*** Update File: {path}", *[f"*** Move to: {to}"] * bool(to), *map(written, hunks)])
        case _:
            return f"*** Delete File: {wish.path}"


@given(st.lists(wishes, max_size=3))
def test_what_is_written_as_a_patch_is_read_from_it(each: list[IntendedWrite]) -> None:
    asked = read_patch("\n".join(["*** Begin Patch", *map(as_text, each), "*** End Patch"]))
    assert (list(asked.wishes), asked.trouble) == (each, "")
