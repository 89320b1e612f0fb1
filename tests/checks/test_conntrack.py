"""Faults of connection tracking: each is found where it is, and nothing where it only seems to
be.
"""

from __future__ import annotations

import json

import pytest

from podpath.checks.conntrack import stale_conntrack
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from tests.checks.nodes import netns, node
from tests.checks.scenes import findings, tracked


def test_an_entry_to_an_endpoint_that_is_gone_is_found() -> None:
    """An entry to a living endpoint is none."""
    (found,) = findings(tracked("10.0.0.66"), "stale-conntrack")
    assert found.repairs[0].commands == ("conntrack -D -p udp --orig-dst 10.96.0.10",)
    assert findings(tracked("10.0.0.7"), "stale-conntrack") == []


ABOUT = {"namespace": "shop", "name": "dns"}
PORT = {"name": "dns", "protocol": "UDP"}
SERVICE = {"clusterIP": "10.96.0.77", "ports": [{**PORT, "port": 53}]}
SUBSET = {"addresses": [{"ip": "10.244.1.3"}], "ports": [{**PORT, "port": 8080}]}
ITEMS = [
    {"apiVersion": "v1", "kind": "Service", "metadata": ABOUT, "spec": SERVICE},
    {"apiVersion": "v1", "kind": "Endpoints", "metadata": ABOUT, "subsets": [SUBSET]},
]
OBJECTS = json.dumps({"apiVersion": "v1", "kind": "List", "items": ITEMS}, indent=1)
ENTRY = (
    "udp 17 118 src=10.244.0.2 dst=10.96.0.77 sport=5353 dport=53 src={} dst=10.244.0.2 "
    "sport=8080 dport=5353 [ASSURED] mark=0 use=1"
)


@pytest.mark.parametrize(("endpoint", "count"), [("10.244.1.8", 1), ("10.244.1.3", 0)])
def test_endpoints_that_the_api_lists_tell_an_entry_that_is_stale(
    endpoint: str, count: int
) -> None:
    """Rules of kube-proxy's nftables mode list them in no way that is read."""
    listed = Pasted(f"$ conntrack -L\n{ENTRY.format(endpoint)}\n", "conntrack.txt")
    case = read_together([listed, Pasted(OBJECTS, "api.json")]).facts
    found = [str(one.claim) for one in stale_conntrack.check(case)]
    assert [endpoint in claim for claim in found] == [True] * count


@pytest.mark.parametrize(
    ("count", "severities"),
    [("950", ["risk"]), ("1000", ["fault"]), ("990", ["fault"]), ("100", [])],
)
def test_a_connection_table_that_fills_up_is_told(count: str, severities: list[str]) -> None:
    """Nearly full is a risk, full a fault: of a full one some have just ended."""
    host = netns(
        sysctls={
            "net.netfilter.nf_conntrack_count": count,
            "net.netfilter.nf_conntrack_max": "1000",
        }
    )
    assert severities == [found.severity for found in findings(node(host), "conntrack-full")]
