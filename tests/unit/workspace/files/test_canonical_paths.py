"""One name a thing, however it is spelled: on a real disk, with links, Unicode forms, dotted names and wildcards."""

import os
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Key, canonical, contains, overlaps, parse
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.files.working_tree import is_case_blind

pytestmark = pytest.mark.slow

MODULE = "def f():\n    pass\n\n\nclass C:\n    def m(self):\n        pass\n"
FILES = (
    *("top.py", "pkg/__init__.py", "pkg/mod.py", "pkg/mod_tests.py", "pkg/modern/deep.py", "src/lib/inner.py"),
    *("src/lib/__init__.py", "né/ünï.py", "odd/a::b.py", "odd/what?.py", "odd/all*.py", "odd/50%25.py", "odd/a#f.py"),
    *("odd/[x].py", "notes.txt", "pkg/data.v2.json"),
)
LINKS = {"alias": "pkg", "pkg/up": "..", "né/mod.py": "../pkg/mod.py", "src/far": "../né", "top2.py": "top.py"}


def make(root: Path) -> WorkingTree:
    for name in FILES:
        root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        root.joinpath(name).write_text(MODULE, encoding="utf-8")
    for link, target in LINKS.items():
        root.joinpath(link).symlink_to(target)
    return WorkingTree(str(root))


@pytest.fixture(scope="module")
def tree() -> Iterator[WorkingTree]:
    with tempfile.TemporaryDirectory() as folder:
        yield make(Path(folder))


@pytest.fixture
def empty(tmp_path: Path) -> WorkingTree:
    return WorkingTree(str(tmp_path))


def located(tree: WorkingTree, text: str) -> str:
    return str(tree.locate(parse(text)))


def touch(tree: WorkingTree, *names: str, text: str = "") -> None:
    for name in names:
        Path(tree.root, name).parent.mkdir(parents=True, exist_ok=True)
        Path(tree.root, name).write_text(text, encoding="utf-8")


# Random spellings of one thing.

ROUTES = {
    "pkg": ("pkg", "alias", "pkg/up/pkg", "pkg/up/alias", "src/../pkg"),
    "né": ("né", "src/far"),
    "src": ("src", "pkg/up/src", "alias/up/src"),
    "": ("", "pkg/up", "alias/up", "src/lib/../..", "né/.."),
}
TWINS = {"pkg/mod.py": ("né/mod.py", "src/far/mod.py"), "top.py": ("top2.py", "pkg/up/top2.py")}
MODULES = {
    "top.py": ("top",),
    "pkg/__init__.py": ("pkg.__init__",),
    "pkg/mod.py": ("pkg.mod", "alias.mod", "né.mod"),
    "pkg/mod_tests.py": ("pkg.mod_tests",),
    "pkg/modern/deep.py": ("pkg.modern.deep", "alias.modern.deep"),
    "src/lib/inner.py": ("lib.inner", "src.lib.inner"),
    "src/lib/__init__.py": ("src.lib", "lib.__init__"),
    "né/ünï.py": ("né.ünï", "far.ünï"),
}
NAMES = ("", "f", "C", "C.m", "@header", "C.@header", "new", "f~2")
KINDS = {"": "file", "f": "function", "C": "class", "C.m": "method", "@header": "shared_header"}

things = st.tuples(st.sampled_from(FILES), st.sampled_from(NAMES))


@st.composite
def paths(draw: st.DrawFn, path: str) -> str:
    """Draw a path that leads to the same file."""
    if path in TWINS and draw(st.booleans()):
        return draw(st.sampled_from(TWINS[path]))
    head, slash, tail = path.partition("/")
    route = ROUTES.get(head) if slash else None
    found = f"{draw(st.sampled_from(route))}/{tail}" if route else f"{draw(st.sampled_from(ROUTES['']))}/{path}"
    return found.lstrip("/")


@st.composite
def rough(draw: st.DrawFn, path: str) -> str:
    """Draw dots and slashes that change nothing, and a Unicode form."""
    between = st.sampled_from(("/", "/", "//", "/./", "/none/../"))
    first, *rest = path.split("/")
    text = draw(st.sampled_from(("", "./", ".//"))) + first + "".join(draw(between) + part for part in rest)
    return unicodedata.normalize(draw(st.sampled_from(("NFC", "NFD"))), text)


@st.composite
def spellings(draw: st.DrawFn, path: str, names: str) -> str:
    """Draw any form of key for a thing that is there."""
    forms = ["hash", "file"]
    forms += ["node"] if names else []
    forms += ["dotted"] * 2 if path in MODULES and ("." in MODULES[path][0] or names) else []
    forms += ["id"] if names in KINDS else []
    form = draw(st.sampled_from(forms))
    if form == "dotted":
        return _dotted(draw, path, names)
    spelled = draw(rough(draw(paths(path))))
    if form == "id":
        return f"{KINDS[names]}::{spelled}::{names}"
    escaped = spelled.replace("%", "%25").replace("#", "%23")
    if form == "node":
        separator = draw(st.sampled_from((".", "::")))
        return (spelled if "#" not in path else f"file:{escaped}") + "::" + names.replace(".", separator)
    tail = f"#{names}" if names else ""
    return spelled + tail if form == "hash" and "#" not in path else f"file:{escaped}{tail}"


def _dotted(draw: st.DrawFn, path: str, names: str) -> str:
    module = draw(st.sampled_from([each for each in MODULES[path] if names or "." in each]))
    form = draw(st.sampled_from((".{}", "#{}", "::{}"))) if "." in module else ".{}"
    text = module + (form.format(names) if names else "")
    return unicodedata.normalize(draw(st.sampled_from(("NFC", "NFD"))), text)


@given(data=st.data(), thing=things)
def test_every_spelling_of_a_thing_is_one_key(tree: WorkingTree, data: st.DataObject, thing: tuple[str, str]) -> None:
    path, names = thing
    expected = Key("file", tuple(path.split("/"))) if not names else canonical(f"file:x#{names}").at(path)
    text = data.draw(spellings(path, names))
    assert tree.locate(parse(text)) == expected


@given(data=st.data(), thing=things)
def test_a_canonical_key_is_a_fixed_point(tree: WorkingTree, data: st.DataObject, thing: tuple[str, str]) -> None:
    key = tree.locate(parse(data.draw(spellings(*thing))))
    assert tree.locate(parse(str(key))) == canonical(str(key)) == key


odd_names = st.text("ab.*?:#%/235AF~[] é", min_size=1, max_size=10)


@given(text=odd_names | odd_names.map(lambda name: f"top.{name}"))
def test_whatever_is_located_stays_where_it_is(tree: WorkingTree, text: str) -> None:
    try:
        key = tree.locate(parse(text))
    except InputError:
        return
    assert tree.locate(parse(str(key))) == canonical(str(key)) == key


@given(data=st.data(), left=things, right=things)
def test_containers_conflict_with_what_is_in_them_and_with_nothing_else(
    tree: WorkingTree, data: st.DataObject, left: tuple[str, str], right: tuple[str, str]
) -> None:
    region = tree.locate(parse(data.draw(spellings(*left))))
    other = tree.locate(parse(data.draw(spellings(right[0], ""))))
    for outer in _containers(tree, region):
        assert contains(outer, region)
        assert overlaps(outer, region)
        assert overlaps(region, outer)
        assert overlaps(outer, other) == contains(outer, other)
    assert overlaps(region, other) == (left[0] == right[0])


def _containers(tree: WorkingTree, key: Key) -> Iterator[Key]:
    """Yield the file, its folders, and globs over it."""
    yield tree.locate(parse(str(key.file)))
    folders = ["/".join(key.path[:size]) + "/" for size in range(1, len(key.path))]
    for folder in ("./", *folders):
        yield tree.locate(parse(folder))
        yield tree.locate(parse(f"{folder}*.py"))
        yield tree.locate(parse(f"file:{folder}**/no?e"))


@pytest.mark.parametrize("outer", ["pkg/mod", "pkg/mod/", "pkg/mod/*", "file:pkg/mod", "pkg/mod.py", "pkg.mod"])
@pytest.mark.parametrize("inner", ["pkg/modern/deep.py", "pkg/mod_tests.py#f", "pkg.modern.deep.f", "pkg/modern/"])
def test_a_name_is_no_prefix_of_a_longer_one(empty: WorkingTree, outer: str, inner: str) -> None:
    touch(empty, "pkg/modern/deep.py", "pkg/mod_tests.py", *(() if outer.endswith(("/", "*")) else ("pkg/mod.py",)))
    assert not overlaps(empty.locate(parse(outer)), empty.locate(parse(inner)))


# Wildcards.


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("alias/*.py", "file:pkg/"),
        ("alias/up/src/**/test_*.py", "file:src/"),
        ("*", "file:./"),
        ("?", "file:./"),
        ("file:pkg/modern/?eep.py", "file:pkg/modern/"),
        ("nowhere/*.py", "file:nowhere/"),
        ("odd/what?.py", "file:odd/what%3F.py"),
        ("odd/all*.py#f", "file:odd/all%2A.py#f"),
        ("odd/all*.py::f", "file:odd/all%2A.py#f"),
        ("odd/all?.py", "file:odd/"),
        ("odd/[x].py", "file:odd/[x].py"),
        ("odd/a::b.py", "file:odd/a:%3Ab.py"),
        ("odd/a::b.py#f", "file:odd/a:%3Ab.py#f"),
        ("file:odd/a::b.py", "file:odd/a:%3Ab.py"),
        ("odd/a::c.py", "file:odd/a#c.py"),
        (f"top.py::test[{'x' * 300}]", "file:top.py#test"),
    ],
)
def test_a_file_of_that_very_name_comes_before_any_other_meaning(tree: WorkingTree, text: str, key: str) -> None:
    assert located(tree, text) == key


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("../*.py", Code.PATH_OUTSIDE),
        ("/*", Code.PATH_OUTSIDE),
        ("top.py/*", Code.NOT_A_FILE),
        ("pkg/*.py#f", Code.NOT_A_FILE),
        ("pkg/*.py::f", Code.NOT_A_FILE),
        ("pkg/::f", Code.NOT_A_FILE),
        (".git/*", Code.PATH_RESERVED),
        ("pkg/*/../top.py", Code.KEY_INVALID),
    ],
)
def test_what_no_glob_can_mean(tree: WorkingTree, text: str, code: Code) -> None:
    assert refusal(lambda: located(tree, text)).code is code


def refusal(call: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


# Dotted names.


@pytest.mark.parametrize(
    ("files", "text", "key"),
    [
        (("mod.py",), "mod.C.m", "file:mod.py#C.m"),
        (("mod.py",), "mod.@header", "file:mod.py#@header"),
        (("mod.py",), "mod.f~2", "file:mod.py#f~2"),
        (("mod/__init__.py",), "mod.f", "file:mod/__init__.py#f"),
        (("src/mod.py",), "mod.f", "file:src/mod.py#f"),
        (("pkg/__init__.py", "pkg/mod.py"), "pkg.mod.f", "file:pkg/mod.py#f"),
        (("pkg/__init__.py", "src/pkg/mod.py"), "pkg.mod.f", "file:src/pkg/mod.py#f"),
        (("pkg/__init__.py", "pkg/mod.py"), "pkg.mod", "file:pkg/mod.py"),
        (("pkg/__init__.py", "pkg/sub/__init__.py"), "pkg.sub", "file:pkg/sub/__init__.py"),
        (("pkg/__init__.py",), "pkg.f", "file:pkg/__init__.py#f"),
        (("mod.pyi",), "mod.f", "file:mod.pyi#f"),
        (("mod.py", "mod.pyi"), "mod.f", "file:mod.py#f"),
        (("mod.py", "mod.f"), "mod.f", "file:mod.f"),
        (("mod.py", "mod.f/x"), "mod.f", "file:mod.f/"),
        (("mod.py",), "file:mod.f", "file:mod.f"),
        (("mod.py",), "./mod.f", "file:mod.f"),
        (("mod.py",), "mod.f/", "file:mod.f/"),
        (("mod.py",), "mod", "file:mod"),
        (("mod/__init__.py",), "mod.py", "file:mod.py"),
        (("mod.py",), "other.f", "file:other.f"),
        (("mod.py",), "mod..f", "file:mod..f"),
        (("mod.py",), ".mod.f", "file:.mod.f"),
        (("mod.py",), "mod.2024-01", "file:mod.2024-01"),
        (("mod.py/x",), "mod.f", "file:mod.f"),
        (("mod.py",), "mod#f", "file:mod#f"),
        (("pkg/mod.py",), "pkg.mod#f", "file:pkg/mod.py#f"),
        (("pkg/mod.py",), "pkg.mod::C::m", "file:pkg/mod.py#C.m"),
        (("pkg/mod.py",), "pkg.mod.C#m", "file:pkg/mod.py#C.m"),
        (("pkg/mod.py",), "pkg.*", "file:./"),
    ],
)
def test_a_dotted_name_is_a_path_first_then_a_module(
    empty: WorkingTree, files: tuple[str, ...], text: str, key: str
) -> None:
    touch(empty, *files)
    assert located(empty, text) == key


@pytest.mark.parametrize(
    ("source", "text", "key"),
    [
        ("json = 1\n", "config.json", "file:config.json"),
        ("def json(): pass\n", "config.json", "file:config.py#json"),
        ("class C:\n    def json(self): pass\n", "config.C.json", "file:config.py#C.json"),
        ("def json(): pass\ndef json(): pass\n", "config.json", "file:config.py#json"),
    ],
)
def test_a_name_that_ends_like_a_file_is_one_unless_the_module_defines_it(
    empty: WorkingTree, source: str, text: str, key: str
) -> None:
    touch(empty, "config.py", text=source)
    assert located(empty, text) == key


def test_a_module_that_cannot_be_read_may_define_anything(tmp_path: Path) -> None:
    tree = WorkingTree(str(tmp_path), max_file_bytes=3)
    touch(tree, "config.py", text="def json(): pass\n")
    assert located(tree, "config.json") == "file:config.py#json"


@pytest.mark.parametrize(
    "files",
    [
        ("mod.py", "mod/__init__.py"),
        ("mod.py", "src/mod.py"),
        ("src/mod.py", "mod/__init__.py"),
        ("mod.pyi", "src/mod.pyi"),
    ],
)
def test_a_dotted_name_of_two_modules_is_refused_with_the_choices(empty: WorkingTree, files: tuple[str, ...]) -> None:
    touch(empty, *files)
    fault = refusal(lambda: located(empty, "mod.f"))
    assert fault.code is Code.REGION_AMBIGUOUS
    choices = {f"file:{name}#f" for name in files}
    assert set(fault.fields["choices"]) == choices  # type: ignore[call-overload]
    assert all(choice in fault.hint for choice in choices)


def test_one_module_by_two_ways_is_one(empty: WorkingTree) -> None:
    touch(empty, "mod.py")
    Path(empty.root, "src").symlink_to(".")
    assert located(empty, "mod.f") == "file:mod.py#f"


@pytest.mark.parametrize("target", ["/etc", "../..", "loop"])
def test_a_link_that_leads_nowhere_is_no_module(empty: WorkingTree, target: str) -> None:
    Path(empty.root, "mod.py").symlink_to(target)
    assert located(empty, "mod.f") == "file:mod.f"


def test_a_module_in_a_repository_of_its_own_is_none_of_ours(empty: WorkingTree) -> None:
    touch(empty, "sub/.git", "sub/__init__.py")
    assert located(empty, "sub.txt") == "file:sub.txt"


# Letter case.


def test_letter_case_is_none_on_a_disk_that_is_blind_to_it(empty: WorkingTree) -> None:
    touch(empty, "Pkg/Mod.py")
    empty._is_case_blind = True
    spellings = ("pkg/mod.py#f", "PKG/MOD.PY::f", "pkg.mod.f", "Pkg/Mod.py#f", "method::pkg/MOD.py::f")
    assert {located(empty, text) for text in spellings} == {"file:Pkg/Mod.py#f"}
    assert located(empty, "PKG/*.py") == "file:Pkg/"
    assert located(empty, "PKG/none.py") == "file:Pkg/none.py"


def test_letter_case_counts_on_this_disk(empty: WorkingTree) -> None:
    touch(empty, "Pkg/Mod.py")
    assert located(empty, "pkg/mod.py") == "file:pkg/mod.py"


def test_a_disk_is_asked_whether_it_is_blind_to_letter_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_case_blind(str(tmp_path))
    tmp_path.joinpath("12").touch()
    tmp_path.joinpath("a.py").touch()
    assert not is_case_blind(str(tmp_path))
    assert not is_case_blind(str(tmp_path / "none"))
    real = os.lstat
    monkeypatch.setattr("commonhold.workspace.files.working_tree.os.lstat", lambda path: real(path.lower()))
    monkeypatch.setattr("commonhold.workspace.files.working_tree.os.listdir", lambda _: ["12", "a.py"])
    monkeypatch.chdir(tmp_path)
    assert is_case_blind(".")


def test_two_files_that_differ_in_letter_case_tell_that_it_counts(tmp_path: Path) -> None:
    tmp_path.joinpath("a").touch()
    tmp_path.joinpath("A").hardlink_to(tmp_path / "a")
    assert not is_case_blind(str(tmp_path))


def test_a_folder_without_letters_has_no_letter_case() -> None:
    assert not is_case_blind("/")
