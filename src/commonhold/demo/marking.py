"""The edits that demo agents make: one marked line without effect, so that each edit can be searched for afterwards."""

import ast
from collections.abc import Iterator

from commonhold.code.regions.python_ast import parse_module

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def marked_line(name: str, marker: str) -> str:
    """Return an assignment that carries the marker and does nothing else."""
    return f'{name} = "{marker}"\n'


def new_function(name: str, marker: str) -> str:
    """Return a function that carries the marker."""
    return f'def {name}() -> str:\n    return "{marker}"\n'


def times_marked(text: str, marker: str) -> int:
    """Return how often the marker occurs in a text."""
    return text.count(f'"{marker}"')


def mark_function_in_file(source: str, qualname: str, line: str) -> str:
    """Return the file with `line` as the first statement of a function. Raises LookupError if there is none."""
    found = [each for name, each in definitions(parse_module(source)) if name == qualname]
    if len(found) != 1:
        raise LookupError(f"{qualname} is there {len(found)} times")
    return _with_first_statement(source, found[0], line, first_line=1)


def mark_function(text: str, line: str) -> str:
    """Return the text of one function with `line` as its first statement."""
    # A method's text is indented: an `if` above it makes a module of it.
    is_indented = text[:1] in (" ", "\t")
    tree = parse_module(f"if True:\n{text}" if is_indented else text)
    _, definition = next(definitions(tree))
    return _with_first_statement(text, definition, line, first_line=2 if is_indented else 1)


def mark_header(text: str, line: str) -> str:
    """Return a file, or the first piece of its header, with `line` below the imports at its top."""
    lines = text.splitlines(keepends=True)
    end = 0
    for statement in parse_module(text).body:
        if isinstance(statement, Definition | ast.ClassDef):
            break
        if isinstance(statement, ast.Import | ast.ImportFrom):
            end = statement.end_lineno or statement.lineno
    return "".join([*lines[:end], line, *lines[end:]])


def append_function(source: str, text: str) -> str:
    """Return the file with one more function at its end."""
    return source.rstrip("\n") + "\n\n\n" + text


def is_markable(definition: Definition) -> bool:
    """Whether a line can stand before the first statement: the body begins on a line of its own."""
    return definition.body[0].lineno > definition.lineno and definition.body[0].col_offset > definition.col_offset


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Yield functions and methods with their qualified names; functions inside a function belong to it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from definitions(node, f"{prefix}{node.name}.")
        else:
            yield from definitions(node, prefix)


def _with_first_statement(text: str, definition: Definition, line: str, *, first_line: int) -> str:
    lines = text.splitlines(keepends=True)
    at = _line_for(definition) - first_line
    indent = " " * definition.body[0].col_offset
    return "".join([*lines[:at], indent + line, *lines[at:]])


def _line_for(definition: Definition) -> int:
    """Return the line, counted from 1, on which the first statement after the docstring begins."""
    if ast.get_docstring(definition, clean=False) is None:
        return _start(definition.body[0])
    if len(definition.body) == 1:
        return (definition.body[0].end_lineno or definition.body[0].lineno) + 1
    return _start(definition.body[1])


def _start(statement: ast.stmt) -> int:
    decorators = statement.decorator_list if isinstance(statement, Definition | ast.ClassDef) else []
    return min(statement.lineno, *(each.lineno for each in decorators)) if decorators else statement.lineno
