"""With some bodies of functions in view, the same is found as with all of them."""

import ast
import re
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

import pytest
from tests.effort import is_stress
from tests.unit.code.analysis.stories import Story, stories

from commonhold.code.analysis import admission
from commonhold.code.analysis.admission import Changed, examine
from commonhold.code.analysis.collector import Concerns, collect
from commonhold.code.analysis.glimpse import in_view, naming
from commonhold.code.analysis.module_definitions import module_of
from commonhold.code.analysis.references import Usage
from commonhold.code.analysis.scopes import Binds, Bound, bound_names
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import RegionMap
from commonhold.code.regions.skeleton import FUNCTIONS
from commonhold.kernel.keys import Key

STORIES: Final = [pytest.param(story, id=f"{path.stem}: {story.title}") for path, story in stories()]
FILES: Final = ("argparse.py", "contextlib.py", "asyncio/base_events.py", "unittest/mock.py", "logging/__init__.py")
EVERY: Final = 40 if is_stress() else 80
_HEAD: Final = re.compile(rb"(def \w+\()(self, |self|)")


@cache
def _regions(name: str) -> RegionMap:
    return discover((Path(sysconfig.get_paths()["stdlib"]) / name).read_bytes(), "m.py")


def _look_at_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an examination parse all bodies, and visit all statements."""
    monkeypatch.setattr(admission, "in_view", lambda regions, *_: regions.source)
    monkeypatch.setattr(admission, "collect", lambda tree, binds=bound_names, *_, **__: collect(tree, binds))


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_told_alike(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    found = story.findings()
    _look_at_everything(monkeypatch)
    assert found == story.findings()


@pytest.mark.parametrize("name", FILES)
def test_real_files_are_found_alike_with_another_signature(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = list(_versions(_regions(name)))
    found = [examine(*each) for each in versions]
    assert any(each.required for each in found)
    _look_at_everything(monkeypatch)
    assert found == [examine(*each) for each in versions]


def test_only_statements_that_may_use_the_changed_name_are_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    others = b"".join(b"V%d: int = len(print)\n\ndef o%d(x: int = V%d):\n    pass\n\n" % (n, n, n) for n in range(50))
    before = discover(others + b"def called(x):\n    pass\n\nclass C:\n    y = called(1)\n    z = len(y)\n", "m.py")
    after = discover(before.source.replace(b"called(x)", b"called(x, more)"), "m.py")
    found: list[Usage] = []

    def noted(tree: ast.Module, binds: Binds = bound_names, concerns: Concerns = bool) -> Usage:
        found.append(collect(tree, binds, concerns))
        return found[-1]

    monkeypatch.setattr(admission, "collect", noted)
    key = next(each.key for each in before.regions if each.key.qualname == "called")
    findings = examine(before, after, [Changed(key, key)])
    assert [each.key.qualname for each in findings.required] == ["C.@header"]
    assert [{each.name for each in usage.references} for usage in found] == [{"called", "len", "y"}]


def _versions(before: RegionMap) -> Iterator[tuple[RegionMap, RegionMap, list[Changed]]]:
    """The file with one parameter more in one function, with that function renamed, and without it."""
    functions = [each for each in before.regions if each.kind in FUNCTIONS]
    for function in islice(functions, 0, None, EVERY):
        text = before.bytes_of(function)
        for new in (_HEAD.sub(rb"\1\2more, ", text, count=1), _HEAD.sub(rb"def another_name(\2", text, count=1), b""):
            after = discover(before.source[: function.start] + new + before.source[function.end :], "m.py")
            yield before, after, [Changed(function.key, _at(function.start, after) if new else None)]


def _at(start: int, regions: RegionMap) -> Key | None:
    return next((each.key for each in regions.regions if each.kind in FUNCTIONS and each.start == start), None)


@pytest.mark.parametrize("name", FILES)
def test_definitions_offer_the_same(name: str) -> None:
    source = _regions(name).source
    seen = in_view(_regions(name), frozenset(), naming(()))
    assert len(seen) < len(source)
    assert seen.count(b"\n") == source.count(b"\n")
    whole, partial = module_of(source), module_of(seen)
    assert [(place, node.lineno) for place, nodes in partial.functions.items() for node in nodes] == [
        (place, node.lineno) for place, nodes in whole.functions.items() for node in nodes
    ]
    assert (partial.declared_global, partial.has_star_import) == (whole.declared_global, whole.has_star_import)
    assert all(partial.interfaces(*place) == whole.interfaces(*place) for place in whole.functions)
    assert partial._instance_attributes == whole._instance_attributes
    for qualname in whole.classes:
        assert _origins(partial.members(qualname)) == _origins(whole.members(qualname))
        assert partial.constructor(qualname) == whole.constructor(qualname)


def _origins(names: Mapping[str, tuple[Bound, ...]]) -> dict[str, list[str]]:
    return {name: [bound.origin for bound in bounds] for name, bounds in names.items()}


def test_a_function_that_imports_everything_stays() -> None:
    source = b"def f():\n    from os import *\n    return path\n"
    assert in_view(discover(source, "m.py"), frozenset(), naming(())) == source


def test_what_shows_outside_of_a_body_is_left_of_it() -> None:
    source = b"class C:\n    def m(self):\n        global a, b\n        self.x = self.y.z = 1\n        yield 2\n"
    seen = in_view(discover(source, "m.py"), frozenset(), naming(()))
    assert seen == b"class C:\n    def m(self):\n        global a, b; self.x = 0; yield\n\n\n"


def test_a_very_long_function_stays() -> None:
    source = b"def f():\n    pass\n" + b"    # more\n" * 2_000
    assert in_view(discover(source, "m.py"), frozenset(), naming(())) == source
