"""The timeline: every lease and wait has its begin and its end, and every commit its file."""

from tests.unit.history.shop import Shop

from commonhold.views.timeline import Span, Timeline, timeline


def look(shop: Shop) -> Timeline:
    return shop.session("person").timeline()


def parts(span: Span, since: float) -> tuple[object, ...]:
    return (
        span.kind,
        span.holder,
        span.began_at - since,
        None if span.ended_at is None else span.ended_at - since,
        span.end,
    )


def test_an_empty_log_has_an_empty_timeline() -> None:
    assert timeline((), 5.0) == Timeline(5.0, 5.0, 0, 0)


def test_leases_waits_and_hand_overs_are_spans(shop: Shop) -> None:
    ann, ben = shop.session("ann"), shop.session("ben")
    since = shop.clock.now().wall
    lease = ann.acquire("a.py#f", task="percent").lease
    assert lease
    shop.clock.advance(1)
    ben.acquire("a.py#f", patience_seconds=600)
    shop.clock.advance(1)
    ann.hand_over(lease.id, to="cat")
    shop.clock.advance(1)
    shop.session("cat").release(lease.id)
    assert [parts(each, since) for each in look(shop).spans] == [
        ("lease", "ann", 0, 2, "handed over"),
        ("wait", "ben", 1, 3, "granted"),
        ("lease", "cat", 2, 3, "released"),
        ("lease", "ben", 3, None, ""),
    ]


def test_commits_and_conflicts_are_marks_and_count_for_their_files(shop: Shop) -> None:
    ann = shop.session("ann")
    ann.acquire("a.py#f")
    shop.session("ben").acquire("a.py#f")
    shop.replace("ann", ann.read("a.py#f")[0].hash, "def f(x):\n    return 5\n", intent="five")
    found = look(shop)
    assert [(each.kind, each.holder, each.is_incident) for each in found.marks] == [
        ("lease_denied", "ben", True),
        ("committed", "ann", False),
    ]
    assert "five" in found.marks[1].text
    (file,) = found.files
    assert (file.path, file.commits, file.refusals, file.authors, file.holders) == ("a.py", 1, 1, {"ann": 1}, ["ann"])


def test_only_the_newest_events_are_examined(shop: Shop) -> None:
    for _ in range(5):
        lease = shop.session("ann").acquire("x:1").lease
        assert lease
        shop.session("ann").release(lease.id)
    found = shop.session("person").timeline(limit=4)
    assert (found.first, found.last, len(found.spans)) == (7, 10, 2)
