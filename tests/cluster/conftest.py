"""Real clusters that the tests of this folder share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from scripts.kubernetes import cluster, programs
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import Plan
from tests.cluster import shop
from tests.cluster.shapes import plan_of

REQUIRED = os.environ.get("PODPATH_REQUIRE_CLUSTER") == "1"
"""Set by `scripts/test-cluster`: there a test without a cluster has failed."""


def need_programs() -> None:
    """Skip where nobody asked for a cluster; fail where one is asked for and something is
    missing.
    """
    if not REQUIRED:
        pytest.skip("needs a whole cluster: scripts/test-cluster runs it")
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


@pytest.fixture(scope="session")
def tried(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Provide a cluster of the shape that is asked for, with the shop on it; or that which
    `PODPATH_TRY_ON` names.
    """
    need_programs()
    named = os.environ.get("PODPATH_TRY_ON")
    if named:
        found = cluster.find(named)
        assert found is not None
        if shop.SPACE not in found.kubectl("get", "namespaces"):
            shop.open_shop(found)
        yield found
        return
    plan = plan_of(request.param, f"y{os.getpid()}")
    try:
        made = cluster.up(plan)
        shop.open_shop(made)
        yield made
    finally:
        cluster.down(plan.name)
