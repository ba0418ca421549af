"""msgspec learns a type for many threads at once without ending the process."""

import ast
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import commonhold
from commonhold.machine.decoding import from_json, from_msgpack, from_plain

SOURCE = Path(commonhold.__file__).parent
READING = ("Decoder", "convert")
RACE = """
import sys
from threading import Barrier, Thread

import msgspec

from commonhold.machine.decoding import {reader}

sys.setswitchinterval(1e-6)  # threads take turns in the middle of everything
nested = 1
for _ in range(6):
    nested = dict(a=nested, b=[])
data = {data}


def race(number):
    kind = int
    for depth in range(6):
        kind = msgspec.defstruct(f"Kind{{number}}_{{depth}}", [("a", kind), ("b", list[kind])])
    gate, read = Barrier(3), []

    def learn():
        gate.wait()
        read.append({reader}(data, kind))

    threads = [Thread(target=learn) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(read) == 3


for number in range(200):
    race(number)
print("read")
"""


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (from_json, "msgspec.json.encode(nested)"),
        (from_msgpack, "msgspec.msgpack.encode(nested)"),
        (from_plain, "nested"),
    ],
)
def test_threads_that_meet_a_type_for_the_first_time_all_read_it(reader: object, data: str) -> None:
    race = RACE.format(reader=getattr(reader, "__name__", ""), data=data)
    ended = subprocess.run([sys.executable, "-c", race], capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, b"read\n"), ended.stderr


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        from_json("{", int)
    with pytest.raises(msgspec.DecodeError):
        from_msgpack(b"", int)
    with pytest.raises(msgspec.ValidationError):
        from_plain("1", int)
    assert from_plain("1", int, strict=False) == 1


def test_nothing_else_has_msgspec_learn_a_type() -> None:
    found = [
        f"{file.relative_to(SOURCE)}: {ast.unparse(node)}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.name != "decoding.py" and b"msgspec" in file.read_bytes()
        for node in ast.walk(ast.parse(file.read_bytes()))
        if has_it_learn(node)
    ]
    assert not found, "use machine.decoding, which lets one thread at a time learn a type"


def test_what_has_msgspec_learn_a_type_is_seen() -> None:
    learning = ("msgspec.json.Decoder(T)", "msgspec.convert(x, T)", "msgspec.msgpack.decode(x, type=T)")
    for text in (*learning, "from msgspec.json import Decoder"):
        assert any(map(has_it_learn, ast.walk(ast.parse(text)))), text
    assert not any(map(has_it_learn, ast.walk(ast.parse("msgspec.json.decode(x); msgspec.json.Encoder()"))))


def has_it_learn(node: ast.AST) -> bool:
    """Whether a piece of code makes msgspec learn a type, or could do so out of sight."""
    if isinstance(node, ast.Attribute):
        return node.attr in READING and ast.unparse(node).startswith("msgspec.")
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("msgspec") and any(
            each.name in (*READING, "decode") for each in node.names
        )
    words = [each.arg for each in node.keywords] if isinstance(node, ast.Call) else []
    return "type" in words and ast.unparse(node).startswith("msgspec.")
