"""The tables of what nodes do: no kind stands in them that is in no grammar, and what is in none is not trusted."""

import re

import pytest
import tree_sitter

from commonhold.code.regions.language import Language, parser_of
from commonhold.code.regions.languages import LANGUAGES
from commonhold.merging.footprint import is_known
from commonhold.merging.profile import Profile
from commonhold.merging.profiles import profile_of

MERGED = [(each, profile) for each in LANGUAGES if each.grammar and (profile := profile_of(each)) is not None]
TABLES = pytest.mark.parametrize(("language", "profile"), MERGED, ids=[each.name for each, _ in MERGED])
# What runs code that nobody here knows, by the words that grammars call it by.
RUNS = re.compile(
    r"(?:^|_)(?:await|call|co|command|creation|defer|delete|echo|foreach|go|import|include|instance|invocation|macro|new"
    r"|postfix|print|require|send|spawn|subshell|unset|with|yield|for)(?:_|$)"
)
# Kinds that are called so and run nothing: types, signatures, words inside of others, definitions.
HARMLESS = {
    *("call_expression [", "call_signature", "call_suffix", "delegate_declaration", "foreign_mod_item"),
    *("instanceof_expression", "macro_definition", "postfix_expression", "postfix_unary_expression"),
    *("postfix_unary_expression ++", "postfix_unary_expression --", "unary_expression delete"),
    *("array_creation_expression", "implicit_array_creation_expression"),
    *("declaration_command", "negated_command", "test_command"),
}


def grammar_of(language: Language) -> tree_sitter.Language:
    found = parser_of(language).language
    assert found is not None
    return found


def kinds_of(language: Language) -> set[str]:
    grammar = grammar_of(language)
    ids = range(grammar.node_kind_count)
    return {grammar.node_kind_for_id(each) or "" for each in ids if grammar.node_kind_is_named(each)}


def listed(profile: Profile) -> set[str]:
    """Every kind that is known to do no more than it says, without an operator."""
    effects = profile.node_effects
    return {each.partition(" ")[0] for each in effects.plain | effects.inert}


@TABLES
def test_no_kind_is_listed_that_a_grammar_does_not_have(language: Language, profile: Profile) -> None:
    assert listed(profile) - kinds_of(language) == set()


@TABLES
def test_every_kind_is_listed_or_may_do_anything(language: Language, profile: Profile) -> None:
    """A kind that a later grammar brings is in no table, and so is not trusted."""
    others = {*profile.calls, *profile.method_calls, *profile.members, *profile.node_effects.creations}
    known = {kind for kind in kinds_of(language) if is_known(kind, profile)}
    assert known - listed(profile) <= others | {*profile.subscripts, *profile.identifiers, *profile.imports}
    assert not is_known("a_kind_of_next_year", profile)


@pytest.mark.parametrize("profile", [each for _, each in MERGED], ids=[each.name for each, _ in MERGED])
def test_what_runs_other_code_is_in_no_table(profile: Profile) -> None:
    """By their names: calls, constructors, loops over iterators, what waits, sends, prints or ends a life."""
    table = profile.node_effects.plain | profile.node_effects.inert
    assert {kind for kind in table if RUNS.search(kind)} <= HARMLESS
