"""systemd-networkd and NetworkManager: what their configuration of a device sets of its sysctls.

Of NetworkManager's files only the lines of [connection], [ipv4] and [ipv6] that are named here are
quoted: others hold secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.ini import IniLine, list_files, read_entries
from podpath_protect.sysctl.keys import Key, check_segment

_BOOLEAN = {
    "yes": "1",
    "true": "1",
    "on": "1",
    "1": "1",
    "no": "0",
    "false": "0",
    "off": "0",
    "0": "0",
}
_NETWORKD: dict[str, tuple[str, str, dict[str, str]]] = {
    "IPv4ReversePathFilter": ("ipv4", "rp_filter", {"no": "0", "strict": "1", "loose": "2"}),
    "IPv4Forwarding": ("ipv4", "forwarding", _BOOLEAN),
    "IPv6Forwarding": ("ipv6", "forwarding", _BOOLEAN),
    "IPForward": ("ipv4", "forwarding", _BOOLEAN | {"ipv4": "1", "ipv6": "0"}),
    "IPv4AcceptLocal": ("ipv4", "accept_local", _BOOLEAN),
    "IPv4RouteLocalnet": ("ipv4", "route_localnet", _BOOLEAN),
    "IPv4ProxyARP": ("ipv4", "proxy_arp", _BOOLEAN),
    "IPv6ProxyNDP": ("ipv6", "proxy_ndp", _BOOLEAN),
    "IPv6AcceptRA": ("ipv6", "accept_ra", {"yes": "0", "true": "0", "no": "0", "false": "0"}),
}
"""systemd.network(5). networkd itself handles router advertisements, so the kernel's accept_ra is 0
either way.
"""
_NETWORKMANAGER: dict[tuple[str, str], tuple[str, str, dict[str, str]]] = {
    ("ipv4", "forwarding"): ("ipv4", "forwarding", _BOOLEAN),
    ("ipv4", "route-localnet"): ("ipv4", "route_localnet", _BOOLEAN),
    ("ipv6", "ip6-privacy"): ("ipv6", "use_tempaddr", {"0": "0", "1": "1", "2": "2"}),
    ("ipv6", "method"): ("ipv6", "disable_ipv6", {"disabled": "1", "auto": "0", "manual": "0"}),
}
"""nm-settings-nmcli(5)."""
_NETWORKD_DIRECTORIES = (
    "etc/systemd/network",
    "run/systemd/network",
    "usr/local/lib/systemd/network",
    "usr/lib/systemd/network",
)
_NETWORKMANAGER_DIRECTORIES = (
    "etc/NetworkManager/system-connections", "run/NetworkManager/system-connections",
    "usr/lib/NetworkManager/system-connections",
)  # fmt: skip


def read_networkd(root: Path) -> tuple[OtherWriter, ...]:
    """Return what .network files set, for the devices that they name."""
    found: list[OtherWriter] = []
    for path in list_files(root, _NETWORKD_DIRECTORIES, "*.network", "*.network.d/*.conf"):
        entries = read_entries(path)
        names = [
            name
            for entry in entries
            if (entry.section, entry.key) == ("Match", "Name")
            for name in entry.value.split()
        ]
        for entry in entries:
            known = _NETWORKD.get(entry.key) if entry.section == "Network" else None
            if known is not None and entry.value.lower() in known[2]:
                value = known[2][entry.value.lower()]
                found += _claims(
                    "systemd-networkd", names or ["*"], known[:2], value, _quote(root, path, entry)
                )
    return tuple(found)


def read_networkmanager(root: Path) -> tuple[OtherWriter, ...]:
    """Return what connection profiles set, for the device that they name."""
    found: list[OtherWriter] = []
    for path in list_files(root, _NETWORKMANAGER_DIRECTORIES, "*.nmconnection"):
        entries = read_entries(path)
        names = [
            entry.value
            for entry in entries
            if (entry.section, entry.key) == ("connection", "interface-name")
        ]
        for entry in entries:
            known = _NETWORKMANAGER.get((entry.section, entry.key))
            if known is not None and entry.value.lower() in known[2]:
                value = known[2][entry.value.lower()]
                found += _claims(
                    "NetworkManager", names or ["*"], known[:2], value, _quote(root, path, entry)
                )
    return tuple(found)


def _quote(root: Path, path: Path, entry: IniLine) -> str:
    return f"/{path.relative_to(root)}:{entry.line}: {entry.text}"


def _claims(
    actor: str, names: list[str], setting: tuple[str, str], value: str, where: str
) -> Iterator[OtherWriter]:
    for name in names:
        try:
            check_segment(name)
        except ValueError:
            continue
        pattern = Key(("net", setting[0], "conf", name, setting[1]))
        yield OtherWriter(
            actor=actor,
            pattern=pattern,
            value=value,
            where=where,
            note="applied when the device is configured",
        )
