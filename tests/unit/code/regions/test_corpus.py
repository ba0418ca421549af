"""Regions in every language, case by case: the folders of tests/corpus that hold regions."""

from pathlib import Path

import pytest
from tests.unit.code.regions.checks import check_map
from tests.unit.code.regions.test_discover import BOM, described

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.languages import LANGUAGES, TEXT

CORPUS = Path(__file__).parents[3] / "corpus"
CASES = sorted(path.parent.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*/regions.txt"))


def file_of(case: str) -> Path:
    (path,) = (CORPUS / case).glob("module.*")
    return path


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("bom", [b"", BOM], ids=["plain", "bom"])
def test_a_case(case: str, line_end: bytes, bom: bytes) -> None:
    path = file_of(case)
    found = discover(bom + path.read_bytes().replace(b"\n", line_end), path.name)
    check_map(found)
    assert found.language == case.partition("/")[0]
    assert described(found) == (CORPUS / case / "regions.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", [*LANGUAGES, TEXT], ids=lambda each: each.name)
def test_every_language_has_cases(language: object) -> None:
    names = [case for case in CASES if case.startswith(f"{getattr(language, 'name', '')}/")]
    assert len(names) >= 4


@pytest.mark.parametrize("case", CASES)
def test_rediscovery_after_a_cut_is_discovery(case: str) -> None:
    path = file_of(case)
    source = path.read_bytes()
    before = discover(source, path.name)
    for end in range(0, len(source), max(1, len(source) // 7)):
        after = rediscover(before, source[:end])
        check_map(after)
        assert after == discover(source[:end], path.name)
