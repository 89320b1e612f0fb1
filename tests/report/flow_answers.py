"""Answers about flows, of every verdict."""

from __future__ import annotations

import pytest

from podpath.flows.flow import Expectation, Flow
from podpath.library.flows import ChangeFile, FlowsResult, check
from podpath.library.given import Pasted
from tests.flows.samples import DROP, FLOWS, given_case

OPEN = ChangeFile(path=Pasted("ip route add 10.9.0.0/16 via 192.0.2.7\nip link set x up\n", "r"))
ANSWERS = {
    "met": check(given_case(), FLOWS),
    "unmet": check(given_case(), FLOWS, [ChangeFile(path=DROP)]),
    "undecided": check(given_case(), FLOWS, [OPEN]),
}
EVERY = pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)


def named(name: str) -> FlowsResult:
    """Return an answer about a flow of a name that somebody chose."""
    flow = Flow(name=name, source="pod/shop/web", target="10.2.0.2:81", expect=Expectation.CONNECTS)
    return check(given_case(), [flow])
