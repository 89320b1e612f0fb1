"""The log of a reverse-path rule."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rpfilter_rule import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
[146484.816657] rpfilter_DROP: IN=wlp0s20f3 OUT= MAC=aa SRC=2001:db8::1 DST=2001:db8::2 LEN=140 PROTO=UDP
```
"""  # noqa: E501
ALMOST = """\
```
[146484.816657] FINAL_REJECT: IN=wlp0s20f3 OUT= MAC=aa SRC=192.0.2.1 DST=192.0.2.2 LEN=140 PROTO=UDP SPT=1 DPT=2
```
"""  # noqa: E501
HEALTHY = """\
```
[146484.816657] wg0: link becomes ready
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "rpfilter_DROP" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "wlp0s20f3" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Another rule's log."""
    assert [] == list(check(case_of_document(ticket)))


SHOWN = """\
{said}

```
# iptables -t mangle -S
-P PREROUTING ACCEPT
-N nixos-fw-rpfilter
-A PREROUTING -j nixos-fw-rpfilter
{rules}
```
"""
LOST = "Cilium on NixOS. Pods get no answer from the Internet."
RETURNS = "-A nixos-fw-rpfilter -m rpfilter --validmark{loose} -j RETURN\n"
DROPS = "-A nixos-fw-rpfilter -j DROP"


@pytest.mark.parametrize(
    ("said", "rules", "expected"),
    [
        (LOST, RETURNS.format(loose="") + DROPS, [0.5]),
        (LOST, "-A PREROUTING -m rpfilter --invert -j DROP", [0.5]),
        (LOST, RETURNS.format(loose=" --loose") + DROPS, []),
        (LOST, RETURNS.format(loose=""), []),
        (LOST, "-A PREROUTING -m rpfilter --invert -j LOG", []),
        (LOST, "-A PREROUTING -m mark --mark 0x4/0x4 -m rpfilter --invert -j DROP", []),
        (LOST.replace("get no answer from", "reach"), RETURNS.format(loose="") + DROPS, []),
        (LOST.replace("Cilium", "Flannel"), RETURNS.format(loose="") + DROPS, []),
    ],
    ids=["return", "invert", "loose", "unended", "log", "marked", "works", "bridges"],
)
def test_a_rule_that_is_shown(said: str, rules: str, expected: list[float]) -> None:
    """Possible where packets come in by devices that the routes back do not use; a plugin's own
    rule for marked packets is on every node.
    """
    found = check(ticket_of(SHOWN.format(said=said, rules=rules)))

    assert [one.certainty for one in found] == expected


UNLEASED = "LXD. Containers get no lease from the host's dnsmasq."
INVERTED = "-A PREROUTING -m rpfilter{options} --invert -j DROP"


@pytest.mark.parametrize(
    ("said", "rules", "expected"),
    [
        (UNLEASED, INVERTED.format(options=""), True),
        (UNLEASED, INVERTED.format(options=" --accept-local"), True),
        (UNLEASED, INVERTED.format(options="") + "\n# uname -r\n4.9.0-8-amd64", True),
        (UNLEASED, INVERTED.format(options="") + "\n# uname -r\n5.10.0-8-amd64", False),
        (UNLEASED, INVERTED.format(options=" --loose"), False),
        (UNLEASED.replace("get no", "get a"), INVERTED.format(options=""), False),
    ],
    ids=["strict", "own", "old", "new", "loose", "leased"],
)
def test_requests_for_a_lease_may_be_dropped(said: str, rules: str, expected: bool) -> None:  # noqa: FBT001
    """Their source is 0.0.0.0; kernels from 4.11 on let them pass."""
    found = list(check(ticket_of(SHOWN.format(said=said, rules=rules))))

    assert expected == bool(found)
    assert all(one.certainty < 1 and "lease" in str(one.claim) for one in found)


def test_requests_for_a_lease_have_no_rule_of_ipv6() -> None:
    """0.0.0.0 is an address of IPv4."""
    shown = SHOWN.replace("# iptables", "# ip6tables")
    rules = INVERTED.format(options="")

    assert [] == list(check(ticket_of(shown.format(said=UNLEASED, rules=rules))))


COUNTED = """\
{said}

```
# iptables -t raw -nvL PREROUTING
 pkts bytes target     prot opt in     out     source               destination
{packets:5} 13448 DROP       all  --  {device:6} *       0.0.0.0/0            0.0.0.0/0            rpfilter invert
```
"""  # noqa: E501


@pytest.mark.parametrize(
    ("packets", "device", "certainties"), [(41, "br7", [0.5]), (41, "*", [0.5]), (0, "br7", [])]
)
def test_a_rule_that_counts_may_drop_requests(
    packets: int, device: str, certainties: list[float]
) -> None:
    """What it counts may be other packets; one that counts nothing drops nothing."""
    found = check(ticket_of(COUNTED.format(said=UNLEASED, packets=packets, device=device)))

    assert certainties == [one.certainty for one in found]
