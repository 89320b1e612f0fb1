"""address-not-held: a flag or file treats an address as the host's own, but no device has it.

What it is
    A configuration file gives a device an address, or a program is told that an address is the
    host's (--node-ip, --advertise-address, etcd's --listen-peer-urls). The listing of all addresses
    shows it on another device, or nowhere.

Why it breaks
    The file is not in force: another program configures the device, the file has an error, or it
    was never applied. Or the host's address changed, by a lease or a move, and the program still
    announces or binds the old one: the kubelet does not start, and peers connect to nobody.

How to confirm
    ip -br addr; networkctl status -a; nmcli device show
    ps aux | grep -e node-ip -e advertise

How to fix
    Apply the file (netplan apply, ifreload -a, nmcli connection up), and let just one program
    configure the device; or give the program the address that the host has. Reserve addresses that
    certificates and flags name.

References
    kubelet --node-ip, kubeadm --apiserver-advertise-address; netplan(5), interfaces(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.expected import Absence, list_absent
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import spans_of
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_MANAGER, Category.LINK_DOWN, Category.TUNNEL_ENDPOINT)
NAME = "address-not-held"
POSSIBLE = 0.7
"""Nothing says that the file is in force, or that the program runs with the flag."""
QUOTED = 2


def check(case: Case) -> Iterator[Finding]:
    """Report each address once that is not where a flag or file takes it to be."""
    told: set[str] = set()
    for absence in list_absent(case):
        address = str(absence.expected.address)
        if address not in told:
            told.add(address)
            yield _report(absence)


def _report(absence: Absence) -> Finding:
    expected, instead = absence.expected, absence.instead[:QUOTED]
    has = ", ".join(f"{one.link} has {one.address}" for one in instead)
    where = f"it is on {absence.found_on}" if absence.found_on else f"no device has it: {has}"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{_name(absence)} treats {expected.address} as the host's own, but {where}.",
        evidence=(expected.span, *spans_of(instead)),
        reasoning=("The listing shows every address that the host has.",),
        breaks=(f"what is sent to {expected.address}, and what is to leave with it",),
        prevention="Reserve the addresses that flags and files name, and set them in one place.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                f"who configures the device, and what still uses {expected.address}",
                "ip -br addr; networkctl status -a; nmcli device show; ps aux | grep "
                f"{expected.address}",
                "a program runs with it, or the file is to be in force: that is the fault",
            ),
        ),
        marks=(str(expected.address),),
    )


def _name(absence: Absence) -> str:
    by = absence.expected.by
    return by[:1].upper() + by[1:] if absence.expected.device else by
