"""Which files a project leaves out of its own type checks."""

from pathlib import Path

import pytest

from commonhold.typecheck.excluded_files import is_unchecked

pytestmark = pytest.mark.slow

MYPY = "[tool.mypy]\n"
CASES = {
    "no settings: tests alone": ({}, "tests/test_a.py", ["src/a.py", "a.ts", "tests/a.txt"]),
    "other settings say nothing": ({"pyproject.toml": "[tool.ruff]\nexclude = ['src']\n"}, "tests/a.py", ["src/a.py"]),
    "mypy's files": (
        {"pyproject.toml": MYPY + 'files = ["src", "tests/typing"]\n'},
        "tests/a.py",
        ["tests/typing/a.py"],
    ),
    "mypy's files as one text": ({"mypy.ini": "[mypy]\nfiles = src, tests/typing\n"}, "tests/a.py", ["src/p/a.py"]),
    "all of mypy's files": ({"pyproject.toml": MYPY + 'files = "."\n'}, None, ["tests/a.py", "a.py"]),
    "mypy's packages": (
        {"pyproject.toml": MYPY + 'packages = ["shop"]\n'},
        "tests/a.py",
        ["src/shop/a.py", "shop/b.py"],
    ),
    "mypy's exclude": (
        {"pyproject.toml": MYPY + "exclude = '^tests/'\n"},
        "tests/a.py",
        ["src/a.py", "src/b.py"],
    ),
    "mypy's excludes": ({"pyproject.toml": MYPY + "exclude = ['docs', 'tests/.*']\n"}, "docs/a.py", ["src/a.py"]),
    "mypy's settings without any": ({"pyproject.toml": MYPY + "strict = true\n"}, "tests/a.py", ["src/a.py"]),
    "errors that mypy ignores": (
        {"pyproject.toml": '[[tool.mypy.overrides]]\nmodule = ["tests.*"]\nignore_errors = true\n'},
        "tests/sub/a.py",
        ["src/a.py"],
    ),
    "what mypy does not ignore": (
        {"pyproject.toml": '[[tool.mypy.overrides]]\nmodule = "tests.*"\ndisallow_untyped_defs = false\n'},
        "tests/a.py",
        ["src/a.py"],
    ),
    "errors that mypy ignores, in another file": (
        {"setup.cfg": "[mypy]\nstrict = true\n[mypy-tests.*]\nignore_errors = True\n"},
        "tests/a.py",
        ["src/a.py"],
    ),
    "pyright's include": ({"pyproject.toml": '[tool.pyright]\ninclude = ["src"]\n'}, "tests/a.py", ["src/a.py"]),
    "pyright's own file": ({"pyrightconfig.json": '{"exclude": ["**/tests"]}'}, "a/tests/b.py", ["src/a.py"]),
    "pyright ignores": (
        {"pyproject.toml": '[tool.pyright]\nignore = ["src/*_gen.py"]\n'},
        "src/a_gen.py",
        ["src/a.py"],
    ),
    "ty's sources": ({"pyproject.toml": '[tool.ty.src]\nexclude = ["tests"]\n'}, "tests/a.py", ["src/a.py"]),
    "ty's own file": ({"ty.toml": '[src]\ninclude = ["./src/"]\n'}, "tests/a.py", ["src/a.py"]),
    "pyrefly's": ({"pyrefly.toml": 'project-excludes = ["**/tests/**"]\n'}, "tests/a.py", ["src/a.py"]),
    "what one of two checks": (
        {"pyproject.toml": MYPY + 'files = "src"\n[tool.pyright]\ninclude = ["tests"]\n'},
        "docs/a.py",
        ["src/a.py", "tests/a.py"],
    ),
    "settings that cannot be read": (
        {"pyproject.toml": "[tool.mypy", "mypy.ini": "x", "pyrightconfig.json": "{"},
        None,
        ["a.py"],
    ),
    "an expression that is none": ({"pyproject.toml": MYPY + "exclude = ['(']\n"}, None, ["a.py"]),
    "tables that are none": ({"pyproject.toml": "tool = 1\n", "pyrightconfig.json": "[]"}, None, ["a.py"]),
}


@pytest.mark.parametrize("case", CASES)
def test_which_files_a_project_checks(case: str, tmp_path: Path) -> None:
    settings, left_out, checked = CASES[case]
    for name, text in settings.items():
        (tmp_path / name).write_text(text)
    assert left_out is None or is_unchecked(str(tmp_path), left_out)
    assert not any(is_unchecked(str(tmp_path), path) for path in checked)
