"""What every test can count on: the `kernel` marker, where the repository is, and a real Kubernetes
API server.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import apiserver

settings.register_profile(
    "podpath", deadline=None, derandomize=os.environ.get("CI") == "true", print_blob=True
)
settings.load_profile("podpath")

SAID = "said"
REQUIRED = os.environ.get("PODPATH_REQUIRE_KERNEL") == "1"
"""Set in CI: there a kernel test that is skipped has failed."""


@pytest.fixture(scope="session")
def repository() -> Path:
    """Provide the repository's top folder."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def api_server() -> Iterator[apiserver.ApiServer]:
    """Provide a real kube-apiserver that runs; tests share it, each with namespaces and node names
    of its own.
    """
    lacking = apiserver.missing()
    if lacking is not None:
        (pytest.fail if REQUIRED else pytest.skip)(f"needs {lacking}")
    with apiserver.home() as home, apiserver.ApiServer(Path(home)) as server:
        yield server


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a kernel test that cannot run here, saying what is missing."""
    marker = item.get_closest_marker("kernel")
    if marker is None:
        return
    if os.geteuid() != 0:
        pytest.skip("needs root to make network namespaces")
    missing = [tool for tool in ("ip", *marker.args) if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: scripts/install-test-needs installs it")


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Provide a function whose words stand in the summary of the run, also when the test passes:
    drawn seeds, figures.
    """
    return lambda text: record_property(SAID, text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write what tests had to say."""
    reports = (
        report
        for found in terminalreporter.stats.values()
        for report in found
        if isinstance(report, pytest.TestReport)
    )
    for report in reports:
        said = [
            str(value)
            for name, value in report.user_properties
            if name == SAID and report.when == "call"
        ]
        if said:
            terminalreporter.write_sep("-", report.nodeid)
            terminalreporter.write_line("\n".join(said))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped kernel test into a failed one where kernel tests are required."""
    report: pytest.TestReport = yield
    if report.skipped and REQUIRED and item.get_closest_marker("kernel"):
        where: Any = report.longrepr
        report.outcome = "failed"
        report.longrepr = (
            f"a kernel test may not be skipped with PODPATH_REQUIRE_KERNEL=1: {where[2]}"
        )
    return report
