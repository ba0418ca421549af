"""Two sides that meet in a field of an object, of its class or of one that it inherits from, in whatever file."""

from collections.abc import Mapping

import pytest
from tests.unit.code.analysis.repository.two_sides import Edits, Files, found

PYTHON = {
    "client.py": """class Base:
    kind = "plain"
    def reset(self):
        self.state = 0
class Client(Base):
    def __init__(self, seconds):
        self.timeout = seconds
        self.id = "client"
        self.limits: dict = {}
    def grow(self):
        self.limits["size"] = 1
    @property
    def label(self):
        return 1
""",
    "show.py": """from client import Client
class Special(Client):
    def tell(self):
        return 1
    def reset(self):
        pass
def show(client: Client):
    return 1
def make():
    client = Client(3)
    return 1
def guess(thing):
    return 1
""",
    "test_show.py": "from client import Client\ndef test_it():\n    assert Client(1)\n",
}
TYPESCRIPT = {
    "client.ts": """export class Base {
  kind = "plain";
  reset(): void {
    this.state = 0;
  }
}
export class Client extends Base {
  timeout: number;
  constructor(seconds: number) {
    super();
    this.timeout = seconds;
    this.id = "client";
  }
}
""",
    "show.ts": """import { Client } from "./client";
export class Special extends Client {
  tell() {
    return 1;
  }
}
export function show(client: Client) {
  return 1;
}
export function make() {
  const client = new Client(3);
  return 1;
}
""",
}
TIMEOUT = {"client.py": ("= seconds", "= seconds * 1000")}
TIMEOUT_TS = {"client.ts": ("= seconds", "= seconds * 1000")}


def in_python(function: str, expression: str) -> Edits:
    return {"show.py": (f"{function}\n", f"{function}\n    {expression}\n")}


def in_typescript(function: str, expression: str) -> Edits:
    return {"show.ts": (f"{function}\n", f"{function}\n    {expression}\n")}


CONFLICTS: Mapping[str, tuple[Files, Edits, Edits]] = {
    "a field of a parameter": (PYTHON, TIMEOUT, in_python("def show(client: Client):", "print(client.timeout)")),
    "a field of what is made": (PYTHON, TIMEOUT, in_python("    client = Client(3)", "print(client.timeout)")),
    "a field by its name alone": (PYTHON, TIMEOUT, in_python("def guess(thing):", "print(thing.timeout)")),
    "a field that is inherited": (PYTHON, TIMEOUT, in_python("    def tell(self):", "    print(self.timeout)")),
    "an id that is inherited": (
        PYTHON,
        {"client.py": ('"client"', "None")},
        in_python("    def tell(self):", "    return self.id.upper()"),
    ),
    "a value of a class that is inherited": (
        PYTHON,
        {"client.py": ('"plain"', "None")},
        in_python("    def tell(self):", "    return self.kind.upper()"),
    ),
    "state that a base sets, two steps up": (
        PYTHON,
        {"client.py": ("state = 0", "state = None")},
        in_python("    def tell(self):", "    return self.state + 1"),
    ),
    "an entry of a field": (
        PYTHON,
        {"client.py": ('["size"] = 1', '["length"] = 1')},
        in_python("def show(client: Client):", 'print(client.limits["size"])'),
    ),
    "a field of a parameter, in TypeScript": (
        TYPESCRIPT,
        TIMEOUT_TS,
        in_typescript("export function show(client: Client) {", "console.log(client.timeout);"),
    ),
    "a field of what is made, in TypeScript": (
        TYPESCRIPT,
        TIMEOUT_TS,
        in_typescript("  const client = new Client(3);", "console.log(client.timeout);"),
    ),
    "a field that is inherited, in TypeScript": (
        TYPESCRIPT,
        TIMEOUT_TS,
        in_typescript("  tell() {", "return this.timeout + 1;"),
    ),
    "a value of a class that is inherited, in TypeScript": (
        TYPESCRIPT,
        {"client.ts": ('"plain"', '""')},
        in_typescript("  tell() {", "return this.kind[0];"),
    ),
}
CONTROLS: Mapping[str, tuple[Files, Edits, Edits]] = {
    "another field": (PYTHON, TIMEOUT, in_python("def show(client: Client):", "print(client.id)")),
    "a field that was used before, on a line that stays": (
        {
            **PYTHON,
            "show.py": PYTHON["show.py"].replace("Client):\n    return 1", "Client):\n    return client.timeout"),
        },
        TIMEOUT,
        in_python("def show(client: Client):", "print(1)"),
    ),
    "a test, which is there to decide": (
        PYTHON,
        TIMEOUT,
        {"test_show.py": ("Client(1)", "Client(1).timeout == 1")},
    ),
    "a field of another class": (
        {**PYTHON, "other.py": "class Other:\n    def __init__(self):\n        self.timeout = 1\n"},
        {"other.py": ("= 1", "= 2")},
        in_python("def show(client: Client):", "print(client.timeout)"),
    ),
    "only a comment": (
        PYTHON,
        {"client.py": ("= seconds", "= seconds  # of a minute")},
        in_python("def show(client: Client):", "print(client.timeout)"),
    ),
    "another field, in TypeScript": (
        TYPESCRIPT,
        TIMEOUT_TS,
        in_typescript("export function show(client: Client) {", "console.log(client.id);"),
    ),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_a_field_that_one_side_sets_and_the_other_uses_is_where_they_meet(case: str) -> None:
    files, ours, theirs = CONFLICTS[case]
    (crossing,) = found(files, ours, theirs)
    (mirrored,) = found(files, theirs, ours)
    assert (crossing.why, crossing.is_ours) == (mirrored.why, not mirrored.is_ours)


@pytest.mark.parametrize("case", CONTROLS)
def test_what_has_no_field_in_common_does_not_meet(case: str) -> None:
    assert found(*CONTROLS[case]) == ()
