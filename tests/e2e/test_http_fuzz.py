"""No request makes the server fail, whether it fits the OpenAPI document or not: each gets a proper answer."""

import http.client
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from tests.e2e.cli_driver import make_repository
from tests.e2e.http_requests import Request, Requests
from tests.e2e.served import HOST, Server, served
from tests.patience import PATIENCE_SECONDS

from commonhold.api.routes import ROUTES
from commonhold.kernel.errors import Code
from commonhold.kernel.scopes import Scope
from commonhold.server.network import openapi

pytestmark = pytest.mark.slow
DOCUMENT: Final = json.loads(openapi.document())
REQUESTS: Final = Requests(DOCUMENT)
RESPONSES: Final = {one["operationId"]: one["responses"].keys() for _, _, one in REQUESTS.operations}
ERROR: Final = frozenset(DOCUMENT["components"]["schemas"]["Error"]["required"])


class Client:
    """A connection that is opened again when the server has closed it."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection(HOST, server.port, timeout=PATIENCE_SECONDS)
        self._token = server.token(Scope.ADMIN)

    def ask(self, request: Request) -> tuple[int, bytes]:
        headers = {**request.headers, "Authorization": f"Bearer {self._token}"}
        encoded = {name: value.encode() for name, value in headers.items()}
        self._connection.request(request.method, request.path, request.body, encoded)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(make_repository(tmp_path_factory.mktemp("fuzzed") / "work"), rate=1e6) as server:
        client = Client(server)
        yield client
        client.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(request=Requests.made(REQUESTS))
def test_no_request_makes_the_server_fail(client: Client, request: Request) -> None:
    status, body = client.ask(request)
    assert status != http.client.INTERNAL_SERVER_ERROR, body
    assert str(status) in RESPONSES[request.operation], (status, body)
    if status >= http.client.BAD_REQUEST:
        check_refusal(json.loads(body))


def check_refusal(shape: Any) -> None:
    """An error has its parts and a code that is known; a refusal is an answer with an outcome."""
    if "outcome" in shape:
        assert shape["outcome"] in ("refused", "denied")
        return
    assert shape.keys() == ERROR
    assert shape["code"] in list(Code)
    assert shape["message"]
    assert shape["hint"]


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("chain", b'{"after":9223372036854775808}'),
        ("chain", b'{"after":-9223372036854775809}'),
        ("add_tasks", b'{"tasks":[{"title":"a","priority":18446744073709551615}]}'),
    ],
)
def test_a_whole_number_that_the_state_cannot_keep_is_refused(client: Client, operation: str, body: bytes) -> None:
    route = ROUTES[operation]
    headers = {"X-Commonhold-Agent": "ann"}
    status, answer = client.ask(Request(operation, route.method, route.path, body, headers))
    assert (status, json.loads(answer)["code"]) == (http.client.BAD_REQUEST, "USAGE")
    assert b"beyond" in answer
