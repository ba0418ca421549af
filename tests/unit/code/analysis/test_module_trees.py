"""The trees that are kept of texts."""

from commonhold.code.analysis import module_definitions
from commonhold.code.analysis.module_definitions import tree_of


def test_a_text_that_was_parsed_lately_is_not_parsed_again() -> None:
    source = b"def lately():\n    pass\n"
    assert tree_of(bytes(bytearray(source))) is tree_of(source)


def test_the_tree_of_a_large_text_is_not_kept() -> None:
    source = b"# large\n" * (module_definitions._LARGEST_KEPT // 8 + 1)
    assert tree_of(source) is not tree_of(source)
