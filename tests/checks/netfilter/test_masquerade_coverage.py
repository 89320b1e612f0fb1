"""Ranges of rules that translate sources, held against the ranges that people speak of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.netfilter.masquerade_coverage import check
from podpath.net.addresses import Prefix
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Source, Span
from tests.checks.pasted import case_of

SPAN = Span(Source(name="ticket.md", lines=("Pods cannot reach the internet.",)), 1, 1)
PODS = Prefix.parse("10.244.0.0/16")
NO_WAY = Complaint(
    span=SPAN, works=False, source=EndKind.POD, target=EndKind.OUTSIDE, prefixes=(PODS,)
)
HIDDEN = Complaint(
    span=SPAN, works=False, failure=FailureKind.WRONG_PEER, prefixes=(Prefix.parse("10.20.0.0/16"),)
)
HEAD = "$ iptables -t nat -S POSTROUTING\n-P POSTROUTING ACCEPT\n"


@pytest.mark.parametrize(
    ("rules", "complaint", "certainties"),
    [
        ("-A POSTROUTING -s 10.42.0.0/16 -j MASQUERADE", NO_WAY, [1.0]),
        ("-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE", NO_WAY, []),
        ("-A POSTROUTING -o eth0 -j MASQUERADE", NO_WAY, []),
        ("-A POSTROUTING -s 10.42.0.0/16 -j MASQUERADE\n-A POSTROUTING -j MINE", NO_WAY, []),
        ("-A POSTROUTING -s 10.244.0.0/16 ! -o cni0 -j MASQUERADE", HIDDEN, [1.0]),
        ("-A POSTROUTING -s 10.244.0.0/16 ! -d 10.0.0.0/8 -j MASQUERADE", HIDDEN, []),
        (
            (
                "-A POSTROUTING -d 10.20.0.0/16 -j RETURN\n"
                "-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE"
            ),
            HIDDEN,
            [],
        ),
        (
            (
                "-A POSTROUTING -s 10.244.0.0/16 ! -d 10.0.0.0/8 -j MASQUERADE\n"
                "-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE"
            ),
            NO_WAY,
            [1.0],
        ),
    ],
)
def test_rules_are_held_against_ranges(
    rules: str, complaint: Complaint, certainties: list[float]
) -> None:
    """Too few, too many, and an exception that a second rule voids."""
    case = replace(case_of(HEAD + rules), complaints=(complaint,))

    assert [finding.certainty for finding in check(case)] == certainties
