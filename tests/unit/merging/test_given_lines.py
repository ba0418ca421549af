"""A name that lines of both sides give twice is refused, in files whose grammar is not known."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Unproven

# A file, and the line that either side puts in: ours at `@`, theirs at `&`.
TWICE = {
    "nix key": ("a.nix", "{\n@  one = 1;\n  two = 2;\n&}\n", '  six = "a";\n', '  six = "b";\n'),
    "nix formal": ("a.nix", "{\n@  one,\n  two,\n&}: one\n", "  lib,\n", "  lib,\n"),
    "devicetree": (
        "a.dts",
        "/ {\n\tsoc {\n@\t\tone = <1>;\n\t\ttwo;\n&\t};\n};\n",
        "\t\tsix = <6>;\n",
        "\t\tsix = <7>;\n",
    ),
    "class": ("a.dart", "@class A {}\n\nclass B {}\n&", "class C {\n  int a;\n}\n", "class C {\n  bool a;\n}\n"),
    "module": ("go.mod", "module a\n@\ngo 1.21\n&", "replace b => c v1\n", "replace b => d v2\n"),
    "requirements": ("requirements.txt", "one\n@two\n&", "six==1.0\n", "six==2.0\n"),
    "requirements at one point": ("requirements.txt", "one\n@&two\n", "six==1.0\n", "six[all]>=2.0\n"),
    "attribute": ("a.html", '<p\n@  id="a"\n  lang="b"\n&>\n', '  title="c"\n', '  title="d"\n'),
    "ini": ("a.ini", "[one]\n@a = 1\nb = 2\n&\n[two]\nc = 3\n", "six = 6\n", "six = 7\n"),
}
APART = {
    "two sections": ("a.ini", "[one]\na = 1\n@\n[two]\nb = 2\n&", "six = 6\n", "six = 7\n"),
    "two blocks": (
        "a.nix",
        "{\n  one = {\n@    a = 1;\n  };\n  two = {\n&    b = 2;\n  };\n}\n",
        "    c = 3;\n",
        "    c = 4;\n",
    ),
    "two words": ("go.mod", "module a\n@\ngo 1.21\n&", "replace b => c v1\n", "replace d => c v1\n"),
    "prose": ("a.md", "# A\n\n@One.\n\nTwo.\n&", "Note: six\n\n", "Note: seven\n"),
    "a line of a page": ("a.html", "<p>\n@one\n</p>\n<p>\n&two\n</p>\n", "<br class=a>\n", "<br class=a>\n"),
}


def merged(path: str, text: str, ours: str, theirs: str) -> Proven | Unproven:
    base = text.replace("@", "").replace("&", "")
    sides = text.replace("@", ours).replace("&", ""), text.replace("&", theirs).replace("@", "")
    return merge(base.encode(), sides[0].encode(), sides[1].encode(), path)


@pytest.mark.parametrize("name", TWICE)
def test_a_name_that_both_sides_give_is_refused(name: str) -> None:
    answer = merged(*TWICE[name])
    assert isinstance(answer, Unproven)
    assert {spot.reason for spot in answer.spots} <= {Reason.SAME_NAME, Reason.ORDER_MATTERS}


@pytest.mark.parametrize("name", APART)
def test_names_of_different_blocks_are_joined(name: str) -> None:
    assert isinstance(merged(*APART[name]), Proven)
