"""Whether br_netfilter runs: the module, the namespace's switch, the bridge's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.bridging.switches import switch
from podpath.net.provenance import Known, Listing
from podpath.node.links import Bridge
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.walks import given_walk, host

KEY = "net.bridge.bridge-nf-call-iptables"


@pytest.mark.parametrize(
    ("modules", "sysctls", "own", "value"),
    [
        (Listing(("overlay",), True, "lsmod"), {}, False, "0"),
        (Listing(("br_netfilter",), True, "lsmod"), {KEY: "1"}, False, "1"),
        (Listing(("br_netfilter",), True, "lsmod"), {KEY: "0"}, True, "1"),
        (Listing(("overlay",), True, "lsmod"), {}, True, "0"),
        (Listing((), False, "lsmod"), {KEY: "0"}, False, "0"),
    ],
)
def test_where_the_switch_stands(
    modules: Listing[str],
    sysctls: dict[str, str],
    own: bool,  # noqa: FBT001
    value: str,
) -> None:
    """Bridged packets run through iptables if the module is loaded and the namespace or the bridge
    says so.
    """
    walk = given_walk(
        given_node(
            given_netns("host", "cni0 bridge", sysctls=sysctls, complete=False), modules=modules
        )
    )
    bridge = replace(host(walk).link("cni0"), bridge=Bridge(nf_call_iptables=own))
    fact = switch(walk, host(walk), bridge, 4)

    assert value == (fact.value if isinstance(fact, Known) else None)


def test_a_whole_sysctl_listing_without_the_key_means_that_the_module_is_missing() -> None:
    """`sysctl -a` lists the key only while br_netfilter is loaded."""
    walk = given_walk(given_node(given_netns("host", "cni0 bridge")))
    fact = switch(walk, host(walk), host(walk).link("cni0"), 4)

    assert ("0", True) == (
        (fact.value, "not loaded" in fact.because) if isinstance(fact, Known) else None
    )
