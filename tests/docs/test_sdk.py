"""The public SDK: every name that it promises is there, and nothing is loaded before it is asked for."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import commonhold
from commonhold.api.service import OPERATIONS

pytestmark = pytest.mark.slow


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(commonhold, name) is not None for name in commonhold.__all__)
    assert set(commonhold.__all__) <= set(dir(commonhold))
    assert set(commonhold._HOME_OF) == set(commonhold.__all__)


def test_type_checkers_see_every_public_name() -> None:
    tree = ast.parse(Path(commonhold.__file__).read_text(encoding="utf-8"))
    unseen = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in unseen.body if isinstance(node, ast.ImportFrom)]
    assert {each.asname or each.name for node in imports for each in node.names} == set(commonhold.__all__)


@pytest.mark.parametrize("sdk", [commonhold.Commonhold, commonhold.AsyncCommonhold])
def test_the_types_of_every_method_can_be_asked_for(sdk: type) -> None:
    methods = {name: each for name, each in inspect.getmembers(sdk, inspect.isroutine) if not name.startswith("_")}
    types = {name: get_type_hints(each) for name, each in methods.items()}
    assert OPERATIONS.keys() - types.keys() == {"heartbeat"}
    assert types["commit"]["changeset"] is commonhold.Changeset
    assert types["get"]["return"] is commonhold.Value
    assert {"acquire", "propose", "hold", "log"} <= types.keys()


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = commonhold.nonsense  # type: ignore[attr-defined]


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, commonhold; sys.exit(bool({'apsw', 'msgspec', 'tree_sitter'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
