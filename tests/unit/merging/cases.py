"""The cases of tests/corpus/merging: a folder each, with three versions and what is to become of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

_CORPUS: Final = Path(__file__).parents[2] / "corpus" / "merging"
NAMES: Final = sorted(path.name for path in _CORPUS.iterdir())


@dataclass(frozen=True)
class Case:
    """Three versions of a file called as the folder; `expected` is None where `reasons` say why it is refused."""

    path: str
    base: bytes
    ours: bytes
    theirs: bytes
    expected: bytes | None
    reasons: tuple[str, ...] = ()

    @cached_property
    def versions(self) -> tuple[bytes, bytes, bytes]:
        return self.base, self.ours, self.theirs

    def exchanged(self) -> "Case":
        return replace(self, ours=self.theirs, theirs=self.ours)

    def dressed(self, line_end: bytes, mark: bytes) -> "Case":
        """The same case with other line ends, and a byte order mark before it."""

        def put_on(text: bytes) -> bytes:
            return mark + text.replace(b"\n", line_end)

        expected = None if self.expected is None else put_on(self.expected)
        base, ours, theirs = map(put_on, self.versions)
        return replace(self, base=base, ours=ours, theirs=theirs, expected=expected)


def load(name: str) -> Case:
    folder = _CORPUS / name
    (suffix,) = {path.suffix for path in folder.glob("base.*")}
    base, ours, theirs = ((folder / f"{side}{suffix}").read_bytes() for side in ("base", "ours", "theirs"))
    expected, refused = folder / f"expected{suffix}", folder / "refused.txt"
    assert expected.exists() is not refused.exists(), "a case is merged or refused"
    text = expected.read_bytes() if expected.exists() else None
    reasons = () if text is not None else tuple(refused.read_text(encoding="utf-8").split())
    return Case(f"{name}{suffix}", base, ours, theirs, text, reasons)
