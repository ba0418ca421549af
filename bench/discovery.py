"""Finding the regions of the standard library, in MB/s, and what of that is tree-sitter's own parsing."""

import sysconfig
from pathlib import Path

import tree_sitter
import tree_sitter_python

from bench.reporting import Figure, paired_ratio, report, seconds
from commonhold import discover

ROUNDS = 3


def main() -> None:
    """Measure over every module at the top of the standard library."""
    folder = Path(sysconfig.get_path("stdlib"))
    sources = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.py"))]
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))

    def find() -> None:
        for name, source in sources:
            discover(source, name)

    def parse() -> None:
        for _, source in sources:
            parser.parse(source)

    seconds(find)
    ours, theirs, ratio = paired_ratio(find, parse, ROUNDS)
    megabytes = sum(len(source) for _, source in sources) / 1e6
    report(
        "discovery",
        [
            Figure("files", len(sources), "files"),
            Figure("size", megabytes, "MB"),
            Figure("discovery", megabytes / ours, "MB/s"),
            Figure("tree-sitter alone", megabytes / theirs, "MB/s"),
            Figure("discovery against parsing", ratio, "ratio"),
        ],
    )


if __name__ == "__main__":
    main()
