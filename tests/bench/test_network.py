"""The bench of the network works, at sizes that show no more than that."""

import pytest

from bench import network

pytestmark = pytest.mark.slow


def test_watchers_have_every_event_though_the_server_is_killed() -> None:
    figures = {figure.name: figure.value for figure in network.measure(network.QUICK)}

    assert figures["events that came to watchers before the kill"] > 0
    assert figures["events that a watcher lacks, the kill included"] == 0
    assert figures["watchers that did not reach the end"] == 0
    assert figures["leases granted"] > network.QUICK.agents
    assert figures["of these missing in the log"] == 0
