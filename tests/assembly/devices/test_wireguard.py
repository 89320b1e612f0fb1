"""What `wg show` tells of WireGuard devices, put to the devices."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.evidence.recognition import read as read_source
from podpath.net.provenance import Source
from podpath.node.links import Link

LINK = """\
7: wg0: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1420 qdisc noqueue state UNKNOWN mode DEFAULT
    link/none
    wireguard addrgenmode none
"""
SHOWN = """\
interface: wg0
  public key: Iu5c8yiE/IcYp9N2ovqoSJGAXHTspAcuOOk5Mf0zoxA=
  private key: (hidden)
  listening port: 51820

peer: aM7+1iVR1eS52L8MOBqL3yMf5AZ5gfH/HbZXVtEhVAU=
  endpoint: 192.0.2.2:51820
  allowed ips: 10.2.0.0/16
  latest handshake: 2 seconds ago
  transfer: 348 B received, 404 B sent

peer: y56FDupuCMNbTKKGW5V7ItZ+PJCoHODlyN70oNUlrjk=
  preshared key: (hidden)
  allowed ips: (none)
"""


def assemble(*texts: tuple[str, str]) -> Link:
    """Return the device as outputs show it, each with its command."""
    read = []
    for command, text in texts:
        source = Source(name=command, lines=tuple(text.splitlines()), command=command, netns="host")
        reading = read_source(source)
        assert reading is not None
        read.append((source, reading))
    links = assemble_case(read).node.host.links.items
    return next(link for link in links if link.name == "wg0")


def test_a_device_has_what_wg_shows() -> None:
    """Its key and port, and its peers with the lines that tell of them."""
    device = assemble(("ip -d link", LINK), ("wg show", SHOWN)).wireguard

    assert device is not None
    assert (51820, True, "Iu5c8yiE") == (device.port, device.complete, device.key[:8])
    first, second = device.peers
    assert ("192.0.2.2", 51820, ["10.2.0.0/16"], True, False) == (
        str(first.endpoint),
        first.port,
        [str(prefix) for prefix in first.allowed],
        first.shook_hands,
        first.preshared,
    )
    assert (None, (), False, True) == (
        second.endpoint,
        second.allowed,
        second.shook_hands,
        second.preshared,
    )
    assert first.span is not None
    assert first.span.text.startswith("peer: aM7+")


def test_without_wg_nothing_is_known_of_keys() -> None:
    """Nor where only a part of it is shown, or two outputs differ."""
    other = SHOWN.replace("10.2.0.0/16", "10.3.0.0/16")

    assert assemble(("ip -d link", LINK)).wireguard is None
    assert assemble(("ip -d link", LINK), ("wg show", SHOWN), ("wg show", other)).wireguard is None
    later = SHOWN.replace("2 seconds", "9 seconds")
    again = assemble(("ip -d link", LINK), ("wg show", SHOWN), ("wg show", later)).wireguard
    assert again is not None
    cut = assemble(("ip -d link", LINK), ("wg show", SHOWN + "...\n")).wireguard
    assert cut is None or not cut.complete
