"""`bind` against Python's own binding, and the laws between `bind`, `widens` and `effect_on_call`."""

import ast
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.code.analysis.interface import (
    CallShape,
    Effect,
    Params,
    bind,
    effect_on_call,
    of_callable,
    of_class,
    shape_of,
    source_of,
    widens,
)

NAMES = ("a", "b", "c", "d")


def function(source: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return node


@st.composite
def signatures(draw: st.DrawFn) -> str:
    """The text between the parentheses of a def."""
    names = draw(st.permutations(NAMES))
    first, second, third = sorted(draw(st.integers(0, 4)) for _ in range(3))
    required = draw(st.integers(0, second))
    positional = [name if index < required else f"{name}={draw(st.integers(0, 1))}" for index, name in enumerate(names)]
    slash = ["/"] if first else []
    star = draw(st.sampled_from([["*args"], ["*"]] if third > second else [["*args"], []]))
    named = [name + draw(st.sampled_from(["", "=0", "=1"])) for name in names[second:third]]
    rest = draw(st.sampled_from([["**kwargs"], []]))
    return ", ".join([*positional[:first], *slash, *positional[first:second], *star, *named, *rest])


def params_of(signature: str) -> Params:
    return of_callable(function(f"def f({signature}): ...")).params


shapes = st.builds(
    CallShape, st.integers(0, 4), st.lists(st.sampled_from([*NAMES, "e"]), unique=True, max_size=3).map(tuple)
)


def python_binds(signature: str, shape: CallShape) -> dict[str, Any] | None:
    """What the parameters hold in a real call (`inspect.Signature.bind` errs on some positional-only ones)."""
    space: dict[str, Any] = {}
    exec(f"def f({signature}): return dict(locals())", space)  # noqa: S102
    arguments = (f"value of {index}" for index in range(shape.positional))
    try:
        held: dict[str, Any] = space["f"](*arguments, **{name: f"value of {name}" for name in shape.keywords})
    except TypeError:
        return None
    return held


def holds(held: dict[str, Any], argument: int | str, target: str) -> bool:
    value = f"value of {argument}"
    return value in {"*": held.get("args", ()), "**": held.get("kwargs", {}).values()}.get(target, (held.get(target),))


@given(signatures(), shapes)
def test_bind_agrees_with_python(signature: str, shape: CallShape) -> None:
    held, binding = python_binds(signature, shape), bind(shape, params_of(signature))
    assert (held is None) == (binding is None)
    if held is not None and binding is not None:
        assert all(holds(held, argument, target) for argument, target in binding.arguments)
        assert all(held[name] in (0, 1) for name in binding.defaulted)
        assert len(binding.arguments) == shape.positional + len(shape.keywords)


@given(signatures(), signatures(), shapes)
def test_what_widens_harms_no_call(before: str, after: str, shape: CallShape) -> None:
    old, new = params_of(before), params_of(after)
    if widens(old, new) and bind(shape, old):
        assert effect_on_call(shape, old, new) is Effect.NONE


@given(signatures(), shapes)
def test_the_same_signature_widens_and_changes_nothing(signature: str, shape: CallShape) -> None:
    params = params_of(signature)
    assert widens(params, params)
    assert (effect_on_call(shape, params, params) is Effect.BROKEN) == (bind(shape, params) is None)


@given(signatures())
def test_a_signature_is_written_as_python_reads_it(signature: str) -> None:
    interface = of_callable(function(f"def f({signature}): ..."))
    assert of_callable(function(f"def f{interface}: ...")) == interface


@pytest.mark.parametrize("signature", ["a, /", "a, /, b=1, *c, d, **e", "*, a=1, b", "a, *, b"])
def test_the_bare_slash_and_star_are_written(signature: str) -> None:
    assert str(of_callable(function(f"def f({signature}): ..."))) == f"({signature})"


WIDENING = [
    ("a", "a, b=1", True),
    ("a, b", "a, b=1", True),
    ("a, /", "a", True),
    ("a", "a, *args, **kwargs", True),
    ("*args", "*others", True),
    ("a", "a, b", False),
    ("a", "b", False),
    ("a", "a, /", False),
    ("a=1", "a=2", True),
    ("a, b=1", "a", False),
    ("a, *args", "a, b=1, *args", False),
    ("*args", "a=1, *args", False),
    ("a, **kwargs", "a, *, b=1, **kwargs", True),
    ("a, **kwargs", "a, b=1, **kwargs", True),
    ("a, **kwargs", "a, b, **kwargs", False),
    ("a, *args, **kwargs", "a, b=1, *args, **kwargs", False),
    ("a, *args, **kwargs", "a, *args, b=1, **kwargs", True),
    ("*, a", "*, b=1", False),
]


@pytest.mark.parametrize(("before", "after", "expected"), WIDENING)
def test_widens(before: str, after: str, expected: object) -> None:
    assert widens(params_of(before), params_of(after)) is expected


SPLIT_OFF = [
    ("url, **kwargs", "url, params=None, **kwargs", "f(1, params=2)", Effect.NONE),
    ("url, **kwargs", "url, params=None, **kwargs", "f(1, **more)", Effect.NONE),
    ("url, **kwargs", "url, *, params, **kwargs", "f(1, params=2)", Effect.NONE),
    ("url, **kwargs", "url, *, params, **kwargs", "f(1)", Effect.BROKEN),
    ("url, **kwargs", "url, *, params, **kwargs", "f(1, **more)", Effect.CHANGED),
    ("url, **kwargs", "url, params=None", "f(1, params=2)", Effect.NONE),
    ("url, **kwargs", "url, params=None", "f(1, timeout=2)", Effect.BROKEN),
    ("url, params=None", "url, **kwargs", "f(1, params=2)", Effect.CHANGED),
    ("*values", "value, *more", "f(1)", Effect.NONE),
    ("*values", "value, *more", "f(1, 2)", Effect.NONE),
    ("*values", "value, *more", "f()", Effect.BROKEN),
    ("*values", "value, *more", "f(*some)", Effect.CHANGED),
    ("*values", "value, *values", "f(1, 2)", Effect.NONE),
    ("*values", "one, other", "f(1, 2)", Effect.NONE),
    ("text, *values", "text, value, *more", "f(1, 2, 3)", Effect.NONE),
    ("text, *args", "text, level, *args", "f(1, 2, 3)", Effect.CHANGED),
    ("text, *args", "text, level=0, *args", "f(1, 2)", Effect.CHANGED),
    ("*args, **kwargs", "a=0, *args, **kwargs", "f(1, a=2)", Effect.BROKEN),
]


@pytest.mark.parametrize(("before", "after", "call", "effect"), SPLIT_OFF)
def test_a_parameter_split_off_a_starred_one_takes_what_that_took(
    before: str, after: str, call: str, effect: Effect
) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert effect_on_call(shape_of(node), params_of(before), params_of(after)) is effect


NAMED_AT_RUN_TIME = [
    ("a, b=1", "a, c=2, b=1", "f(1, **more)", Effect.NONE),
    ("a, b=1", "a, c=2, b=1", "f(1, b=2, **more)", Effect.NONE),
    ("a, b=1", "a, c=2, b=1", "f(1, 2, **more)", Effect.CHANGED),
    ("a, b=1", "a, c=2, b=1", "f(1, *more)", Effect.CHANGED),
    ("a, b=1", "a, c=2, b=1", "f(*some, **more)", Effect.CHANGED),
    ("a, b=1", "c=2, a=3, b=1", "f(1, **more)", Effect.CHANGED),
    ("a, b=1", "c=2, a=3, b=1", "f(**more)", Effect.NONE),
    ("a, b=1", "a, c, b=1", "f(1, **more)", Effect.CHANGED),
    ("a, b=1", "a, c=1", "f(1, **more)", Effect.CHANGED),
    ("a, b=1", "a, b", "f(1, **more)", Effect.CHANGED),
    ("a, b=1", "b=1, a=2", "f(1, **more)", Effect.CHANGED),
    ("a, *args", "a, b=1, *args", "f(1, **more)", Effect.NONE),
    ("a, *args", "a, b=1, *args", "f(1, 2, **more)", Effect.CHANGED),
    ("a, b=1", "a, b=1, /", "f(1, **more)", Effect.CHANGED),
]


@pytest.mark.parametrize(("before", "after", "call", "effect"), NAMED_AT_RUN_TIME)
def test_two_stars_pass_arguments_by_name_alone(before: str, after: str, call: str, effect: Effect) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert effect_on_call(shape_of(node), params_of(before), params_of(after)) is effect


@given(signatures(), signatures(), shapes, st.sets(st.sampled_from(NAMES)))
def test_arguments_named_at_run_time_bind_as_if_they_were_written(
    before: str, after: str, shape: CallShape, more: set[str]
) -> None:
    old, new = params_of(before), params_of(after)
    written = replace(shape, keywords=(*shape.keywords, *sorted(more - {*shape.keywords})))
    if effect_on_call(replace(shape, has_double_star=True), old, new) is Effect.NONE and bind(written, old):
        assert effect_on_call(written, old, new) is Effect.NONE


def test_starred_shapes_bind_what_is_visible() -> None:
    call = ast.parse("f(1, *a, x=2, **k)", mode="eval").body
    assert isinstance(call, ast.Call)
    shape = shape_of(call)
    assert shape == CallShape(1, ("x",), has_star=True, has_double_star=True)
    assert str(shape) == "(_, *_, x=_, **_)"
    assert bind(shape, params_of("a, b, x")) is not None
    assert bind(shape, params_of("a, b")) is None


def test_interfaces_are_normalised() -> None:
    left = of_callable(function("@x . y( 1 )\nasync def f(a : 'int'=(1), *, b=\"s\") -> None: yield"))
    right = of_callable(function("@x.y(1)\nasync def f(a: 'int' = 1, *, b='s') -> None:\n    yield 2"))
    assert left == right
    assert (left.is_async, left.is_generator, left.decorators) == (True, True, ("x.y(1)",))


def test_class_interface() -> None:
    node = ast.parse(
        "@d\nclass C(A, B[int], metaclass=M, **k):\n  x: int = 1\n  y = z = 2\n  a.b = 3\n  def m(self): ..."
    ).body[0]
    assert isinstance(node, ast.ClassDef)
    interface = of_class(node)
    assert interface.plain_bases == ("A", "B")
    assert interface.keywords == (("metaclass", "M"), ("**", "k"))


def test_an_expression_too_deep_to_unparse_still_has_a_text() -> None:
    left, right = (ast.parse("+".join(["x"] * 900 + [last]), mode="eval").body for last in ("1", "2"))
    assert source_of(left) == source_of(left)
    assert source_of(left) != source_of(right)
