"""Find the tests that a change affects: by the names that they use, directly or over several steps, and by imports."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from commonhold.code.analysis.repository.languages import LINKED
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.reach import Reached, reach
from commonhold.kernel.texts import counted

MOST_TESTS: Final = 50
STEPS: Final = 4
"""How many uses, or imports, may lie between a test and the changed code."""

_TEST_FILE: Final = re.compile(
    r"""
    (?:.*/)? (?:
        test_[^/]*\.py | [^/]*_test\.py | conftest\.py
        | [^/]*\.(?:test|spec)\.[cm]?[jt]sx? | (?:.*/)?__tests__/.*\.[cm]?[jt]sx?
        | [^/]*_test\.go
        | tests/(?:.*/)?[^/]*\.rs
        | (?:[^/]*(?:Test|Tests|IT)|Test[^/]*)\.java
    )
    """,
    re.VERBOSE,
)
_SHARED: Final = "conftest.py"


@dataclass(frozen=True, slots=True)
class ImpactedTest:
    """A file of tests that a change affects: `names` are the tests in it, if they are known, and `why` is a clause.

    `distance` is the number of steps: 0 was changed itself, 1 uses changed code, and so on.
    """

    path: str
    names: tuple[str, ...]
    distance: int
    why: str


def holds_tests(path: str) -> bool:
    """Whether files of this name hold tests, or code that tests share."""
    return _TEST_FILE.fullmatch(path) is not None


def impacted_tests(
    library: Library, changed: Mapping[str, Collection[str]], most: int = MOST_TESTS
) -> tuple[ImpactedTest, ...]:
    """Return the tests affected by the names `changed` in files, the nearest first, at most `most` files.

    Tests that only import a changed file are added if no test is known to use the names changed in it, or no names are
    given.
    """
    found: dict[str, ImpactedTest] = {}
    using = [test for path, names in sorted(changed.items()) for test in _using(library, path, names)]
    used = {path for path, _ in using}
    imported = [path for path in changed if path not in used and not holds_tests(path)]
    for each in (*_changed(changed), *(test for _, test in using), *_importing(library, imported)):
        for test in _spread(library, each):
            known = found.get(test.path)
            found[test.path] = _both(known, test) if known else test
    ranked = sorted(found.values(), key=lambda each: (each.distance, each.path))
    return tuple(ranked[:most])


def _changed(changed: Mapping[str, Collection[str]]) -> Iterator[ImpactedTest]:
    for path, names in changed.items():
        if holds_tests(path):
            yield ImpactedTest(path, tuple(sorted(filter(_is_test_name, names))), 0, "it was changed itself")


def _using(library: Library, path: str, names: Collection[str]) -> Iterator[tuple[str, ImpactedTest]]:
    """Yield the tests that lead to a changed name of a file, step by step; nearest first. Each with the file's path."""
    for each in reach(library, [(path, name) for name in sorted(names)], STEPS).reached:
        if holds_tests(each.path) and not _is_asked_for(library, each):
            tests = (each.qualname,) if _is_test_name(each.qualname) else ()
            yield path, ImpactedTest(each.path, tests, each.depth, _why(each))


def _is_asked_for(library: Library, each: Reached) -> bool:
    """Whether this is a requested fixture: it affects the tests that name it, and these are found by that use."""
    summary = library.summary(each.path)
    offer = summary.offered.get(each.qualname) if summary else None
    decorators = [text for signature in offer.signatures for text in signature.decorators] if offer else []
    return any("fixture" in text for text in decorators) and not any("autouse" in text for text in decorators)


def _is_below(path: str, shared: str) -> bool:
    """Whether a file of tests lies in the folder to which a shared file applies."""
    folder, mark, _ = shared.rpartition("/")
    return _is_shared(shared) and path.startswith(folder + mark) and holds_tests(path)


def _is_shared(path: str) -> bool:
    return path.rpartition("/")[2] == _SHARED


def _why(each: Reached) -> str:
    path, name = each.target
    sureness = "uses" if each.is_sure else "seems to use"
    way = "" if each.depth == 1 else f", {counted(each.depth - 1, 'more step')} from the change"
    return f"it {sureness} {name or path} of {path}{way}" if name else f"it {sureness} {path}{way}"


def _is_test_name(qualname: str) -> bool:
    """Whether a test runner finds it by this name."""
    last = qualname.rpartition(".")[2].partition("(")[0]
    return last.startswith(("test", "Test"))


def _importing(library: Library, changed: Collection[str]) -> Iterator[ImpactedTest]:
    """Yield the tests that import one of the files, over files that import it; ranked behind those that use names."""
    importers = _importers(library) if changed else {}
    reached = dict.fromkeys(changed, 0)
    current = list(changed)
    for step in range(1, STEPS + 1):
        following = [path for each in current for path in sorted(importers.get(each, ())) if path not in reached]
        reached |= dict.fromkeys(following, step)
        current = list(dict.fromkeys(following))
        for path in current:
            if holds_tests(path):
                others = "" if step == 1 else f" over {counted(step - 1, 'other')}"
                yield ImpactedTest(path, (), STEPS + step, f"it imports a changed file{others}")


def _importers(library: Library) -> Mapping[str, set[str]]:
    """Return the files that import each file."""
    found: dict[str, set[str]] = {}
    for path in library.paths:
        summary = library.summary(path)
        entry = LINKED.get(summary.language) if summary else None
        if summary is None or entry is None:
            continue
        for module, member in {(each.module, each.member) for each in summary.imports}:
            for target in entry.linkage.modules(library, path, module):
                for each in (target, *(entry.linkage.below(library, target, member) if member else ())):
                    found.setdefault(each, set()).add(path)
    return found


def _spread(library: Library, each: ImpactedTest) -> Iterator[ImpactedTest]:
    """Yield the file itself; for a file that tests share, all the tests beside and below it."""
    if not _is_shared(each.path):
        yield each
        return
    for path in library.paths:
        if _is_below(path, each.path) and not _is_shared(path):
            why = f"{each.path} is for it, and {each.why}"
            yield replace(each, path=path, names=(), distance=each.distance + 1, why=why)


def _both(known: ImpactedTest, other: ImpactedTest) -> ImpactedTest:
    """Join two answers about one file, with the names of both; the whole file if it was changed itself."""
    nearer = min(known, other, key=lambda each: each.distance)
    return replace(nearer, names=tuple(dict.fromkeys((*known.names, *other.names))))
