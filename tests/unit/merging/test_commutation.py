"""What a call can reach, and what comes last in a body: small programs in several languages."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

PY = "def f(a, b):\n    a()\n@    b()\n"
JS = "let x = 0;\n{}function f() {{\n  a();\n@  b();\n}}\n"
C = "void f(void) {{\n  int x = 0;\n  keep({});\n@  b();\n}}\n"
CPP = "void f() {\n  a();\n@  b();\n}\n"
JAVA = "class A {\n  int x;\n  void f() {\n    a();\n@    b();\n  }\n}\n"
RUBY = "def f\n  a(1)\n@  b(1)\nend\n"

# A file with `@` where both sides add a statement; the statements; whether they are joined.
AT_ONE_POINT = {
    # A variable of the function beside a call
    "local": ("a.py", "def f(a):\n    x = 0\n@    return x\n", "    x = 1", "    go()", True),
    "parameter": ("a.js", "function f(x) {\n  a();\n@  b();\n}\n", "  x = 1;", "  go();", True),
    "named so elsewhere, too": (
        "a.py",
        "def g():\n    x = 2\n    return x\n\n\ndef f():\n    x = 0\n@    return x\n",
        "    x = 1",
        "    go()",
        True,
    ),
    "captured by a closure": (
        "a.py",
        "def f(a):\n    x = 0\n    def go():\n        return x\n@    return x\n",
        "    x = 1",
        "    go()",
        False,
    ),
    "captured by an arrow function": (
        "a.js",
        "function f() {\n  let x = 0;\n  const go = () => x;\n@  b();\n}\n",
        "  x = 1;",
        "  go();",
        False,
    ),
    "declared global": (
        "a.py",
        "def f(a):\n    global x\n    x = 0\n@    a()\n",
        "    x = 1",
        "    go()",
        False,
    ),
    "of the module": ("a.js", JS.format(""), "  x = 1;", "  go();", False),
    "of the module, used in a function": (
        "a.py",
        "def go():\n    return x\n\n\nx = 0\n@y = 0\n",
        "x = 1",
        "go()",
        False,
    ),
    "of the module, new": ("a.py", "def go():\n    return 1\n\n\nx = 0\n@y = 0\n", "z = 1", "go()", True),
    "whose address is taken": ("a.c", C.format("&x"), "  x = 1;", "  go();", False),
    "whose address is not taken": ("a.c", C.format("x"), "  x = 1;", "  go();", True),
    "a field without this": ("A.java", JAVA, "    x = 1;", "    go();", False),
    "a field under two names": (
        "A.java",
        JAVA,
        "    x = 1;",
        "    int y = this.x;",
        False,
    ),
    "a field of Ruby": ("a.rb", RUBY, "  @x = 1", "  go", False),
    "a global variable of Ruby": ("a.rb", RUBY, "  $x = 1", "  go", False),
    "a variable of a shell": ("a.sh", "f() {\n  x=0\n@  b\n}\n", "  x=1", "  go", False),
    "reading one that others assign": (
        "a.js",
        JS.format("function g() {\n  x = 2;\n}\n"),
        "  const y = x;",
        "  go();",
        False,
    ),
    "reading one that nobody assigns": ("a.js", JS.format(""), "  const y = x;", "  go();", True),
    # Memory
    "an alias": ("a.py", PY, "    a[0] = 1", "    x = b[0]", False),
    "a part and the whole": ("a.py", PY, "    a.x = 1", "    c = a", False),
    "a part and its name": ("a.py", PY, "    a.x = 1", "    c = a.y", True),
    "a conversion": ("a.py", PY, "    a.x = list(b)", "    a.y = 1", True),
    "one iterator": ("a.py", PY, "    x = list(b)", "    y = list(b)", False),
    "a conversion by a function": ("a.py", PY, "    a.x = sorted(b, key=a)", "    a.y = 1", False),
    # Definitions
    "two functions": ("a.py", "x = 0\n@y = 0\n", "def f():\n    return go(x)\n", "def g():\n    return go(x)\n", True),
    "two decorated ones": (
        "a.py",
        "x = 0\n@y = 0\n",
        "@app.get('/a')\ndef f(): pass\n",
        "@app.get('/b')\ndef g(): pass\n",
        False,
    ),
    "two properties": ("a.py", "x = 0\n@y = 0\n", "@property\ndef f(a): pass\n", "@property\ndef g(a): pass\n", True),
    # Constructors
    "an object of C++": ("a.cpp", CPP, "  Guard x;", "  Guard y;", False),
    "a string of C++": ("a.cpp", CPP, "  std::string x;", "  Guard y;", True),
    "a number of C++": ("a.cpp", CPP, "  int x = 1;", "  Guard y;", True),
    "lists of Java": ("A.java", JAVA, "    var z = new ArrayList<>();", "    go();", True),
    "initialisers of fields": ("a.ts", "class A {\n  a = 1;\n@  b() {}\n}\n", "  x = go();", "  y = go();", False),
    "fields without a call": ("a.ts", "class A {\n  a = 1;\n@  b() {}\n}\n", "  x = 1;", "  y: string;", True),
    "two properties of C#": (
        "a.cs",
        "class A {\n  int a;\n@  void B() {}\n}\n",
        "  public int X { get; set; }",
        "  public int Y => Go();",
        True,
    ),
    "initialised properties of C#": (
        "a.cs",
        "class A {\n  int a;\n@  void B() {}\n}\n",
        "  public int X { get; } = F();",
        "  public int Y { get; } = G();",
        False,
    ),
    # Modules
    "two modules required": ("a.js", "const a = 1;\n@", "const { x } = require('x');", "const y = require('y');", True),
    "a module beside a call": ("a.js", "const a = 1;\n@", "const x = require('x');", "go();", False),
    "attributes of Ruby": ("a.rb", "class A\n  B = 1\n@end\n", "  attr_reader :x", "  attr_reader :y", True),
    # The value of a body
    "last in Ruby": ("a.rb", "def f\n  a(1)\n@end\n", "  x = 1", "  y = 2", False),
    "last in a constructor of Ruby": ("a.rb", "def initialize\n  a(1)\n@end\n", "  @x = 1", "  @y = 2", True),
    "last in Rust": ("a.rs", "fn f() -> i32 {\n    a();\n@}\n", "    let x = 1;", "    count", False),
    "last in Rust, without a value": ("a.rs", "fn f() {\n    a();\n@}\n", "    let x = 1;", "    let y = 2;", True),
}


def versions(frame: str, one: str, other: str) -> list[bytes]:
    return [frame.replace("@", new).encode() for new in ("", f"{one}\n", f"{other}\n")]


@pytest.mark.parametrize("name", AT_ONE_POINT)
def test_statements_at_one_point(name: str) -> None:
    path, frame, one, other, is_joined = AT_ONE_POINT[name]
    base, ours, theirs = versions(frame, one, other)
    answer = merge(base, ours, theirs, path)
    assert isinstance(answer, Proven) is is_joined


REFUSED = [name for name, (*_, is_joined) in AT_ONE_POINT.items() if not is_joined]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_offered_to_a_check(name: str) -> None:
    path, frame, one, other, _ = AT_ONE_POINT[name]
    base, ours, theirs = versions(frame, one, other)
    answer = merge(base, ours, theirs, path)
    assert isinstance(answer, Unproven)
    tried = {" ".join(each.source.decode().split()) for each in answer.candidates()}
    orders = ((one, other), (other, one))
    both = {" ".join(frame.replace("@", f"{first}\n{second}\n").split()) for first, second in orders}
    assert both & tried
