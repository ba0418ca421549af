"""The syntax trees that are kept of texts."""

from commonhold.regions import language
from commonhold.regions.language import parse
from commonhold.regions.languages import LANGUAGES

GO = next(each for each in LANGUAGES if each.name == "go")


def test_a_text_that_was_parsed_lately_is_not_parsed_again() -> None:
    source = b"package lately\n"
    assert parse(bytes(bytearray(source)), GO) is parse(source, GO)


def test_the_tree_of_a_large_text_is_not_kept() -> None:
    source = b"// large\n" * (language._LARGEST_KEPT // 9 + 1)
    assert parse(source, GO) is not parse(source, GO)
