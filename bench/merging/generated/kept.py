"""What generated merges came to is kept by file, so that a long run can be ended and go on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import commonhold
from bench.merging.generated.judges import Complaints
from bench.merging.generated.measure import Merged

_ENGINE: Final = Path(commonhold.__file__).parent
_BENCH: Final = Path(__file__).parent


@dataclass(frozen=True)
class Kept:
    """A folder of merges by the name of their unit. What another engine or another bench made is not found."""

    work: Path

    def read(self, name: str) -> list[Merged] | None:
        """The merges of a unit; None where there are none."""
        place = self._place(name)
        if not place.exists():
            return None
        return [_merged(each) for each in json.loads(place.read_text(encoding="utf-8"))]

    def write(self, name: str, merges: Sequence[Merged]) -> None:
        """Keep the merges of a unit."""
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        written = place.with_suffix(".new")
        written.write_text(json.dumps([_told(each) for each in merges]), encoding="utf-8")
        written.replace(place)

    def _place(self, name: str) -> Path:
        return self.work / "kept" / self._makers / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"

    @cached_property
    def _makers(self) -> str:
        """A hash of the code that merges, edits and judges."""
        found = hashlib.sha256()
        for folder in (_ENGINE, _BENCH):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    found.update(path.read_bytes())
        return found.hexdigest()[:16]


def _told(each: Merged) -> dict[str, Any]:
    told = asdict(replace(each, broken=Complaints()))
    told["broken"] = dict(each.broken)
    told["versions"] = [text.decode() for text in each.versions]
    told["result"] = each.result.decode() if each.result is not None else None
    return told


def _merged(told: dict[str, Any]) -> Merged:
    base, ours, theirs = (text.encode() for text in told["versions"])
    return Merged(
        language=told["language"],
        file=told["file"],
        kinds=(told["kinds"][0], told["kinds"][1]),
        versions=(base, ours, theirs),
        result=told["result"].encode() if told["result"] is not None else None,
        broken=Complaints(told["broken"]),
        accepted=told["accepted"],
        reasons=tuple(told["reasons"]),
    )
