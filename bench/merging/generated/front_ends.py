"""Judges that are programs of their own: compilers and interpreters that this machine may have."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from bench.merging.generated.judges import JSON, TOML, YAML, Complaints, Judge, Typed

PROGRAMS: Final = Path(__file__).parent / "front_ends"
_SECONDS: Final = 120
_RUSTC: Final = "rustc"
_IN_A_CRATE: Final = 24  # the time that rustc takes for its advice grows with the square


@dataclass
class Conversation:
    """A program that answers each line that it is given with a line."""

    command: Sequence[str | Path]

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603

    def ask(self, line: str) -> str:
        """The answer. Raises EOFError where the program has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise EOFError(f"{self.command[0]} has ended")
        return answer

    def close(self) -> None:
        """End the program, if it was begun."""
        if "_process" in self.__dict__:
            with self._process as process:
                process.kill()


@dataclass
class Asked:
    """A judge that is told the texts as JSON, and answers a list of sentences for each."""

    conversation: Conversation
    suffix: str = ""

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What the program says."""
        asked = {
            "folder": str(place.parent),
            "name": place.name,
            "suffix": self.suffix,
            "texts": [text.decode() for text in texts],
        }
        return [Counter(each) for each in json.loads(self.conversation.ask(json.dumps(asked)))]

    def close(self) -> None:
        """End the program."""
        self.conversation.close()


@dataclass
class Javac:
    """javac, in one virtual machine for all texts. They stand in `folder` one after the other."""

    conversation: Conversation
    folder: Path

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What javac says. A file of the JDK's own sources is compiled as a part of its module."""
        module = next((part for part in place.parts if part.startswith("java.")), "-")
        inside = place.parts[place.parts.index(module) + 1 :] if module != "-" else (place.name,)
        with tempfile.TemporaryDirectory(prefix="alone-", dir=self.folder) as name:
            file = Path(name, *inside)
            file.parent.mkdir(parents=True, exist_ok=True)
            return [self._complaints(file, module, Path(name), text) for text in texts]

    def _complaints(self, file: Path, module: str, folder: Path, text: bytes) -> Complaints:
        file.write_bytes(text)
        answer = self.conversation.ask(f"{file}\t{module}\t{folder}").split()
        return Counter(base64.b64decode(each).decode() for each in answer)

    def close(self) -> None:
        """End the virtual machine."""
        self.conversation.close()


Call = Callable[[Path, Path], Sequence[str | Path]]


@dataclass
class Called:
    """A judge that is called for each text. `command` is given a file with the text, and where it is from."""

    command: Call
    said: re.Pattern[str]

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What each call says."""
        return [self._complaints(place, text) for text in texts]

    def _complaints(self, place: Path, text: bytes) -> Complaints:
        with tempfile.TemporaryDirectory(prefix="judge-") as name:
            file = Path(name, place.name)
            file.write_bytes(text)
            told = subprocess.run(  # noqa: S603 - a compiler, with paths that were made here
                self.command(file, place), cwd=name, capture_output=True, check=False, timeout=_SECONDS
            )
        lines = (told.stdout + told.stderr).decode(errors="replace").replace(name, "").splitlines()
        found = Counter(re.sub(r"\d+", "N", said[1]) for line in lines if (said := self.said.search(line)))
        return found or Counter([f"ends with {told.returncode}"] * bool(told.returncode))


class Rustc:
    """rustc. It starts slowly, so it compiles the texts as modules of one crate.

    One wrong text can hide what is wrong with another: the rest is compiled again until no text is named.
    """

    def complaints(self, _place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What rustc says against each text."""
        return [said for some in _batched(texts, _IN_A_CRATE) for said in self._said(some)]

    def _said(self, texts: Sequence[bytes]) -> list[Complaints]:
        said: dict[int, Complaints] = {}
        while len(said) < len(texts):
            found = _said_by_rustc({number: text for number, text in enumerate(texts) if number not in said})
            if not found:
                break
            said |= found
        return [said.get(number, Complaints()) for number in range(len(texts))]


def _batched(texts: Sequence[bytes], most: int) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(texts), most):
        yield texts[start : start + most]


def _said_by_rustc(texts: Mapping[int, bytes]) -> Mapping[int, Complaints]:
    """What rustc says against texts that are modules of one crate, where it says anything."""
    options = ["--edition", "2021", "--crate-type", "lib", "--emit=metadata", "--cap-lints", "allow"]
    with tempfile.TemporaryDirectory(prefix="judge-rust-") as name:
        for number, text in texts.items():
            Path(name, f"text{number}.rs").write_bytes(text)
        Path(name, "lib.rs").write_text("".join(f"mod text{number};\n" for number in texts), encoding="utf-8")
        told = subprocess.run(  # noqa: S603 - a compiler
            [_RUSTC, *options, "--error-format", "short", "-o", "it.rmeta", "lib.rs"],
            cwd=name,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    found: dict[int, Complaints] = {}
    for line in told.stderr.splitlines():
        if said := _RUST_SAID.match(line):
            sentence = re.sub(r"text\d+::|\d+", "", said[2])
            found.setdefault(int(said[1]), Complaints())[sentence] += 1
    if told.returncode and not found:
        return {number: Complaints([f"ends with {told.returncode}"]) for number in texts}
    return found


def _gcc(file: Path, place: Path) -> Sequence[str | Path]:
    return ["gcc", "-fsyntax-only", "-w", "-x", "c", "-I", place.parent, file]


@dataclass
class GxxCommand:
    """How g++ is called. The headers that a file includes first are compiled once, which is most of the work."""

    folder: Path

    def __call__(self, file: Path, place: Path) -> Sequence[str | Path]:
        """The command for a text; a text without one of those headers is compiled without any of them."""
        headers = _first_includes(place.read_bytes())
        is_whole = {*headers} <= {*_first_includes(file.read_bytes())}
        before: list[str | Path] = ["-include", self._compiled(headers, place.parent)] if headers and is_whole else []
        return ["g++", "-fsyntax-only", "-w", *before, "-x", "c++", "-I", place.parent, file]

    def _compiled(self, headers: Sequence[bytes], beside: Path) -> Path:
        text = b"\n".join((*headers, b"// " + bytes(beside), b""))
        place = self.folder / hashlib.sha256(text).hexdigest()[:16] / "first.h"
        done = place.with_suffix(".h.gch")
        if not done.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)
            made = place.with_suffix(f".{os.getpid()}")
            _ended(["g++", "-w", "-x", "c++-header", "-I", beside, place, "-o", made], place.parent)
            made.replace(done)
        return place


def _first_includes(text: bytes) -> Sequence[bytes]:
    """The lines that include headers, before anything else but comments."""
    found = []
    for line in re.sub(rb"/\*.*?\*/", b"", text, flags=re.DOTALL).splitlines():
        code = line.partition(b"//")[0].strip()
        if re.fullmatch(rb"#include\s*[<\"][\w./+]+[>\"]", code):
            found.append(code)
        elif code:
            break
    return found


def _ended(command: Sequence[str | Path], folder: Path) -> Path:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - a compiler
    return folder


def _go(work: Path) -> Judge:
    folder = work / "judge-go"
    folder.mkdir(exist_ok=True, parents=True)
    _ended(["go", "build", "-o", folder / "judge", PROGRAMS / "judge.go"], folder)
    return Asked(Conversation([folder / "judge"]))


def _java(work: Path) -> Judge:
    folder = work / "judge-java"
    folder.mkdir(exist_ok=True, parents=True)
    _ended(["javac", "-d", folder, PROGRAMS / "Judge.java"], folder)
    return Javac(Conversation(["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", folder, "Judge"]), folder)


def _typescript(suffix: str) -> Callable[[Path], Judge]:
    def made(work: Path) -> Judge:
        return Asked(Conversation(["node", PROGRAMS / "judge.js", typescript(work)]), suffix)

    return made


def typescript(work: Path) -> Path:
    """Where npm put TypeScript's compiler. Raises FileNotFoundError."""
    place = work / "typescript" / "node_modules" / "typescript"
    if not place.exists():
        raise FileNotFoundError(f"npm install --prefix {work / 'typescript'} typescript@5")
    return place


_SAID: Final = re.compile(r"error(?:\[\w+\])?: (.*)")
_RUST_SAID: Final = re.compile(r"(?:.*/)?text(\d+)\.rs:\d+:\d+: error(?:\[\w+\])?: (.*)")
_PHP_SAID: Final = re.compile(r"((?:Parse|Fatal) error: .*?)(?: in \S+)? on line")
_MAKERS: Final[Mapping[str, Callable[[Path], Judge]]] = {
    "python": lambda _: Typed(),
    "javascript": _typescript(".js"),
    "typescript": _typescript(".ts"),
    "go": _go,
    "rust": lambda _: Rustc(),
    "java": _java,
    "c": lambda _: Called(_gcc, _SAID),
    "cpp": lambda work: Called(GxxCommand(work / "judge-cpp"), _SAID),
    "php": lambda _: Called(lambda file, _: ["php", "-n", "-l", file], _PHP_SAID),
    "ruby": lambda _: Asked(Conversation(["ruby", PROGRAMS / "judge.rb"])),
    "json": lambda _: JSON,
    "yaml": lambda _: YAML,
    "toml": lambda _: TOML,
}
TOOLS: Final[Mapping[str, Sequence[str]]] = {
    "javascript": ("node",),
    "typescript": ("node",),
    "go": ("go",),
    "rust": ("rustc",),
    "java": ("javac", "java"),
    "c": ("gcc",),
    "cpp": ("g++",),
    "php": ("php",),
    "ruby": ("ruby",),
}


def judge(language: str, work: Path) -> Judge | str:
    """The judge of a language; what is missing where this machine has none."""
    missing = [tool for tool in TOOLS.get(language, ()) if shutil.which(tool) is None]
    if missing:
        return f"no {' and no '.join(missing)}"
    try:
        return _MAKERS[language](work)
    except FileNotFoundError as error:
        return str(error)


def close(found: Judge) -> None:
    """End what a judge has begun."""
    if isinstance(found, Asked | Javac):
        found.close()
