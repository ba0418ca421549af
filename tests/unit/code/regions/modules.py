"""Hypothesis strategies: Python modules, and bytes that are nearly Python."""

from hypothesis import strategies as st

NAMES = st.sampled_from(["f", "g", "C", "m", "f1", "é"])
SIMPLE = st.sampled_from(
    [
        "x = 1",
        "import a",
        "# note",
        "",
        "",
        '"""doc"""',
        's = """\n# text\n"""',
        's = """\ndef no(): ...\n# text"""',
        "y = [\n  1,\n]",
        "call(1)  # why",
        "@decorate\ndef k(): ...",
        "z = 1 + \\\n  2",
    ]
)
FRAGMENTS = (
    "def f():\n",
    "class C:\n",
    "    ",
    "\t",
    "  ",
    "\n",
    "\r\n",
    "\r",
    "\x0c",
    "# c\n",
    "#",
    "@d\n",
    '"""',
    "'",
    "(",
    ")",
    "[",
    "{",
    ":",
    "pass\n",
    "return x\n",
    "if x:\n",
    "else:\n",
    "try:\n",
    "except:\n",
    "match x:\n",
    "case 1:\n",
    "async ",
    "lambda: ",
    "\\\n",
    "x = 1\n",
    "def ",
    "class ",
    "é",
    "\ufeff",
    "\0",
    "f'{",
    "}'",
    "with a:\n",
    "for x in y:\n",
    "while x:\n",
    ";",
    "#!p\n",
    "# coding: latin-1\n",
    "# coding: shift_jis\n",
    "type X = int\n",
    "print 1\n",
    "f",
    "C",
    "    def m(self):\n",
    "        pass\n",
)


def _indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


@st.composite
def _function(draw: st.DrawFn) -> str:
    head = draw(st.sampled_from(["", "# about\n", "@decorate\n", "# about\n@a\n# between\n@b\n"]))
    body = draw(st.lists(SIMPLE, max_size=3))
    tail = draw(st.sampled_from(["", "    # tail\n", "\n    # tail\n", "# outside\n", "\n"]))
    word = draw(st.sampled_from(["def", "async def"]))
    inner = "".join(f"{line}\n" for line in [*body, "pass"])
    return f"{head}{word} {draw(NAMES)}():\n{_indented(inner)}{tail}"


def _class(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def made(head: str, name: str, body: list[str]) -> str:
        return f"{head}class {name}:\n{_indented(''.join(body))}    x = 1\n"

    return st.builds(made, st.sampled_from(["", "# about\n", "@decorate\n"]), NAMES, st.lists(parts, max_size=4))


def _wrapped(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def made(words: tuple[str, ...], body: str, other: str) -> str:
        first = f"{words[0]}:\n{_indented(body)}    pass\n"
        return first + (f"{words[1]}:\n    pass\n{_indented(other)}" if len(words) > 1 else "")

    wrappers = [("if x",), ("if x", "else"), ("try", "finally"), ("with a as b",), ("for x in y", "else"), ("while x",)]
    return st.builds(made, st.sampled_from(wrappers), parts, parts)


_PARTS = st.recursive(
    SIMPLE.map(lambda line: f"{line}\n") | _function(), lambda parts: _class(parts) | _wrapped(parts), max_leaves=6
)
BODIES = st.lists(_PARTS, max_size=6).map("".join)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def _module(draw: st.DrawFn) -> bytes:
    head = draw(st.sampled_from(["", "", "#!/usr/bin/python\n", "# coding: latin-1\n", "# coding: utf-8\n", "\ufeff"]))
    text = head + draw(BODIES)
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return text.replace("\n", draw(LINE_ENDS)).encode("latin-1" if "latin" in head else "utf-8")


MODULES = _module()
NEARLY = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(lambda parts: "".join(parts).encode())
ANY_BYTES = st.binary(max_size=200) | NEARLY | MODULES
