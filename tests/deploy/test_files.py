"""The files in deploy/ fit the product: the metrics, labels, paths, options and ports that they name exist."""

import configparser
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.metric_names import exposed

from commonhold.cli import serve
from commonhold.server.face import DEFAULT_PORT
from commonhold.server.network.interface import Interface

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
METRIC = re.compile(r"commonhold_(\w+)\{([^}]*)\}")
ADDED = {"repository"}
"""Labels that prometheus.yml adds."""


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def yaml_of(name: str) -> Any:
    return yaml.safe_load(text_of(name))


def check_serves(words: list[str]) -> None:
    """Parse a command line of `commonhold serve`; one that it does not know fails."""
    options = {name for param in serve.command.params for name in param.opts}
    assert words[0] == "serve"
    assert {word for word in words if word.startswith("-")} <= options


def queries() -> list[str]:
    dashboard = json.loads(text_of("grafana-dashboard.json"))
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


@pytest.mark.parametrize("query", queries())
def test_the_dashboard_asks_for_metrics_that_exist(query: str) -> None:
    real = exposed()
    found = METRIC.findall(query)
    grouped_by = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", query))))

    assert len(found) == query.count("commonhold_") > 0
    for name, filters in found:
        assert name in real
        assert {*re.findall(r"(\w+)=", filters), *grouped_by} - ADDED <= set(real[name])


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = json.loads(text_of("grafana-dashboard.json"))["panels"]
    cells = [
        (at["x"] + x, at["y"] + y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["w"])
        for y in range(at["h"])
    ]

    assert len(set(cells)) == len(cells)
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert max(x for x, _ in cells) < 24


def test_prometheus_scrapes_the_path_and_port_of_the_server() -> None:
    (job,) = yaml_of("prometheus.yml")["scrape_configs"]

    assert job["metrics_path"] in Interface._pages
    assert job["static_configs"][0]["targets"] == [f"127.0.0.1:{DEFAULT_PORT}"]
    assert set(job["static_configs"][0]["labels"]) == ADDED


def test_the_services_of_the_compose_file() -> None:
    services = yaml_of("compose.yaml")["services"]
    server = services["commonhold"]

    check_serves(server["command"])
    assert server["ports"] == [f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"]
    assert (DEPLOY / server["build"]["context"]).resolve() == ROOT
    assert (ROOT / server["build"]["dockerfile"]).is_file()
    assert set(services) == {"commonhold", "postgres", "redis"}
    for service in services.values():
        assert "no-new-privileges:true" in service["security_opt"]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_the_image_runs_the_server_as_no_root() -> None:
    steps = re.findall(r"^([A-Z]+) (.*)$", re.sub(r"\\\n", " ", text_of("Containerfile")), re.MULTILINE)
    last = dict(steps)
    copied = [word for step, rest in steps if step == "COPY" and "--from" not in rest for word in rest.split()[:-1]]
    environment = dict(word.split("=", 1) for word in shlex.split(last["ENV"]))

    assert [step for step, _ in steps].count("FROM") == 2
    assert all((ROOT / each).exists() for each in copied)
    assert int(last["USER"].split(":")[0]) > 0
    assert json.loads(last["ENTRYPOINT"]) == ["commonhold"]
    check_serves(json.loads(last["CMD"]))
    assert environment["COMMONHOLD_HEALTH"] == f"http://127.0.0.1:{DEFAULT_PORT}/healthz"
    assert "/healthz" in Interface._pages
    (probe,) = re.findall(r"CMD (\[.*\])$", last["HEALTHCHECK"])
    compile(json.loads(probe)[2], "the health check", "exec")


def test_the_unit_is_restarted_and_confined() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "commonhold@.service")
    service = unit["Service"]

    check_serves(shlex.split(service["ExecStart"])[1:])
    assert service["Restart"] == "always"
    assert service["User"] != "root"
    assert service["NoNewPrivileges"] == "yes"
    assert (service["ProtectSystem"], service["ReadWritePaths"]) == ("strict", "%f")
    assert service["CapabilityBoundingSet"] == ""


def test_the_lock_of_the_image_has_the_extras_of_a_server() -> None:
    lock, development = text_of("requirements.lock"), (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    pins = set(re.findall(r"^\S+==\S+(?: ; [^\\]+)?", lock, re.MULTILINE))

    assert {"psycopg", "redis", "websockets", "uvicorn"} <= {re.split(r"[\[=]", pin)[0] for pin in pins}
    assert pins <= set(re.findall(r"^\S+==\S+(?: ; [^\\]+)?", development, re.MULTILINE))
