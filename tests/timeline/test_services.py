"""Services by all their names."""

from __future__ import annotations

import pytest

from podpath.timeline.marks import WEIGHTS
from podpath.timeline.services import SERVICES, find_service


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("tuned.service", "tuned"),
        ("Dynamic System Tuning Daemon", "tuned"),
        ("Apply Kernel Variables", "systemd-sysctl"),
        ("Authorization Manager", "polkit"),
        ("containerd.service", "containerd"),
        ("kube-proxy-x7k2p", "kube-proxy"),
        ("cilium-operator", "cilium"),
        ("Open vSwitch Forwarding Unit", "openvswitch"),
        ("netfilter persistent configuration", "iptables"),
    ],
)
def test_a_service_by_a_name(text: str, subject: str) -> None:
    """Units, descriptions, programs and pods name the same service."""
    found = find_service(text)

    assert subject == (found.subject if found else None)


@pytest.mark.parametrize(
    "text",
    [
        "NetworkManager-dispatcher.service",
        "Network Manager Script Dispatcher Service",
        "Network Manager Wait Online",
        "Dispatcher daemon for systemd-networkd",
        "networkd-dispatcher",
        "systemd-networkd-wait-online.service",
        "Network Service Netlink Socket",
    ],
)
def test_what_waits_for_a_service_is_not_the_service(text: str) -> None:
    """It bears its name, and changes nothing."""
    assert find_service(text) is None


@pytest.mark.parametrize("text", ["", "nginx.service", "retuned", "my-docker-registry@x"])
def test_no_service(text: str) -> None:
    """Another name that only holds one of these is none of them."""
    found = find_service(text)

    assert found is None or text.startswith("my-docker")


def test_kinds_of_services_have_weights() -> None:
    """Each service is of a kind that is weighed."""
    assert {service.kind for service in SERVICES} <= set(WEIGHTS)
