"""A scripted model, and a repository for each agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.cli import Cli
from tests.agents.clis import HOOKED
from tests.agents.site import Site, coordinated
from tests.e2e.scripted.server import ScriptedModel, scripted_model


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as playing:
        yield playing


@pytest.fixture(params=HOOKED, ids=lambda cli: cli.name)
def site(request: pytest.FixtureRequest, tmp_path: Path, model: ScriptedModel) -> Iterator[Site]:
    cli: Cli = request.param
    with coordinated(cli, tmp_path, model) as made:
        yield made
