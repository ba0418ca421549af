"""How likely a command writes files that it does not name."""

import pytest

from commonhold.shell.reach import Reach, needs_others_rights, only_reads, reach_of

LINES = {
    Reach.NOTHING: [
        *("ls -la | grep x", "cat a > b", "echo x >> a 2>/dev/null", "git status && git diff | head", "find . -name x"),
        *("sed -n 1,5p a", "sed -i s/a/b/ a.py", "rm -f a b", "ruff format src", "npm run dev", "npm start", "vite"),
        *("python3 -m http.server", "tsc --watch", "sleep 5; wc -l < a", "git log 2>&1 | tail", "commonhold leases"),
        *("ruff check src", "mypy src; ls", "python3 -m mypy src", "fd -e py", "watch -n 1 ls", "xxd a | uniq -f 1"),
        *("trap 'rm -f a' EXIT; ls", "trap - EXIT", "trap '' INT; trap", "trap -- 'ls' EXIT", "sed 's/awb/w/; 1q' a"),
    ],
    Reach.SELDOM: [
        *("pytest -q", "python -m pytest tests", "cd x && npm test", "make test", "cargo build", "go test ./..."),
        *("npm run build:prod", "make -j4 check"),
    ],
    Reach.ANYTHING: [
        *("make fmt", "python3 x.py", "python3 -c pass", "./run", "npm install", "echo x > $f", "cat a | tee $f"),
        *("find . -name x -delete", "find . | xargs sed -i s/a/b/", "for f in *; do sed -i s/a/b/ $f; done", "$cmd a"),
        *("ruff check --fix", "ruff format", "pytest --snapshot-update", "git checkout x", "bash x.sh", "node -e 1"),
        *("fd -e py -x sed -i s/a/b/", "fd --exec-batch rm", "watch make", "trap 'make fmt' EXIT; ls"),
        *("sed -n 's/a/b/w c' a", "sed -i '/a/w c' d", "sed -e 'w c' a"),
    ],
}


@pytest.mark.parametrize(("reach", "line"), [(reach, line) for reach, lines in LINES.items() for line in lines])
def test_it_is_told_from_the_programs(reach: Reach, line: str) -> None:
    assert reach_of(("bash", "-c", line)) is reach


@pytest.mark.parametrize(
    "line", ["ls -la | grep x", "cat < a", "git status && git diff | head", "mypy src; ls", "fd -e py", "watch ls"]
)
def test_a_command_that_only_reads_is_known(line: str) -> None:
    assert only_reads(("bash", "-c", line))


@pytest.mark.parametrize(
    "line",
    [
        *("cp a b", "echo x > a", "sed -i s/a/b/ a.py", "uniq a b", "xxd -r a b", "tree -o a", "rm a; ls", "make test"),
        *("npm run dev", "vite", "tsc --watch", "fd -x touch", "sed -n 'w c' a", "$cmd", "trap 'rm a' EXIT; ls"),
    ],
)
def test_a_command_that_may_write_is_not_taken_for_one(line: str) -> None:
    assert not only_reads(("bash", "-c", line))


def test_a_command_without_a_shell_is_one_as_well() -> None:
    assert (reach_of(("ls", "a>b")), reach_of(("make",)), reach_of(())) == (
        Reach.ANYTHING,
        Reach.ANYTHING,
        Reach.ANYTHING,
    )


@pytest.mark.parametrize(
    "line", ["sudo make", "cd a; git push origin", "FOO=1 ssh host ls", "git -C x fetch", "podman run x", "(su -c ls)"]
)
def test_programs_that_need_rights_of_others_are_known(line: str) -> None:
    assert needs_others_rights(("bash", "-c", line))


@pytest.mark.parametrize("line", ["make", "git commit -m 'no push'", "grep -r sudoers .", "echo results; git status"])
def test_most_need_none(line: str) -> None:
    assert needs_others_rights(("bash", "-c", line)) is ("push" in line)
