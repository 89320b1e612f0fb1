"""`cilium status`: the lines that say how Cilium's datapath is set up, as options of its ConfigMap
(pkg/client/client.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import CiliumOptionRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.provenance import Source

_LINE = re.compile(r"(?P<name>[A-Z][\w /-]*):\s+(?P<value>\S.*)")
_SIGNS = re.compile(
    r"(?:KubeProxyReplacement|Masquerading|Host Routing|Cilium health daemon|BandwidthManager|"
    r"KVStore|Host firewall):\s"
)
_VERSION = re.compile(r"(?:Ok|OK)\s+(?P<version>\d+\.\d+\S*)")
_DEVICES = re.compile(r"BPF\s+\[(?P<names>[^\]]+)\]")
"""The devices on which BPF programs masquerade."""
_TUNNEL = re.compile(r"Tunnel \[(?P<tunnel>\w+)\]")


def recognise_status(source: Source) -> int:
    """Recognize the status by names of lines that only Cilium has."""
    signs = sum(_SIGNS.match(line.strip()) is not None for line in sample(source))
    return (NO, LIKELY + 5, CERTAIN)[min(signs, 2)]


def read_status(source: Source) -> Reading:
    """Read what the status says of masquerading, kube-proxy's replacement, host routing and the
    tunnel.
    """
    ledger = LineLedger(source)
    for index, line in enumerate(ledger.lines):
        if not line.strip() or ledger.elide(index):
            continue
        found = _LINE.match(line.strip())
        options = _parse(found["name"], found["value"]) if found is not None else ()
        if not options:
            ledger.head(index)
        for key, value in options:
            ledger.add(CiliumOptionRecord(span=ledger.span(index), key=key, value=value))
    return ledger.close("a line of cilium status")


def _parse_routing(value: str) -> Iterator[tuple[str, str]]:
    tunnel = _TUNNEL.search(value)
    if tunnel is not None:
        yield "tunnel", tunnel["tunnel"]
    elif "Native" in value:
        yield "routing-mode", "native"
    host = re.search(r"Host: (?P<host>\w+)", value)
    if host is not None:
        yield "enable-host-legacy-routing", "false" if host["host"] == "BPF" else "true"


def _parse(name: str, value: str) -> tuple[tuple[str, str], ...]:
    word = re.split(r"[\s\[]", value, maxsplit=1)[0].lower()
    if name == "KubeProxyReplacement":
        return (("kube-proxy-replacement", word),)
    if name == "Masquerading":
        return _parse_masquerading(word, value)
    if name == "Host Routing":
        return (("enable-host-legacy-routing", "false" if word == "bpf" else "true"),)
    if name == "Routing":
        return tuple(_parse_routing(value))
    if name == "Host firewall":
        return (("enable-host-firewall", "true" if word == "enabled" else "false"),)
    version = _VERSION.match(value) if name == "Cilium" else None
    return (("version", version["version"]),) if version is not None else ()


def _parse_masquerading(word: str, value: str) -> tuple[tuple[str, str], ...]:
    if word == "disabled":
        return (("enable-ipv4-masquerade", "false"),)
    families = re.search(r"IPv4: (?P<four>\w+), IPv6: (?P<six>\w+)", value)
    four = "true" if families is None else str(families["four"] == "Enabled").lower()
    six = (
        ()
        if families is None
        else (("enable-ipv6-masquerade", str(families["six"] == "Enabled").lower()),)
    )
    used = _DEVICES.match(value)
    devices = () if used is None else (("devices", " ".join(re.split(r"[,\s]+", used["names"]))),)
    return (
        ("enable-bpf-masquerade", "true" if word == "bpf" else "false"),
        ("enable-ipv4-masquerade", four),
        *devices,
        *six,
    )


FORMAT = Format("cilium status", recognise_status, read_status)
