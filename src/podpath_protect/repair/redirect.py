"""What redirection a pod asks for, and the rules that give it: linkerd's and istio's, as their own
tools write them.

What comes in is a pod; what goes out is a `PodRedirect`, or None where the pod asks for none, and
from it the text for `iptables-restore --noflush` that makes it so in one transaction. Who asks is
known by the proxy's container; what is left out by the annotations that linkerd's and istio's
injectors and CNI plugins obey.

Not modeled: inclusion and exclusion of address ranges other than linkerd's skipped subnets and
istio's outbound ranges, annotations of namespaces that an injector did not copy, DNS capture,
TPROXY, virtual interfaces. A pod that asks for one of those that show on it (`unmodelled`) is
judged, and never mended in place.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podpath_protect.cluster.objects import Container, KubePod
from podpath_protect.repair.serving import ListeningSocket, parse_declared
from podpath_protect.validate.plan import MESHES, Style

Ports = tuple[str, ...]
"""Ports and ranges as iptables writes them: `25`, `8000:8010`."""

PROXIES: Final[Mapping[str, Style]] = {"linkerd-proxy": "linkerd", "istio-proxy": "istio"}
LINKERD, ISTIO = "config.linkerd.io/", "traffic.sidecar.istio.io/"
_ANNOTATIONS: Final = {
    "linkerd": tuple(
        LINKERD + key
        for key in (
            "skip-outbound-ports", "skip-inbound-ports", "skip-subnets", "proxy-uid",
            "control-port", "admin-port",
        )
    ),
    "istio": tuple(
        ISTIO + key
        for key in (
            "excludeInboundPorts", "excludeOutboundPorts", "excludeOutboundIPRanges",
            "includeInboundPorts", "includeOutboundIPRanges", "includeOutboundPorts",
            "kubevirtInterfaces", "excludeInterfaces",
        )
    ),
}  # fmt: skip
ANNOTATIONS: Final = frozenset(
    (*_ANNOTATIONS["linkerd"], *_ANNOTATIONS["istio"], "sidecar.istio.io/interceptionMode")
)
"""The annotations that are read here, which a list of pods must keep."""
_ISTIO_OWN: Final[Ports] = ("15008", "15090", "15021", "15020")
_LINKERD_OWN: Final = {"control-port": "4190", "admin-port": "4191"}
_PORTS = re.compile(r"([0-9]{1,5})(?:[-:]([0-9]{1,5}))?")
LINKERD_LISTENS: Final = (
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", "LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
)  # fmt: skip
"""Where linkerd's proxy listens, as its injector writes it: with `disableIPv6` for IPv4 alone."""
ISTIO_DUAL: Final = "ISTIO_DUAL_STACK"
"""By which istio's agent has its proxy listen for both families; without, for the pod's first."""
VARIABLES: Final = frozenset((*LINKERD_LISTENS, ISTIO_DUAL))
"""The variables of a proxy's container that are read here, which a list of pods must keep."""
_EVERYWHERE: Final = tuple(
    ListeningSocket("::", port) for port in (*MESHES["istio"].outbound, *MESHES["istio"].inbound)
)
LONGEST_ANNOTATION: Final = 2048
"""Whoever writes pods writes annotations, of up to 256 KB in all; nobody lists so many ports."""
NOBODY_CAN_BE: Final = (1 << 32) - 1
"""(uid_t) -1 is no user (include/linux/uidgid.h:uid_valid v6.12)."""
_USER_DIGITS: Final = 10
MULTIPORT = 15
"""Ports that one multiport match takes; a range counts two
(net/netfilter/xt_multiport.c:multiport_mt_check v6.12).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRedirect:
    """The redirection that a pod asks for."""

    style: Style
    outbound: int
    """The proxy's port for connections that the pod opens."""
    inbound: int
    """The proxy's port for connections that come to the pod."""
    proxy_uid: int
    skip_outbound: Ports = ()
    skip_inbound: Ports = ()
    skip_subnets: tuple[str, ...] = ()
    """Destinations that are left alone, of both families."""
    declared: tuple[ListeningSocket, ...] = ()
    """Where the proxy was told to listen; none where its container does not say."""
    unmodelled: str = ""
    """What the pod asks for beside that, which the rules here would not give."""


def asked(pod: KubePod) -> PodRedirect | None:
    """Return the redirection that a pod asks for by having a mesh's proxy; None where it has
    none.
    """
    names = (
        *pod.spec.containers,
        *pod.spec.init_containers,
    )  # a native sidecar is an init container
    proxy = next((each for each in names if each.name in PROXIES), None)
    if proxy is None:
        return None
    read = _linkerd if PROXIES[proxy.name] == "linkerd" else _istio
    return read(pod, proxy)


def _linkerd(pod: KubePod, proxy: Container) -> PodRedirect:
    faults: list[str] = []
    told = _Wishes(LINKERD, pod.metadata.annotations, faults)
    own = tuple(told(key) or usual for key, usual in _LINKERD_OWN.items())
    mesh = MESHES["linkerd"]
    variables = {each.name: each.value for each in proxy.env}
    out, into = (parse_declared(variables.get(name, "")) for name in LINKERD_LISTENS)
    outbound, inbound = _sole_port(out), _sole_port(into)
    return PodRedirect(
        style="linkerd",
        outbound=outbound or mesh.outbound[0],
        inbound=inbound or mesh.inbound[0],
        declared=(*out, *into) if outbound and inbound else (),
        proxy_uid=_user(proxy, told("proxy-uid"), mesh.proxy_uid or 0, faults),
        skip_outbound=_ports(told("skip-outbound-ports"), faults),
        skip_inbound=(*_ports(",".join(own), faults), *_ports(told("skip-inbound-ports"), faults)),
        skip_subnets=_subnets(told("skip-subnets"), faults),
        unmodelled="; ".join(faults),
    )


def _istio(pod: KubePod, proxy: Container) -> PodRedirect:
    annotations = pod.metadata.annotations
    faults: list[str] = []
    told = _Wishes(ISTIO, annotations, faults)
    everything = {"includeInboundPorts": "*", "includeOutboundIPRanges": "*"}
    others = (*everything, "includeOutboundPorts", "kubevirtInterfaces", "excludeInterfaces")
    faults += [
        f"{ISTIO}{key}={told(key)[:40]}"
        for key in others
        if told(key) not in {"", everything.get(key, "")}
    ]
    mode = annotations.get("sidecar.istio.io/interceptionMode", "")
    if mode not in {"", "REDIRECT"}:
        faults.append(f"sidecar.istio.io/interceptionMode={mode[:40]}")
    mesh = MESHES["istio"]
    both = any(each.name == ISTIO_DUAL and each.value == "true" for each in proxy.env)
    return PodRedirect(
        style="istio",
        outbound=mesh.outbound[0],
        inbound=mesh.inbound[0],
        declared=_EVERYWHERE if both else (),
        proxy_uid=_user(proxy, "", mesh.proxy_uid or 0, faults),
        skip_outbound=_ports(told("excludeOutboundPorts"), faults),
        skip_inbound=(*_ISTIO_OWN, *_ports(told("excludeInboundPorts"), faults)),
        skip_subnets=_subnets(told("excludeOutboundIPRanges"), faults),
        unmodelled="; ".join(faults),
    )


class _Wishes:
    """A pod's annotations under one prefix; one that is longer than anybody means is a fault, and
    is not read.
    """

    def __init__(self, prefix: str, annotations: Mapping[str, str], faults: list[str]) -> None:
        self._prefix, self._annotations, self._faults = prefix, annotations, faults

    def __call__(self, key: str) -> str:
        text = self._annotations.get(self._prefix + key, "")
        if len(text) <= LONGEST_ANNOTATION:
            return text
        self._faults.append(f"{self._prefix}{key} of {len(text)} letters")
        return ""


def _user(proxy: Container, annotated: str, usual: int, faults: list[str]) -> int:
    """Return as whom the proxy runs: what its container says counts before the annotation that it
    came from.
    """
    told = proxy.security_context.run_as_user if proxy.security_context is not None else None
    if told is not None:
        return told
    if not annotated:
        return usual
    if annotated.isascii() and annotated.isdecimal() and len(annotated) <= _USER_DIGITS:
        user = int(annotated)
        if user < NOBODY_CAN_BE:
            return user
    faults.append(f"proxy-uid `{annotated[:40]}`")
    return usual


def _sole_port(sockets: Sequence[ListeningSocket]) -> int | None:
    """Return the one port of a proxy's sockets; None where there is none, or more than one."""
    ports = {socket.port for socket in sockets}
    return ports.pop() if len(ports) == 1 else None


def _ports(text: str, faults: list[str]) -> Ports:
    found = []
    for word in filter(None, (each.strip() for each in text.split(","))):
        match = _PORTS.fullmatch(word)
        ends = [int(end) for end in match.groups() if end] if match else []
        if not ends or not all(0 < end < 65536 for end in ends) or ends != sorted(ends):
            faults.append(f"port `{word[:40]}`")
            continue
        found.append(":".join(map(str, ends)))
    return tuple(dict.fromkeys(found))


def _subnets(text: str, faults: list[str]) -> tuple[str, ...]:
    found = []
    for word in filter(None, (each.strip() for each in text.split(","))):
        try:
            found.append(str(ipaddress.ip_network(word, strict=False)))
        except ValueError:
            faults.append(f"subnet `{word[:60]}`")
    return tuple(found)


def render_restore(redirect: PodRedirect, family: int, hooked: frozenset[str] = frozenset()) -> str:
    """Write the rules for `iptables-restore --noflush` (`ip6tables-restore` for family 6).

    Chains of our own names are written anew; `hooked` names the built-in chains that jump to them
    already.
    """
    rules = _list_rules(redirect, family)
    into, out = CHAINS[redirect.style]
    chains = list_chains(redirect, family)
    wanted = [("PREROUTING", into), ("OUTPUT", out)]
    jumps = [f"-A {base} -p tcp -j {chain}" for base, chain in wanted if base not in hooked]
    lines = [
        "*nat",
        *(f":{chain} - [0:0]" for chain in chains),
        *(f"-A {rule}" for rule in rules),
        *jumps,
        "COMMIT",
    ]
    return "\n".join(lines) + "\n"


def render_undo(
    redirect: PodRedirect,
    family: int,
    hooked: frozenset[str],
    before: Mapping[str, Sequence[str]],
) -> str:
    """Write what takes back what `render_restore` wrote: jumps that were added go, chains that were
    there get their rules again, others go too. `before` has the lines of the mesh's own chains as
    they stood.
    """
    into, out = CHAINS[redirect.style]
    written = list_chains(redirect, family)
    added = [("PREROUTING", into), ("OUTPUT", out)]
    lines = ["*nat"]
    lines += [f"-D {base} -p tcp -j {chain}" for base, chain in added if base not in hooked]
    lines += [f"-F {chain}" for chain in written]
    lines += [line for chain in written for line in before.get(chain, ())]
    lines += [f"-X {chain}" for chain in reversed(written) if chain not in before]
    return "\n".join((*lines, "COMMIT\n"))


def list_chains(redirect: PodRedirect, family: int) -> tuple[str, ...]:
    """Name the chains that `render_restore` writes."""
    rules = _list_rules(redirect, family)
    return tuple(dict.fromkeys(rule.split(maxsplit=1)[0] for rule in rules))  # our own lines


def _list_rules(redirect: PodRedirect, family: int) -> list[str]:
    """Return the rules of a redirection, as the mesh that it imitates writes them."""
    if redirect.style == "linkerd":
        return _linkerd_rules(redirect, family)
    return _istio_rules(redirect, family)


CHAINS: Final[Mapping[Style, tuple[str, str]]] = {
    "linkerd": ("PROXY_INIT_REDIRECT", "PROXY_INIT_OUTPUT"),
    "istio": ("ISTIO_INBOUND", "ISTIO_OUTPUT"),
}
"""The chains that PREROUTING and OUTPUT jump to."""


def _spare(chain: str, ports: Ports) -> list[str]:
    """Return the rules by which a chain leaves ports alone."""
    groups = _groups(ports)
    return [f"{chain} -p tcp -m multiport --dports {group} -j RETURN" for group in groups]


def _linkerd_rules(redirect: PodRedirect, family: int) -> list[str]:
    into, out = CHAINS["linkerd"]
    return [
        *_spare(into, redirect.skip_inbound),
        f"{into} -p tcp -j REDIRECT --to-ports {redirect.inbound}",
        f"{out} -m owner --uid-owner {redirect.proxy_uid} -j RETURN",
        f"{out} -o lo -j RETURN",
        *(f"{out} -d {subnet} -j RETURN" for subnet in _of_family(redirect.skip_subnets, family)),
        *_spare(out, redirect.skip_outbound),
        f"{out} -p tcp -j REDIRECT --to-ports {redirect.outbound}",
    ]


def _istio_rules(redirect: PodRedirect, family: int) -> list[str]:
    into, out = CHAINS["istio"]
    uid = redirect.proxy_uid
    loopback, passed = ("127.0.0.1/32", "127.0.0.6/32") if family == 4 else ("::1/128", "::6/128")
    owned = ("--uid-owner", "--gid-owner")
    return [
        f"ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports {redirect.outbound}",
        f"ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports {redirect.inbound}",
        *_spare(into, redirect.skip_inbound),
        f"{into} -p tcp -j ISTIO_IN_REDIRECT",
        f"{out} -s {passed} -o lo -j RETURN",
        *(
            f"{out} ! -d {loopback} -o lo -p tcp -m owner {owner} {uid} -j ISTIO_IN_REDIRECT"
            for owner in owned
        ),
        f"{out} -o lo -m owner ! --uid-owner {uid} -m owner ! --gid-owner {uid} -j RETURN",
        *(f"{out} -m owner {owner} {uid} -j RETURN" for owner in owned),
        f"{out} -d {loopback} -j RETURN",
        *(f"{out} -d {subnet} -j RETURN" for subnet in _of_family(redirect.skip_subnets, family)),
        *_spare(out, redirect.skip_outbound),
        f"{out} -j ISTIO_REDIRECT",
    ]


def _groups(ports: Ports) -> list[str]:
    """Put ports together as far as one match takes them."""
    groups: list[list[str]] = [[]]
    room = MULTIPORT
    for port in ports:
        size = 2 if ":" in port else 1
        if size > room:
            groups.append([])
            room = MULTIPORT
        groups[-1].append(port)
        room -= size
    return [",".join(group) for group in groups if group]


def _of_family(subnets: tuple[str, ...], family: int) -> list[str]:
    return [subnet for subnet in subnets if ipaddress.ip_network(subnet).version == family]
