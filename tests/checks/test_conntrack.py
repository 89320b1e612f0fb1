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
from tests.checks.pasted import ticket_of
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


SIP = """{said}

```
# conntrack -L -p udp
udp      17 179 src=192.168.77.7 dst=192.168.77.21 sport=5060 dport=30560 \
src={old} dst=10.244.3.1 sport={port} dport=37211 [ASSURED] mark=0 use=1
# kubectl get endpoints sip
NAME   ENDPOINTS           AGE
sip    10.244.3.44:5060    90d
{more}
```
"""


@pytest.mark.parametrize(
    ("other", "certainties"),
    [
        ({}, [0.7]),
        ({"said": "The SIP server works."}, []),
        ({"old": "10.244.3.44"}, []),
        ({"old": "10.244.9.17"}, []),
        ({"port": "5070"}, []),
        ({"more": "other  10.244.3.50:5060    90d"}, []),
    ],
    ids=str,
)
def test_an_entry_to_what_no_listed_endpoint_is(
    other: dict[str, str], certainties: list[float]
) -> None:
    """The port says whose it is, if no other service has it; a pod of another node may be of one
    that is not listed.
    """
    given = {
        "said": "Since the rollout the SIP server gets no packets, clients time out.",
        "old": "10.244.3.17",
        "port": "5060",
        "more": "",
    } | other

    found = list(stale_conntrack.check(ticket_of(SIP.format(**given))))
    assert certainties == [one.certainty for one in found]


@pytest.mark.parametrize(
    ("asked", "more", "certainties"),
    [
        ("$ kubectl get ep -n mon sip", "", [1.0]),
        ("```\n\n```", "", [0.7]),
        (
            "$ kubectl get ep -n mon sip",
            "$ kubectl -n mon get ep sip\nNAME ENDPOINTS AGE\nsip 10.244.3.17:5060 90d\n",
            [],
        ),
    ],
    ids=["of-its-namespace", "of-which-namespace", "listed-at-another-moment"],
)
def test_an_entry_of_a_node_port(asked: str, more: str, certainties: list[float]) -> None:
    """Endpoints of the service's name may be of another namespace, and two listings of two
    moments.
    """
    text = f"""The SIP server gets no packets since the rollout.

```
# conntrack -L -p udp
udp      17 179 src=192.168.77.7 dst=192.168.77.21 sport=5060 dport=30560 [UNREPLIED] \
src=10.244.3.17 dst=10.244.3.1 sport=5060 dport=37211 mark=0 use=1
$ kubectl get svc -n mon
NAME   TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)          AGE
sip    NodePort   10.97.0.9    <none>        5060:30560/UDP   90d
{asked}
NAME   ENDPOINTS           AGE
sip    10.244.3.44:5060    90d
{more}```
"""
    found = [
        one
        for one in stale_conntrack.check(ticket_of(text))
        if "30560" in one.repairs[0].commands[0] or one.certainty == 1
    ]

    assert certainties == [one.certainty for one in found]
