"""What the validator tries: connections, and where each should arrive if the redirect rules are
what they should be.

What comes in are the settings and what the pod looks like from inside; what goes out are `Probe`s
and what could not be tried.

A connection to an address that nobody has is enough to see a REDIRECT in OUTPUT: it changes the
destination before the packet leaves, so no target must be reachable, only some route be there. Such
packets get one hop to live, so that none leaves the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from podpath_protect.validate.addresses import Family, PodEnvironment
from podpath_protect.validate.sockets import SocketEnd, family_of

Purpose = Literal[
    "outbound", "loopback", "skipped", "proxy-user", "inbound-chain", "inbound", "skipped-inbound"
]
Style = Literal["podpath", "linkerd", "istio"]
NOWHERE: dict[Family, str] = {4: "192.0.2.2", 6: "2001:db8::2"}
"""Addresses of documentation (RFC 5737, RFC 3849): nobody has them."""
LOOPBACK: dict[Family, tuple[str, str]] = {4: ("127.0.0.1", "127.0.0.6"), 6: ("::1", "::6")}
"""Source and target of istio's own probe: its rules send 127.0.0.6 back where it came from."""
SOMEBODY = 65534


class Mesh(NamedTuple):
    """Where a mesh's proxy listens and as whom it runs."""

    outbound: tuple[int, ...]
    inbound: tuple[int, ...]
    proxy_uid: int | None
    inbound_chain: bool
    """Its rules lead the proxy's own connections to the pod's address into the inbound chain
    (istio: ISTIO_IN_REDIRECT).
    """


MESHES: dict[Style, Mesh] = {
    "linkerd": Mesh((4140,), (4143,), 2102, inbound_chain=False),
    "istio": Mesh((15001,), (15006,), 1337, inbound_chain=True),
    "podpath": Mesh((4140, 15001), (4143, 15006), None, inbound_chain=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the caller asks for."""

    style: Style = "podpath"
    outbound: tuple[int, ...] = MESHES["podpath"].outbound
    inbound: tuple[int, ...] = MESHES["podpath"].inbound
    proxy_uid: int | None = None
    inbound_chain: bool = False
    skip_outbound: tuple[int, ...] = ()
    skip_inbound: tuple[int, ...] = ()
    probe_port: int = 15002
    families: tuple[Family, ...] = ()
    """Families that must be redirected; none leaves it to the pod's addresses."""
    reflectors: tuple[SocketEnd, ...] = ()
    """Where somebody outside connects back when asked, one for a family: the agent's part
    `reflect`, or `--reflect`.
    """
    timeout: float = 10.0


class PlannedProbe(NamedTuple):
    """One connection to try."""

    purpose: Purpose
    family: Family
    target: SocketEnd
    redirected: bool
    """Whether the rules should redirect it."""
    ports: tuple[int, ...] = ()
    """Where it should arrive, if it should."""
    source: str = ""
    uid: int | None = None
    """The user to be while connecting; None for the process's own."""
    hops: int | None = 1


class Untried(NamedTuple):
    """A part of the redirection that this run cannot test, and what would."""

    purpose: Purpose
    family: Family
    why: str


def choose_families(settings: Settings, around: PodEnvironment) -> tuple[Family, ...]:
    """Choose the families to test: those asked for, or those of which the pod has addresses; IPv4
    where it has none at all.
    """
    families: tuple[Family, ...] = (4, 6)
    return (
        settings.families
        or tuple(family for family in families if around.addresses[family])
        or (4,)
    )


def plan_probes(
    settings: Settings, around: PodEnvironment
) -> tuple[tuple[PlannedProbe, ...], tuple[Untried, ...]]:
    """Return the probes, and what stays untried."""
    probes: list[PlannedProbe] = []
    untried: list[Untried] = []
    somebody: int | None = SOMEBODY if around.may_change_user else -1
    proxy: int | None = settings.proxy_uid if around.may_change_user else -1
    if around.uid == settings.proxy_uid:
        proxy = None
    else:
        somebody = None
    for family in choose_families(settings, around):
        source, target = LOOPBACK[family]
        ports = settings.outbound + settings.inbound
        probes.append(
            PlannedProbe(
                "loopback",
                family,
                SocketEnd(target, settings.probe_port),
                True,
                ports,
                source,
                hops=None,
            )
        )
        if somebody == -1:
            why = (
                f"this process is the proxy's own user {around.uid}, which the rules leave alone; "
                "run it as another user too"
            )
            untried += [Untried("outbound", family, why)] + [
                Untried("skipped", family, why)
            ] * bool(settings.skip_outbound)
        else:
            nowhere = NOWHERE[family]
            probes.append(
                PlannedProbe(
                    "outbound",
                    family,
                    SocketEnd(nowhere, settings.probe_port),
                    True,
                    settings.outbound,
                    uid=somebody,
                )
            )
            skipped = (SocketEnd(nowhere, port) for port in settings.skip_outbound)
            probes += [PlannedProbe("skipped", family, end, False, uid=somebody) for end in skipped]
        tried, left = _as_proxy(settings, around, family, proxy)
        probes += tried
        untried += left
        untried += list_unreflected(settings, family)
    return tuple(probes), tuple(untried)


def list_unreflected(settings: Settings, family: Family) -> Iterator[Untried]:
    """Yield what of inbound redirection nobody outside was named for."""
    others = [family_of(end) for end in settings.reflectors]
    if family in others:
        return
    why = (
        "nothing inside a pod can make a packet arrive from outside; give --reflector with the "
        "node's address (the agent's [reflect] serves it), or --await-inbound"
    )
    why = f"no reflector with an address of IPv{family} was given" if others else why
    yield Untried("inbound", family, why)
    if settings.skip_inbound:
        yield Untried("skipped-inbound", family, why)


def _as_proxy(
    settings: Settings, around: PodEnvironment, family: Family, proxy: int | None
) -> tuple[list[PlannedProbe], list[Untried]]:
    if settings.proxy_uid is None:
        return [], [Untried("proxy-user", family, "no --proxy-uid was given")]
    if proxy == -1:
        why = f"it needs to run as the proxy's user {settings.proxy_uid}, or CAP_SETUID"
        return [], [Untried("proxy-user", family, why)]
    probes = [
        PlannedProbe(
            "proxy-user", family, SocketEnd(NOWHERE[family], settings.probe_port), False, uid=proxy
        )
    ]
    if settings.inbound_chain:
        probes += list(_inbound_chain(settings, around, family, proxy))
    return probes, []


def _inbound_chain(
    settings: Settings, around: PodEnvironment, family: Family, proxy: int | None
) -> Iterator[PlannedProbe]:
    for address in around.addresses[family][:1]:
        yield PlannedProbe(
            "inbound-chain",
            family,
            SocketEnd(address, settings.probe_port),
            True,
            settings.inbound,
            uid=proxy,
            hops=None,
        )
