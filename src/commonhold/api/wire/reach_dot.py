"""What depends on a definition, as a graph in the language of Graphviz."""

from collections.abc import Iterator

from commonhold.api.wire.text import sound
from commonhold.code.analysis.repository.reach import Definition, Reach


def dot(value: Reach) -> str:
    """Draw the graph: an arrow leads from each user to the definition it uses, dashed where only the name matches."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Reach) -> Iterator[str]:
    yield "digraph impact {"
    yield "  rankdir=RL; node [shape=box, fontname=monospace];"
    for start in value.starts:
        yield f"  {_id(start)} [label={_quoted(_label(start))}, style=bold];"
    for each in value.reached:
        label = _label((f"{each.path}:{each.line}", each.qualname))
        yield f"  {_id(each.place)} [label={_quoted(label)}];"
        yield f"  {_id(each.place)} -> {_id(each.target)}{'' if each.is_sure else ' [style=dashed]'};"
    yield "}"


def _id(place: Definition) -> str:
    return _quoted("#".join(place))


def _label(place: Definition) -> str:
    path, qualname = place
    return f"{qualname}\n{path}" if qualname else path


def _quoted(text: str) -> str:
    escaped = sound(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
