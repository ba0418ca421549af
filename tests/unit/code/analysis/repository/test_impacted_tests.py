"""Which tests a change concerns."""

import pytest
from tests.unit.code.analysis.repository.shelves import shelf

from commonhold.code.analysis.repository.impacted_tests import ImpactedTest, holds_tests, impacted_tests

FILES = {
    "src/lib.py": "LIMIT = 3\n\n\ndef low(x):\n    return x\n\n\ndef lonely():\n    return LIMIT\n",
    "src/mid.py": "from lib import low\n\n\ndef mid(x):\n    return low(x)\n",
    "tests/conftest.py": "import pytest\nfrom mid import mid\n\n\n@pytest.fixture\ndef made():\n    return mid(1)\n",
    "tests/test_low.py": "from lib import low\n\n\ndef test_low():\n    low(1)\n\n\ndef test_other():\n    pass\n",
    "tests/test_mid.py": "from mid import mid\n\n\nclass TestMid:\n    def test_it(self):\n        assert mid(1)\n",
    "tests/test_fixture.py": "def test_made(made):\n    assert made\n",
    "tests/test_apart.py": "def test_apart():\n    assert True\n",
}


def found(changed: dict[str, list[str]], most: int = 50) -> list[tuple[str, tuple[str, ...], int]]:
    return [(each.path, each.names, each.distance) for each in impacted_tests(shelf(FILES), changed, most)]


def test_who_uses_it_comes_first_then_who_uses_those() -> None:
    tests = found({"src/lib.py": ["low"]})
    assert tests[:2] == [("tests/test_low.py", ("test_low",), 1), ("tests/test_mid.py", ("TestMid.test_it",), 2)]
    assert "tests/test_apart.py" not in [path for path, _, _ in tests]


def test_a_fixture_leads_to_the_tests_that_take_it() -> None:
    assert "tests/test_fixture.py" in [path for path, _, _ in found({"src/mid.py": ["mid"]})]


def test_so_does_one_that_only_another_fixture_takes() -> None:
    more = "\n\n@pytest.fixture\ndef outer(made):\n    return made\n"
    files = {
        **FILES,
        "tests/conftest.py": FILES["tests/conftest.py"] + more,
        "tests/test_outer.py": "def test_outer(outer):\n    assert outer\n",
    }
    tests = {each.path: each.names for each in impacted_tests(shelf(files), {"src/mid.py": ["mid"]})}
    assert tests["tests/test_outer.py"] == ("test_outer",)
    assert "tests/test_apart.py" not in tests


def test_a_fixture_that_all_get_concerns_all() -> None:
    files = {**FILES, "tests/conftest.py": FILES["tests/conftest.py"].replace("fixture", "fixture(autouse=True)")}
    paths = [each.path for each in impacted_tests(shelf(files), {"src/mid.py": ["mid"]})]
    assert "tests/test_apart.py" in paths


def test_a_test_that_was_changed_itself_comes_before_all() -> None:
    tests = found({"src/lib.py": ["low"], "tests/test_mid.py": ["TestMid.test_it", "TestMid.setup"]})
    assert tests[0] == ("tests/test_mid.py", ("TestMid.test_it",), 0)


def test_what_is_used_by_no_test_is_looked_for_by_imports() -> None:
    tests = found({"src/lib.py": ["lonely"]})
    assert {path for path, _, _ in tests} == {f"tests/test_{name}.py" for name in ("apart", "fixture", "low", "mid")}
    assert all(names == () for _, names, _ in tests)
    assert found({"src/lib.py": []}) == tests


def test_a_module_may_be_imported_from_its_package() -> None:
    files = {
        "src/pack/__init__.py": "",
        "src/pack/core.py": "LIMIT = 3\n",
        "tests/test_pack.py": "from pack import core\n\n\ndef test_core():\n    assert core\n",
    }
    assert [each.path for each in impacted_tests(shelf(files), {"src/pack/core.py": []})] == ["tests/test_pack.py"]


def test_conftest_stands_for_the_tests_below_it() -> None:
    paths = [path for path, _, _ in found({"tests/conftest.py": []})]
    assert sorted(paths) == [f"tests/test_{name}.py" for name in ("apart", "fixture", "low", "mid")]


def test_they_are_bounded_and_the_nearest_stay() -> None:
    assert found({"src/lib.py": ["low"]}, most=1) == [("tests/test_low.py", ("test_low",), 1)]


def test_nothing_changed_concerns_nothing() -> None:
    assert found({}) == []
    assert found({"nowhere.py": ["f"]}) == []


def test_the_reason_is_told() -> None:
    (first, *_) = impacted_tests(shelf(FILES), {"src/lib.py": ["low"]})
    assert first == ImpactedTest("tests/test_low.py", ("test_low",), 1, "it uses low of src/lib.py")


@pytest.mark.parametrize(
    "path",
    [
        *("test_a.py", "x/test_a.py", "x/a_test.py", "conftest.py", "x/conftest.py"),
        *("a.test.ts", "x/a.spec.tsx", "a.test.mjs", "__tests__/a.js", "x/__tests__/y/a.ts"),
        *("a_test.go", "x/a_test.go", "tests/a.rs", "crate/tests/x/a.rs"),
        *("ATest.java", "x/ATests.java", "x/TestA.java", "AIT.java"),
    ],
)
def test_a_test_is_known_by_its_name(path: str) -> None:
    assert holds_tests(path)


@pytest.mark.parametrize(
    "path",
    [
        *("testa.py", "latest.py", "x/contest.py", "tests/helper.py", "test_a.pyx", "myconftest.py"),
        *("a.ts", "atest.ts", "src/a.rs", "latests/a.rs", "a.go", "Contest.java", "attest.go", "x__tests__/a.js"),
    ],
)
def test_other_files_are_none(path: str) -> None:
    assert not holds_tests(path)
