"""The ward that the tests of repair share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import kube_objects as kube
from tests.apiserver import ApiServer
from tests.protect.repair.ward import SPACE, Ward


@pytest.fixture(scope="session")
def ward_server(api_server: ApiServer) -> ApiServer:
    """Provide the server with the tests' namespace."""
    api_server.apply(kube.namespace(SPACE))
    return api_server


@pytest.fixture
def ward(ward_server: ApiServer) -> Iterator[Ward]:
    """Provide a node's ward."""
    ward = Ward(ward_server)
    yield ward
    ward.close()
