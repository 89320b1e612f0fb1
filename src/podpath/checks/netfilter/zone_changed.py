"""zone-changed: a firewalld zone has lost a device, a source or a service between two listings.

What it is
    `firewall-cmd --list-all` of one zone was taken twice, while it worked and when it failed, and
    the second lists fewer interfaces, sources, services, ports or rich rules, or no longer
    masquerades.

Why it breaks
    A zone does not admit what it does not list. A device that left its zone goes to the default
    zone, whose rules reject what they do not list: a container engine puts its bridges into a zone
    (`docker`, `trusted`) while firewalld runs, and a reload or restart keeps what is permanent.

How to confirm
    firewall-cmd --get-active-zones
    firewall-cmd --permanent --zone=ZONE --list-all
    journalctl -b -u firewalld -u docker

How to fix
    Put it back permanently: firewall-cmd --permanent --zone=ZONE --add-interface=DEVICE (or
    --add-source, --add-service, --add-port, --add-masquerade), then firewall-cmd --reload. What an
    engine adds itself comes back when it is restarted.

References
    firewall-cmd(1); firewalld.zones(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing
from podpath.node.case import Case
from podpath.node.shifts import Shift, ShiftKind

CATEGORIES = (Category.HOST_FIREWALL,)
NAME = "zone-changed"
LETS_IN = ("interfaces", "sources", "services", "ports", "rich rules", "masquerade", "forward")
"""Settings of a zone of which less lets less through, the most telling first."""


def check(case: Case) -> Iterator[Finding]:
    """Report the most telling setting of which the failing state has less."""
    found = [one for one in case.shifts if one.kind is ShiftKind.ZONE and one.bad and _loses(one)]
    if found and any(True for _ in list_failing(case)):
        yield _report(min(found, key=_rank))


def _loses(shift: Shift) -> bool:
    return bool(set(shift.lost) - {"no"}) and _rank(shift) < len(LETS_IN)


def _rank(shift: Shift) -> int:
    """Return the place of a shift's setting among the telling ones."""
    places = (place for place, key in enumerate(LETS_IN) if f"`{key}`" in shift.name)
    return next(places, len(LETS_IN))


def _report(shift: Shift) -> Finding:
    lost = ", ".join(shift.lost)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{shift.name} lacks {lost} in the state that fails.",
        evidence=tuple(span for span in (shift.bad, shift.good) if span is not None),
        reasoning=("What no zone lists goes to the default zone, or no zone admits it.",),
        breaks=("traffic that the setting admits",),
        prevention="Set it with --permanent, so that a reload keeps it.",
        certainty=1.0 if shift.told else 0.7,
        marks=shift.lost,
        asks=()
        if shift.told
        else (
            FollowUp(
                "which of the two listings shows the failing state",
                "firewall-cmd --get-active-zones; firewall-cmd --list-all-zones",
                "the device is now in another zone or in none: that zone rejects it",
            ),
        ),
    )
