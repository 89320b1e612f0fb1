"""A fault is open where people speak of something else."""

from __future__ import annotations

import pytest

import podpath
from podpath.checks.finding import Severity
from podpath.library.given import Pasted
from tests.diagnosis.tickets import find

REJECTED = (
    'level=error msg="Put https://s3.example.org: x509: certificate signed by unknown authority"'
)


@pytest.mark.parametrize(
    ("prose", "command", "certainty"),
    [
        ("The dashboard does not open in the browser.", "kubectl logs backup-77c", 0.6),
        ("The dashboard does not open.", "kubectl -n ops logs --tail=5 deploy/backup", 0.6),
        ("The dashboard does not open.", "docker logs -f backup", 0.6),
        ("The backup does not upload anything any more.", "kubectl logs backup-77c", 1.0),
        ("The dashboard does not open.", "kubectl logs dashboard-5d4f", 1.0),
        ("The dashboard does not open.", "kubectl -n ingress-nginx logs ingress-nginx-1", 1.0),
        ("The dashboard does not open.", "journalctl -u kubelet", 1.0),
    ],
)
def test_a_certificate_in_the_log_of_another_program_is_possible(
    prose: str, command: str, certainty: float
) -> None:
    """Where that program is what fails, or others rest on it, it convicts."""
    text = f"{prose}\n\n```\n$ {command}\n{REJECTED}\n```\n"
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings[0]

    assert ("certificate-refused", certainty) == (found.check, found.certainty)


API = 'plugin/kubernetes: Get "https://10.43.0.1:443/version": dial tcp 10.43.0.1:443: i/o timeout'


LOCAL = "detect-local-mode set to ClusterCIDR, but no IPv6 cluster CIDR defined"


@pytest.mark.parametrize(
    ("prose", "severity"),
    [
        ("Pods on n5 do not get ready.", Severity.RISK),
        ("Pods cannot reach services.", Severity.RISK),
        ("Services cannot be reached from outside.", Severity.FAULT),
        ("The node port times out.", Severity.FAULT),
    ],
)
def test_a_proxy_without_a_range_breaks_services_from_elsewhere(
    prose: str, severity: Severity
) -> None:
    """What pods send to services is no matter of it; sound clusters print the line, too."""
    assert severity == find("local-range-unknown", LOCAL, prose=prose).severity


GIVEN_UP = "    inet6 {}/64 scope {} tentative noprefixroute dadfailed"


LINK_LOCAL = GIVEN_UP.format("fe80::d41f:5c51:1e01:d741", "link")


GLOBAL = GIVEN_UP.format("2001:db8::5", "global")


@pytest.mark.parametrize(
    ("prose", "line", "severity"),
    [
        ("Pods cannot reach the API server's endpoint.", LINK_LOCAL, Severity.RISK),
        ("Pods cannot reach 172.19.4.7:6443.", GLOBAL, Severity.RISK),
        ("Pods cannot reach the API server's endpoint.", GLOBAL, Severity.FAULT),
        ("Nothing is reached over IPv6.", LINK_LOCAL, Severity.FAULT),
        ("The host cannot reach 2001:db8::9.", GLOBAL, Severity.FAULT),
        ("The pod gets no address.", LINK_LOCAL, Severity.FAULT),
    ],
)
def test_an_address_of_ipv6_that_is_given_up_breaks_ipv6(
    prose: str, line: str, severity: Severity
) -> None:
    """One of the link alone breaks nothing that nobody says is of IPv6."""
    assert severity == find("address-given-up", line, prose=prose).severity


@pytest.mark.parametrize(
    ("above", "severity"),
    [("It would print:", Severity.RISK), ("It prints:", Severity.FAULT)],
)
def test_what_would_be_printed_is_no_fault(above: str, severity: Severity) -> None:
    """Nobody has seen it."""
    text = (
        f"The host cannot reach 10.9.9.9.\n\n{above}\n\n"
        "```\n# ip route get 10.9.9.9\nRTNETLINK answers: Network is unreachable\n```\n"
    )
    (found,) = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert ("route-refused", severity) == (found.check, found.severity)
