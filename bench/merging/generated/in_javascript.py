"""The small programs in JavaScript, run by Node: what holds for a language with braces need not hold for Python."""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.merging.generated.front_ends import PROGRAMS, Conversation
from bench.merging.generated.running import Seen

_HEAD: Final = """function divided(one, other) {
  if (other === 0) {
    throw new RangeError("nothing divides by zero");
  }
  return Math.floor(one / other);
}

"""
_SIGNS: Final = {ast.Add: "+", ast.Mult: "*", ast.Gt: ">"}
_METHODS: Final = {"append": "push"}


@dataclass(frozen=True)
class Node:
    """Writes programs in JavaScript and runs them in one process of Node."""

    conversation: Conversation

    name: str = "javascript, run"
    file: str = "program.js"

    @classmethod
    def started(cls) -> "Node":
        """A process that is started with the first program."""
        return cls(Conversation(["node", PROGRAMS / "run.js"]))

    def written(self, source: bytes) -> bytes:
        """A small program of Python in JavaScript."""
        parts = map(_top, ast.parse(source).body)
        return (_HEAD + "\n".join(parts)).encode()

    def run(self, text: bytes, given: Sequence[int], size: int) -> Mapping[str, Seen]:
        """What callers of each function and method see."""
        answer = self.conversation.ask(json.dumps({"text": text.decode(), "given": given, "size": size}))
        return {name: tuple(each) for name, each in json.loads(answer).items()}


def _top(node: ast.stmt) -> str:
    """A constant, the class or a function."""
    if isinstance(node, ast.ClassDef):
        members = (_function(each, "  ") for each in node.body if isinstance(each, ast.FunctionDef))
        return f"class {node.name} {{\n{chr(10).join(members)}}}\n"
    if isinstance(node, ast.FunctionDef):
        return _function(node, "")
    assert isinstance(node, ast.Assign)
    word = "let" if isinstance(node.value, ast.List) else "const"
    return f"{word} {_expression(node.targets[0])} = {_expression(node.value)};\n"


def _function(node: ast.FunctionDef, indent: str) -> str:
    optional = [None] * (len(node.args.args) - len(node.args.defaults)) + list(node.args.defaults)
    parameters = ", ".join(
        each.arg if default is None else f"{each.arg} = {_expression(default)}"
        for each, default in zip(node.args.args, optional, strict=True)
        if each.arg != "self"
    )
    name = "constructor" if node.name == "__init__" else node.name
    opening = f"{'' if indent else 'function '}{name}({parameters}) {{"
    inner = indent + "  "
    first = {id(each) for each in _first_assignments(node)}
    named = {_named(each) for each in node.body if id(each) in first}
    assigned = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    late = sorted(assigned - named - {"each"})
    lines = [f"let {', '.join(late)};"] if late else []
    for each in node.body:
        lines += [("let " if id(each) in first else "") + line for line in _statement(each)]
    body = "".join(f"{inner}{line}\n" for line in lines)
    return f"{indent}{opening}\n{body}{indent}}}\n"


def _first_assignments(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a body that assign a variable before anything names it: they declare it."""
    seen: set[str] = set()
    for each in function.body:
        names = {name.id for name in ast.walk(each) if isinstance(name, ast.Name)}
        if (name := _named(each)) and name not in seen and not _reads(each, name):
            yield each
        seen |= names


def _named(node: ast.stmt) -> str:
    """The variable that a plain assignment assigns."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def _reads(node: ast.stmt, name: str) -> bool:
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name)
    return any(isinstance(each.ctx, ast.Load) for each in names)


def _statement(node: ast.stmt) -> list[str]:  # noqa: PLR0911 - one for each kind
    """The lines of a statement."""
    match node:
        case ast.Assign():
            return [f"{_expression(node.targets[0])} = {_expression(node.value)};"]
        case ast.AugAssign():
            return [f"{_expression(node.target)} {_SIGNS[type(node.op)]}= {_expression(node.value)};"]
        case ast.Return(value=ast.expr() as value):
            return [f"return {_expression(value)};"]
        case ast.Expr():
            return [f"{_expression(node.value)};"]
        case ast.If():
            return [f"if ({_expression(node.test)}) {{", *_inside(node.body), "}"]
        case ast.For(iter=ast.Call(args=[most])):
            each = _expression(node.target)
            head = f"for (let {each} = 0; {each} < {_expression(most)}; {each}++) {{"
            return [head, *_inside(node.body), "}"]
        case ast.Try():
            caught = [*_inside(node.handlers[0].body), "}"]
            return ["try {", *_inside(node.body), "} catch {", *caught]
        case _:
            raise TypeError(ast.dump(node))


def _inside(body: Sequence[ast.stmt]) -> list[str]:
    return [f"  {line}" for each in body for line in _statement(each)]


def _expression(node: ast.expr) -> str:  # noqa: PLR0911 - one for each kind
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.Name():
            return "this" if node.id == "self" else node.id
        case ast.List(elts=[]):
            return "[]"
        case ast.Attribute():
            return f"{_expression(node.value)}.{_METHODS.get(node.attr, node.attr)}"
        case ast.BinOp(op=ast.FloorDiv()):
            return f"divided({_expression(node.left)}, {_expression(node.right)})"
        case ast.BinOp():
            return f"{_expression(node.left)} {_SIGNS[type(node.op)]} {_expression(node.right)}"
        case ast.Compare():
            return f"{_expression(node.left)} {_SIGNS[type(node.ops[0])]} {_expression(node.comparators[0])}"
        case ast.Call(func=ast.Name(id="len")):
            return f"{_expression(node.args[0])}.length"
        case ast.Call():
            values = [*map(_expression, node.args), *(_expression(each.value) for each in node.keywords)]
            new = "new " if isinstance(node.func, ast.Name) and node.func.id == "Box" else ""
            return f"{new}{_expression(node.func)}({', '.join(values)})"
        case _:
            raise TypeError(ast.dump(node))
