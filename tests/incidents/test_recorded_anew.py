"""The incidents on the real kernel of this machine: built, broken, recorded, diagnosed, mended,
diagnosed again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.kube_proxy_ruleset import Service
from examples.record.__main__ import INCIDENTS
from tests.incidents.test_examples import RECORDED, Incident, assert_cause, diagnosis

TOOLS = (
    "bridge",
    "conntrack",
    "curl",
    "ethtool",
    "ipset",
    "iptables-restore",
    "nft",
    "nsenter",
    "sysctl",
    "tcpdump",
    "unshare",
)
OVS_TOOLS = (
    "ovs-appctl",
    "ovs-vsctl",
    "ovs-vswitchd",
    "ovsdb-server",
    "ovsdb-tool",
    "ping",
    "route",
)


def test_every_recorded_incident_has_its_recorder() -> None:
    """What stands in examples/incidents can be recorded again."""
    assert set(INCIDENTS) == {incident.name for incident in RECORDED}


def test_chains_are_named_as_kube_proxy_names_them() -> None:
    """A service's chain in a recording is the one that a real kube-proxy would write (its own test
    has this name).
    """
    ends = ("10.180.0.1:80",)
    service = Service(
        name="ns1/svc1:p80",
        protocol="tcp",
        address="172.30.0.41",
        port=80,
        node_port=None,
        endpoints=ends,
    )

    assert ("KUBE-SVC-XPGD46QRK7WJZT7O", "KUBE-SEP-SXIVWICOYRO3J4NJ") == (
        service.chain("SVC"),
        service.chain("SEP", ends[0]),
    )


@pytest.mark.kernel(*TOOLS, *OVS_TOOLS)
@pytest.mark.parametrize("incident", RECORDED, ids=lambda incident: incident.name)
def test_an_incident_recorded_now_is_explained(incident: Incident, tmp_path: Path) -> None:
    """The cause is named from what this kernel just did, and nothing is found once it is mended.
    What forbids the all-clear was not recorded, or is what programs of BPF may enforce.
    """
    folder = record(incident.name, tmp_path)
    for form in ("ticket.md", "bundle"):
        assert_cause(incident, diagnosis(folder / form, exit_code=1))

    answer = diagnosis(folder / "good", exit_code=3)
    assert ([], True) == (
        answer["findings"],
        {one["kind"] for one in answer["forbids"]} <= {"NothingWalked", "NotShown", "NotModelled"},
    )


def record(name: str, folder: Path) -> Path:
    """Record an incident, and once more where it did not come about: on a machine that other tests
    keep busy, a request of the good twin may time out. Return the folder of what was recorded.
    """
    first, second = folder / "first", folder / "second"
    try:
        INCIDENTS[name](first)
    except RuntimeError:
        INCIDENTS[name](second)
        return second
    return first
