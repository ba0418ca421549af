"""TOML that was made to take long, or to be deep."""

import tomllib
from pathlib import Path

import pytest

from commonhold.code.regions.formats import toml_problem
from commonhold.code.regions.toml import parse_toml

HOSTILE = {
    "a long key": "a." * 5_000 + "a = 1",
    "a long key in a table in a line": "x = {" + "a." * 5_000 + "a = 1}",
    "many lines in a deep table": "[" + "a." * 1_000 + "a]\n" + "b = 1\n" * 10_000,
    "arrays": "x = " + "[" * 3_000,
    "tables": "x = " + "{a = " * 3_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_would_take_too_long_or_too_much_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"take too long|nested too deeply"):
        parse_toml(text)
    problem = toml_problem(text.encode())
    assert problem is not None
    assert "line" not in problem.message


@pytest.mark.parametrize("text", ["[a.b.c]\nd.e = 'x.y.z'\n", "x = [" + "'1.2.3', " * 500 + "]\n"])
def test_what_people_write_is_read_as_ever(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


def test_our_own_is_read(pytestconfig: pytest.Config) -> None:
    text = Path(pytestconfig.rootpath, "pyproject.toml").read_text(encoding="utf-8")
    assert parse_toml(text) == tomllib.loads(text)
