"""Real clusters that the tests of this folder share."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest

from scripts.kubernetes import cluster, programs
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import Plan
from tests.cluster import shop, table
from tests.cluster.shapes import SEED, SHAPES, plan_of

REQUIRED = os.environ.get("PODPATH_REQUIRE_CLUSTER") == "1"
"""Set by `scripts/test-cluster`, and by `scripts/test` for its sample: there a test that is skipped
has failed.
"""


def need_programs() -> None:
    """Skip where nobody asked for a cluster; fail where one is asked for and something is
    missing.
    """
    if not REQUIRED:
        pytest.skip("needs a whole cluster: scripts/test runs a sample, scripts/test-cluster all")
    lacking = programs.missing()
    if lacking is not None:
        pytest.fail(f"needs {lacking}")


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Cluster]:
    """Provide a cluster of two nodes, each with pods on a bridge and routes to the other's."""
    need_programs()
    name = f"t{os.getpid()}"
    try:
        yield cluster.up(Plan(name=name))
    finally:
        cluster.down(name)


class _Clusters:
    """The cluster that tests of one shape share: one of another shape takes its place."""

    def __init__(self) -> None:
        """Have none yet."""
        self._shape = ""
        self._name = f"y{os.getpid()}"
        self._cluster: Cluster | None = None

    def of_shape(self, shape: str) -> Cluster:
        """Return the cluster, with the shop on it."""
        if self._cluster is None or self._shape != shape:
            self.down()
            made = cluster.up(plan_of(shape, self._name))
            shop.open_shop(made)
            self._shape, self._cluster = shape, made
        return self._cluster

    def down(self) -> None:
        """Take away what there is."""
        self._cluster = None
        cluster.down(self._name)


@pytest.fixture(scope="session")
def clusters() -> Iterator[_Clusters]:
    """Provide clusters by their shapes, one at a time."""
    need_programs()
    made = _Clusters()
    try:
        yield made
    finally:
        made.down()


@pytest.fixture
def tried(request: pytest.FixtureRequest, clusters: _Clusters) -> Cluster:
    """Provide a cluster of the shape that is asked for, with the shop on it."""
    return clusters.of_shape(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests on one shape of cluster follow each other."""

    def shape_of(item: pytest.Item) -> int:
        asked = item.callspec.params.get("tried") if hasattr(item, "callspec") else None
        return SHAPES.index(asked) if asked in SHAPES else -1

    items.sort(key=shape_of)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one where a cluster is required."""
    report: pytest.TestReport = yield
    if report.skipped and REQUIRED:
        report.outcome = "failed"
        report.longrepr = f"no test may be skipped where a cluster is required: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the table of faults and shapes."""
    reports = (
        report
        for found in terminalreporter.stats.values()
        for report in found
        if isinstance(report, pytest.TestReport)
    )
    found = table.collect(reports) if REQUIRED else {}
    if found:
        terminalreporter.write_sep("-", f"faults and shapes, seed {SEED}")
        terminalreporter.write_line(table.write_table(found))
