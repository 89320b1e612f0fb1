"""forwarding-switched-off: IPv4 forwarding is off on a host that needs it, as a sysctl file or its
value shows.

What it is
    A file in sysctl.d (from a hardening benchmark, an old sysctl.conf) sets net.ipv4.ip_forward=0,
    or its value is 0 while containers, guests or a network behind the host cannot reach anything
    beyond it.

Why it breaks
    The engine turns forwarding on when it starts. Whatever applies the file afterward (sysctl -p,
    sysctl --system, systemd-sysctl at boot in a race with the engine) turns it off again, and no
    container can reach anything beyond its host.

How to confirm
    sysctl net.ipv4.ip_forward
    grep -rs ip_forward /etc/sysctl.conf /etc/sysctl.d /run/sysctl.d /usr/lib/sysctl.d

How to fix
    Remove the line, or add a file that sorts last with net.ipv4.ip_forward = 1; then sysctl
    --system.

References
    systemd-sysctl(8), sysctl.d(5); devinet_sysctl_forward (net/ipv4/devinet.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_named
from podpath.checks.told import find_told, is_forwarder, list_cut_from_forwarding
from podpath.checks.topology import known_sysctl
from podpath.net.complaints import Circumstance
from podpath.net.provenance import Span, Unknown
from podpath.node.case import Case

CATEGORIES = (
    Category.IP_FORWARD,
    Category.SYSCTL,
)
NAME = "forwarding-switched-off"


KEYS = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding")


def check(case: Case) -> Iterator[Finding]:
    """Report a file that wants it off, certain where it is seen to be off, and a host that is off
    and has to forward.
    """
    yield from _wanted_off(case)
    yield from _missed(case)


def _wanted_off(case: Case) -> Iterator[Finding]:
    """Report a file that wants it off, while nothing shows it on."""
    wanted = [item.span for item in case.configured if item.key in KEYS and item.value == "0"]
    wanted = wanted or list(_list_set_off(case))
    facts = [fact for key in KEYS if (fact := known_sysctl(case.node.host, key)) is not None]
    live = [fact.span for fact in facts if fact.value == "0" and fact.span is not None]
    if not wanted or any(fact.value == "1" for fact in facts):
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "A file turns IPv4 forwarding off and undoes what the container engine or the "
            "kubelet set."
        ),
        evidence=tuple(dict.fromkeys((*wanted, *live))),
        reasoning=(
            "Without forwarding, the host drops what containers and pods send to other hosts.",
        ),
        breaks=("all traffic between containers and other hosts",),
        repairs=(
            Repair(
                title="let the host forward packets", commands=("sysctl -w net.ipv4.ip_forward=1",)
            ),
        ),
        prevention="Keep `net.ipv4.ip_forward = 1` in the file of /etc/sysctl.d that sorts last.",
        certainty=1.0 if live else 0.8,
        marks=("ip_forward", "0"),
    )


def _list_set_off(case: Case) -> Iterator[Span]:
    """Yield the lines of files that switch it off, as `grep` finds them, where people say that what
    has to be forwarded is cut off.
    """
    if not list_cut_from_forwarding(case):
        return
    for key in KEYS:
        fact = case.node.host.sysctls.get(key)
        option = fact.options[0] if isinstance(fact, Unknown) and fact.options else None
        if option is not None and option.value == "0" and option.span is not None:
            yield option.span


def _missed(case: Case) -> Iterator[Finding]:
    """Report a host that forwards nothing while people say that what it has to forward fails.

    Certain where they say that what the host would have to forward is cut off. In a listing
    of all sysctls the value is one of a thousand that nobody pointed at.
    """
    host = case.node.host
    facts = [
        fact
        for key in KEYS
        if (fact := known_sysctl(host, key)) is not None and fact.span is not None
    ]
    off = [fact.span for fact in facts if fact.value == "0" and fact.span is not None]
    if (
        not off
        or len(off) < len(facts)
        or any(item.key in KEYS and item.value == "0" for item in case.configured)
    ):
        return
    warned = find_told(case, Circumstance.FORWARDING_WARNED)
    cut = list_cut_from_forwarding(case) or ((warned,) if warned is not None else ())
    if not cut and (host.sysctls_complete or not is_forwarder(case)):
        return
    bare = _list_untranslated(case)
    also = ("No rule of POSTROUTING translates anything, either.",) if bare else ()
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "IPv4 forwarding is off, so the host drops what containers, guests or networks "
            "behind it send to other hosts."
        ),
        evidence=(*off, *bare, *cut[:1]),
        reasoning=(
            (
                "Without forwarding, the kernel silently drops every packet that is not for the "
                "host itself."
            ),
            *also,
        ),
        breaks=("all traffic that the host would have to forward",),
        repairs=(
            Repair(
                title="let the host forward packets", commands=("sysctl -w net.ipv4.ip_forward=1",)
            ),
        ),
        prevention="Keep `net.ipv4.ip_forward = 1` in the file of /etc/sysctl.d that sorts last.",
        certainty=1.0 if cut else POSSIBLE,
        asks=() if cut else (ASK,),
        marks=("ip_forward", "0"),
    )


def _list_untranslated(case: Case) -> tuple[Span, ...]:
    """Return the chain that would translate what leaves, where it is shown empty: with forwarding
    on, what is behind a private address would get no answer still.
    """
    shown = [chain for _, chain in chains_named(case.node.host, "nat", "POSTROUTING")]
    empty = all(chain.complete and not chain.rules for chain in shown)
    return tuple(chain.span for chain in shown if chain.span is not None) if empty else ()


POSSIBLE = 0.6
"""Of a host that stands between others, while nobody says that what it would forward fails."""
ASK = FollowUp(
    "whether this host has to forward what fails, and whether its source is translated",
    (
        "sysctl net.ipv4.ip_forward; iptables -t nat -S POSTROUTING (MASQUERADE); "
        "tcpdump -ni any host ADDRESS"
    ),
    "it comes in on one device and leaves on none: forwarding is missing",
)
