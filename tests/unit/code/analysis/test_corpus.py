"""Mutations of the standard library: never an exception, no caller missed, no region named that lacks the name.

Whether a function refers to the global name is asked of Python's own `symtable`.
"""

import ast
import os
import random
import re
import symtable
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.effort import is_stress

from commonhold.code.analysis.admission import Changed, Findings, examine
from commonhold.code.analysis.calls import misfit
from commonhold.code.analysis.collector import collect
from commonhold.code.analysis.module_definitions import Module
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Key, Kind, Name

LIBRARY = Path(ast.__file__).parent
LEFT_OUT = {"site-packages", "test", "tests"}


def library() -> Iterator[Path]:
    """The files of the standard library. Folders that are left out are not walked: that would take most of the time."""
    for folder, folders, names in os.walk(LIBRARY):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))


FILES = sorted(library())
SAMPLE = random.Random(7).sample([path for path in FILES if path.stat().st_size < 50_000], 24 if is_stress() else 12)


def parses(source: bytes) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


@cache
def regions_of(path: Path) -> RegionMap:
    return discover(path.read_bytes(), "m.py")


def spliced(regions: RegionMap, region: Region, text: bytes) -> bytes:
    return regions.source[: region.start] + text + regions.source[region.end :]


def mutants(regions: RegionMap, region: Region) -> Iterator[tuple[str, bytes, Key | None]]:
    name = region.key.names[-1].text
    text = regions.bytes_of(region)
    head = re.search(rb"def\s+" + name.encode() + rb"\s*\(", text)
    if head is None:
        return
    renamed = Key(region.key.scheme, region.key.path, (*region.key.names[:-1], Name("zz_renamed")))
    yield "rename", text[: head.start()] + b"def zz_renamed(" + text[head.end() :], renamed
    yield "parameter", text[: head.end()] + b"zz_required, " + text[head.end() :], region.key
    yield "body", text.rstrip() + b"\n" * (len(text) - len(text.rstrip())), region.key
    yield "delete", b"", None


def outcomes(path: Path) -> Iterator[tuple[str, Region, Findings]]:
    before = regions_of(path)
    functions = [region for region in before.regions if region.kind in (Kind.FUNCTION, Kind.METHOD)]
    chosen = random.Random(path.name).sample(functions, min(4, len(functions)))
    for region in [] if before.problems else chosen:
        for mutation, text, key in mutants(before, region):
            source = spliced(before, region, text)
            tree = parses(source)
            if tree is not None:
                after = discover(source, "m.py")
                yield mutation, region, examine(before, after, [Changed(region.key, key)])


def uses_global(table: symtable.SymbolTable, name: str) -> bool:
    here = name in table.get_identifiers() and table.lookup(name).is_global() and table.lookup(name).is_referenced()
    return here or any(uses_global(child, name) for child in table.get_children())


def users_of(name: str, source: str) -> set[str]:
    tables = symtable.symtable(source, "m.py", "exec").get_children()
    functions = [table for table in tables if table.get_type() == "function" and "lambda" not in table.get_name()]
    return {table.get_name() for table in functions if uses_global(table, name)} - {name}


def is_only_a_function(name: str, regions: RegionMap) -> bool:
    table = symtable.symtable(regions.source.decode(), "m.py", "exec")
    is_imported = table.lookup(name).is_imported()
    is_assigned = re.search(rb"(?m)^\s*" + name.encode() + rb"\s*=", regions.source)
    defined = sum(region.key.qualname.partition("~")[0] == name for region in regions.regions)
    return defined == 1 and not is_imported and not is_assigned


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_calls_that_work_are_no_misfits(path: Path) -> None:
    """Every function counts as inserted; a library that works calls nothing amiss."""
    tree = parses(path.read_bytes())
    if tree is not None:
        module = Module(tree)
        assert not [what for one in collect(tree).references if (what := misfit(one, module))]


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_mutations(path: Path) -> None:
    regions = regions_of(path)
    for mutation, region, findings in outcomes(path):
        name = region.key.names[-1].text
        assert mutation != "body" or findings == Findings()
        assert not findings.escalations
        if region.kind is Kind.FUNCTION and mutation in ("rename", "delete") and is_only_a_function(name, regions):
            found = {one.key.names[0].text for one in findings.required if len(one.key.names) == 1}
            expected = users_of(name, regions.source.decode()) & {one.key.qualname for one in regions.regions}
            assert expected <= found
        lines = regions.source.decode("latin-1").splitlines()
        for one in findings.required if mutation == "parameter" and not name.startswith("__") else ():
            # A new first parameter takes the place of `self`, too: its attributes are assigned no more.
            assert name in lines[one.line - 1] or "is gone" in one.why


def test_a_new_required_parameter_reaches_a_known_caller() -> None:
    source = (LIBRARY / "textwrap.py").read_bytes()
    before = discover(source, "m.py")
    changed = source.replace(b"def _wrap_chunks(self, chunks)", b"def _wrap_chunks(self, chunks, zz)")
    after = discover(changed, "m.py")
    key = next(region.key for region in before.regions if region.key.qualname == "TextWrapper._wrap_chunks")
    findings = examine(before, after, [Changed(key, key)])
    assert [one.key.qualname for one in findings.required] == ["TextWrapper.wrap"]
    assert findings.required[0].still_broken
