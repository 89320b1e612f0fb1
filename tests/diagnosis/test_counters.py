"""What the kernel counted speaks for a cause, or against it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from podpath.checks.finding import Finding
from podpath.diagnosis.counters import TELLTALES, add_counters
from podpath.net.provenance import Known
from podpath.node.node import Node
from tests.checks.nodes import netns, node, span
from tests.command import podpath


def host(**counters: int) -> Node:
    """Make a node whose kernel counted."""
    facts = {name: Known(value, span(f"{name} {value}")) for name, value in counters.items()}
    return node(replace(netns(), counters=facts))


def finding(check: str, certainty: float = 1.0, severity: str = "cause") -> Finding:
    """Make a finding."""
    return Finding(check=check, severity=severity, claim=check, evidence=(), certainty=certainty)


def test_a_counter_that_grew_is_evidence() -> None:
    """It is told and quoted."""
    (told,) = add_counters([finding("rp-filter")], host(TcpExtIPReversePathFilter=12))
    assert told.reasoning == ("The kernel counts it: TcpExtIPReversePathFilter is 12.",)
    assert [each.text for each in told.evidence] == ["TcpExtIPReversePathFilter 12"]
    assert told.certainty == 1


def test_possible_causes_are_weighed_by_what_was_counted() -> None:
    """The one whose packets were counted comes first; all shares together stay what they were."""
    possible = [finding("br-netfilter", 0.4), finding("no-route", 0.3), finding("rp-filter", 0.1)]
    told = add_counters(possible, host(TcpExtIPReversePathFilter=3, IpExtInNoRoutes=0, IpOutNoRoutes=0))
    assert [each.check for each in told] == ["br-netfilter", "rp-filter", "no-route"]
    assert sum(each.certainty for each in told) == pytest.approx(0.8, abs=0.01)
    assert "Against it speaks that IpExtInNoRoutes and IpOutNoRoutes count 0." in told[2].reasoning


def test_a_fault_that_nothing_met_yet_is_one_all_the_same() -> None:
    """A counter of 0 is no word against it, and what is not counted changes nothing."""
    assert add_counters([finding("vxlan-mtu", severity="fault")], host(IpFragFails=0))[0].reasoning == ()
    assert add_counters([finding("chain-order")], host(IpFragFails=7)) == (finding("chain-order"),)


@pytest.mark.kernel("ip", "nstat", "ping")
def test_this_kernel_has_every_counter() -> None:
    """Named as nstat names them, zeros included."""
    said = subprocess.run(["nstat", "-asz"], capture_output=True, text=True, check=True).stdout
    assert {name for names in TELLTALES.values() for name in names} <= {line.split()[0] for line in said.splitlines()}


def test_the_counter_of_an_incident_is_quoted(repository: Path) -> None:
    """The kernel counted what the filter dropped when the incident was recorded."""
    said = podpath("diagnose", repository / "examples/incidents/rp-filter-reset/bundle").stdout
    assert "The kernel counts it: TcpExtIPReversePathFilter is 12." in said
    assert '"TcpExtIPReversePathFilter": 12,' in said
