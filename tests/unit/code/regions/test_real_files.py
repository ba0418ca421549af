"""Discovery over real files of every language, as this machine has them; where it has none, over the corpus."""

import re
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from os import walk
from pathlib import Path
from typing import Final

import pytest
from tests.unit.code.regions.checks import check_map

from commonhold.code.regions.discover import discover
from commonhold.code.regions.language import Language
from commonhold.code.regions.languages import LANGUAGES, PYTHON, TEXT, language_for
from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Kind

_ROOTS: Final = (sysconfig.get_path("purelib"), sys.base_prefix, "/usr/include", "/usr/share", "/usr/lib")
_CORPUS: Final = Path(__file__).parents[3] / "corpus"
_MOST_FILES: Final = 40
_MOST_FOLDERS: Final = 4_000
_LARGEST: Final = 200_000
_OTHERS: Final = [each for each in (*LANGUAGES, TEXT) if each is not PYTHON]
_TEXT_EXTENSIONS: Final = frozenset({".txt", ".rst", ".cfg", ".cmake", ".tcl"})


@cache
def _found() -> dict[str, list[Path]]:
    """Some files of each language, by the names that tell it."""
    languages = {extension: each.name for each in _OTHERS for extension in each.extensions}
    languages |= dict.fromkeys(_TEXT_EXTENSIONS, TEXT.name)
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for root in _ROOTS:
        for folder, _, names in _folders(root):
            for name in names:
                language = languages.get(Path(name).suffix.lower())
                if language and len(found[language]) < _MOST_FILES:
                    found[language].append(Path(folder, name))
    return found


def _folders(root: str) -> Iterator[tuple[str, list[str], list[str]]]:
    for count, (folder, below, names) in enumerate(walk(root)):
        below.sort()
        if count == _MOST_FOLDERS:
            return
        yield folder, below, sorted(names)


def _sources(language: Language) -> Iterator[tuple[Path, bytes]]:
    cases = sorted((_CORPUS / language.name).glob("*/module.*"))
    for path in (*_found().get(language.name, ()), *cases):
        if path.is_file() and path.stat().st_size <= _LARGEST:
            yield path, path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("language", _OTHERS, ids=lambda each: each.name)
def test_real_files_are_tiled_and_an_edit_in_a_leaf_stays_there(language: Language) -> None:
    checked = 0
    for path, source in _sources(language):
        found = discover(source, path.name)
        check_map(found)
        assert _difference(found, language_for(path.name, source) or TEXT) == "", path
        checked += 1
    assert checked >= 4


def _difference(before: RegionMap, language: Language) -> str:
    """Add a note inside of one leaf, and name the regions that this should have left alone."""
    edited = next(_with_notes(before, language), None)
    if edited is None:
        return ""
    leaf, source = edited
    after = discover(source, before.path)
    if len(after.problems) != len(before.problems):
        return ""
    if [each.key for each in before.regions] != [each.key for each in after.regions]:
        return f"an edit in {leaf.id} changed an id"
    above = {key for key in leaf.key.upward() if not key.is_header} | {leaf.key}
    pairs = zip(before.regions, after.regions, strict=True)
    wrong = [old.id for old, new in pairs if (old.hash != new.hash) is not (old.key in above)]
    return f"an edit in {leaf.id} changed the hash of {wrong}" if wrong else ""


def _with_notes(before: RegionMap, language: Language) -> Iterator[tuple[Region, bytes]]:
    for leaf in before.leaves():
        at = _place(before, leaf)
        if at is not None:
            yield leaf, before.source[:at] + _note(before.source[at:], language) + before.source[at:]


def _place(before: RegionMap, leaf: Region) -> int | None:
    """The start of the last line of a body, or of the text of a section below a blank line."""
    text = before.cut(leaf.spans[0])
    if leaf.is_body and leaf.kind is not Kind.PARAGRAPH and text.count(b"\n") > 2 and b"\\\n" not in text:
        return leaf.start + text.rstrip().rfind(b"\n") + 1
    if leaf.kind is Kind.SECTION_HEADER and before.language in ("markdown", "html"):
        blank = text.find(b"\n\n")
        return leaf.start + blank + 2 if 0 <= blank < len(text) - 2 else None
    return leaf.start + text.find(b"\n") + 1 if leaf.kind is Kind.PARAGRAPH and b"\n" in text.rstrip() else None


def _note(line: bytes, language: Language) -> bytes:
    indent = re.match(rb"[ \t]*", line)
    assert indent is not None
    if not language.rules and language.name != "sql":
        return b"Note.\n\n" if language.name != "text" else b"note\n"
    mark = language.comment_mark
    return indent[0] + mark + b" note" + (b" */" if mark == b"/*" else b"") + b"\n"


def test_there_is_something_to_read() -> None:
    assert len(_found()) >= 4
