"""engine-drops-guests: guests of another manager lose their network since Docker runs on the host.

What it is
    Virtual machines or system containers on a bridge of libvirt, LXD, Incus or Proxmox have no
    network since Docker was installed or started, and have it without Docker.

Why it breaks
    Docker sets the policy of FORWARD to DROP and accepts what its own bridges forward. It also
    loads br_netfilter, with which frames that only cross a bridge pass FORWARD, too: of IPv4, and
    of IPv6 only where ip6tables drops. nftables rules of another table that accept a packet do
    not save it: each base chain has to let it through.

How to confirm
    iptables -S FORWARD | head -1; sysctl net.bridge.bridge-nf-call-iptables
    iptables -nvL FORWARD      # does the policy count packets with each attempt?

How to fix
    Accept the other bridge in DOCKER-USER (iptables -I DOCKER-USER -i BRIDGE -j ACCEPT, and -o),
    or start the daemon with "ip-forward-no-drop": true (28.3 and newer). Where frames only cross
    the bridge: net.bridge.bridge-nf-call-iptables=0.

References
    Docker's documentation, "Packet filtering and firewalls"; net/bridge/br_netfilter_hooks.c
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import chains_named
from podpath.checks.told import find_told
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.FORWARD_POLICY, Category.BRIDGE_NETFILTER)
NAME = "engine-drops-guests"
LIKELY = 0.7
_MANAGERS = frozenset({Technology.LXC, Technology.KVM, Technology.PROXMOX, Technology.OPENSTACK})
ASK = FollowUp(
    "whether FORWARD drops what the other bridge forwards, and whether bridged frames pass it",
    (
        "iptables -nvL FORWARD | head -5; iptables -S DOCKER-USER; "
        "sysctl net.bridge.bridge-nf-call-iptables"
    ),
    "policy DROP whose counter grows with each attempt: accept the bridge in DOCKER-USER, or set "
    "bridge-nf-call-iptables=0 where frames only cross the bridge",
)


def check(case: Case) -> Iterator[Finding]:
    """Report that people say that guests lost their network with Docker, unless a listing shows a
    FORWARD that accepts.
    """
    told = find_told(case, Circumstance.SINCE_ENGINE)
    if told is None or not case.complaints or not _has_guests(case):
        return
    policies = [chain.policy for _, chain in chains_named(case.node.host, "filter", "FORWARD")]
    if policies and "DROP" not in policies:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "Docker drops what the guests' bridge forwards: it sets FORWARD's policy to DROP and "
            "accepts its own bridges alone."
        ),
        evidence=(told,),
        reasoning=("It is said to work without Docker, or to fail since Docker runs.",),
        breaks=("what other bridges of this host forward",),
        prevention="Accept the other bridges in DOCKER-USER wherever Docker is installed.",
        certainty=LIKELY,
        asks=(ASK,),
        marks=("ocker",),
    )


def _has_guests(case: Case) -> bool:
    """Tell whether what fails is of somebody else's guests: Docker accepts its own containers."""
    ends = {end for one in case.complaints for end in (one.source, one.target)}
    bridged = find_told(case, Circumstance.BRIDGED) is not None
    return EndKind.GUEST in ends or bridged or bool(case.mentions & _MANAGERS)
