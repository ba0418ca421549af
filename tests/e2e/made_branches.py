"""Small projects, and pairs of branches that change them by typed edits: contracts on one side, uses on the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

Files = Mapping[str, str]


@dataclass(frozen=True)
class Edit:
    """One change of a file: every `old` gives way to `new`."""

    path: str
    old: str
    new: str

    def apply(self, files: Files) -> Files:
        return {**files, self.path: files[self.path].replace(self.old, self.new)}

    def applies(self, files: Files) -> bool:
        return self.old in files[self.path]


@dataclass(frozen=True)
class Project:
    """A base, and the edits that there are of it: of what is offered, and new uses of that."""

    base: Files
    offers: Sequence[Edit]
    uses: Sequence[Edit]


_PY = {
    "m.py": """LIMIT = 3
OTHER = 4


def price(a, b=1):
    x = a
    y = b
    return x, y


def name(a):
    return a


class Shelf:
    size = 2

    def __init__(self, a):
        self.a = a

    def put(self, a):
        return a

    def get(self, a=1):
        return a


class Book(Shelf):
    def put(self, a):
        return a + 1
""",
    "u.py": """import m
from m import name


def run():
    return m.price(1)


def one():
    return 1


LAST = 1
""",
    "v.py": """import m


def walk():
    return m.Book(1).put(2)


def two():
    return 2


LAST = 2
""",
}
_PYTHON = Project(
    _PY,
    (
        Edit("m.py", "price(a, b=1)", "price(a, b=1, c=3)"),
        Edit("m.py", "price(a, b=1)", "price(a, b=1, d=2)"),
        Edit("m.py", "price(a, b=1)", "price(a, b=2)"),
        Edit("m.py", "price(a, b=1)", "price(a, *, b=1)"),
        Edit("m.py", "price(a, b=1)", "price(a, e, b=1)"),
        Edit("m.py", "def price", "async def price"),
        Edit("m.py", "def name", "def title"),
        Edit("m.py", "def name(a):\n    return a\n\n\n", ""),
        Edit("m.py", "LIMIT = 3\n", ""),
        Edit("m.py", "    size = 2\n", "    width = 2\n"),
        Edit("m.py", "__init__(self, a)", "__init__(self, a, b)"),
        Edit("m.py", "get(self, a=1)", "get(self, a=1, b=2)"),
        Edit("m.py", "get(self, a=1)", "take(self, a=1)"),
        Edit("m.py", "put(self, a)", "put(self, a, b)"),
        Edit("m.py", "class Book(Shelf)", "class Book"),
        Edit("m.py", "class Book(Shelf):\n", "class Book(Shelf):\n    def get(self):\n        return 3\n\n"),
    ),
    (
        Edit("u.py", "    return 1\n", "    return m.price(1, 2, 5)\n"),
        Edit("u.py", "    return 1\n", "    return m.price(4)\n"),
        Edit("v.py", "    return 2\n", "    return m.price(1, b=4)\n"),
        Edit("u.py", "    return 1\n", "    return name(3)\n"),
        Edit("v.py", "    return 2\n", "    return m.name(3)\n"),
        Edit("v.py", "    return 2\n", "    return m.LIMIT + m.Shelf.size\n"),
        Edit("u.py", "    return 1\n", "    return m.Shelf(1).get(2)\n"),
        Edit("v.py", "    return 2\n", "    return m.Book(1).get(2)\n"),
        Edit("u.py", "LAST = 1\n", "class Own(m.Shelf):\n    def put(self, a):\n        return 3\n\n\nLAST = Own(1)\n"),
        Edit("m.py", "    return a\n\n\nclass", "    return price(a, 1, 7)\n\n\nclass"),
        Edit("m.py", "        return a + 1\n", "        return a + LIMIT\n"),
    ),
)
_TS = {
    "m.ts": """export const LIMIT = 3;
export const OTHER = 4;

export function price(a: number, b = 1) {
  return a + b;
}

export function name(a: number) {
  return a;
}

export class Shelf {
  constructor(public a: number) {}

  put(a: number) {
    return a;
  }

  get(a = 1) {
    return a;
  }
}
""",
    "u.ts": """import { price, name } from './m';
import * as m from './m';

export function run() {
  return price(1);
}

export function one() {
  return 1;
}
""",
    "v.ts": """import { Shelf } from './m';

export function walk() {
  return new Shelf(1).put(2);
}

export function two() {
  return 2;
}
""",
}
_TYPESCRIPT = Project(
    _TS,
    (
        Edit("m.ts", "price(a: number, b = 1)", "price(a: number, b = 1, c = 3)"),
        Edit("m.ts", "price(a: number, b = 1)", "price(a: number, b = 1, d = 2)"),
        Edit("m.ts", "price(a: number, b = 1)", "price(a: number, e: number, b = 1)"),
        Edit("m.ts", "price(a: number, b = 1)", "price(a: number)"),
        Edit("m.ts", "function name", "function title"),
        Edit("m.ts", "export const LIMIT = 3;\n", ""),
        Edit("m.ts", "export const LIMIT", "const LIMIT"),
        Edit("m.ts", "public a: number", "public a: number, b: number"),
        Edit("m.ts", "put(a: number)", "put(a: number, b: number)"),
        Edit("m.ts", "  get(a = 1)", "  take(a = 1)"),
    ),
    (
        Edit("u.ts", "  return 1;\n", "  return price(1, 2, 5);\n"),
        Edit("u.ts", "  return 1;\n", "  return price(4, 2);\n"),
        Edit("u.ts", "  return 1;\n", "  return name(3);\n"),
        Edit("u.ts", "  return 1;\n", "  return m.LIMIT;\n"),
        Edit("u.ts", "  return 1;\n", "  return m.name(3);\n"),
        Edit("v.ts", "  return 2;\n", "  return new Shelf(2).put(2);\n"),
        Edit("v.ts", "  return 2;\n", "  return new Shelf(2).get(2);\n"),
        Edit("m.ts", "  return a;\n}\n\nexport class", "  return price(a, 1);\n}\n\nexport class"),
    ),
)
_GO = Project(
    {
        "m.go": """package shop

const Limit = 3

const Other = 4

type Shelf struct {
\tSize int
}

func Price(a int) int {
\treturn a
}

func (s Shelf) Put(a int) int {
\treturn a
}
""",
        "u.go": """package shop

func Run() int {
\treturn Price(1)
}

func One() int {
\treturn 1
}
""",
        "v.go": """package shop

func Two(s Shelf) int {
\treturn 2
}
""",
    },
    (
        Edit("m.go", "Price(a int)", "Price(a int, b int)"),
        Edit("m.go", "Price(a int)", "Price(a int, b ...int)"),
        Edit("m.go", "func Price", "func Cost"),
        Edit("m.go", "const Limit = 3\n\n", ""),
        Edit("m.go", "Put(a int)", "Put(a int, b int)"),
        Edit("m.go", "\tSize int\n", "\tWidth int\n"),
    ),
    (
        Edit("u.go", "\treturn 1\n", "\treturn Price(4)\n"),
        Edit("u.go", "\treturn 1\n", "\treturn Limit\n"),
        Edit("v.go", "\treturn 2\n", "\treturn s.Put(2)\n"),
        Edit("v.go", "\treturn 2\n", "\treturn s.Size + Price(2)\n"),
    ),
)
_JAVA = Project(
    {
        "shop/Shelf.java": """package shop;

public class Shelf {
    static final int LIMIT = 3;
    static final int OTHER = 4;

    public Shelf(int a) {
    }

    public static int price(int a) {
        return a;
    }

    public int put(int a) {
        return a;
    }
}
""",
        "shop/User.java": """package shop;

public class User {
    int run() {
        return Shelf.price(1);
    }

    int one() {
        return 1;
    }

    int two(Shelf s) {
        return 2;
    }
}
""",
    },
    (
        Edit("shop/Shelf.java", "price(int a)", "price(int a, int b)"),
        Edit("shop/Shelf.java", "price(int a)", "cost(int a)"),
        Edit("shop/Shelf.java", "    static final int LIMIT = 3;\n", ""),
        Edit("shop/Shelf.java", "put(int a)", "put(int a, int b)"),
        Edit("shop/Shelf.java", "public Shelf(int a)", "public Shelf(int a, int b)"),
    ),
    (
        Edit("shop/User.java", "        return 1;\n", "        return Shelf.price(4);\n"),
        Edit("shop/User.java", "        return 1;\n", "        return Shelf.LIMIT;\n"),
        Edit("shop/User.java", "        return 2;\n", "        return s.put(2);\n"),
        Edit("shop/User.java", "        return 2;\n", "        return new Shelf(1).put(2);\n"),
    ),
)
_RUST = Project(
    {
        "src/lib.rs": "mod shop;\nmod user;\n",
        "src/shop.rs": """pub const LIMIT: u8 = 3;
pub const OTHER: u8 = 4;

pub struct Shelf {
    pub size: u8,
}

pub fn price(a: u8) -> u8 {
    a
}

impl Shelf {
    pub fn put(&self, a: u8) -> u8 {
        a
    }
}
""",
        "src/user.rs": """use crate::shop;

pub fn run() -> u8 {
    shop::price(1)
}

pub fn one() -> u8 {
    1
}

pub fn two(s: shop::Shelf) -> u8 {
    2
}
""",
    },
    (
        Edit("src/shop.rs", "price(a: u8)", "price(a: u8, b: u8)"),
        Edit("src/shop.rs", "fn price", "fn cost"),
        Edit("src/shop.rs", "pub const LIMIT: u8 = 3;\n", ""),
        Edit("src/shop.rs", "&self, a: u8", "&self, a: u8, b: u8"),
        Edit("src/shop.rs", "    pub size: u8,\n", "    pub size: u8,\n    pub width: u8,\n"),
    ),
    (
        Edit("src/user.rs", "    1\n", "    shop::price(4)\n"),
        Edit("src/user.rs", "    1\n", "    shop::LIMIT\n"),
        Edit("src/user.rs", "    2\n", "    s.put(2)\n"),
        Edit("src/user.rs", "    2\n", "    shop::Shelf { size: 2 }.size\n"),
    ),
)
PROJECTS: Final[Mapping[str, Project]] = {
    "python": _PYTHON,
    "typescript": _TYPESCRIPT,
    "go": _GO,
    "java": _JAVA,
    "rust": _RUST,
}


def made_pair(project: Project, seed: int) -> tuple[Files, Files]:
    """Return two sides of a project: one that changes what it offers, and one that changes or uses that."""
    random = Random(seed)
    ours = _edited(project.base, random.sample(project.offers, random.choice((1, 1, 2))))
    kinds = (*project.uses, *project.offers) if random.random() < 0.5 else project.uses
    theirs = _edited(project.base, random.sample(kinds, random.choice((1, 2, 3))))
    if random.random() < 0.3:
        ours = _edited(ours, random.sample(project.uses, 1))
    return (ours, theirs) if random.random() < 0.5 else (theirs, ours)


def _edited(files: Files, edits: Sequence[Edit]) -> Files:
    for edit in edits:
        files = edit.apply(files) if edit.applies(files) else files
    return files
