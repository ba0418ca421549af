"""Contracts that differ between two versions of a file."""

import pytest

from commonhold.code.analysis.interface import CallableInterface
from commonhold.code.analysis.repository.changes import contract_changes
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary

SOURCE = "".join(f"def f{number}(value: int) -> int:\n    return value\n\n\n" for number in range(50))


def summary_of(source: str) -> Summary:
    summary = summarise("a.py", source.encode())
    assert summary is not None
    return summary


def test_only_the_changed_contract_is_found() -> None:
    after = "import os\n\n\n" + SOURCE.replace("def f7(value: int)", "def f7(value: int, other: int)")
    (change,) = contract_changes(summary_of(SOURCE), summary_of(after))
    assert change.what == "the parameters of `f7` changed from (value) to (value, other)"


def test_an_annotation_is_part_of_no_contract() -> None:
    after = SOURCE.replace("def f7(value: int)", "def f7(value: str)")
    assert contract_changes(summary_of(SOURCE), summary_of(after)) == ()


def test_only_the_signatures_that_differ_lose_their_annotations(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = summary_of(SOURCE), summary_of(SOURCE.replace("def f7(value", "def f7(other"))
    erased: list[str] = []

    def erase(interface: CallableInterface) -> CallableInterface:
        erased.append(str(interface))
        return plain(interface)

    plain = CallableInterface.erased
    monkeypatch.setattr(CallableInterface, "erased", erase)
    assert len(contract_changes(before, after)) == 1
    assert "(other)" in erased
    assert len(erased) < 20
