"""Where order or number carries a meaning, what both sides add is not proven, in whatever language."""

import pytest
from tests.unit.merging.test_given_names import merged

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

# A file, and what either side puts in: ours at `@`, theirs at `&`.
MEANT = {
    "python next number": ("a.py", "ONE = 1\nTWO = 2\n@&", "SIX = 3\n", "SEVEN = 3\n"),
    "python auto": (
        "a.py",
        "class A(Enum):\n@    ONE = auto()\n    TWO = auto()\n&",
        "    SIX = auto()\n",
        "    SEVEN = auto()\n",
    ),
    "python flags": (
        "a.py",
        "class A(IntFlag):\n    ONE = 1\n    TWO = 2\n    def f(self): ...\n    FOUR = 3\n@&",
        "    SIX = auto()\n",
        "    SEVEN = auto()\n",
    ),
    "go next number": ("a.go", "package p\n\nconst One = 1\nconst Two = 2\n@&", "const Six = 3\n", "const Seven = 3\n"),
    "go iota": (
        "a.go",
        "package p\n\nconst (\n\tOne = iota\n\tTwo\n@\tThree\n&)\n",
        "\tSix\n",
        "\tSeven\n",
    ),
    "c next macro": ("a.c", "#define ONE 1\n#define TWO 2\n@&", "#define SIX 3\n", "#define SEVEN 3\n"),
    "c enumerators": (
        "a.c",
        "enum A {\n    ONE,\n@    TWO,\n    THREE,\n&    FOUR\n};\n",
        "    SIX,\n",
        "    SEVEN,\n",
    ),
    "c members": (
        "a.c",
        "struct S {\n    int one;\n@    int two;\n    int three;\n&};\n",
        "    int six;\n",
        "    int seven;\n",
    ),
    "js next number": ("a.js", "const A = {\n  one: 1,\n  two: 2,\n@&};\n", "  six: 3,\n", "  seven: 3,\n"),
    "yaml next number": ("a.yaml", "one: 1\ntwo: 2\n@&", "six: 3\n", "seven: 3\n"),
    "named tuple": (
        "a.py",
        "class P(NamedTuple):\n    x: int\n@    y: int\n&",
        "    six: int\n",
        "    seven: int = 0\n",
    ),
    "attrs": ("a.py", "§define\nclass P:\n    x: int\n    y: int\n@&", "    six: int = 0\n", "    seven: int = 0\n"),
    "python steps": ("a.py", 'STEPS = [\n    "one",\n    "two",\n@&]\n', '    "six",\n', '    "seven",\n'),
    "python middleware": (
        "a.py",
        'f(\n    middleware=[\n        "one",\n@&    ],\n)\n',
        '        "six",\n',
        '        "seven",\n',
    ),
    "django routes": ("a.py", 'urlpatterns = [\n    path("one"),\n@&]\n', '    path("six"),\n', '    path("seven"),\n'),
    "js routes": ("a.js", 'const routes = [\n  "one",\n@&];\n', '  "six",\n', '  "seven",\n'),
    "json scripts": ("a.json", '{"steps": [\n  "one",\n@&  "two"\n]}\n', '  "six",\n', '  "seven",\n'),
    "yaml steps": ("a.yaml", "steps:\n  - run: one\n@&", "  - run: six\n", "  - run: seven\n"),
    "python exit": (
        "a.py",
        "def f(a, b):\n    a.open()\n@    x = b\n    y = 1\n&    return y\n",
        "    if not b:\n        return 0\n",
        "    a.close()\n",
    ),
    "python exit in a loop": (
        "a.py",
        "def f(a, b):\n    for x in b:\n        x.f()\n@    y = 1\n&    return y\n",
        "        if not x:\n            return 0\n",
        "    a.close()\n",
    ),
    "python raise": (
        "a.py",
        "def f(a, b):\n    a.open()\n@    x = b\n    y = 1\n&    return y\n",
        "    if not b:\n        raise ValueError\n",
        "    a.is_open = False\n",
    ),
    "js exit": (
        "a.js",
        "function f(a, b) {\n  a.open();\n@  let x = b;\n  let y = 1;\n&  return y;\n}\n",
        "  if (!b) {\n    return 0;\n  }\n",
        "  a.close();\n",
    ),
    "go exit": (
        "a.go",
        "package p\n\nfunc f(a A, b int) int {\n\ta.open()\n@\tx := b\n\ty := 1\n&\treturn y\n}\n",
        "\tif b == 0 {\n\t\treturn 0\n\t}\n",
        "\ta.close()\n",
    ),
    "java exit": (
        "A.java",
        "class A {\n  int f(A a, int b) {\n    a.open();\n@    int x = b;\n    int y = 1;\n&    return y;\n  }\n}\n",
        "    if (b == 0) {\n      return 0;\n    }\n",
        "    a.close();\n",
    ),
    "rust exit": (
        "a.rs",
        "fn f(a: A, b: i32) -> i32 {\n    a.open();\n@    let x = b;\n    let y = 1;\n&    return y;\n}\n",
        "    if b == 0 {\n        return 0;\n    }\n",
        "    a.close();\n",
    ),
    "csharp exit": (
        "a.cs",
        "class A {\n  int F(A a, int b) {\n    a.Open();\n@    int x = b;\n    int y = 1;\n&    return y;\n  }\n}\n",
        "    if (b == 0) {\n      return 0;\n    }\n",
        "    a.Close();\n",
    ),
    "php exit": (
        "a.php",
        "<?php\nfunction f($a, $b) {\n  $a->open();\n@  $x = $b;\n  $y = 1;\n&  return $y;\n}\n",
        "  if (!$b) {\n    return 0;\n  }\n",
        "  $a->close();\n",
    ),
    "ruby exit": (
        "a.rb",
        "def f(a, b)\n  a.open\n@  x = b\n  y = 1\n&  y\nend\n",
        "  return 0 unless b\n",
        "  a.close\n",
    ),
    "kotlin exit": (
        "a.kt",
        "fun f(a: A, b: Int): Int {\n    a.open()\n@    val x = b\n    val y = 1\n&    return y\n}\n",
        "    if (b == 0) return 0\n",
        "    a.close()\n",
    ),
    "swift exit": (
        "a.swift",
        "func f(a: A, b: Int) -> Int {\n    a.open()\n@    let x = b\n    let y = 1\n&    return y\n}\n",
        "    guard b > 0 else { return 0 }\n",
        "    a.close()\n",
    ),
    "c exit": (
        "a.c",
        "int f(A *a, int b) {\n    g(a);\n@    int x = b;\n    int y = 1;\n&    return y;\n}\n",
        "    if (!b)\n        return 0;\n",
        "    h(a);\n",
    ),
    "py steps list calls": ("a.py", "THINGS = [\n    one(),\n    two(),\n@&]\n", "    six(),\n", "    seven(),\n"),
    "py list fns": ("a.py", "THINGS = [\n    one,\n    two,\n@&]\n", "    six,\n", "    seven,\n"),
    "py list lambdas": (
        "a.py",
        "THINGS = [\n    lambda x: x,\n@&]\n",
        "    lambda x: x + 1,\n",
        "    lambda x: x * 2,\n",
    ),
    "py list tuples": ("a.py", "THINGS = [\n    (1, 'a'),\n@&]\n", "    (2, 'b'),\n", "    (3, 'c'),\n"),
    "py list regex pairs": (
        "a.py",
        "RULES = [\n    (re.compile('a'), 'a'),\n@&]\n",
        "    (re.compile('b'), 'b'),\n",
        "    (re.compile('c'), 'c'),\n",
    ),
    "py indexed": (
        "a.py",
        "NAMES = [\n    'a',\n@&]\n\n\ndef f():\n    return NAMES[-1]\n",
        "    'b',\n",
        "    'c',\n",
    ),
    "py return list": ("a.py", "def f():\n    return [\n        a(),\n@&    ]\n", "        b(),\n", "        c(),\n"),
    "js objs": ("a.js", "const items = [\n  { a: 1 },\n@&];\n", "  { a: 2 },\n", "  { a: 3 },\n"),
    "js fns": ("a.js", "const things = [\n  one,\n@&];\n", "  six,\n", "  seven,\n"),
    "js calls": ("a.js", "app.use([\n  one(),\n@&]);\n", "  six(),\n", "  seven(),\n"),
    "yaml ansible": (
        "a.yml",
        "- name: one\n  shell: one\n@&",
        "- name: six\n  shell: six\n",
        "- name: seven\n  shell: seven\n",
    ),
    "yaml tasks": (
        "a.yml",
        "tasks:\n  - name: one\n    shell: one\n@&",
        "  - name: six\n    shell: a\n",
        "  - name: seven\n    shell: b\n",
    ),
    "yaml init": ("a.yml", "initContainers:\n  - name: one\n@&", "  - name: six\n", "  - name: seven\n"),
    "json objs": ("a.json", '{"things": [\n  {"a": 1},\n@&  {"a": 2}\n]}\n', '  {"a": 6},\n', '  {"a": 7},\n'),
    "toml array": ("a.toml", "things = [\n  {a = 1},\n@&]\n", "  {a = 6},\n", "  {a = 7},\n"),
    "toml aot": ("a.toml", "[[things]]\na = 1\n@&", "\n[[things]]\na = 6\n", "\n[[things]]\na = 7\n"),
    "python zipped": ("a.py", "WORDS = [\n    'a',\n@&]\nPAIRS = zip(WORDS, OTHERS)\n", "    'b',\n", "    'c',\n"),
    "shell exit": ("a.sh", "f() {\n  open\n@  x=1\n  y=2\n&}\n", '  [ -z "$1" ] && return 0\n', "  close\n"),
}
COUNTED = {
    "python": ("a.py", "COUNT = {}\nNAMES = [\n    'one',\n@    'two',\n&]\n", "    'six',\n", "    'seven',\n"),
    "rust": ("a.rs", "const A: [u8; {}] = [\n    1,\n@    2,\n&];\n", "    6,\n", "    7,\n"),
    "go": ("a.go", "package p\n\nvar a = [{}]int{{\n\t1,\n@\t2,\n&}}\n", "\t6,\n", "\t7,\n"),
    "json": ("a.json", '{{"count": {}, "names": [\n  1,\n@&  2\n]}}\n', "  6,\n", "  7,\n"),
    "yaml": ("a.yaml", "count: {}\nnames:\n  - one\n@  - two\n&", "  - six\n", "  - seven\n"),
    "js": ("a.js", "const COUNT = {};\nconst names = [\n  1,\n@  2,\n&];\n", "  6,\n", "  7,\n"),
}
FREE = {
    "a public interface": ("a.py", "__all__ = [\n    one,\n@&]\n", "    six,\n", "    seven,\n"),
    "dependencies": ("a.toml", "dependencies = [\n  {a = 1},\n@&]\n", "  {a = 6},\n", "  {a = 7},\n"),
    "cases of a test": (
        "a.py",
        "§mark.parametrize(\n    'x',\n    [\n        (1, 2),\n@&    ],\n)\ndef f(x): ...\n",
        "        (3, 4),\n",
        "        (5, 6),\n",
    ),
    "words in yaml": ("a.yaml", "top:\n  - one\n@&", "  - six six\n", "  - seven\n"),
    "constants": ("a.js", "const a = [\n  K.ONE,\n@&];\n", "  K.SIX,\n", "  K.SEVEN,\n"),
    "names": ("a.py", 'NAMES = [\n    "one",\n    "two",\n@&]\n', '    "six",\n', '    "seven",\n'),
    "by keyword": (
        "a.py",
        "§dataclass(kw_only=True)\nclass P:\n    x: int\n@    y: int\n&",
        "    six: int = 0\n",
        "    seven: int = 0\n",
    ),
    "methods of a dataclass": (
        "a.py",
        "§dataclass\nclass P:\n    x: int\n\n@    def f(self): ...\n\n&",
        "    def six(self): ...\n\n",
        "    def seven(self): ...\n",
    ),
    "an exit after": (
        "a.py",
        "def f(a, b):\n    a.open()\n@    x = b\n    y = 1\n&    return y\n",
        "    a.log()\n",
        "    if y:\n        return 0\n",
    ),
    "a value after an exit": (
        "a.py",
        "def f(a, b):\n    a.open()\n@    x = b\n    y = 1\n&    return y\n",
        "    if not b:\n        return 0\n",
        "    z = 2\n",
    ),
    "a break": (
        "a.py",
        "def f(a, b):\n    for x in b:\n        x.f()\n@    y = 1\n&    return y\n",
        "        if not x:\n            break\n",
        "    a.close()\n",
    ),
}


def counted(case: tuple[str, str, str, str]) -> Proven | Unproven:
    """Each side counts one more."""
    path, text, first, second = case
    before, _, rest = text.partition("@")
    between, _, after = rest.partition("&")
    runs = (("", "", 2), (first, "", 3), ("", second, 3))
    base, ours, theirs = (f"{before}{one}{between}{two}{after}".format(count).encode() for one, two, count in runs)
    return merge(base, ours, theirs, path)


@pytest.mark.parametrize("name", MEANT)
def test_where_order_has_a_meaning_both_additions_are_not_proven(name: str) -> None:
    assert isinstance(merged(MEANT[name], "", ""), Unproven)


@pytest.mark.parametrize("name", COUNTED)
def test_a_count_that_both_sides_raise_is_not_proven_beside_what_both_add(name: str) -> None:
    assert isinstance(counted(COUNTED[name]), Unproven)


@pytest.mark.parametrize("name", FREE)
def test_where_order_has_none_both_additions_are_proven(name: str) -> None:
    assert isinstance(merged(FREE[name], "", ""), Proven)
