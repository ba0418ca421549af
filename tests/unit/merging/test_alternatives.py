"""Alternatives of which one holds at a time are joined where nothing can tell their order."""

import pytest
from tests.unit.merging.test_given_names import merged as merged_case

from commonhold.merging.verdict import Proven, Unproven

ENUM = "{}pub enum K {{\n    A,\n    B,\n@&}}\n"
MATCH = "fn f(k: K) -> u8 {\n    match k {\n        K::A => 1,\n@&        _ => 0,\n    }\n}\n"
SWITCH = 'switch (k) {\n  case "a":\n    f();\n    break;\n@&  default:\n    g();\n}\n'
FALLS = 'switch (k) {\n  case "a":\n    f();\n@&  default:\n    g();\n}\n'
UNION = 'export type K =\n  | "a"\n  | "b"\n@&  | "z";\n'
PYTHON = 'match k:\n    case "a":\n        f()\n@&    case _:\n        g()\n'
GO = (
    'package p\n\nfunc f(k string) int {\n\tswitch k {\n\tcase "a":\n\t\treturn 1\n@&\tdefault:\n\t\treturn 0\n\t}\n}\n'
)

# A file, and what either side puts in: ours at `@`, theirs at `&`.
JOINED = {
    "rust variants": ("a.rs", ENUM.format("#[derive(Debug, Clone, PartialEq)]\n"), "    C,\n", "    D,\n"),
    "rust variants that hold something": ("a.rs", ENUM.format(""), "    C(u8),\n", "    D { d: u8 },\n"),
    "rust arms": ("a.rs", MATCH, "        K::C => 2,\n", "        K::D => 3,\n"),
    "rust arms of what is held": ("a.rs", MATCH, "        K::C(x) => x,\n", "        K::D { y } => y,\n"),
    "typescript union": ("a.ts", UNION, '  | "c"\n', '  | "d"\n'),
    "typescript union on one line": ("a.ts", 'type K = "a" @& | "z";\n', '| "c"', '| "d"'),
    "javascript cases": ("a.js", SWITCH, '  case "c":\n    h();\n    break;\n', '  case "d":\n    i();\n    break;\n'),
    "python cases": ("a.py", PYTHON, '    case "c":\n        h()\n', '    case "d":\n        i()\n'),
    "go cases": ("a.go", GO, '\tcase "c":\n\t\treturn 2\n', '\tcase "d", "e":\n\t\treturn 3\n'),
}
REFUSED = {
    "rust variants that are compared": (
        "a.rs",
        ENUM.format("#[derive(PartialEq, PartialOrd)]\n"),
        "    C,\n",
        "    D,\n",
    ),
    "rust variants that are written": ("a.rs", ENUM.format("#[derive(Serialize)]\n"), "    C,\n", "    D,\n"),
    "rust variants with numbers": ("a.rs", ENUM.format(""), "    C = 4,\n", "    D = 5,\n"),
    "rust variants that are cast": (
        "a.rs",
        ENUM.format("") + "fn f(k: K) -> u8 {\n    k as u8\n}\n",
        "    C,\n",
        "    D,\n",
    ),
    "rust variants of a layout": ("a.rs", ENUM.format("#[repr(u8)]\n"), "    C,\n", "    D,\n"),
    "one rust variant": ("a.rs", ENUM.format(""), "    C(u8),\n", "    C(u16),\n"),
    "rust arms that overlap": ("a.rs", MATCH, "        K::C(0) => 2,\n", "        K::C(x) => 3,\n"),
    "rust arms of a binding": ("a.rs", MATCH, "        K::C => 2,\n", "        other => 3,\n"),
    "rust arms with a condition": ("a.rs", MATCH, "        K::C if f() => 2,\n", "        K::D => 3,\n"),
    "javascript cases that go on": ("a.js", SWITCH, '  case "c":\n    h();\n', '  case "d":\n    i();\n    break;\n'),
    "javascript cases after one that goes on": (
        "a.js",
        FALLS,
        '  case "c":\n    h();\n    break;\n',
        '  case "d":\n    i();\n    break;\n',
    ),
    "one javascript case": (
        "a.js",
        SWITCH,
        '  case "c":\n    h();\n    break;\n',
        '  case "c":\n    i();\n    break;\n',
    ),
    "python cases that bind": ("a.py", PYTHON, '    case "c":\n        h()\n', "    case [x]:\n        i()\n"),
    "python cases of two spellings": ("a.py", PYTHON, '    case "c":\n        h()\n', "    case 'c':\n        i()\n"),
    "go cases that share one": ("a.go", GO, '\tcase "c":\n\t\treturn 2\n', '\tcase "d", "c":\n\t\treturn 3\n'),
}


def merged(path: str, text: str, ours: str, theirs: str) -> Proven | Unproven:
    return merged_case((path, text, ours, theirs), "", "")


@pytest.mark.parametrize("name", JOINED)
def test_alternatives_of_both_sides_are_joined(name: str) -> None:
    answer = merged(*JOINED[name])
    assert isinstance(answer, Proven)
    for added in JOINED[name][2:]:
        assert added.strip().encode() in answer.source


@pytest.mark.parametrize("name", REFUSED)
def test_alternatives_whose_order_can_be_told_are_refused(name: str) -> None:
    assert isinstance(merged(*REFUSED[name]), Unproven)
