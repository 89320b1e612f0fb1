"""What a device's name alone says of it."""

from __future__ import annotations

import pytest

from podpath.assembly.devices.names import (
    looks_internal,
    looks_like_bridge,
    looks_like_device,
    looks_like_pod_side,
    looks_like_uplink,
)
from podpath.net.addresses import IfName
from podpath.node.links import Link

NAMES = {
    "uplink": (
        "eth0",
        "ens3f0np0",
        "eno1",
        "enp0s31f6",
        "p1p2",
        "bond0",
        "eth0.100",
        "wlan0",
        "ib0",
    ),
    "pod side": ("lxc3055a222b7f1", "cali12ab34cd56e", "veth05420679", "azv1234", "gke0", "tap77"),
    "bridge": ("cni0", "cbr0", "docker0", "br-1a2b3c", "virbr0", "br0", "weave", "kube-bridge"),
    "internal": ("cilium_host", "flannel.1", "vxlan.calico", "tunl0", "kube-ipvs0", "dummy0"),
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names]
)
def test_kind_by_name(kind: str, name: str) -> None:
    """Names that kernels and plugins give say one thing each."""
    link = Link(name=IfName(name))
    said = {
        "uplink": looks_like_uplink(link), "pod side": looks_like_pod_side(link),
        "bridge": looks_like_bridge(link), "internal": looks_internal(link),
    }  # fmt: skip
    assert [key for key, is_it in said.items() if is_it] == [kind]
    assert looks_like_device(name)


def test_listed_kind_comes_first() -> None:
    """What a listing says counts, whatever the name."""
    assert looks_like_bridge(Link(name=IfName("eth0"), kind="bridge"))
    assert not looks_like_bridge(Link(name=IfName("cni0"), kind="dummy"))
    assert looks_like_pod_side(Link(name=IfName("out0"), kind="veth"))
    assert not looks_like_uplink(Link(name=IfName("eth0"), kind="bridge"))


@pytest.mark.parametrize("word", ["capture", "dump", "trace2", "out", "node1", ""])
def test_words_that_are_no_devices(word: str) -> None:
    """The stem of a capture file is no device because it could be one."""
    assert not looks_like_device(word)
