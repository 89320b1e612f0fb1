"""Which program a configuration file is of: by its name, where a command or a label shows one, else
by words that only it has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.evidence.configuration.statements import Statement
from podpath.net.provenance import Source

_PATH = re.compile(
    r"(?<![\w.:/-])(?P<path>(?:~|/)?(?:[\w.@%+-]+/)+[\w.@%+-]+|"
    r"[\w-]+\.(?:conf|cfg|cnf|ini|toml|ya?ml|json|service|network|netdev|link|zone|db|rules|env))"
    r"(?![\w/])"
)
_PROGRAMS = ("/bin/", "/sbin/", "/proc/", "/sys/", "/usr/lib/", "/dev/")


class FileKind(NamedTuple):
    """A kind of file."""

    name: str
    paths: re.Pattern[str]
    """What its path looks like."""
    names: frozenset[str]
    """Words that settings or heads of blocks begin with; two different ones make the kind."""


def _kind(name: str, paths: str, names: str) -> FileKind:
    return FileKind(name, re.compile(paths), frozenset(names.lower().split()))


KINDS: tuple[FileKind, ...] = (
    _kind("named", r"named(?:\.conf|/)|/bind/named", "zone allow-query allow-recursion forwarders "
                                                     "listen-on listen-on-v6 dnssec-validation "
                                                     "allow-transfer auth-nxdomain recursion"),
    _kind("dhcpd", r"dhcpd6?\.conf", "subnet option range shared-network default-lease-time "
                                     "max-lease-time authoritative subnet6"),
    _kind(
        "dhcpd-default", r"(?:default|sysconfig)/(?:isc-)?(?:dhcpd?3?-?)(?:server|d)?$",
        "INTERFACES INTERFACESv4 DHCPDARGS",
    ),
    _kind("dnsmasq", r"dnsmasq", "dhcp-range listen-address bind-interfaces bind-dynamic no-resolv "
                                 "dhcp-option domain-needed bogus-priv except-interface "
                                 "no-dhcp-interface dhcp-host expand-hosts strict-order"),
    _kind("unbound", r"unbound", "access-control forward-zone stub-zone do-ip4 do-ip6 "
                                 "private-domain local-zone forward-addr private-address "
                                 "outgoing-interface"),
    _kind("keepalived", r"keepalived", "vrrp_instance virtual_router_id virtual_ipaddress "
                                       "advert_int vrrp_script virtual_server unicast_peer "
                                       "unicast_src_ip"),
    _kind("openvpn", r"openvpn|\.ovpn$", "dev remote ifconfig proto comp-lzo persist-tun "
                                         "persist-key ping-restart keepalive tls-auth topology "
                                         "redirect-gateway server"),
    _kind("wireguard", r"wireguard/|wg\d+\.conf", "PrivateKey PublicKey AllowedIPs PresharedKey "
                                                  "PersistentKeepalive ListenPort"),
    _kind("bird", r"bird6?(?:\.conf|/)", "protocol neighbor source kernel scan router"),
    _kind(
        "frr", r"frr|quagga|bgpd\.conf|ospfd\.conf",
        "router neighbor bgp network redistribute address-family",
    ),
    _kind("haproxy", r"haproxy", "frontend backend bind balance server default_backend timeout "
                                 "mode"),
    _kind("nginx", r"nginx|sites-(?:enabled|available)/",
          "listen server_name proxy_pass location upstream "
          "worker_processes root"),
    _kind("ifupdown", r"network/interfaces", "iface auto allow-hotplug"),
    _kind("netplan", r"netplan/", "ethernets renderer dhcp4 bridges nameservers"),
    _kind(
        "ifcfg", r"ifcfg-|network-scripts/",
        "DEVICE BOOTPROTO ONBOOT IPADDR NETMASK NM_CONTROLLED TYPE",
    ),
    _kind("networkd", r"systemd/network/|\.(?:network|netdev|link)$",
          "[Match] [Network] [NetDev] [Link] [Route] "
          "[Address] [DHCP]"),
    _kind("networkmanager", r"NetworkManager|\.nmconnection$",
        "[connection] [ipv4] [ipv6] [main] [keyfile] unmanaged-devices "
          "interface-name managed"),
    _kind("resolved", r"resolved\.conf", "[Resolve] DNSStubListener FallbackDNS DNSSEC "
                                         "MulticastDNS LLMNR"),
    _kind(
        "dhclient", r"dhclient.*\.conf|dhcp3?/dhclient", "request supersede prepend require send",
    ),
    _kind("nsswitch", r"nsswitch\.conf", "passwd hosts group shadow networks protocols"),
    _kind("containerd", r"containerd/.*\.toml|containerd\.toml",
        "disabled_plugins SystemdCgroup sandbox_image bin_dir conf_dir "
          "runtime_type snapshotter"),
    _kind("docker", r"docker/daemon\.json|daemon\.json", "bip default-address-pools exec-opts "
                                                         "live-restore userland-proxy fixed-cidr "
                                                         "insecure-registries registry-mirrors "
                                                         "storage-driver"),
    _kind("kubelet", r"kubelet", "cgroupDriver clusterDNS clusterDomain resolvConf staticPodPath "
                                 "failSwapOn"),
    _kind("unit", r"\.service(?:\.d/|$)|systemd/system/", "[Unit] [Service] [Install] ExecStart "
                                                          "ExecStartPre WantedBy After"),
    _kind("radvd", r"radvd\.conf", "AdvSendAdvert AdvOnLink AdvAutonomous prefix "
                                   "MinRtrAdvInterval"),
    _kind("iftab", r"/iftab", "mac"),
)  # fmt: skip
"""In the order they are asked. The file's name counts first; words count where no name tells."""


def find_path(source: Source) -> str:
    """Return the name of the file that a block shows: of a command, a label, its first comment;
    else empty.
    """
    places = [
        source.command or "",
        source.label or "",
        *(line for line in source.lines[:2] if line.lstrip().startswith(("#", "//", ";"))),
    ]
    for text in places:
        found = [
            one["path"]
            for one in _PATH.finditer(text[:500])
            if not one["path"].startswith(_PROGRAMS)
        ]
        if found:
            return found[-1]
    return source.name if not source.name.endswith((".md", ".txt", ".log")) else ""


def find_kind(path: str, statements: Sequence[Statement]) -> str:
    """Return the kind of a file; empty where neither its name nor its words tell."""
    by_name = next((kind.name for kind in KINDS if path and kind.paths.search(path)), "")
    if by_name:
        return by_name
    words = {statement.name.lower() for statement in statements}
    words |= {
        head.split(None, 1)[0].lower()
        for statement in statements
        for head in statement.path
        if head.strip()
    }
    words |= {f"[{head.lower()}]" for statement in statements for head in statement.path}
    counts = [(len(kind.names & words), kind.name) for kind in KINDS]
    most, name = max(counts, key=lambda one: one[0])
    return name if most >= 2 else ""
