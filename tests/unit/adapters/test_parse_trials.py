"""A parse is tried in a process that can be ended."""

import subprocess

import pytest
from tests.unit.regions.hostile import ENDLESS, repeated

from commonhold.adapters.parse_trials import is_quick
from commonhold.regions.budget import TRIALS
from commonhold.regions.discover import discover
from commonhold.regions.languages import language_for


@pytest.mark.parametrize(("path", "unit"), ENDLESS)
def test_a_parse_with_an_endless_last_step_is_ended(path: str, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRIALS, "is_quick", is_quick)
    assert discover(repeated(unit, 25_000), path).exceeds_budget


def test_a_dense_file_is_quick() -> None:
    source = b"[" + b"0," * 50_000 + b"0]\n"
    language = language_for("a.json", source)
    assert language is not None
    assert is_quick(source, language.name)


def test_where_no_process_can_be_started_a_parse_is_not_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(subprocess, "run", refuse)
    assert is_quick(b"[0]", "json")
