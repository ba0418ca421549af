"""What a line of shell plainly writes, told without running it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.shell.commands import MAX_LENGTH, commands_in, shown
from commonhold.shell.writes import Target, targets_of

PLAIN = {
    "echo x > a.txt": ["a.txt"],
    "echo x >> 'a b.txt'": ["a b.txt"],
    'echo x > "a b.txt" 2>&1': ["a b.txt"],
    "make &> log": ["log"],
    "cmd >| a 2> b": ["a", "b"],
    "cat > f.txt <<'EOF'\nhello > no\nEOF\n": ["f.txt"],
    "cat <<EOF > a && echo b > c\nx\nEOF\n": ["a", "c"],
    "echo x | tee -a one two": ["one", "two"],
    "sed -i s/a/b/ x.py y.py": ["x.py", "y.py"],
    "sed -i.bak -e s/a/b/ x.py": ["x.py"],
    "sed -n -e 1p x.py": [],
    "sed -Ei 's/a/b/' x.py": ["x.py"],
    "perl -pi -e 's/a/b/' x y": ["x", "y"],
    "perl -e 'print 1' x": [],
    "cp a b": ["b", "b/a"],
    "cp a b c/": ["c/a", "c/b"],
    "cp -t d a b": ["d/a", "d/b"],
    "cp a": [],
    "mv old new": ["old", "new", "new/old"],
    "rm -rf -- -x y": ["-x", "y"],
    "uniq -f 1 a b; xxd -r c d; tree -o e": ["b", "d", "e"],
    "watch -n 1 rm a; trap 'rm b' EXIT": ["a", "b"],
    "touch -r ref a": ["a"],
    "mkdir -p a/b && echo > a/b/c": ["a/b", "a/b/c"],
    "cd sub && echo > a; cd .. && touch b": ["sub/a", "sub/../b"],
    "(cd sub; rm a); rm b": ["sub/a", "b"],
    "cd $X && echo > a": [],
    "cd ~ && echo > a": [],
    "for i in a b; do touch $i; done": [],
    "if true; then touch a; fi": ["a"],
    "bash -c 'echo > a'": ["a"],
    "sudo -E env X=1 timeout 5s tee a": ["a"],
    "eval 'echo > a'": ["a"],
    "bash <<'END'\nrm a\nEND\nrm b": ["a", "b"],
    "bash <<END\nrm a $b `c` \\$d\nEND": ["a"],
    "sh -es one <<-END && rm c; rm d\n\trm a\n\tEND": ["a", "c", "d"],
    "bash <<'E' &\nrm a\nE\nwait; rm b": ["a", "b"],
    "cd sub && bash <<'E' > out 2>&1\nrm a\nE": ["sub/a", "sub/out"],
    "{ bash -x; } <<'E'\nrm a\nE": ["a"],
    "cat <<E | bash\nrm a\nE": ["a"],
    "cat <<A <<B - | sudo sh\nrm a\nA\nrm b\nB\nrm c": ["b", "c"],
    "cat <<E\n$(rm a)\nE": ["a"],
    "python3 - <<'E' a\nrm b\nE": [],
    "cat > fix.sh <<'E' && bash ./fix.sh\nrm a\nE": ["fix.sh", "a"],
    "echo 'rm a' > s/f; (cd s && . ./f); sh < s/f": ["s/f", "s/a", "a"],
    "echo 'rm a' > f; sh g; f": ["f"],
    "echo -n 'rm a' | sh; printf '%s\\n' 'rm b' 'rm c' | bash -; printf 'rm d\\nrm e' | sh": list("abcde"),
    "echo 'rm a' > log | sh; cat a | sh; printf 'rm %d' 1 | sh": ["log"],
    "bash <<< 'rm a'": ["a"],
    "sudo -u me -E bash -lc 'rm a'": ["a"],
    'env -u X Y=1 bash -c "rm a $z"': ["a"],
    "timeout -k 1 5 bash -O extglob -ec 'rm a'": ["a"],
    "xargs -I {} -n1 sh -c 'rm a {}' _": ["a", "{}"],
    "find . -name x -exec rm -f a {} +; find b -exec sh -c 'rm c' \\;": ["a", "c"],
    "uv run --with x ruff format a; uv pip install b; npx prettier -w c": ["a", "c"],
    "bash x.sh -c 'rm a'; sh <<< \"$X\"; bash -c": [],
    "rm -f > log a b": ["a", "b", "log"],
    "echo x > /dev/null": [],
    "echo x > $(mktemp)": [],
    "grep a < b": [],
    "patch -p1 < x.patch; patch foo.c x.patch": ["foo.c"],
    "dd if=/dev/zero of=a bs=1": ["a"],
    "curl -o page http://example.org": ["page"],
    "sort -o a a": ["a"],
    "ruff format src; ruff check src; ruff check --fix a.py": ["src", "a.py"],
    "prettier a.ts; prettier --write b.ts": ["b.ts"],
    "npm install left; npm test": ["package.json", "package-lock.json"],
    "python - <<'E'\nopen('x', 'w')\nE": [],
    "echo \\> a": [],
    "echo 'broken > ": [],
}


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_plain_is_told_and_nothing_else(line: str) -> None:
    assert [target.path for target in targets_of(("bash", "-c", line))] == PLAIN[line]


def test_a_command_without_a_shell_is_taken_by_its_words() -> None:
    assert targets_of(("sed", "-i", "s/a/b/", "x y", ">")) == (
        Target("x y", is_replaced=True),
        Target(">", is_replaced=True),
    )


def test_a_pattern_is_told_as_one() -> None:
    assert targets_of(("sh", "-c", "sed -i s/a/b/ src/*.py 'a*b'")) == (
        Target("src/*.py", is_pattern=True, is_replaced=True),
        Target("a*b", is_replaced=True),
    )


def test_what_is_replaced_is_told_apart() -> None:
    assert targets_of(("sh", "-c", "rm -r a; touch a")) == (Target("a", is_replaced=True), Target("a"))


def test_a_shell_in_a_shell_is_looked_into_a_few_times_only() -> None:
    line = "echo > deep"
    for _ in range(8):
        line = f"bash -c {line!r}" if "'" not in line else "bash -c " + '"' + line.replace('"', '\\"') + '"'
    assert commands_in(("bash", "-c", line))


def test_of_scripts_that_run_each_other_so_much_is_read_as_of_a_long_line() -> None:
    line = "cat > a <<'E'\n" + "sh a;" * 2000 + "rm b\nE\n" + "sh a;" * 2000
    assert len(commands_in(("bash", "-c", line))) < 200_000


def test_of_a_very_long_line_nothing_is_told() -> None:
    assert targets_of(("bash", "-c", "echo > a;" * MAX_LENGTH)) == ()


@given(st.text(max_size=200))
def test_any_text_is_read(line: str) -> None:
    assert all(target.path for target in targets_of(("bash", "-c", line)))


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("sed", "-i", "s/2/0/", "app.py"), "sed -i s/2/0/ app.py"),
        (("git", "commit", "-m", "It's done"), """git commit -m 'It'"'"'s done'"""),
        (("bash", "-c", "make fmt && make"), "make fmt && make"),
        (("/bin/sh", "-lc", "make"), "make"),
        (("bash", "-c", "echo $1", "_", "a b"), "bash -c 'echo $1' _ 'a b'"),
        (("bash", "fix.sh"), "bash fix.sh"),
    ],
)
def test_a_command_is_shown_as_a_person_would_type_it(argv: tuple[str, ...], text: str) -> None:
    assert shown(argv) == text
