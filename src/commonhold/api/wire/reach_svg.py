"""What depends on a definition, as a picture: it stands at the left, what uses it in the next column, and so on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from commonhold.api.wire.text import sound
from commonhold.code.analysis.repository.reach import Definition, Reach, Reached
from commonhold.code.analysis.test_files import is_test

_WIDTH: Final = 330
_HEIGHT: Final = 40
_GAP: Final = 12
_COLUMN: Final = _WIDTH + 90
_MARGIN: Final = 24
_HEAD: Final = 44
_LONGEST: Final = 42
_STYLE: Final = """
  text { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 12px; fill: #1f2328 }
  .name { font-weight: 600 }
  .place, .head { fill: #59636e; font-size: 11px }
  rect { fill: #ffffff; stroke: #8c959f; rx: 5 }
  .start rect { fill: #ddf4ff; stroke: #0969da; stroke-width: 2 }
  .test rect { fill: #dafbe1; stroke: #1a7f37 }
  path { fill: none; stroke: #8c959f; stroke-width: 1.3 }
  .suspected rect, path.suspected { stroke-dasharray: 5 4 }
"""


@dataclass(frozen=True, slots=True)
class _Box:
    """Where something stands: its column, and the middle of its height in rows."""

    column: int
    row: float

    @property
    def left(self) -> int:
        """Its left edge."""
        return _MARGIN + self.column * _COLUMN

    @property
    def middle(self) -> float:
        """The middle of its height."""
        return _MARGIN + _HEAD + self.row * (_HEIGHT + _GAP) + _HEIGHT / 2


def svg(value: Reach) -> str:
    """The picture. Boxes and lines that are dashed stand for what only a name says; tests are green."""
    boxes = _laid_out(value)
    columns = max((each.column for each in boxes.values()), default=0) + 1
    rows = max((each.row for each in boxes.values()), default=0) + 1
    width = 2 * _MARGIN + columns * _COLUMN - (_COLUMN - _WIDTH)
    height = 2 * _MARGIN + _HEAD + rows * (_HEIGHT + _GAP)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}">'
    parts = [head, f"<style>{_STYLE}</style>", '<rect width="100%" height="100%" style="stroke: none"/>']
    parts += [*_heads(value, columns), *_lines(value, boxes), *_starts(value, boxes), *_users(value, boxes), "</svg>"]
    return "\n".join(parts) + "\n"


def _laid_out(value: Reach) -> Mapping[Definition, _Box]:
    """Give each definition without dependents a row of its own; place any other in the middle of its dependents."""
    users: dict[Definition, list[Reached]] = {}
    for each in value.reached:
        users.setdefault(each.target, []).append(each)
    boxes: dict[Definition, _Box] = {}
    rows = 0
    # Backwards over the tree in depth-first order, so that all users come before the definitions they use.
    for place, column in _outward(value.starts, users):
        own = [boxes[each.place].row for each in users.get(place, ())]
        boxes[place] = _Box(column, (own[0] + own[-1]) / 2 if own else float(rows))
        rows += not own
    return boxes


def _outward(
    starts: Sequence[Definition], users: Mapping[Definition, Sequence[Reached]]
) -> Iterator[tuple[Definition, int]]:
    """Every definition after all that use it, with its column."""
    pending = [(start, 0, False) for start in reversed(starts)]
    while pending:
        place, column, is_done = pending.pop()
        if is_done:
            yield place, column
            continue
        pending.append((place, column, True))
        pending.extend((each.place, column + 1, False) for each in reversed(users.get(place, ())))


def _heads(value: Reach, columns: int) -> Iterator[str]:
    words = ("the definition", "uses it", *(f"{step} steps away" for step in range(2, columns)))
    for column, text in enumerate(words[:columns]):
        yield f'<text class="head" x="{_MARGIN + column * _COLUMN}" y="{_MARGIN + 8}">{text}</text>'
    more = "; there is more than is shown" if value.is_cut else ""
    yield f'<text class="head" x="{_MARGIN}" y="{_MARGIN + 24}">green: tests; dashed: only a name says so{more}</text>'


def _starts(value: Reach, boxes: Mapping[Definition, _Box]) -> Iterator[str]:
    return (_box(boxes[each], each[1] or each[0], each[0], "start") for each in value.starts)


def _users(value: Reach, boxes: Mapping[Definition, _Box]) -> Iterator[str]:
    for each in value.reached:
        kinds = [name for name, holds in (("test", is_test(each.path)), ("suspected", not each.is_sure)) if holds]
        name = each.qualname or "(top level)"
        yield _box(boxes[each.place], name, f"{each.path}:{each.line}", " ".join(kinds))


def _box(box: _Box, name: str, place: str, kinds: str) -> str:
    top, text = box.middle - _HEIGHT / 2, box.left + 10
    return (
        f'<g class="{kinds}"><title>{_safe(name)} {_safe(place)}</title>'
        f'<rect x="{box.left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}"/>'
        f'<text class="name" x="{text}" y="{top + 17}">{_safe(_shortened(name))}</text>'
        f'<text class="place" x="{text}" y="{top + 32}">{_safe(_shortened(place))}</text></g>'
    )


def _lines(value: Reach, boxes: Mapping[Definition, _Box]) -> Iterator[str]:
    for each in value.reached:
        used, user = boxes[each.target], boxes[each.place]
        start, end = used.left + _WIDTH, user.left
        bend = (start + end) / 2
        kind = "" if each.is_sure else ' class="suspected"'
        curve = f"M {start} {used.middle} C {bend} {used.middle}, {bend} {user.middle}, {end} {user.middle}"
        yield f'<path{kind} d="{curve}"/>'


def _shortened(text: str) -> str:
    """The end of a long text, which tells more than its beginning."""
    return text if len(text) <= _LONGEST else f"…{text[1 - _LONGEST :]}"


def _safe(text: str) -> str:
    return escape("".join(char if char.isprintable() else "?" for char in sound(text)))
