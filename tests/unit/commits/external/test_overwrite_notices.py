"""What both are told where one replaced what the other had not committed; and where nothing is lost, nothing."""

import pytest

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.external.overwrite_notices import Replaced, overwritten
from commonhold.kernel.events import Committed, FileChange, RegionChange
from commonhold.workspace.line_ownership import Step, Version, replaced

HEAD = b"a = 1\nb = 2\nc = 3\n"
ANNS = b"a = 1\nb = 22\nc = 3\n"
ANN = Step("ann", HEAD, ANNS)


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([ANN, Step("bob", ANNS, b"a = 1\nb = 0\nc = 3\n")], {"ann": (b"b = 22\n",)}),
        ([ANN, Step("bob", ANNS, HEAD)], {"ann": (b"b = 22\n",)}),
        ([ANN, Step("bob", ANNS, None)], {"ann": (b"b = 22\n",)}),
        ([ANN, Step("bob", ANNS, b"a = 0\nb = 22\nc = 3\n")], {}),
        ([ANN, Step("ann", ANNS, HEAD)], {}),
        ([Step("ann", HEAD, b"a = 1\nc = 3\n"), Step("bob", b"a = 1\nc = 3\n", HEAD)], {"ann": ()}),
        ([Step("ann", None, b"new\n"), Step("bob", b"new\n", b"other\n")], {"ann": (b"new\n",)}),
        ([Step("ann", b"older\n", HEAD), Step("bob", HEAD, b"a = 1\n")], {}),
        ([ANN, Step("bob", ANNS, b"x\n"), Step("bob", b"x\n", b"y\n")], {}),
    ],
    ids=["over", "back to HEAD", "deleted", "beside", "own", "put in again", "new file", "committed", "told before"],
)
def test_whose_uncommitted_lines_a_step_took_out(steps: list[Step], found: dict[str, tuple[bytes, ...]]) -> None:
    old = None if steps[0].before is None else Version(HEAD)
    assert replaced(old, steps) == found


def told(path: str, before: bytes, after: bytes | None, *names: str, lines: tuple[bytes, ...] = ()) -> list[Replaced]:
    """What comes of a commit that made one text of another, as the whole file and as the regions of these names."""
    kept = {hash_bytes(text): text for text in (before, after) if text is not None}
    now = None if after is None else hash_bytes(after)
    regions = tuple(RegionChange(f"file:{path}#{name}", hash_bytes(before), now) for name in names)
    file = FileChange(path, hash_bytes(before), now, 0o644, 0o644)
    commit = Committed("bob", "$ make", "/w", (), (file,), regions)
    return list(overwritten(commit, file, "ann", lines or tuple(before.splitlines(keepends=True)), kept.get))


@pytest.mark.parametrize(
    ("path", "before", "after", "is_told"),
    [
        ("a.py", b"x = f('a',)  # why\n", b'x = f(\n    "a",\n)  # why\n', False),
        ("a.py", b"x = 1  # why\n", b"x = 1\n", True),
        ("a.py", b"x = 1\n", b"x = 2\n", True),
        ("a.py", b"    def f(self):\n        return  1\n", b"    def f(self):\n        return 1\n", False),
        ("a.py", b"def (\n", b"def  (\n", True),
        ("a.ts", b"const a = ['x', 'y']\n", b'const a = ["x", "y"];\n', False),
        ("a.ts", b"const a = 1\n", b"const a = 2\n", True),
        ("a.yaml", b"a:\n  b: 1\n", b"a:\nb: 1\n", True),
    ],
)
def test_another_layout_is_nothing_to_tell(path: str, before: bytes, after: bytes, *, is_told: bool) -> None:
    assert bool(told(path, before, after)) is is_told
    assert bool(told(path, before, after, "f")) is is_told


def test_the_innermost_region_is_told_with_the_way_back() -> None:
    (found,) = told("a.py", b"x = 1\n", b"x = 2\n", "C", "C.f")
    was, now = (hash_bytes(text)[:16] for text in (b"x = 1\n", b"x = 2\n"))
    step = f"commonhold show {was} | commonhold commit --key 'file:a.py#C.f' --base {now} --agent"
    assert found.told_owner() == (
        'what you changed in `C.f` in a.py and have not committed was replaced by bob ("$ make"); your text is kept. '
        f"Next, to restore it: {step} ann"
    )
    assert found.told_writer() == (
        "this replaced uncommitted changes of ann in `C.f` in a.py. "
        f"That session gets a notice, and the old text is kept. Next, to restore it: {step} bob"
    )


def test_what_is_gone_is_put_where_it_was() -> None:
    (found,) = told("d/it's.txt", b"x\n", None, "x")
    assert found.told_owner().endswith(f"commonhold show {hash_bytes(b'x' + bytes([10]))[:16]} --to 'd/it'\"'\"'s.txt'")
    (found,) = told("a.py", b"x = 1\n", b"y = 2\n", lines=(b"z\n",))
    assert (found.key, found.after) == ("file:a.py", hash_bytes(b"y = 2\n"))


def test_what_is_new_replaces_nothing() -> None:
    file = FileChange("a.py", None, "b" * 64, None, 0o644)
    commit = Committed("bob", "", "/w", (), (file,), ())
    assert list(overwritten(commit, file, "ann", (b"x\n",), lambda _: None)) == []
