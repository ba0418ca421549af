"""Whatever is done to a working tree in whatever order, the library is what one made from scratch would be."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.index.rig import Rig

pytestmark = pytest.mark.slow

FOLDERS = ("", "a/", "a/b/", "c/", "build/", "c/node_modules/")
FILES = tuple(f"{folder}{name}" for folder in FOLDERS for name in ("x.py", "y.py", "z.txt"))
TEXTS = ("def f(): pass\n", "def g(): pass\n", "import a\n", "f(1, k=2)\n", "")
IGNORED = ("x.py\n", "a/\n", "*\n", "!y.py\n", "b\n", "")

files = st.sampled_from(FILES)
folders = st.sampled_from(FOLDERS[1:]).map(lambda folder: folder.rstrip("/"))
stories = st.lists(
    st.one_of(
        st.tuples(st.just("write"), files, st.sampled_from(TEXTS)),
        st.tuples(st.just("write in place"), files, st.sampled_from(TEXTS)),
        st.tuples(st.just("remove"), st.one_of(files, folders)),
        st.tuples(st.just("rename"), files, files),
        st.tuples(st.just("rename"), folders, folders),
        st.tuples(st.just("make folder"), folders),
        st.tuples(st.just("link"), st.one_of(files, folders), st.one_of(files, folders)),
        st.tuples(st.just("write"), st.sampled_from((".gitignore", "a/.gitignore")), st.sampled_from(IGNORED)),
        st.tuples(st.just("remove"), st.sampled_from((".gitignore", "a/.gitignore"))),
        st.tuples(st.just("make folder"), st.sampled_from(("a/.git", "c/.commonhold"))),
        st.tuples(st.just("track"), files),
        st.tuples(st.just("untrack"), files),
        st.tuples(st.just("look")),
        st.tuples(st.just("open anew")),
    ),
    max_size=14,
)


def tell(rig: Rig, what: str, *about: str) -> None:
    """Do one thing; what cannot be done there and then is left."""
    with suppress(OSError, ValueError):
        match what:
            case "write":
                (rig.root / f"{about[0]}.new").parent.mkdir(parents=True, exist_ok=True)
                (rig.root / f"{about[0]}.new").write_text(about[1], encoding="utf-8")
                (rig.root / f"{about[0]}.new").replace(rig.root / about[0])
            case "write in place":
                before = (rig.root / about[0]).stat().st_mtime_ns
                rig.write(*about)
                os.utime(rig.root / about[0], ns=(before, before))
            case "remove":
                rig.remove(about[0])
            case "rename":
                (rig.root / about[0]).rename(rig.root / about[1])
            case "make folder":
                (rig.root / about[0]).mkdir(parents=True)
            case "link":
                (rig.root / about[0]).symlink_to(rig.root / about[1])
            case "look":
                rig.index.library()
            case "open anew":
                rig.index.close()
                rig.index = rig.opened()
            case _:
                track(rig, what, about[0])


def track(rig: Rig, what: str, path: str) -> None:
    """Have git track a file, or not any more; where there is no such file, it says so and that is all."""
    words = ("add", "--force", "--", path) if what == "track" else ("rm", "--cached", "--quiet", "--", path)
    with suppress(Exception):
        rig.git(*words)


@pytest.mark.parametrize("has_git", [True, False])
@examples(0.4)
@given(stories=st.lists(stories, max_size=3))
def test_the_library_is_what_is_there(stories: list[list[tuple[str, ...]]], *, has_git: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), has_git=has_git)
        for story in stories:
            for step in story:
                tell(rig, *step)
            rig.check()
        rig.check(fresh := rig.opened())
        fresh.close()
        rig.index.close()
