"""Defects, each of which takes one promise of a merge away. Cases and laws that notice none of them prove nothing."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from commonhold.merging import (
    commutation,
    conflict_markers,
    effects,
    entries,
    footprint,
    joined_additions,
    merge,
    prose,
    result_checks,
    script,
    sequence_merge,
    structure,
)
from commonhold.merging.candidates import MAX_CANDIDATES
from commonhold.merging.footprint import Footprint
from commonhold.merging.layout import Element, Shape
from commonhold.merging.pieces import Clash
from commonhold.merging.record import Edit
from commonhold.merging.verdict import Proven

Patch = pytest.MonkeyPatch
_why_not_both = joined_additions.why_not_both
_place = joined_additions._place
_weave_init = prose._Weave.__init__
_is_same_thing = "commonhold.merging.interference._is_same_thing"


def see_no_interference(patch: Patch) -> None:
    patch.setattr(merge, "interference", lambda *_: [])


def see_nothing_borne(patch: Patch) -> None:
    patch.setattr(merge, "bearing", lambda *_: [])


def take_every_name_for_the_same(patch: Patch) -> None:
    patch.setattr(_is_same_thing, lambda *_: True)


def take_no_name_for_the_same(patch: Patch) -> None:
    patch.setattr(_is_same_thing, lambda *_: False)


def let_all_through_the_gate(patch: Patch) -> None:
    patch.setattr(merge, "fault_in", lambda *_: None)
    patch.setattr(merge, "doubled_names", lambda *_: [])


def give_names_twice(patch: Patch) -> None:
    patch.setattr(merge, "given_twice", lambda *_: [])


def see_no_headings(patch: Patch) -> None:
    patch.setattr(merge, "misplaced", lambda *_: None)


def see_nothing_made(patch: Patch) -> None:
    patch.setattr("commonhold.merging.cross_file_interference.made_otherwise", lambda *_: ())


def see_no_place(patch: Patch) -> None:
    patch.setattr(sequence_merge, "placed", lambda _: None)


def see_no_exit(patch: Patch) -> None:
    patch.setattr(sequence_merge, "does_something", lambda _: False)


def see_no_count(patch: Patch) -> None:
    patch.setattr("commonhold.merging.record.renumbered", lambda *_: False)


def see_no_step(patch: Patch) -> None:
    patch.setattr(joined_additions, "is_sequence", lambda _: False)


def let_nothing_through_the_gate(patch: Patch) -> None:
    patch.setattr(result_checks, "_adds_up", lambda *_: False)


def put_ours_first(patch: Patch) -> None:
    patch.setattr(sequence_merge, "in_one_order", lambda _holder, ours, theirs: [*ours, *theirs])


def forget_theirs_at_one_point(patch: Patch) -> None:
    patch.setattr(sequence_merge, "in_one_order", lambda _holder, ours, _theirs: list(ours))


def put_both_anywhere(patch: Patch) -> None:
    patch.setattr(sequence_merge, "why_not_both", lambda *_: None)


def pass_over_names_that_both_added(patch: Patch) -> None:
    def unnamed(holder: Element, *runs: Any) -> Any:
        refused = _why_not_both(holder, *runs)
        return None if refused and refused[0] == "SAME_NAME" else refused

    patch.setattr(sequence_merge, "why_not_both", unnamed)


def pass_over_the_order_of_entries(patch: Patch) -> None:
    patch.setattr(joined_additions, "_why_not_listed", lambda *_: None)


def pass_over_what_may_leave(patch: Patch) -> None:
    patch.setattr(commutation, "footprint_of", lambda *_: Footprint())


def take_every_call_for_pure(patch: Patch) -> None:
    patch.setattr(footprint, "_called", lambda *_: "len")


def let_calls_reach_no_variable(patch: Patch) -> None:
    patch.setattr(commutation, "reached", lambda *_: False)


def forget_what_an_assignment_touches(patch: Patch) -> None:
    patch.setattr(effects, "_named_along", lambda *_: set())


def pass_over_what_was_moved(patch: Patch) -> None:
    patch.setattr(sequence_merge.SequenceMerge, "_doubt_moved", lambda _: None)


def see_nothing_redefined(patch: Patch) -> None:
    patch.setattr(sequence_merge.SequenceMerge, "_doubt_redefined", lambda _: None)


def see_no_table(patch: Patch) -> None:
    patch.setattr(result_checks, "in_another_table", lambda *_: None)


def put_sections_anywhere(patch: Patch) -> None:
    patch.setattr(
        joined_additions, "_place", lambda holder, run: _place(holder, run) if holder.shape is Shape.LIST else 0
    )


def let_a_deletion_win(patch: Patch) -> None:
    patch.setattr(sequence_merge.SequenceMerge, "_torn", lambda *_: [])


def drop_what_leads_to_an_element(patch: Patch) -> None:
    patch.setattr(sequence_merge, "merged_space", lambda base, *_: [base])


def drop_what_closes(patch: Patch) -> None:
    patch.setattr(entries, "merged_space", lambda base, *_: [base])


def keep_no_comma(patch: Patch) -> None:
    patch.setattr(entries._ListStyle, "has_trailing", property(lambda _: False))


def forget_moves(patch: Patch) -> None:
    patch.setattr(script, "_moves", lambda *_: {})


def forget_names(patch: Patch) -> None:
    patch.setattr(script, "_by_name", lambda _: {})


def pair_nothing_alike(patch: Patch) -> None:
    patch.setattr(script, "best", lambda *_: [])


def merge_strings_as_text(patch: Patch) -> None:
    patch.setattr(Element, "is_prose", property(lambda each: each.node.type == each.profile.text))


def note_no_edit(patch: Patch) -> None:
    def changed_alone(_: object, base: Element, ours: Element, theirs: Element) -> bytes:
        return theirs.text if ours.text == base.text else ours.text

    patch.setattr(structure.Structure, "_changed_alone", changed_alone)


def note_no_head(patch: Patch) -> None:
    def edit(old: Element, new: Element, scope: Any, *, is_head: bool = False) -> Edit:
        return Edit(None, None, ()) if is_head else Edit(old, new, scope)

    patch.setattr(structure, "Edit", edit)


def join_parts_that_meet_nowhere(patch: Patch) -> None:
    patch.setattr(sequence_merge.SequenceMerge, "met_apart", property(lambda _: False))


def join_all_text_at_one_point(patch: Patch) -> None:
    def init(self: Any, texts: Any, _: object, at: Any) -> None:
        _weave_init(self, texts, prose.AtOnePoint.BOTH, at)

    patch.setattr(prose._Weave, "__init__", init)


def call_a_changelog_text(patch: Patch) -> None:
    patch.setattr(merge, "_is_list_of_lines", lambda _: False)


def show_ours_alone(patch: Patch) -> None:
    def marked(pieces: Any, *_: object) -> bytes:
        return b"".join(each.ours if isinstance(each, Clash) else each for each in pieces)

    patch.setattr(merge, "marked", marked)


def mark_in_the_middle_of_lines(patch: Patch) -> None:
    def open_(blocks: list[Any]) -> None:
        blocks.append(conflict_markers._Block(bytearray(), bytearray(), bytearray(), is_conflict=True))

    patch.setattr(conflict_markers, "_open", open_)


def choose_a_candidate(patch: Patch) -> None:
    right = merge.merge

    def chosen(*args: Any) -> Any:
        answer = right(*args)
        if isinstance(answer, Proven):
            return answer
        return next((Proven(each.source) for each in answer.candidates()), answer)

    patch.setattr("tests.unit.merging.test_cases.merge", chosen)


def give_candidates_without_end(patch: Patch) -> None:
    patch.setattr(merge, "MAX_CANDIDATES", MAX_CANDIDATES * 100)


def give_candidates_unseen_by_the_gate(patch: Patch) -> None:
    patch.setattr(merge, "fault_in", lambda *_: None)


MUTANTS: Final[Mapping[str, Callable[[Patch], None]]] = {
    mutant.__name__: mutant
    for mutant in (
        see_no_interference,
        see_nothing_borne,
        take_every_name_for_the_same,
        take_no_name_for_the_same,
        let_all_through_the_gate,
        give_names_twice,
        see_no_headings,
        see_nothing_made,
        see_no_place,
        see_no_exit,
        see_no_count,
        see_no_step,
        let_nothing_through_the_gate,
        put_ours_first,
        forget_theirs_at_one_point,
        put_both_anywhere,
        pass_over_names_that_both_added,
        pass_over_the_order_of_entries,
        pass_over_what_may_leave,
        pass_over_what_was_moved,
        see_nothing_redefined,
        see_no_table,
        put_sections_anywhere,
        let_a_deletion_win,
        drop_what_leads_to_an_element,
        drop_what_closes,
        keep_no_comma,
        forget_moves,
        forget_names,
        pair_nothing_alike,
        merge_strings_as_text,
        note_no_edit,
        note_no_head,
        join_parts_that_meet_nowhere,
        join_all_text_at_one_point,
        call_a_changelog_text,
        show_ours_alone,
        mark_in_the_middle_of_lines,
        choose_a_candidate,
        give_candidates_without_end,
        give_candidates_unseen_by_the_gate,
    )
}
