"""A member that one side has made for a class and the other writes by hand is not proven to be both."""

import pytest
from tests.unit.merging.test_given_names import merged

from commonhold.merging.verdict import Proven, Unproven

# A file, and what either side puts in: ours at `@`, theirs at `&`. `§` is an `@`.
MADE = {
    "py dataclass order+__lt__": (
        "a.py",
        "@class A:\n    x: int\n\n    def f(self):\n        return 1\n&",
        "§dataclass(order=True)\n",
        "\n    def __lt__(self, other):\n        return True\n",
    ),
    "py total_ordering": (
        "a.py",
        "@class A:\n    x: int\n\n    def f(self):\n        return 1\n&",
        "§dataclass\n",
        "\n    def __eq__(self, other):\n        return True\n",
    ),
    "lombok getter class": (
        "A.java",
        "import lombok.*;\n@class A {\n    int one;\n    int two;\n&}\n",
        "§Getter\n",
        "    int getOne() { return one; }\n",
    ),
    "lombok data": (
        "A.java",
        "import lombok.*;\n@class A {\n    int one;\n    int two;\n&}\n",
        "§Data\n",
        "    public boolean equals(Object o) { return false; }\n",
    ),
    "lombok tostring": (
        "A.java",
        "import lombok.*;\n@class A {\n    int one;\n    int two;\n&}\n",
        "§ToString\n",
        "    public String toString() { return null; }\n",
    ),
    "ruby attr_reader": (
        "a.rb",
        "class A\n  include B\n@\n  def one\n    1\n  end\n&end\n",
        "  attr_reader :zone\n",
        "\n  def zone\n    2\n  end\n",
    ),
    "ruby attr_accessor twice": (
        "a.rb",
        "class A\n  include B\n@\n  def one\n    1\n  end\n&end\n",
        "  attr_accessor :zone\n",
        "\n  def zone=(v)\n    2\n  end\n",
    ),
    "kotlin data copy": (
        "a.kt",
        "@class A(val x: Int) {\n    fun f() = 1\n&}\n",
        "data ",
        "    fun copy(x: Int = 1) = this\n",
    ),
    "ts ctor prop": (
        "a.ts",
        "class C {\n  one = 1;\n@  two = 2;\n  constructor(private a: string&) {}\n}\n",
        "  zone = 6;\n",
        ", private zone: string",
    ),
    "py slots": ("a.py", "class A:\n    __slots__ = ('a',@)\n    def f(self): ...\n&", " 'zone'", "    zone = 1\n"),
    "java record": (
        "A.java",
        "record A(int one, int two@) {\n    static A z() { return null; }\n&}\n",
        ", int zone",
        "    int zone() { return 1; }\n",
    ),
}
FREE = {
    "another method": (
        "a.py",
        "@class A:\n    x: int\n\n    def f(self):\n        return 1\n&",
        "§dataclass\n",
        "\n    def g(self):\n        return 2\n",
    ),
    "another field": (
        "A.java",
        "class A {\n    int one;\n@    int two;\n    int three;\n&}\n",
        "    §Getter int six;\n",
        "    int getSeven() { return 7; }\n",
    ),
    "another class": (
        "a.py",
        "@class A:\n    x: int\n\n\nclass B:\n    x: int\n&",
        "§dataclass\n",
        "\n    def __eq__(self, other):\n        return True\n",
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_one_side_has_made_and_the_other_writes_is_not_proven(name: str) -> None:
    assert isinstance(merged(MADE[name], "zone", "zone"), Unproven)


@pytest.mark.parametrize("name", FREE)
def test_what_is_made_under_another_name_is_proven(name: str) -> None:
    assert isinstance(merged(FREE[name], "zone", "zone"), Proven)
