"""works-without-firewall: what fails works as soon as the host's firewall is off, and fails with
it.

What it is
    The same attempt fails, then somebody stops firewalld, disables ufw, flushes the filter rules or
    accepts the traffic, and it works; or it works, and fails once ufw is enabled. Or people say
    that it works without the firewall.

Why it breaks
    A host's firewall admits what is for the host's own services. Traffic of pods and containers is
    forwarded, comes in by bridges that belong to no zone, or uses ports of overlays and NodePorts
    that nobody opened: the firewall drops it, or rejects it with host-prohibited, which programs
    report as "no route to host".

How to confirm
    firewall-cmd --get-active-zones; firewall-cmd --list-all-zones; ufw status verbose
    iptables-save -c; nft list ruleset      # which rule's counter grows with each attempt

How to fix
    Turn the firewall on again, and admit what fails in its own configuration: the bridges and
    ranges of containers in firewalld's zone trusted, `ufw route allow`, an accepting rule above the
    one that drops or rejects everything.

References
    firewalld.zones(5); ufw(8), "ROUTE"; iptables-extensions(8), REJECT
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.told import find_told, list_failing
from podpath.net.complaints import Circumstance
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.turns import Turn

CATEGORIES = (Category.HOST_FIREWALL, Category.FORWARD_POLICY)
NAME = "works-without-firewall"
TOLD, MIXED = 0.65, 0.7
_SERVICES = (
    r"(?:firewalld|ufw|iptables|ip6tables|nftables|shorewall|csf|lfd|ferm|pve-firewall|"
    r"netfilter-persistent|SuSEfirewall2)"
)
_OFF = re.compile(
    rf"systemctl\s+(?:stop|disable\s+--now|mask\s+--now)\s+(?:--\S+\s+)*{_SERVICES}(?:\.service)?\b|"
    rf"service\s+{_SERVICES}\s+stop\b|/etc/init\.d/{_SERVICES}\s+stop\b|rc-service\s+{_SERVICES}\s+stop\b|"
    r"ufw\s+(?:disable|allow|route\s+allow|default\s+allow)\b|csf\s+-x\b|"
    r"shorewall\s+(?:clear|stop)\b|pve-firewall\s+stop\b|nft\s+flush\s+(?:ruleset|table)\b|"
    r"ip6?tables\s+(?!.*-t\s+(?:nat|mangle|raw)).*(?:-F\b|--flush\b|-j\s+ACCEPT\b|"
    r"-P\s+\w+\s+ACCEPT\b|-D\s+.*-j\s+(?:REJECT|DROP)\b)|"
    r"firewall-cmd\s+(?!.*masquerade).*--(?:add-(?:port|service|source|interface|rich-rule|protocol|"
    r"forward)|set-target)\b"
)
"""Commands that take a firewall away, or admit something in it."""
_ON = re.compile(r"ufw\s+(?:--force\s+)?enable\b|pve-firewall\s+start\b|csf\s+-e\b")
"""Commands that put a firewall in force and remove nobody else's rules."""
_OF_ALL = re.compile(r"\bip6?tables\b.*\s(?:-F|--flush)\b|\bnft\s+flush\b")
"""Commands that take everybody's rules away: a plugin's policies and translations, too."""
ASK = FollowUp(
    "which rule of the host's firewall drops the packets that fail",
    (
        "iptables-save -c; nft list ruleset; firewall-cmd --list-all-zones; ufw status verbose; "
        "journalctl -k | grep -e DROP -e REJECT -e BLOCK"
    ),
    "the rule whose counter grows with each attempt, or the zone without the containers' bridge: "
    "admit the traffic there",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was typed between failure and success, else what people say."""
    turns = [turn for turn in case.turns if _list_changes(turn)]
    if turns:
        yield _report(case, turns[0])
        return
    told = find_told(case, Circumstance.WITHOUT_FIREWALL)
    if told is not None and any(True for _ in list_failing(case)):
        yield _report_told(told)


def _list_changes(turn: Turn) -> list[tuple[str, Span]]:
    """Return what was typed of a firewall in between: it was taken away, or put in force."""
    pattern = _OFF if turn.is_cure else _ON
    return [change for change in turn.changes if pattern.search(change[0]) is not None]


def _report(case: Case, turn: Turn) -> Finding:
    changes = _list_changes(turn)
    command, span = changes[0]
    alone = len(changes) == len(turn.changes)
    others = any(_OF_ALL.search(typed) for typed, _ in changes)
    sure = alone and not others and find_told(case, Circumstance.INTERMITTENT) is None
    first, second = (
        ("fails before", "works after") if turn.is_cure else ("works before", "fails after")
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The host's own firewall drops or rejects it: the same command {first} `{command}` "
            f"and {second} it."
        ),
        evidence=(span, turn.failed, turn.worked),
        reasoning=("Nothing else was changed between the two.",) if alone else (),
        breaks=("what was tried, while the firewall is in force",),
        repairs=(
            Repair(
                title="admit it in the firewall's own configuration, and keep that on", commands=()
            ),
        ),
        prevention="Admit the bridges and ranges of containers before the firewall is turned on.",
        certainty=1.0 if sure else MIXED,
        asks=() if sure else (ASK,),
    )


def _report_told(told: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "The host's own firewall drops or rejects what fails: it is said to work once the "
            "firewall is off or accepts it."
        ),
        evidence=(told,),
        reasoning=("One of its rules drops what works then.",),
        breaks=("what fails, while the firewall is in force",),
        prevention="Admit the bridges and ranges of containers before the firewall is turned on.",
        certainty=TOLD,
        asks=(ASK,),
    )
