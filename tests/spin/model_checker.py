"""Runs spin: a model becomes a C program that visits every state that the model can reach."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.services.programs import find_or_install

LONGEST_PATH: Final = 200_000
INCOMPLETE: Final = ("max search depth too small", "search not completed", "out of memory", "aborting", "-dbitstate")
VERIFYING_TAKES_AT_MOST_SECONDS: Final = 250


@dataclass(frozen=True, slots=True)
class Verification:
    """What a search found.

    `broken` is the claim that the first counterexample breaks, or None. `reached` are the situations that the search
    came through. `is_complete` says that every state was visited: only then does no counterexample mean that there is
    none.
    """

    broken: str | None
    reached: frozenset[str]
    is_complete: bool
    output: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model in Promela. Its macros choose its size, or take a part of the protocol away."""

    path: Path

    @property
    def text(self) -> str:
        """The model as it was written."""
        return self.path.read_text(encoding="utf-8")

    @property
    def header(self) -> str:
        """The comment at the head, which tells what the model says and does not say."""
        return self.text.partition("*/")[0]

    @property
    def promises(self) -> frozenset[str]:
        """The names of the assertions."""
        return frozenset(re.findall(r"\bassert\((\w+)\)", self.text))

    @property
    def claims_liveness(self) -> bool:
        """Whether the claim is one of temporal logic, and not only assertions."""
        return re.search(r"^ltl ", self.text, re.MULTILINE) is not None

    @property
    def situations(self) -> frozenset[str]:
        """What the model says that it comes through, wherever it is whole."""
        return frozenset(re.findall(r"(?<!define )\bREACHED\((\w+)\)", self.text))

    @property
    def macros(self) -> frozenset[str]:
        """All macros that may be given to the model."""
        conditions = "\n".join(re.findall(r"^#(?:el)?if.*", self.text, re.MULTILINE))
        return frozenset(re.findall(r"(?:^#ifn?def |\bdefined\()(\w+)", conditions, re.MULTILINE))


def verify(model: Model, folder: Path, macros: tuple[str, ...], *, quickly_built: bool = False) -> Verification:
    """Search the model with these macros, in `folder`. For a small search a build without optimisation is quicker."""
    shutil.copy(model.path, folder)  # the trail of a counterexample is written beside the model
    definitions = [f"-D{macro}" for macro in macros]
    _run([str(find_or_install("spin")), "-a", *definitions, model.path.name], folder)
    kind = ["-DNFAIR=3"] if model.claims_liveness else ["-DSAFETY"]
    level = "-O0" if quickly_built else "-O1"
    # -DNOREDUCE: all agents meet in one store, so nothing can be left out, and fairness would forbid it.
    compiler = str(find_or_install("gcc"))
    _run([compiler, level, "-w", "-DNOREDUCE", "-DVECTORSZ=4096", *kind, "-o", "pan", "pan.c"], folder)
    fairly = ["-a", "-f"] if model.claims_liveness else []
    return _read(_run([str(folder / "pan"), f"-m{LONGEST_PATH}", "-w20", *fairly], folder))


def _run(command: list[str], folder: Path) -> str:
    """Run one step of the way; give what it said."""
    result = subprocess.run(
        command,
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=VERIFYING_TAKES_AT_MOST_SECONDS,
    )
    assert result.returncode == 0, f"{command} failed:\n{result.stdout}"
    return result.stdout


def _read(output: str) -> Verification:
    count = re.search(r"errors: (\d+)$", output, re.MULTILINE)
    assert count, output
    found = re.search(
        r"^pan:\d+: (?:assertion violated (\w+)|(acceptance cycle|invalid end state))", output, re.MULTILINE
    )
    assert (found is None) is (count[1] == "0"), output
    is_complete = "Full statespace search" in output and not any(sign in output.lower() for sign in INCOMPLETE)
    reached = frozenset(re.findall(r"^reached: (\w+)$", output, re.MULTILINE))
    return Verification(found and (found[1] or found[2]), reached, is_complete, output)
