"""From a key, in any form, to the definitions that it stands for, and the files that may use them."""

from dataclasses import dataclass

from commonhold.cli.common_options import Given
from commonhold.cli.index_place import index_of, progress_for
from commonhold.cli.opening import Place, opened
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.reach import Definition
from commonhold.code.analysis.repository.summary import Offer, Summary
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import HEADER, Key, canonical


@dataclass(frozen=True, slots=True)
class Meant:
    """The definitions that a key names, and the library that contains their file."""

    key: str
    library: Library
    path: str
    offers: tuple[Offer, ...]

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions as they are looked for."""
        return tuple((self.path, each.qualname) for each in self.offers)


def meant(given: Given, key: str) -> Meant:
    """Return the definitions that `key` names in the working tree now. Raises InputError as reading a region does."""
    with opened(given) as place:
        found = _located(place, key)
    with index_of(given) as index:
        library = index.library(progress_for(given))
    summary = library.summary(found.file_path)
    if summary is None:
        raise _untied(str(found))
    return Meant(str(found), library, found.file_path, _offers(summary, found.qualname))


def _located(place: Place, key: str) -> Key:
    """The canonical key without ordinals: overloads count as one definition."""
    try:
        (region,) = place.hold.read(place.key(key))
    except InputError as fault:
        choices = {canonical(choice).bare() for choice in fault.fields.get("choices", ())}  # type: ignore[attr-defined]
        if fault.code is not Code.REGION_AMBIGUOUS or len(choices) != 1:
            raise
        return choices.pop()
    return canonical(region.key).bare()


def _offers(summary: Summary, qualname: str) -> tuple[Offer, ...]:
    """One definition; all at the top level for a file, its values for its header."""
    if qualname in ("", HEADER):
        top = tuple(sorted((each for each in summary.offers if not each.owner), key=lambda each: each.line))
        return top if not qualname else tuple(each for each in top if each.sort is Sort.VALUE)
    offer = summary.offered.get(qualname.removesuffix(f".{HEADER}"))
    return () if offer is None else (offer,)


def _untied(key: str) -> InputError:
    return InputError(
        Code.LANGUAGE_UNTIED,
        f"{key} is in no language whose files are tied together",
        hint="`commonhold help semantics` lists the languages; `commonhold regions PATH` still lists the regions",
        fields={"key": key},
    )
