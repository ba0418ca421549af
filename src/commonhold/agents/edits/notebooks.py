"""Edit a cell of a notebook, and write the notebook as the tools do: in JavaScript's form of JSON."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from commonhold.agents.edits.line_ends import CRLF, are_mostly_crlf, in_ends
from commonhold.agents.hook_events import CellEdit, Part, Unclear
from commonhold.kernel.texts import MARK

_BY_NUMBER: Final = re.compile(r"cell-(\d{1,9})")
_IDS_SINCE: Final = (4, 5)
_LEAST_IN_FULL, _LEAST_WITH_EXPONENT = 1e-6, 1e21
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def edited(wish: CellEdit, text: str | None) -> str | Unclear:
    """Return a notebook's future text, from its present `text` (None: there is no file), or why it is unclear."""
    if text is None:
        return Unclear("there is no such notebook", wish.path)
    try:
        notebook = json.loads(text.removeprefix(MARK), parse_int=float)
        cells = notebook.get("cells") if isinstance(notebook, dict) else None
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            return Unclear("the file is not a notebook", wish.path)
        problem = _edit(wish, notebook, cells)
        return Unclear(problem, wish.path) if problem else _written(notebook, text)
    except (ValueError, RecursionError):
        return Unclear("the file is not JSON, so it is not a notebook", wish.path)


def _edit(wish: CellEdit, notebook: dict[str, Any], cells: list[Any]) -> str:
    """Edit the cells in place. Return why not, or an empty text."""
    if wish.part is Part.INSERT and not wish.cell:
        cells.insert(0, _new_cell(wish, notebook))
        return ""
    at = _number(cells, wish.cell)
    if at is None:
        return f"the notebook has no cell {wish.cell!r}" if wish.cell else "no cell was named"
    match wish.part:
        case Part.INSERT:
            cells.insert(at + 1, _new_cell(wish, notebook))
        case Part.DELETE:
            del cells[at]
        case Part.REPLACE:
            _replace(cells[at], wish)
    return ""


def _number(cells: list[Any], name: str) -> int | None:
    by_id = next((at for at, cell in enumerate(cells) if cell.get("id") == name), None)
    numbered = _BY_NUMBER.fullmatch(name)
    if by_id is not None or numbered is None:
        return by_id
    number = int(numbered[1])
    return number if number < len(cells) else None


def _new_cell(wish: CellEdit, notebook: dict[str, Any]) -> dict[str, Any]:
    is_text = wish.kind == "markdown"
    cell: dict[str, Any] = {"cell_type": "markdown" if is_text else "code"}
    version = notebook.get("nbformat"), notebook.get("nbformat_minor", 0)
    if all(isinstance(part, float) for part in version) and version >= _IDS_SINCE:
        cell["id"] = hashlib.sha256(wish.source.encode(errors="replace")).hexdigest()[:8]
    cell |= {"source": wish.source, "metadata": {}}
    return cell if is_text else cell | {"execution_count": None, "outputs": []}


def _replace(cell: dict[str, Any], wish: CellEdit) -> None:
    cell["source"] = wish.source
    if wish.kind:
        cell["cell_type"] = wish.kind
    if cell.get("cell_type") == "code":
        cell |= {"execution_count": None, "outputs": []}
        if not cell.get("attachments"):
            cell.pop("attachments", None)
    else:
        cell.pop("execution_count", None)
        cell.pop("outputs", None)


def _written(notebook: dict[str, Any], before: str) -> str:
    mark = MARK if before.startswith(MARK) else ""
    after = mark + "".join(_json(notebook, "\n")) + ("\n" if before.endswith("\n") else "")
    return in_ends(CRLF, after) if are_mostly_crlf(before) else after


def _json(value: Any, line: str) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Yield the value as JSON with an indent of one; `line` is a line ending with the indent of the next line."""
    match value:
        case dict() if value:
            yield from _items("{}", line, ([_text(key), ": ", *_json(each, line + " ")] for key, each in value.items()))
        case list() if value:
            yield from _items("[]", line, (_json(each, line + " ") for each in value))
        case str():
            yield _text(value)
        case bool() | None | dict() | list():
            yield json.dumps(value)
        case _:
            yield _number_text(value)


def _items(brackets: str, line: str, items: Iterable[Iterable[str]]) -> Iterator[str]:
    yield brackets[0]
    for number, item in enumerate(items):
        yield f",{line} " if number else f"{line} "
        yield from item
    yield line + brackets[1]


def _text(text: str) -> str:
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _number_text(number: float) -> str:
    """Return a number as JavaScript writes it: the shortest exact form, with an exponent outside of 1e-6 to 1e21."""
    if number != number or abs(number) == float("inf"):  # noqa: PLR0124 - NaN
        return "null"
    if not number:
        return "0"
    if _LEAST_IN_FULL <= abs(number) < _LEAST_WITH_EXPONENT:
        return f"{Decimal(repr(number)).normalize():f}"
    return re.sub(r"e([+-])0*", r"e\1", repr(number)).replace(".0e", "e")
