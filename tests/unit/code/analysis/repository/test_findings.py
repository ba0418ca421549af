from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.findings import Concern, Links


def concern(line: int, *, is_broken: bool = False, is_open: bool = False) -> Concern:
    return Concern(
        "use.py",
        line,
        "`f` is gone",
        "calls it",
        Evidence.CONTRACT,
        "lib.py",
        "f",
        is_broken=is_broken,
        is_open=is_open,
    )


def test_who_edits_a_place_has_seen_it_unless_it_fails_or_stands_for_others() -> None:
    plain, broken, open_, beside = concern(1), concern(2, is_broken=True), concern(3, is_open=True), concern(9)
    links = Links((plain, broken, open_, beside), ("told",))
    assert links.beside(lambda path, line: path == "use.py" and line < 9) == Links((broken, open_, beside), ("told",))
    assert links.beside(lambda _path, _line: False) == links


def test_the_reason_says_what_changed_and_what_the_place_does() -> None:
    assert concern(1).why("`use`") == "`f` is gone, and `use` calls it"
    assert Concern("a.py", 1, "", "calls it", Evidence.CONTRACT, "lib.py", "f").why("`use`") == "`use` calls it"
