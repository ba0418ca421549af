"""Elements of Python text, as a merge sees them."""

from commonhold.merging.bearing import FileChange
from commonhold.merging.layout import FileElement
from commonhold.merging.profiles import PYTHON as PROFILE
from commonhold.regions.language import parse
from commonhold.regions.languages import PYTHON


def element(text: str) -> FileElement:
    source = text.encode()
    return FileElement(source, PROFILE, parse(source, PYTHON))


def change(path: str, before: str, after: str) -> FileChange:
    return FileChange(path, element(before), element(after))
