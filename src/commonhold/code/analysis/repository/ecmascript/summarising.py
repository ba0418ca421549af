"""Summarise the bytes of a file of JavaScript or TypeScript."""

from collections.abc import Callable
from functools import partial
from typing import Final

from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository.ecmascript import definitions, uses
from commonhold.code.analysis.repository.ecmascript.expressions import LINKS
from commonhold.code.analysis.repository.ecmascript.modules import finish
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.analysis.repository.syntax import Grammar, summarised
from commonhold.code.regions.language import Language
from commonhold.code.regions.languages.web import JAVASCRIPT, TSX, TYPESCRIPT

_VISITS: Final = {**uses.VISITS, **definitions.VISITS}


def _summarised_by(language: Language, *merging: Sort) -> Callable[[bytes], Summary]:
    grammar = Grammar(language, _VISITS, LINKS, merging=frozenset(merging), finish=finish)
    return partial(summarised, grammar=grammar)


summarise_javascript: Final = _summarised_by(JAVASCRIPT)
summarise_typescript: Final = _summarised_by(TYPESCRIPT, Sort.FUNCTION, Sort.CLASS)
summarise_tsx: Final = _summarised_by(TSX, Sort.FUNCTION, Sort.CLASS)
