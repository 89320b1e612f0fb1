"""A sound node of a real cluster, and people who say that something fails: whatever they say, the
node's own outputs hold no certain cause, and no all-clear answers a complaint.
"""

from __future__ import annotations

import re
import tarfile
from functools import cache

import pytest

import podpath
from podpath.checks.finding import Finding, Severity
from podpath.diagnosis.verdict import Verdict
from podpath.library.given import Pasted
from tests.clusters import OBJECTS, RECORDED

OUTPUTS = {
    "ip -j -d addr": "ip-addr.json",
    "ip -j route show table all": "ip-route.json",
    "ip -j rule": "ip-rule.json",
    "iptables-save": "iptables-save.txt",
    "sysctl -a | grep -E 'forward|rp_filter|bridge-nf'": "sysctl.txt",
    "ss -lntup": "ss.txt",
    "ip -j neigh": "ip-neigh.json",
}
"""Of a node with a service that has no endpoints, and one with traffic policy Local that has none
here, as many a sound cluster has.
"""
COMPLAINTS = (
    "Since the update our pods cannot reach the internet, every connection times out.",
    "Pods on different nodes cannot talk to each other, ping between them gets no answer.",
    "The ingress answers 503 for some requests.",
    "curl to the NodePort 31000 of the web shop from my laptop is refused.",
    "DNS lookups in pods sometimes take five seconds.",
    "The database on 192.168.7.20 port 5432 is not reachable from containers: no route to host.",
    "Large downloads hang, small ones work.",
    "The load balancer marks the node unhealthy.",
    "Containers lose their network after a few minutes.",
    "kubelet's readiness probes fail with connection refused.",
)  # fmt: skip


@cache
def listed(name: str) -> str:
    """Return what a command printed on the node."""
    with tarfile.open(RECORDED / "node1.tar.gz") as bundle:
        held = bundle.extractfile(f"netns/host/{name}")
        assert held is not None
        text = held.read().decode()
    lines = text.splitlines()
    asked = re.compile(r"forward|rp_filter|bridge-nf")
    return "\n".join(filter(asked.search, lines)) if name == "sysctl.txt" else text


def console(*, objects: bool) -> str:
    """Return the node's outputs as one pastes them, with the API's objects or without."""
    pasted = [f"root@node1:~# {command}\n{listed(name)}" for command, name in OUTPUTS.items()]
    if objects:
        held = OBJECTS.read_text(encoding="utf-8")
        pasted.append(f"$ kubectl get services,endpoints,pods,nodes -A -o yaml\n{held}")
    return "".join(f"\n```\n{each}\n```\n" for each in pasted)


@pytest.mark.parametrize("objects", [False, True], ids=["outputs", "and objects"])
@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_nothing_of_a_sound_node_is_the_certain_cause(complaint: str, *, objects: bool) -> None:
    """A service without pods is no cause of what nobody connects with it."""
    text = f"{complaint}\n{console(objects=objects)}"

    answer = podpath.diagnose(Pasted(text, "ticket.md"))

    assert answer.verdict is Verdict.POSSIBLE
    assert [finding.check for finding in answer.findings if is_certain(finding)] == []


def is_certain(finding: Finding) -> bool:
    """Tell whether a finding is told as the cause."""
    return finding.certainty == 1 and finding.severity is not Severity.RISK


OTHER_ROUTES = """
```
# ip route
default dev br7 proto kernel scope link src 169.254.38.92 metric 204
default via 192.168.0.1 dev wlan7 src 192.168.0.102 metric 303
```
"""


def test_outputs_of_two_moments_that_name_other_devices_are_no_error() -> None:
    """Routes over devices that the listing of devices does not have: two hosts, or two moments."""
    text = f"Nothing on the Internet can be pinged.\n{OTHER_ROUTES}{console(objects=False)}"

    assert podpath.diagnose(Pasted(text, "ticket.md")).verdict is not Verdict.NONE
