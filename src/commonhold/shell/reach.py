"""How likely a shell command writes files that it does not name, by a table of the programs in it. Pure.

It decides no permission: only the author of a change found after several commands, and which notices are worth showing.
"""

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final

from commonhold.shell.commands import ShellCommand, commands_in
from commonhold.shell.writes import writes_what_it_names, written_by


class Reach(IntEnum):
    """The files that a command may write: NOTHING unnamed, SELDOM a tracked file, or ANYTHING.

    NAMED is for a path that the command itself names.
    """

    NOTHING = 0
    SELDOM = 1
    ANYTHING = 2
    NAMED = 3


_HARMLESS: Final = re.compile(r"\d?>\s*&\s*[\d-]|&?\d?>{1,2}\s*/dev/(?:null|stdout|stderr)\b|[-=]>")
_REDIRECTION: Final = re.compile(r">+")
_READERS: Final = frozenset(
    {
        *(":", "[", "[[", "test", "true", "false", "echo", "printf", "pwd", "cd", "ls", "cat", "tac", "head", "tail"),
        *("less", "more", "wc", "grep", "egrep", "fgrep", "rg", "ag", "ack", "diff", "cmp", "comm", "uniq"),
        *("cut", "tr", "nl", "paste", "column", "fold", "rev", "seq", "stat", "file", "du", "df", "tree", "realpath"),
        *("readlink", "basename", "dirname", "which", "type", "whereis", "id", "whoami", "groups", "hostname", "uname"),
        *("date", "env", "printenv", "ps", "pgrep", "top", "free", "uptime", "sleep", "wait", "jobs", "kill", "exit"),
        *("export", "set", "unset", "shopt", "alias", "md5sum", "sha1sum", "sha256sum", "cksum", "xxd"),
        *("od", "hexdump", "strings", "jq", "base64", "ping", "dig", "nslookup", "ss", "netstat", "lsof"),
        *("mypy", "pyright", "pylint", "flake8", "shellcheck", "hadolint", "yamllint", "ty"),
        *("man", "help", "read", "return", "break", "continue", "local", "declare", "trap", "commonhold"),
    }
)
_CHECKERS: Final = frozenset(
    {
        *("pytest", "py.test", "unittest", "tox", "nox", "jest", "vitest", "mocha", "ava", "phpunit", "rspec", "ctest"),
        *("eslint", "tsc", "gcc", "g++", "cc", "clang", "clang++", "rustc", "javac", "ld", "ninja"),
        *("gradle", "gradlew", "mvn", "bazel"),
    }
)
_SEDS: Final = ("sed", "gsed")
_RUNNERS: Final = ("npm", "pnpm", "yarn", "bun", "make", "just", "task", "cargo", "go", "deno", "rake")
_SERVERS: Final = frozenset(
    {
        *("vite", "uvicorn", "gunicorn", "hypercorn", "nodemon", "http-server", "serve", "redis-server", "postgres"),
        *("webpack-dev-server", "live-server", "ngrok", "caddy", "nginx"),
    }
)
_GIT_READS: Final = frozenset(
    {
        *("status", "log", "diff", "show", "blame", "grep", "ls-files", "ls-tree", "rev-parse", "rev-list", "cat-file"),
        *(
            "describe",
            "shortlog",
            "reflog",
            "remote",
            "config",
            "fetch",
            "add",
            "branch",
            "tag",
            "check-ignore",
            "push",
        ),
        *("name-rev", "merge-base", "for-each-ref", "ls-remote", "show-ref", "var", "version", "help", "whatchanged"),
    }
)
_SERVING: Final = re.compile(r"(?:.*:)?(?:dev|start|serve|watch|preview|storybook)(?::.*)?")
_CHECKING: Final = re.compile(
    r"(?:.*[:_-])?(?:tests?|t|check|lint|build|compile|typecheck|type-check|types|clippy|vet|bench|coverage|run-tests)"
    r"(?:[:_-].*)?"
)
_FIND_WRITES: Final = re.compile(r"-(?:delete|exec\w*|ok\w*|fprint\w*|fls)")
_FD_RUNS: Final = re.compile(r"-\w*[xX]|--exec(?:-batch)?(?:=.*)?")
_SED_WRITES: Final = re.compile(r"(?:^|[\s;{}/|,#!\dMmIigpe$])[wW]\s+\S")
"""A script that may write to another file: `s/a/b/w file`, `/a/w file`."""
_WATCHING: Final = frozenset({"--watch", "--watchAll", "watch"})
_OF_OTHERS: Final = re.compile(
    r"(?:^|[\s;&|(/`])(?:sudo|su|doas|pkexec|runuser|newgrp|ssh|scp|sftp|rsync|gh|podman|buildah|crontab|at|mount|umount|"
    r"fusermount3?|ping|bazel|flatpak)(?:\s|;|$)|\bgit\b[^;&|]*\s(?:push|pull|fetch|clone|ls-remote|submodule|remote)\b"
)
_WRITING_FLAGS: Final = frozenset({"--fix", "--write", "--snapshot-update", "-u", "--updateSnapshot", "--accept"})


def reach_of(argv: Sequence[str]) -> Reach:
    """Return how likely a command writes files beyond those it names."""
    return _reach_of(argv, commands_in(argv))


def _reach_of(argv: Sequence[str], commands: Sequence[ShellCommand]) -> Reach:
    # A redirection to a file that only the shell knows is in none of the commands.
    redirections = len(_REDIRECTION.findall(_HARMLESS.sub("", argv[-1]))) if len(argv) > 1 else 0
    if redirections > sum(len(command.targets) for command in commands):
        return Reach.ANYTHING
    return max(map(_reach, commands), default=Reach.ANYTHING)


def only_reads(argv: Sequence[str]) -> bool:
    """Return whether a command writes no file at all, as far as its programs and words show."""
    commands = commands_in(argv)
    if _reach_of(argv, commands) is not Reach.NOTHING:
        return False
    return not any(
        each.name in _SERVERS or each.name in _RUNNERS or each.targets or any(written_by(each)) or _watches(each)
        for each in commands
    )


def _watches(command: ShellCommand) -> bool:
    return any(word and word.text in _WATCHING for word in command.words)


def _reach(command: ShellCommand) -> Reach:
    if not command.name:
        return Reach.NOTHING if command.targets and not command.words else Reach.ANYTHING
    texts = [word.text if word else "" for word in command.words]
    if _watches(command) or command.name in _SERVERS:
        return Reach.NOTHING
    is_known = None not in command.words and not (command.name in _SEDS and any(map(_SED_WRITES.search, texts)))
    if is_known and writes_what_it_names(command):
        return Reach.NOTHING
    return _of_program(command.name, texts)


def _of_program(name: str, texts: Sequence[str]) -> Reach:
    if name.startswith("python"):
        return _of_python(texts)
    if name in _RULES:
        return _RULES[name](texts)
    if name in _READERS:
        return Reach.NOTHING
    return Reach.SELDOM if name in _CHECKERS and not _WRITING_FLAGS.intersection(texts) else Reach.ANYTHING


def _of_python(texts: Sequence[str]) -> Reach:
    """Return the reach of Python: a module counts as the program of that name; a script may do anything."""
    match texts:
        case ["-m", "http.server", *_]:
            return Reach.NOTHING
        case ["-m", module, *rest]:
            return _of_program(module.partition(".")[0], rest)
        case ["-V" | "--version", *_]:
            return Reach.NOTHING
        case _:
            return Reach.ANYTHING


def _of_git(texts: Sequence[str]) -> Reach:
    return Reach.NOTHING if _first(texts) in _GIT_READS else Reach.ANYTHING


def _of_find(texts: Sequence[str]) -> Reach:
    return Reach.ANYTHING if any(map(_FIND_WRITES.match, texts)) else Reach.NOTHING


def _of_fd(texts: Sequence[str]) -> Reach:
    return Reach.ANYTHING if any(map(_FD_RUNS.fullmatch, texts)) else Reach.NOTHING


def _of_filter(texts: Sequence[str]) -> Reach:
    """Return the reach of `sed` and `sort`, which print unless an option makes them write."""
    writes = any(text.startswith(("-i", "--in-place", "-o", "--output")) or _SED_WRITES.search(text) for text in texts)
    return Reach.ANYTHING if writes else Reach.NOTHING


def _of_ruff(texts: Sequence[str]) -> Reach:
    writes = _first(texts) == "format" or _WRITING_FLAGS.intersection(texts)
    return Reach.ANYTHING if writes else Reach.NOTHING


def _of_runner(texts: Sequence[str]) -> Reach:
    """Return the reach of a task runner, judged by the name of its task."""
    verbs = (text for text in texts if text and not text.startswith("-"))
    task = next((each for each in verbs if each not in {"run", "run-script", "exec"}), "")
    if _SERVING.fullmatch(task):
        return Reach.NOTHING
    return Reach.SELDOM if _CHECKING.fullmatch(task) else Reach.ANYTHING


def _first(texts: Sequence[str]) -> str:
    return next((text for text in texts if text and not text.startswith("-")), "")


_RULES: Final[dict[str, Callable[[Sequence[str]], Reach]]] = {
    "git": _of_git,
    "ruff": _of_ruff,
    **dict.fromkeys(("find", "gfind"), _of_find),
    **dict.fromkeys(("fd", "fdfind"), _of_fd),
    **dict.fromkeys((*_SEDS, "sort"), _of_filter),
    **dict.fromkeys(_RUNNERS, _of_runner),
}


def needs_others_rights(argv: Sequence[str]) -> bool:
    """Whether a command seems to run a program that acts as another user, or checks the owner of others' files."""
    return any(_OF_OTHERS.search(word) for word in argv)
