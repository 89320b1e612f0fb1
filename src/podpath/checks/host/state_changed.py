"""state-changed: something the failing path needs is in one output, and is missing or different in
the next.

What it is
    The same listing was taken twice, before and after something was started, or while it works and
    while it does not, and an address, route, policy rule, listener or zone setting disappeared or
    changed in between; or a route appeared that covers the address that fails.

Why it breaks
    Without the address, nothing answers for it and packets leave with another source; without the
    route or rule, they have no path, or take another one. Whatever was started between the two
    outputs is the first suspect: a VPN client, a DHCP client, NetworkManager, systemd-networkd or a
    firewall reload, each of which considers the network settings its own.

How to confirm
    # in a second terminal, while you start the suspect: it shows what disappears, and when
    ip monitor all
    journalctl -b -u NetworkManager -u systemd-networkd -u firewalld

How to fix
    Restore what is missing, and keep the suspect away from it: unmanaged-devices (NetworkManager),
    Unmanaged=yes or ManageForeignRoutes=no, ManageForeignRoutingPolicyRules=no (networkd),
    route-nopull or split routes (VPN).

References
    ip-monitor(8); networkd.conf(5); NetworkManager.conf(5)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import (
    LOSSES,
    find_told,
    list_failing,
    list_failing_addresses,
    list_lost,
)
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.shifts import Shift, ShiftKind

CATEGORIES = (
    Category.NETWORK_MANAGER,
    Category.WRONG_ROUTE,
    Category.NO_ROUTE,
    Category.POLICY_ROUTING,
    Category.SOURCE_ADDRESS,
)
NAME = "state-changed"
QUOTED = 4
LONG = 5
"""Letters of a command's word that a sentence may mean."""
_COMMON = frozenset({
    "start", "restart", "reload", "systemctl", "service", "docker", "kubectl", "apt-get", "install",
    "reinstall", "upgrade", "update", "full-upgrade", "dist-upgrade",
})  # fmt: skip
"""Words of commands that say nothing of which program they are about."""
_MANAGERS = re.compile(
    r"\b(?:restart|reload|apply|reconfigure)\b.*\b(?:systemd-networkd|NetworkManager|networking)\b|"
    r"\b(?:networkctl (?:reload|reconfigure)|netplan apply|nmcli (?:connection|con|c) reload)\b"
)
_PACKAGES = re.compile(
    r"\b(?:apt|apt-get|dnf|microdnf|tdnf|yum|zypper)\b.*\s(?:systemd(?:-networkd|-udev)?|udev|"
    r"network-manager|NetworkManager|netplan(?:\.io)?|ifupdown2?|wicked)(?![\w-])"
)
"""Packages whose upgrade starts who manages the host's network again."""
_STARTS = re.compile(r"\b(?:docker|podman|nerdctl|docker-compose)\b.*\b(?:run|start|restart|up)\b")
_SINGLE = re.compile(r"\b(?:from|to) (?:\d+\.){3}\d+(?![\d/.])|\b(?:from|to) \S+/32\b")
"""A policy rule for one address, as plugins write one for a pod, and networkd for an uplink."""
_ORDER = (ShiftKind.ROUTE, ShiftKind.RULE, ShiftKind.ADDRESS, ShiftKind.ZONE, ShiftKind.LISTENER)
_PATHS = frozenset({ShiftKind.ROUTE, ShiftKind.RULE, ShiftKind.ADDRESS})


def check(case: Case) -> Iterator[Finding]:
    """Report what vanished or changed between two states, the most telling first."""
    lost = [one for one in case.shifts if one.good is not None and one.kind in _PATHS]
    if not lost:
        yield from _find_appeared(case)
        return
    lost.sort(key=lambda one: (_ORDER.index(one.kind), one.bad is not None))
    yield _report(case, lost)


def _find_appeared(case: Case) -> Iterator[Finding]:
    """Report the first route that only the failing state has, and that takes what fails."""
    failing = list_failing_addresses(case)
    for one in case.shifts:
        prefix, span = one.prefix, one.bad
        new = one.kind is ShiftKind.ROUTE and one.good is None
        if not new or span is None or prefix is None or not prefix.length:
            continue
        if any(prefix.covers(address) for address in failing):
            yield _report_appeared(one, span)
            return


def _report_appeared(shift: Shift, span: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{_upper(shift.name)} is new in the failing state, and takes what fails.",
        evidence=(span,),
        reasoning=("Of two outputs of the same command, only the failing state's has it.",),
        breaks=(f"traffic to {shift.prefix} that has to go another way",),
        prevention="Let scripts of guests and VPNs add routes for their own networks only.",
        certainty=0.7,
        marks=(str(shift.prefix), shift.link),
        asks=(
            FollowUp(
                fact=f"whether {shift.prefix} is to be reached by {shift.link or 'this route'}",
                command="ip route get ADDRESS; ip neigh show",
                decides="it leads there, and what fails is elsewhere: take the route away",
            ),
        ),
    )


def _report(case: Case, lost: Sequence[Shift]) -> Finding:
    first = lost[0]
    failing = any(not one.works for one in case.complaints)
    gone = first.bad is None
    told = (
        first.told
        or _is_blamed(case, first)
        or _is_managers(case, lost)
        or _is_upgraded(case, first)
        or _is_of_start(case, first)
    )
    sure = told and failing and (gone or first.kind is ShiftKind.ROUTE)
    since = first.act or first.between
    after = f" ({since.strip()[:80]})" if since and told else ""
    spans = [span for one in lost[:QUOTED] for span in (one.bad, one.good) if span is not None]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{_upper(first.name)} {'is gone' if gone else 'is different'} in the failing "
        f"state{after}: the other output shows it.",
        evidence=tuple(spans),
        reasoning=(
            "Two outputs of the same command differ, and the path needs what differs.",
            *(
                f"Also: {one.name} {'is gone' if one.bad is None else 'is different'}."
                for one in lost[1:QUOTED]
            ),
        ),
        breaks=("traffic that depends on it",),
        prevention=(
            "Keep whatever was started between the two outputs away from addresses and routes that "
            "are not its own."
        ),
        certainty=1.0 if sure else 0.7,
        proves=LOSSES if _takes_failing(case, first) else frozenset(),
        marks=tuple(str(mark) for mark in (first.address, first.prefix) if mark is not None),
        asks=()
        if sure
        else (
            FollowUp(
                fact=f"what removes {first.name}",
                command=(
                    "ip monitor all (while it happens); journalctl -b -u NetworkManager -u "
                    "systemd-networkd -u firewalld"
                ),
                decides="a line at the moment it disappears names the program",
            ),
        ),
    )


def _takes_failing(case: Case, shift: Shift) -> bool:
    """Tell whether the changed thing is a route for what people say fails."""
    prefix = shift.prefix if shift.kind is ShiftKind.ROUTE else None
    if prefix is None or not prefix.length:
        return False
    named = {address for one in list_lost(case) for address in one.addresses}
    return any(prefix.covers(address) for address in named)


def _is_managers(case: Case, lost: Sequence[Shift]) -> bool:
    """Tell whether policy rules vanished behind a restart of who manages the host's network: it
    removes rules that it did not make (ManageForeignRoutingPolicyRules), or loses its own.

    Rules for a mark or a network may be those of a VPN that is gone; that a rule for a single
    address should go with it is no plan of anybody's.
    """
    first = lost[0]
    if first.kind is not ShiftKind.RULE or first.bad is not None:
        return False
    narrow = any(_SINGLE.search(one.name) for one in lost if one.kind is ShiftKind.RULE)
    refused = any(one.failure is FailureKind.REFUSED for one in list_failing(case))
    works = any(one.works and not one.addresses for one in case.complaints)
    return narrow and not refused and not works and _MANAGERS.search(first.act) is not None


def _is_upgraded(case: Case, shift: Shift) -> bool:
    """Tell whether a policy rule is gone behind an upgrade of who manages the host's network, and
    people say that what routing decides fails since an upgrade.
    """
    gone = shift.kind is ShiftKind.RULE and shift.bad is None
    since = any(Technology.UPGRADE in one.mentions for one in list_lost(case))
    works = any(one.works and not one.addresses for one in case.complaints)
    return gone and since and not works and _PACKAGES.search(shift.act) is not None


def _is_of_start(case: Case, shift: Shift) -> bool:
    """Tell whether a thing is gone behind the start of a container, and people say that it begins
    with one.
    """
    started = _STARTS.search(shift.act) is not None
    return shift.bad is None and started and bool(find_told(case, Circumstance.AT_CONTAINER_START))


def _is_blamed(case: Case, shift: Shift) -> bool:
    """Tell whether people say that it fails since the command that stands between the two outputs,
    and nobody that something works since.
    """
    words = {word.lower() for word in shift.act.replace("/", " ").split() if len(word) >= LONG}
    words |= {word.removesuffix(".service").removeprefix("systemd-") for word in words}
    words |= {word.removesuffix(".service") for word in words}
    words -= _COMMON
    fails = any(words & one.spoken for one in case.complaints if not one.works)
    works = any(words & one.spoken for one in case.complaints if one.works)
    return shift.bad is None and fails and not works


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
