"""Options of a Docker network that cut it off."""

from __future__ import annotations

from podpath.checks.netfilter.docker_network_option import check
from tests.assembly.evidence_text import case_of_document

AN_INTERNAL_NETWORK = """
```
$ docker network inspect backend
[
    {
        "Name": "backend",
        "Driver": "bridge",
        "IPAM": { "Config": [ { "Subnet": "172.20.0.0/16" } ] },
        "Internal": true,
        "Options": {
            "com.docker.network.bridge.enable_icc": "true"
        }
    }
]
```
"""
CONTAINERS_APART = """
```
$ docker network inspect backend
[
    {
        "Name": "backend",
        "Driver": "bridge",
        "IPAM": { "Config": [ { "Subnet": "172.20.0.0/16" } ] },
        "Internal": false,
        "Options": {
            "com.docker.network.bridge.enable_icc": "false"
        }
    }
]
```
"""
NEITHER = """
```
$ docker network inspect backend
[
    {
        "Name": "backend",
        "Driver": "bridge",
        "IPAM": { "Config": [ { "Subnet": "172.20.0.0/16" } ] },
        "Internal": false,
        "Options": {
            "com.docker.network.bridge.enable_icc": "true"
        }
    }
]
```
"""


def test_an_internal_network() -> None:
    """internal: true."""
    (found,) = check(case_of_document(AN_INTERNAL_NETWORK))

    assert 0.6 == found.certainty
    assert '"Internal": true' in found.evidence[0].text


def test_containers_apart() -> None:
    """enable_icc: false."""
    (found,) = check(case_of_document(CONTAINERS_APART))

    assert 0.6 == found.certainty
    assert "enable_icc" in found.evidence[0].text


def test_neither() -> None:
    """Both as they are by default."""
    assert not list(check(case_of_document(NEITHER)))
