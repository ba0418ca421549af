"""The log as OpenTelemetry traces: spans of leases, waits, attempts and commits."""

import json
from collections.abc import Mapping
from typing import Any

from tests.unit.history.shop import Shop

from commonhold.history.traces import traces
from commonhold.kernel.run import RunMove
from commonhold.kernel.task import Task


def spans_of(shop: Shop) -> list[Mapping[str, Any]]:
    found = traces(shop.session("person").log(after=0, limit=1000), "1.0")
    (of_resource,) = json.loads(json.dumps(found))["resourceSpans"]
    (of_scope,) = of_resource["scopeSpans"]
    spans: list[Mapping[str, Any]] = of_scope["spans"]
    for each in spans:
        assert len(each["traceId"]) == 32
        assert len(each["spanId"]) == 16
        assert int(each["startTimeUnixNano"]) <= int(each["endTimeUnixNano"])
    assert len({each["spanId"] for each in spans}) == len(spans)
    return spans


def attribute(span: Mapping[str, Any], name: str) -> Any:
    (value,) = next(each["value"] for each in span["attributes"] if each["key"] == f"commonhold.{name}").values()
    return value


def test_a_commit_is_a_child_of_its_lease(shop: Shop) -> None:
    lease = shop.session("ann").acquire("a.py#g").lease
    assert lease is not None
    shop.clock.advance(1.5)
    shop.replace_g("ann", "def g(x):\n    return 0\n", lease)
    shop.session("ann").release(lease.id)
    of_lease, of_commit = spans_of(shop)
    assert (of_lease["name"], of_commit["name"]) == ("lease file:a.py#g", "commit")
    assert of_commit["traceId"] == of_lease["traceId"]
    assert of_commit["parentSpanId"] == of_lease["spanId"]
    assert "parentSpanId" not in of_lease
    assert (of_lease["startTimeUnixNano"], of_lease["endTimeUnixNano"]) == ("0", "1500000000")
    assert [each["name"] for each in of_lease["events"]] == ["lease_released"]
    assert attribute(of_lease, "sequence") == "1"
    assert attribute(of_lease, "open") is False


def test_a_claim_is_a_child_of_the_attempt_and_open_until_it_ends(shop: Shop) -> None:
    shop.session("person").add_tasks(Task("price", "price"))
    shop.session("ann").claim_task("price")
    of_lease, of_attempt = spans_of(shop)
    assert of_attempt["name"] == "task price"
    assert of_lease["parentSpanId"] == of_attempt["spanId"]
    assert attribute(of_attempt, "open") is True


def test_a_wait_is_in_the_trace_of_its_lease_and_a_refusal_is_an_error(shop: Shop) -> None:
    held = shop.session("ann").acquire("x:1").lease
    assert held is not None
    shop.session("ben").acquire("x:1")
    shop.session("ben").acquire("x:1", patience_seconds=100)
    shop.clock.advance(2)
    shop.session("ann").release(held.id)
    spans = {each["name"]: each for each in spans_of(shop)}
    assert set(spans) == {"lease x:1", "lease denied", "wait x:1"}
    assert spans["lease denied"]["status"] == {"code": 2}
    assert spans["wait x:1"]["status"] == {"code": 1}
    assert spans["wait x:1"]["traceId"] == spans["lease x:1"]["traceId"]
    assert spans["wait x:1"]["endTimeUnixNano"] == "2000000000"


def test_a_lease_that_expires_is_an_error(shop: Shop) -> None:
    shop.session("ann").acquire("x:1", ttl_seconds=10)
    shop.clock.advance(20)
    shop.session("ben").acquire("x:1")
    first, _ = spans_of(shop)
    assert first["status"] == {"code": 2}


def test_the_same_log_gives_the_same_spans(shop: Shop) -> None:
    shop.session("ann").acquire("x:1")
    assert spans_of(shop) == spans_of(shop)
    assert traces((), "1.0")["resourceSpans"][0]["scopeSpans"][0]["spans"] == []


def test_an_attempt_is_a_child_of_its_item_and_an_item_of_its_run(shop: Shop) -> None:
    boss = shop.session("boss")
    run = boss.start_run(Task("price", "price")).runs[0].run
    taken = boss.take_item(run.id, fence=run.fence).item
    assert taken is not None
    shop.clock.advance(2)
    boss.end_run(run.id, RunMove.FAIL, fence=run.fence)
    by_name = {each["name"]: each for each in spans_of(shop)}
    of_run, of_item, of_task = (by_name[name] for name in (f"run {run.id}", "item price", "task price"))
    of_claim = by_name["lease task:price"]
    assert "parentSpanId" not in of_run
    children = [(of_item, of_run), (of_task, of_item), (of_claim, of_task)]
    assert all(child["parentSpanId"] == parent["spanId"] for child, parent in children)
    assert len({each["traceId"] for each in (of_run, of_item, of_task, of_claim)}) == 1
    assert [each["name"] for each in of_run["events"]] == ["run_planned", "run_moved"]
    assert [of_run["status"]["code"], of_task["status"]["code"]] == [2, 1]
    assert [attribute(each, "open") for each in (of_run, of_item, of_task)] == [False, True, False]
    assert of_run["endTimeUnixNano"] == "2000000000"
