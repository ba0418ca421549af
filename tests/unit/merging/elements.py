"""Elements of Python text, as a merge sees them."""

from commonhold.code.regions.language import parse
from commonhold.code.regions.languages import PYTHON
from commonhold.merging.cross_file_interference import FileChange
from commonhold.merging.layout import FileElement
from commonhold.merging.profiles import PYTHON as PROFILE


def element(text: str) -> FileElement:
    source = text.encode()
    return FileElement(source, PROFILE, parse(source, PYTHON))


def change(path: str, before: str, after: str) -> FileChange:
    return FileChange(path, element(before), element(after))
