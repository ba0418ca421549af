"""The OpenAPI document describes every route; its examples are requests, and its references lead somewhere."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from commonhold.api.routes import ROUTES
from commonhold.api.wire import http_calls
from commonhold.kernel.errors import Code, InternalError, StoreError, UsageError
from commonhold.server.call_counts import CallCounts
from commonhold.server.facts import Facts
from commonhold.server.network import metrics, openapi
from commonhold.server.network.errors import STATUSES, body_of_error, error_answer, status_of
from commonhold.server.network.examples import EXAMPLES

DOCUMENT = json.loads(openapi.document())


def operations() -> Iterator[tuple[str, Any]]:
    for path in DOCUMENT["paths"].values():
        yield from ((each["operationId"], each) for each in path.values())


def test_every_route_is_described() -> None:
    found = dict(operations())
    assert found.keys() == ROUTES.keys()
    for name, route in ROUTES.items():
        assert DOCUMENT["paths"][route.path][route.method.lower()] is found[name]
        assert found[name]["summary"]
        assert {f"{each:d}" for each in (*STATUSES.values(), 400, 422, 503)} <= found[name]["responses"].keys()


def test_every_reference_leads_somewhere() -> None:
    names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(DOCUMENT)))
    assert names
    assert names <= DOCUMENT["components"]["schemas"].keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_request(name: str) -> None:
    route = ROUTES[name]
    asked = http_calls.asked(route, (), EXAMPLES[name])
    values = route.values(asked.path)
    assert values is not None
    http_calls.read(route, values, asked.query, asked.body)


def test_operations_that_need_parameters_have_an_example() -> None:
    def needs_some(one: Any) -> bool:
        schema = one.get("requestBody", {}).get("content", {}).get(http_calls.JSON, {}).get("schema", {})
        return bool(schema.get("required")) or any(each.get("required") for each in one["parameters"])

    needing = {name for name, one in operations() if needs_some(one) and "/calls/" not in ROUTES[name].path}
    assert needing <= EXAMPLES.keys()


def test_an_error_has_a_status_and_a_body_of_its_code() -> None:
    busy = StoreError(Code.STORE_BUSY, "busy", hint="later", retry_after_seconds=0.2, fields={"path": "a\udc80"})
    answer = error_answer(busy)
    assert (answer.status, dict(answer.headers)[b"retry-after"]) == (503, b"1")
    assert json.loads(answer.body) == {
        "code": "STORE_BUSY",
        "message": "busy",
        "hint": "later",
        "family": "StoreError",
        "retryable": True,
        "retry_after_seconds": 0.2,
        "fields": {"path": "'a\\udc80'"},
    }
    schema = DOCUMENT["components"]["schemas"]["Error"]
    assert json.loads(body_of_error(busy)).keys() == schema["properties"].keys() == set(schema["required"])
    assert status_of(UsageError(Code.USAGE, "m", hint="h")) == 400
    assert status_of(UsageError(Code.TOKEN_INVALID, "m", hint="h")) == 401
    assert status_of(InternalError(Code.INTERNAL, "m", hint="h")) == 500


SAMPLE = re.compile(r'(commonhold_\w+)(\{(\w+="([^"\\\n]|\\.)*",?)*\})? [-+0-9.e]+(Inf)?')


def test_metrics_are_in_the_format_of_prometheus() -> None:
    counts = CallCounts()
    from commonhold.kernel.answers import AcquireAnswer, CommitAnswer, Obstacle, Repair, Unmerged  # noqa: PLC0415
    from commonhold.kernel.refusals import Refusal  # noqa: PLC0415

    counts.add("acquire", AcquireAnswer("granted"), 0.002)
    counts.add("acquire", AcquireAnswer("denied", code=Refusal.LOCK_CONFLICT), 0.002)
    repair = Repair(unmerged=(Unmerged("a", (Obstacle("BOTH_CHANGED", "why"),)),))
    counts.add("commit", CommitAnswer("refused", code=Refusal.REGION_CHANGED, repair=repair), 20.0)
    counts.add("put", StoreError(Code.DISK_FULL, 'say "x"\n', hint="h"), 0.1)
    counts.add_wait()
    lines = metrics.exposed(Facts(lambda: 7, lambda: "", lambda: {"leases": 3}, counts), 2).decode().splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert [line for line in samples if not SAMPLE.fullmatch(line)] == []
    assert {
        "commonhold_grants_total 1",
        "commonhold_conflicts_total 1",
        "commonhold_waits_total 1",
        "commonhold_leases 3",
        "commonhold_watchers 2",
        'commonhold_refusals_total{code="REGION_CHANGED"} 1',
        'commonhold_merges_total{verdict="unmerged",reason="BOTH_CHANGED"} 1',
        'commonhold_calls_total{operation="put",outcome="error",code="DISK_FULL"} 1',
        'commonhold_call_seconds_bucket{operation="acquire",le="0.001"} 0',
        'commonhold_call_seconds_bucket{operation="acquire",le="0.0025"} 2',
        'commonhold_call_seconds_bucket{operation="commit",le="10"} 0',
        'commonhold_call_seconds_bucket{operation="commit",le="+Inf"} 1',
        'commonhold_call_seconds_count{operation="acquire"} 2',
    } <= set(samples)
    assert len(set(samples)) == len(samples)
