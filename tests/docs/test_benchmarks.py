"""docs/benchmarks.md says nothing but what benches have measured."""

import json
import re
from pathlib import Path

import pytest

from bench import publish

LOCAL = re.compile(r"/(home|root|work|tmp|Users)\b")


def result(*figures: tuple[str, float, str]) -> publish.Result:
    measured = {"date": "2026-01-02", "commit": "abc", "cores": 2, "python": "3.11"}
    named = {name: {"name": name, "value": value, "unit": "", "goal": goal} for name, value, goal in figures}
    return publish.Result(measured, named)


def test_the_page_is_what_the_results_make_of_its_template() -> None:
    template = publish.TEMPLATE.read_text(encoding="utf-8")
    assert publish.PAGE.read_text(encoding="utf-8") == publish.rendered(template, publish.results()), (
        "docs/benchmarks.md is written by python -m bench.publish: change bench/benchmarks.md.in, or measure anew"
    )


def test_the_template_gives_no_figure_itself() -> None:
    assert list(publish.bare_figures(publish.TEMPLATE.read_text(encoding="utf-8"))) == []


def test_results_name_no_place() -> None:
    for path in publish.RESULTS.glob("*.json"):
        assert not LOCAL.search(path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize(
    "line",
    [
        "It takes 12 ms.",
        "So 1.8 times as fast.",
        "| one | 4 |",
        "| one | 1.5 ms |",
        "| {{a: b | .1f}} | 3.0 |",
        "99 % are.",
    ],
)
def test_a_bare_figure_is_found(line: str) -> None:
    before = "| what | seen |\n|---|---|\n" if line.startswith("|") else ""
    assert list(publish.bare_figures(before + line)) == [line]


@pytest.mark.parametrize(
    "text",
    [
        "| 8 clients | seen | goal |\n|---|---|---|\n| 1,000 lines | {{a: b | .1f}} | ≥ 0.8 |",
        "The goal is ≤ 5 ms.",
        "On two cores, 50 modules.",
        "```sh\nsleep 5 s\n```",
    ],
)
def test_goals_and_sizes_are_no_figures(text: str) -> None:
    assert list(publish.bare_figures(text)) == []


def test_a_placeholder_is_filled() -> None:
    known = {"leases": result(("rate, FULL", 1234.5, "≥ 0.8: met"))}
    template = "{{leases: rate, FULL | ,.0f}}; {{leases: rate, FULL | goal}}; {{leases | measured}}"
    assert publish.rendered(template, known) == "1,234; ≥ 0.8, met; 2026-01-02, commit abc, 2 cores, Python 3.11"


@pytest.mark.parametrize("template", ["{{leases: no such | .1f}}", "{{nothing: rate | .1f}}", "{{nothing | measured}}"])
def test_a_figure_that_no_run_has_produced_is_not_measured(template: str) -> None:
    assert publish.rendered(template, {"leases": result(("rate", 1.0, ""))}) == "not measured"


def test_a_misspelt_placeholder_is_named() -> None:
    with pytest.raises(ValueError, match="leases: rate"):
        publish.rendered("{{leases: rate}}", {"leases": result(("rate", 1.0, ""))})


def test_an_indented_figure_belongs_to_the_one_above(tmp_path: Path) -> None:
    figures = [
        {"name": name, "value": 1.0, "unit": "", "goal": ""} for name in ("one key, a", "  longest", "b", "  longest")
    ]
    path = tmp_path / "rivals.json"
    path.write_text(json.dumps({"measured": {}, "figures": figures}))
    assert list(publish.Result.read(path).figures) == ["one key, a", "one key, a: longest", "b", "b: longest"]
    path.write_text(json.dumps({"measured": {}, "figures": figures[:1] * 2}))
    with pytest.raises(ValueError, match="two figures named 'one key, a'"):
        publish.Result.read(path)
