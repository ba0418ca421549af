"""How much the compiler multiplies a source, against a count that follows the rules of the compiler."""

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.code.regions import finally_expansion
from commonhold.code.regions.finally_expansion import multiplies


@dataclass(frozen=True)
class Block:
    """Statements: so many ways out, then the blocks; each block is the body and the `finally` clause of a `try`."""

    ways_out: int
    tries: tuple[tuple["Block", "Block"], ...]

    def lines(self, indent: str) -> list[str]:
        """Return its source."""
        lines = [f"{indent}first_statement()", *(f"{indent}if condition: return value" for _ in range(self.ways_out))]
        for body, final in self.tries:
            lines += [f"{indent}try:", *body.lines(indent + " "), f"{indent}finally:", *final.lines(indent + " ")]
        return lines

    def counted(self) -> tuple[int, int]:
        """Return how many statements the compiler makes of it, and how many ways out."""
        statements, ways_out = 1 + 2 * self.ways_out, self.ways_out
        for body, final in self.tries:
            (own, own_out), (copy, copy_out) = body.counted(), final.counted()
            statements += 1 + own + (own_out + 2) * copy
            ways_out += own_out + (own_out + 2) * copy_out
        return statements, ways_out


BLOCKS = st.recursive(
    st.builds(Block, st.integers(0, 3), st.just(())),
    lambda inner: st.builds(Block, st.integers(0, 3), st.lists(st.tuples(inner, inner), max_size=3).map(tuple)),
    max_leaves=14,
)


@given(BLOCKS)
def test_a_source_multiplies_if_the_compiler_makes_too_many_statements_of_it(block: Block) -> None:
    source = "\n".join(["def f(condition, value):", *block.lines(" "), ""]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finally_expansion, "_MOST_STATEMENTS", 100)
        # The function is a statement itself.
        assert multiplies(source) == (block.counted()[0] + 1 > 100 + len(source))


def test_blocks_beside_each_other_are_not_parsed_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    ordinary = (
        "def f{0}(file):\n    try:\n        if file: return 1\n        return 2\n    finally:\n        file.close()\n"
    )
    source = "\n".join(map(ordinary.format, range(200))).encode()

    def parse_module(_: bytes) -> None:
        raise AssertionError("it is parsed")

    monkeypatch.setattr(finally_expansion, "parse_module", parse_module)
    assert not multiplies(source)


@pytest.mark.parametrize("source", [b"try:\n  x\nfinally\n  (y\n", b"finally: \xff" * 9])
def test_what_cannot_be_read_is_estimated_by_its_words_alone(source: bytes) -> None:
    assert finally_expansion._copied_bytes(source) == math.inf
    assert not multiplies(source)
