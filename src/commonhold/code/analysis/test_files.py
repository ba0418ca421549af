"""Which files are tests, by their names, in the languages with a naming convention for tests."""

import re
from typing import Final

_TEST: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|spec)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.pyi?$"
    r"|(?:^|/)[^/]*_test\.go$"
    r"|(?:^|/)[^/]*\.(?:test|spec)\.[cm]?[jt]sx?$"
    r"|(?:^|/)[^/]*(?:Test|Tests|IT)\.java$"
)


def is_test(path: str) -> bool:
    """Whether a file is part of the tests."""
    return _TEST.search(path) is not None
