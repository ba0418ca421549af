"""A change inside a function, looked at again without finding everything again: always what discovery finds."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.code.regions import discover as discovery
from commonhold.code.regions.discover import discover, rediscover

SOURCE = b'''\
"""A module."""
import os


@decorated
def first(a, b):
    """What it does."""
    if a:
        return b
    # at the end
    return a
    # behind the end


# above
class Box:
    size = 1

    def inside(self):
        def nested():
            return 1

        return nested()
        # a tail

    @property
    async def other(self):
        for each in self:
            yield each

    class Deeper:
        def deepest(self): return 1

        def last(self):
            return 2


if os.name:
    def only():
        x = 1
        return x
else:
    def only():
        return 2
def close():
    pass
x = 1
'''
LINES = (
    b"        return 3\n",
    b"    return 3\n",
    b"return 3\n",
    b"    def g():\n",
    b"        pass\n",
    b"def h():\n",
    b"class C:\n",
    b"@wrapped\n",
    b"    @wrapped\n",
    b'    """\n',
    b"    x = (\n",
    b"    )\n",
    b"    # a comment\n",
    b"        # a deeper one\n",
    b"# at the edge\n",
    b"\n",
    b"   \n",
    b"    if x:\n",
    b"    else:\n",
    b"    x = 1 \\\n",
    b"\tx = 1\n",
    b"    x = 1\r\n",
    b"    x = 1\r",
    b"    caf\xc3\xa9 = 1\n",
    b"    x = \xff\n",
    b"    x = 1",
    b"def first(a, b, *, c=1):\n",
    b"def first(a, b) -> int:\n",
    b"async def first(a, b):\n",
    b"def first(a, b): return a\n",
    b"def first(\n",
    b"    a, b):\n",
    b"    def inside(self, x):\n",
    b"    async def other(self, x): pass\n",
    b"        def deepest(self, x): return 1\n",
    b"    def only(x):\n",
    b"def close(x):\n",
    b"def close(): pass\n",
    b"class Box(x):\n",
)


@given(data=st.data())
def test_what_is_found_again_is_what_is_there(data: st.DataObject) -> None:
    found, lines = discover(SOURCE), SOURCE.splitlines(keepends=True)
    for _ in range(3):
        start = data.draw(st.integers(0, len(lines)))
        end = data.draw(st.integers(start, min(start + 3, len(lines))))
        lines[start:end] = data.draw(st.lists(st.sampled_from(LINES), max_size=3))
        source = b"".join(lines)
        found = rediscover(found, source)
        assert found == discover(source)
        assert found.body_ends == discover(source).body_ends


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"        return b\n", b"        return b + 1\n        # more\n"),
        (b"    return a\n", b"    return b\n"),
        (b"        return nested()\n", b""),
        (b"            return 2\n", b"            return 2 * 2\n"),
        (b"        x = 1\n", b"        x = 2\n"),
        (b"    pass\n", b"    return 1\n"),
        (b"def first(a, b):\n", b"def first(a, b, *, c=1):\n"),
        (b"    def inside(self):\n", b"    def inside(self, x=1):\n"),
        (b"        def deepest(self): return 1\n", b"        def deepest(self, x): return x\n"),
        (b"def close():\n    pass\n", b"def close(x):\n    return x\n"),
    ],
)
def test_an_ordinary_change_of_a_function_moves_what_is_around_it(old: bytes, new: bytes) -> None:
    source = SOURCE.replace(old, new, 1)
    before, after = discover(SOURCE), discover(source)
    with patch.object(discovery, "_tiled", side_effect=AssertionError("found anew")):
        found = rediscover(before, source)
    assert found == after
    assert found.body_ends == after.body_ends
