"""What holds of any files: against Python itself, and of the parts against each other."""

from collections.abc import Callable, Mapping
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.unit.code.analysis.repository.stories import Story, shelf, stories

from commonhold.code.analysis.repository.dependents import dependents
from commonhold.code.analysis.repository.examination import examine, examine_throughout
from commonhold.code.analysis.repository.findings import Links
from commonhold.code.analysis.repository.library import Library, Overlay, Shelf
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.summarise import summarise

STORIES = [story for _, story in stories()]
SOURCES = sorted({text for story in STORIES for text in (*story.before.values(), *story.becomes.values()) if text})
NAMES = ("a", "b", "c")
LIB, USE = "lib.py", "use.py"
Call = tuple[int, tuple[str, ...]]
"""How many arguments by position, and the names of the others."""


@st.composite
def parameters(draw: st.DrawFn) -> str:
    """What stands between the brackets of a `def`, in any kinds and with any defaults."""
    names: list[str] = draw(st.lists(st.sampled_from(NAMES), unique=True))
    positional = draw(st.integers(0, len(names)))
    defaults = draw(st.integers(0, positional))
    parts = [name if at < positional - defaults else f"{name}=0" for at, name in enumerate(names[:positional])]
    if draw(st.booleans()) and parts:
        parts.insert(draw(st.integers(1, len(parts))), "/")
    named = [draw(st.sampled_from((name, f"{name}=0"))) for name in names[positional:]]
    if named:
        parts += [draw(st.sampled_from(("*", "*rest"))), *named]
    elif draw(st.booleans()):
        parts.append("*rest")
    if draw(st.booleans()):
        parts.append("**more")
    return ", ".join(parts)


@st.composite
def arguments(draw: st.DrawFn) -> Call:
    return draw(st.integers(0, 3)), tuple(draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=2)))


def written(call: Call) -> str:
    positional, keywords = call
    return ", ".join(("0",) * positional + tuple(f"{name}=0" for name in keywords))


def fits(params: str, call: Call) -> bool:
    """Whether Python itself can make the call."""
    made: dict[str, Callable[..., None]] = {}
    exec(f"def f({params}): pass", made)  # noqa: S102 - made of the names above
    positional, keywords = call
    try:
        made["f"](*(0,) * positional, **dict.fromkeys(keywords, 0))
    except TypeError:
        return False
    return True


FORMS: Mapping[str, tuple[str, str]] = {
    "function": ("def f({}): pass\n", "from lib import f\ndef use():\n    f({})\n"),
    "method": ("class C:\n    def m(self, {}): pass\n", "from lib import C\ndef use(c: C):\n    c.m({})\n"),
    "constructor": ("class C:\n    def __init__(self, {}): pass\n", "import lib\ndef use():\n    lib.C({})\n"),
    "class method": ("class C:\n    @classmethod\n    def k(cls, {}): pass\n", "from lib import C\nC.k({})\n"),
}


def step(before: Mapping[str, str], after: Mapping[str, str]) -> Links:
    return examine(shelf(before), shelf(after), [path for path in after if before.get(path) != after[path]])


def is_broken(links: Links) -> bool:
    return any(each.is_broken for each in links.concerns)


@pytest.mark.parametrize("form", FORMS)
@given(old=parameters(), new=parameters(), call=arguments())
def test_in_either_order_the_second_of_a_broken_pair_is_refused(form: str, old: str, new: str, call: Call) -> None:
    """Where Python can make the call before and not after, whoever comes second is told that it is broken."""
    assume(fits(old, call))
    definition, user = FORMS[form]
    nobody = "x = 1\n"
    was, now = definition.format(old), definition.format(new)
    calls = user.format(written(call))
    signature_first = (
        step({LIB: was, USE: nobody}, {LIB: now, USE: nobody}),
        step({LIB: now, USE: nobody}, {LIB: now, USE: calls}),
    )
    caller_first = (
        step({LIB: was, USE: nobody}, {LIB: was, USE: calls}),
        step({LIB: was, USE: calls}, {LIB: now, USE: calls}),
    )
    assert not is_broken(signature_first[0])
    assert not is_broken(caller_first[0])
    assert is_broken(signature_first[1]) == is_broken(caller_first[1]) == (not fits(new, call))


CALLS = [(count, names) for count in range(4) for size in range(3) for names in combinations(NAMES, size)]
PLAIN = ("a", "a, b", "a, b=0", "a=0, /", "a, /, b", "a, b, c=0", "")
FITTING = [(params, call) for params in PLAIN for call in CALLS if fits(params, call)]


@pytest.mark.parametrize("form", FORMS)
@given(fitting=st.sampled_from(FITTING))
def test_an_optional_parameter_at_the_end_concerns_nobody(form: str, fitting: tuple[str, Call]) -> None:
    params, call = fitting
    definition, user = FORMS[form]
    calls = user.format(written(call))
    wider = ", ".join(filter(None, (params, "new=0")))
    found = step({LIB: definition.format(params), USE: calls}, {LIB: definition.format(wider), USE: calls})
    assert found.concerns == ()


@pytest.mark.parametrize("story", [pytest.param(story, id=story.title) for story in STORIES])
def test_what_happens_inside_of_functions_concerns_nobody(story: Story) -> None:
    """A local variable and a comment more, in every file that ends in a function."""
    files = {path: text for path, text in story.after.items() if text and path.endswith(".py")}
    more = {
        path: f"{text}\n# A comment.\ndef new_here():\n    local = 1\n    return local\n"
        for path, text in files.items()
    }
    renamed = {path: text.replace("local", "other") for path, text in more.items()}
    assert examine(shelf(more), shelf(renamed), list(files)).concerns == ()


@given(source=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_have_a_summary(source: bytes) -> None:
    summary = summarise("a.py", source)
    assert summary is not None
    assert not summary.problem or not (summary.offers or summary.uses or summary.imports)


@st.composite
def mixed(draw: st.DrawFn) -> dict[str, str]:
    """Files put together from the lines of the stories: they parse or not, and mean what they happen to."""
    texts = draw(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=4))
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    paths = draw(
        st.lists(st.sampled_from((LIB, USE, "base.py", "pkg/__init__.py", "pkg/lib.py")), min_size=1, unique=True)
    )
    kept = {path: draw(st.lists(st.sampled_from(lines), max_size=8)) for path in paths}
    return {path: "".join(kept[path]) + draw(st.sampled_from(texts)) for path in paths}


@given(before=mixed(), after=mixed())
def test_any_states_can_be_examined_and_the_same_one_concerns_nobody(
    before: dict[str, str], after: dict[str, str]
) -> None:
    old, new = shelf(before), shelf(after)
    changed = sorted({*before, *after})
    for look in (examine, examine_throughout):
        for concern in look(old, new, changed).concerns:
            assert concern.line >= 1
            assert concern.how
        assert look(new, new, changed).concerns == ()
        assert look(new, new, ()).concerns == ()


@given(below=mixed(), above=mixed(), gone=st.sets(st.sampled_from((LIB, USE, "base.py", "never.py"))))
def test_an_overlay_is_the_shelf_of_what_is_merged(
    below: dict[str, str], above: dict[str, str], gone: set[str]
) -> None:
    files = {**shelf(above).files, **dict.fromkeys(gone)}
    merged = Shelf({path: each for path, each in {**shelf(below).files, **files}.items() if each is not None})
    overlay = Overlay(shelf(below), files)
    assert overlay.paths == merged.paths
    names = {name for each in merged.files.values() for name in (*each.used_names, *each.offered_names)}
    for path in (*merged.paths, *gone, "never.py"):
        assert overlay.summary(path) == merged.summary(path)
    for name in (*names, "nobody"):
        assert sorted(overlay.users(name)) == sorted(merged.users(name))
        assert sorted(overlay.definers(name)) == sorted(merged.definers(name))


def test_an_overlay_of_the_same_files_has_the_very_paths_below_it() -> None:
    below = shelf({LIB: "x = 1\n", USE: "y = 1\n"})
    assert Overlay(below, {LIB: shelf({LIB: "x = 2\n"}).summary(LIB)}).paths is below.paths
    assert Overlay(below, {"never.py": None}).paths is below.paths
    assert Overlay(below, {LIB: None}).paths == {USE}


@pytest.mark.parametrize("story", [pytest.param(story, id=story.title) for story in STORIES])
def test_what_uses_are_tied_to_has_them_among_its_dependents(story: Story) -> None:
    library = shelf(story.before)
    tied = _tied(library)
    for path, summary in library.files.items():
        for offer in summary.offers:
            sure = {
                (each.path, each.line, each.use) for each in dependents(library, path, offer.qualname) if each.is_sure
            }
            missing = tied.get((path, offer.qualname), set()) - sure
            assert not missing


def _tied(library: Library) -> dict[tuple[str, str], set[tuple[str, int, object]]]:
    """The uses that were tied, each by the definition that it means; those inside of it are none."""
    resolver = Resolver(library)
    found: dict[tuple[str, str], set[tuple[str, int, object]]] = {}
    for user in library.paths:
        summary = library.summary(user)
        for use in summary.uses if summary else ():
            thing = resolver.use(user, use)
            inside = summary.definition_at(use.line) if summary else ""
            if thing.is_found and (user, inside) != thing.place:
                found.setdefault(thing.place, set()).add((user, use.line, use.use))
    return found
