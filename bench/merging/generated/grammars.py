"""The languages in which merges are generated, by name."""

from collections.abc import Mapping
from typing import Final

from bench.merging.generated.grammar import Grammar
from bench.merging.generated.grammars_data import JSON, TOML, YAML
from bench.merging.generated.grammars_scripting import JAVASCRIPT, PHP, PYTHON, RUBY, TYPESCRIPT
from bench.merging.generated.grammars_systems import CPP, GO, JAVA, RUST, C

GRAMMARS: Final[Mapping[str, Grammar]] = {
    each.name: each for each in (PYTHON, JAVASCRIPT, TYPESCRIPT, GO, RUST, JAVA, C, CPP, PHP, RUBY, JSON, YAML, TOML)
}
