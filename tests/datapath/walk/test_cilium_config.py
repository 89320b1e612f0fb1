"""Tests of what Cilium's options say of its programs."""

from __future__ import annotations

import pytest

from podpath.datapath.walk.cilium_config import CiliumConfig
from podpath.net.provenance import Option, Unknown
from podpath.node.node import Cilium
from podpath.testing.nodes import given_cilium, given_node
from tests.datapath.walks import given_walk


def test_options_have_defaults_and_may_be_unknown() -> None:
    """An option that is not stated has its default; one in dispute is asked for."""
    walk = given_walk(given_node())
    disputed = Unknown(
        "enable-bpf-masquerade",
        "look",
        (Option("true", "as one output says"), Option("false", "as another")),
    )
    config = CiliumConfig(Cilium(options={"enable-bpf-masquerade": disputed}))

    assert [True, False, False, True] == [
        config.masquerades(walk), config.replaces_kube_proxy(walk), config.routes_endpoints(walk), config.tunnels(walk),
    ]  # fmt: skip
    assert ["enable-bpf-masquerade"] == [made.fact for made in walk.choices.made]


@pytest.mark.parametrize(
    ("options", "tunnels"),
    [
        ({"routing_mode": "native"}, False),
        ({"tunnel": "disabled"}, False),
        ({"tunnel": "geneve"}, True),
    ],
)
def test_tunnel_options_of_old_and_new_versions(options: dict[str, str], tunnels: bool) -> None:  # noqa: FBT001
    """`routing-mode` replaced `tunnel` in Cilium 1.14; both are understood."""
    assert tunnels == CiliumConfig(given_cilium(**options)).tunnels(given_walk(given_node()))


def test_networks_and_devices_are_read_from_their_options() -> None:
    """Every network option counts, and devices may be quoted or separated by commas."""
    config = CiliumConfig(
        given_cilium(
            cluster_pool_ipv4_cidr="10.1.0.0/16 10.2.0.0/16",
            devices="'eth0', eth1",
            native_routing_cidr="bad/99",
        )
    )

    assert (["10.1.0.0/16", "10.2.0.0/16"], {"eth0", "eth1"}) == (
        [str(item) for item in config.networks],
        set(config.devices),
    )
    assert ["cluster-pool-ipv4-cidr: 10.1.0.0/16 10.2.0.0/16"] == [
        item.text for item in config.evidence("cluster-pool-ipv4-cidr")
    ]
