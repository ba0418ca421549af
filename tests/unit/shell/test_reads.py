"""What a shell command shows of files."""

import pytest

from commonhold.shell.reads import shown_by

LINES = [
    ("cat a.py", ["a.py"]),
    ("cat a.py src/b.py | head -20", ["a.py", "src/b.py"]),
    ("sed -n '1,20p' a.py", ["1,20p", "a.py"]),
    ("cd src && nl -ba b.py", ["src/b.py"]),
    ("head -n 40 /repo/a.py", ["40", "/repo/a.py"]),
    ("sed -i s/a/b/ a.py", []),
    ("cat a.py > b.py", []),
    ("cat a.py 2>/dev/null", ["a.py"]),
    ("cat *.py $HOME/x", []),
    ("grep -n x a.py", []),
    ("cat 'a b.py'; less c.py", ["a b.py", "c.py"]),
]


@pytest.mark.parametrize(("line", "paths"), LINES)
def test_what_a_line_shows(line: str, paths: list[str]) -> None:
    assert list(shown_by(["bash", "-c", line])) == paths
