"""Derived files are as the code requires; none of them is edited by hand."""

import re
from pathlib import Path

import pytest
from tests.architecture.derived import FILES, SOURCE, derived, home_of

from commonhold.api.service import OPERATIONS
from commonhold.client.operations import Operations


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_derived_file_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == derived(path), "run: make generate"


def test_the_sdks_have_every_operation_that_they_offer_as_it_is() -> None:
    methods = {name for name in vars(Operations) if not name.startswith("_")}
    assert methods == {name for name, each in OPERATIONS.items() if each.in_sdk and not each.wrapped}


def test_a_type_has_one_home() -> None:
    one = {SOURCE / "commits" / "shop.py": "class Price:\n    pass\n"}
    two = one | {SOURCE / "kernel" / "shop.py": "class Price(int):\n    pass\n"}
    assert home_of("Price", one) == "commonhold.commits.shop"
    for texts, count in (({}, 0), (two, 2)):
        with pytest.raises(LookupError, match=re.escape(f"{count} modules define a class Price")):
            home_of("Price", texts)
