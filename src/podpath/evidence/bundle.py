"""A bundle's layout: what the name of a member says of it, and what its `bundle.json` states.

bundle.json                 node, kernel, time, roles of namespaces, veth pairs
netns/NAME/FILE             one network namespace; the host's is netns/host/
node/FILE                   what is node-wide
logs/, captures/            logs as text; captures as pcap
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from podpath.evidence.bundle_manifest import load_manifest, parse_time
from podpath.evidence.files import parse_file
from podpath.evidence.gathered import BundlePlace, Evidence, make_gap
from podpath.evidence.records import Reading
from podpath.net.errors import EvidenceError, MissingExtra
from podpath.net.provenance import Gap, Source

MANIFEST = "bundle.json"
_MEMBER = re.compile(
    r"(?:(?P<top>.*)/)?netns/(?P<netns>[^/]+)/(?P<file>[^/]+)|(?:.*/)?node/(?P<node>[^/]+)|"
    r"(?:.*/)?node/cni/(?P<cni>[^/]+)"
)
_CAPTURE = re.compile(r"(?:.*/)?captures/(?P<point>[^/]+)\.(?:txt|log|pcap|pcapng)")
ReadPackets = Callable[[str, bytes, BundlePlace], Evidence]
"""Reads a capture's packets: its name to show, its content, and where it was taken."""
_IP_FILE = re.compile(r"ip(?P<six>6)?-(?P<object>link|addr|route|rule|neigh)\.(?P<kind>json|txt)")
_SAVE_FILE = re.compile(r"(?P<six>ip6tables|iptables)(?P<legacy>-legacy)?-save\.txt")
_FILES: Mapping[str, str] = {
    "sysctl.txt": "sysctl -a", "nft.json": "nft -a -j list ruleset",
    "nft.txt": "nft -a list ruleset", "ipset.txt": "ipset save",
    "conntrack.txt": "conntrack -L -o extended,id", "bridge-link.json": "bridge -d -j link",
    "bridge-fdb.json": "bridge -d -j fdb", "bridge-vlan.json": "bridge -d -j vlan",
    "ss.txt": "ss -tulnp", "wg.txt": "wg show", "nstat.json": "nstat -asj",
    "ovs-vsctl.txt": "ovs-vsctl show", "bond-show.txt": "ovs-appctl bond/show",
    "modules.txt": "lsmod",
    "ip-neigh-proxy.json": "ip -d -j neigh show proxy", "tc-qdisc.txt": "tc qdisc",
    "ip-xfrm-policy.txt": "ip xfrm policy",
    "cilium-config.json": "kubectl -n kube-system get configmap cilium-config -o json",
}  # fmt: skip


def is_bundle(names: Iterable[str]) -> bool:
    """Tell whether names of files are those of a bundle: it has a manifest, or a namespace's
    folder.
    """
    return any(re.fullmatch(r"(?:[^/]+/)?(?:bundle\.json|netns/[^/]+/.+)", name) for name in names)


def assemble_bundle(
    files: Iterable[tuple[str, str, bytes]], read_packets: ReadPackets | None = None
) -> Evidence:
    """Return the sources of a bundle's files, each as (name within the bundle, name to show,
    content).

    A capture that stands there as text too is read as text, which has the names of devices; without
    `read_packets` it is a gap.
    """
    members = list(files)
    manifest = next((data for name, _, data in members if name.rpartition("/")[2] == MANIFEST), b"")
    taken_at = parse_time(load_manifest(manifest).get("time"))
    places = [_MEMBER.fullmatch(name) for name, _, _ in members]
    spaces = {found["netns"] for found in places if found is not None and found["netns"]}
    sources: list[Source] = []
    gaps: list[Gap] = []
    readings: list[tuple[Source, Reading]] = []
    for name, shown, data in members:
        packets = name.endswith((".pcap", ".pcapng"))
        if packets and any(other == f"{name.rpartition('.')[0]}.txt" for other, _, _ in members):
            continue
        try:
            place = (locate_capture(name, spaces) or locate_member(name))._replace(
                taken_at=taken_at
            )
            found = (
                read_packets(shown, data, place)
                if packets and read_packets
                else parse_file(shown, data, place)
            )
        except (EvidenceError, MissingExtra) as error:
            gaps.append(make_gap(shown, str(error)))
            continue
        sources.extend(found.sources)
        gaps.extend(found.gaps)
        readings.extend(found.readings)
    return Evidence(tuple(sources), tuple(gaps), readings=tuple(readings))


def locate_member(name: str) -> BundlePlace:
    """Say which namespace and command a member of a bundle is from, by its name."""
    found = _MEMBER.fullmatch(name)
    if found is None:
        return BundlePlace()
    if found["cni"] is not None:
        return BundlePlace(command=f"cat /etc/cni/net.d/{found['cni']}")
    if found["node"] is not None:
        return BundlePlace(command=_FILES.get(found["node"]))
    return BundlePlace(found["netns"], command_of(found["file"]))


def locate_capture(name: str, spaces: Collection[str]) -> BundlePlace | None:
    """Say where the text of a capture was taken, by its name; None for other members."""
    found = _CAPTURE.fullmatch(name)
    if found is None:
        return None
    point = found["point"]
    netns = max((space for space in spaces if point.startswith(f"{space}-")), key=len, default=None)
    device = point if netns is None else point[len(netns) + 1 :]
    return BundlePlace(netns, f"tcpdump -i {device}")


def command_of(file: str) -> str | None:
    """Return the command that prints a bundle's file; None where the name says none."""
    ip = _IP_FILE.fullmatch(file)
    if ip is not None:
        scope = " show table all" if ip["object"] == "route" else ""
        return (
            f"ip{' -6' if ip['six'] else ''} -d{' -j' if ip['kind'] == 'json' else ''} "
            f"{ip['object']}{scope}"
        )
    save = _SAVE_FILE.fullmatch(file)
    if save is not None:
        return f"{save['six']}{save['legacy'] or ''}-save -c"
    return _FILES.get(file)
