"""Words of `ip -d link` to the options of bridges, ports and tunnels."""

from __future__ import annotations

from podpath.assembly.devices.bridge_options import (
    is_on,
    make_bridge,
    make_ends,
    make_geneve,
    make_port,
    make_vxlan,
)


def test_switches() -> None:
    """`on`, `1` and `true` are on; what is not shown has its default."""
    assert [is_on({"x": word}, "x") for word in ("on", "1", "True", "off", "0", "")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert is_on({}, "x", default=True)


def test_bridge_and_port() -> None:
    """A bridge's and a port's own options are read, the rest is the kernel's default."""
    assert make_bridge({"vlan_filtering": "1", "nf_call_iptables": "on"}).nf_call_iptables
    port = make_port({"state": "BLOCKING", "hairpin": "on", "learning": "off"})
    assert (port.state, port.hairpin, port.learning, port.flood) == ("blocking", True, False, True)


def test_vxlan() -> None:
    """A tunnel has its id, port and ends; an unreadable one is left out."""
    tunnel = make_vxlan(
        {"id": "42", "port": "4789", "local": "10.1.0.4", "group": "239.1.1.1", "link": "eth0"}
    )
    assert (tunnel.vni, tunnel.port, str(tunnel.local), str(tunnel.remote), tunnel.dev) == (
        42,
        4789,
        "10.1.0.4",
        "239.1.1.1",
        "eth0",
    )
    assert make_vxlan({"external": "true", "id": "0"}).external
    bare = make_vxlan({"id": "x", "local": "here"})
    assert not bare.external
    assert (bare.vni, bare.port, bare.local, bare.dev, bare.learning) == (0, 8472, None, None, True)


def test_ends_of_a_tunnel() -> None:
    """Addresses and keys; `any` is no address, and a listing without options tells nothing."""
    keyed = make_ends({"remote": "192.0.2.2", "local": "any", "ikey": "0.0.0.5", "okey": "0.0.0.6"})
    routed = make_ends({"external": "true"})
    lived = [make_ends({"remote": "192.0.2.2", "ttl": ttl}) for ttl in ("inherit", "64")]

    assert make_ends({}) is None
    assert [0, 64] == [ends.ttl for ends in lived if ends is not None]
    assert keyed is not None
    assert (str(keyed.remote), keyed.local) == ("192.0.2.2", None)
    assert (keyed.takes_key, keyed.sends_key, keyed.external) == ("0.0.0.5", "0.0.0.6", False)
    assert routed is not None
    assert routed.external


def test_a_number_of_any_length_is_read() -> None:
    """One that no kernel has is none."""
    ends = make_ends({"remote": "192.0.2.2", "ttl": "9" * 5000})
    assert ends is not None
    assert 0 == ends.ttl


def test_geneve() -> None:
    """It has a network, a port and one remote end, or a program chooses; without `-d` nothing is
    known of it. The options are those of Linux 6.12.117 by iproute2 6.1.
    """
    fixed = make_geneve({"id": "5", "remote": "192.0.2.2", "port": "6099", "df": "unset"})
    external = make_geneve({"external": "on"})

    assert fixed is not None
    assert (5, 6099, "192.0.2.2", False) == (
        fixed.vni,
        fixed.port,
        str(fixed.remote),
        fixed.external,
    )
    assert external is not None
    assert (True, 6081) == (external.external, external.port)
    assert make_geneve({}) is None
