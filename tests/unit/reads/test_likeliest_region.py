"""Where a text that is not in a file most likely was."""

from commonhold.reads.likeliest_region import likeliest_region

SOURCE = b"import os\n\n\ndef first():\n    return os.sep * 1\n\n\ndef second():\n    return os.sep * 2\n"


def found(sought: str, content: bytes = SOURCE, changed: tuple[str, ...] = ()) -> str | None:
    place = likeliest_region(content, "a.py", sought, changed)
    return str(place[1].key) if place else None


def test_it_is_where_most_lines_are_alike() -> None:
    assert found("def second():\n    return os.sep * 3\n") == "file:a.py#second"
    assert found("import sys\n") == "file:a.py#@header"


def test_of_those_that_are_alike_it_is_what_others_have_changed() -> None:
    assert found("return os.sep * 3", changed=("file:a.py#second",)) == "file:a.py#second"
    assert found("return os.sep * 3", changed=("file:a.py#first",)) == "file:a.py#first"


def test_where_nothing_is_alike_or_too_much_is_there_it_is_nowhere() -> None:
    assert found("class Quite:\n    '''Another thing.'''\n") is None
    assert found(" \n") is None
    assert found("return 1", b"x = 1\n" * 5000) is None
