"""Summarise the bytes of a file of JavaScript or TypeScript."""

from collections.abc import Callable
from functools import partial
from typing import Final

from commonhold.linking.ecmascript import definitions, uses
from commonhold.linking.ecmascript.expressions import LINKS
from commonhold.linking.ecmascript.modules import finish
from commonhold.linking.summary import Summary
from commonhold.linking.syntax import Grammar, summarised
from commonhold.regions.language import Language
from commonhold.regions.languages.web import JAVASCRIPT, TSX, TYPESCRIPT
from commonhold.semantics.module import Sort

_VISITS: Final = {**uses.VISITS, **definitions.VISITS}


def _summarised_by(language: Language, *merging: Sort) -> Callable[[bytes], Summary]:
    grammar = Grammar(language, _VISITS, LINKS, merging=frozenset(merging), finish=finish)
    return partial(summarised, grammar=grammar)


summarise_javascript: Final = _summarised_by(JAVASCRIPT)
summarise_typescript: Final = _summarised_by(TYPESCRIPT, Sort.FUNCTION, Sort.CLASS)
summarise_tsx: Final = _summarised_by(TSX, Sort.FUNCTION, Sort.CLASS)
