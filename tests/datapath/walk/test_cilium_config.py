"""Tests of what Cilium's options say of its programs."""

from __future__ import annotations

import pytest

from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.cilium_config import CiliumConfig
from podpath.net.provenance import Option, Unknown
from podpath.node.node import Cilium
from podpath.testing.nodes import given_cilium, span


def test_options_have_defaults_and_may_be_unknown() -> None:
    """An option that is not stated has its default; one in dispute is asked for."""
    choices = Choices()
    disputed = Unknown(
        "enable-bpf-masquerade",
        "look",
        (Option("true", "as one output says"), Option("false", "as another")),
    )
    config = CiliumConfig(Cilium(options={"enable-bpf-masquerade": disputed}))

    assert [True, False, False, True] == [
        config.masquerades(choices),
        config.replaces_kube_proxy(choices),
        config.routes_endpoints(choices),
        config.tunnels(choices),
    ]
    assert ["enable-bpf-masquerade"] == [made.fact for made in choices.made]


def test_its_lines_are_those_of_the_evidence() -> None:
    """None where no output shows the options."""
    shown = span("enable-bpf-masquerade true")

    assert [(shown,), ()] == [
        CiliumConfig(Cilium(options={}, span=each)).spans for each in (shown, None)
    ]


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
    assert tunnels == CiliumConfig(given_cilium(**options)).tunnels(Choices())


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
