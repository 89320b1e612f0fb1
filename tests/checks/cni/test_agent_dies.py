"""A network plugin's program that ends by itself."""

from __future__ import annotations

from podpath.checks.cni.agent_dies import check
from tests.checks.pasted import ticket_of

TABLE = (
    "```\n$ kubectl get pods -n kube-system\n"
    "NAME                    READY   STATUS             RESTARTS   AGE\n"
    "kube-flannel-ds-x2x9k   0/1     {status}           7          3m\n```\n"
)
LOG = (
    "```\n$ kubectl logs -n kube-system kube-flannel-ds-x2x9k\n"
    "flag provided but not defined: -iface-regexp\n```\n"
)


def test_an_agent_in_a_crash_loop_is_certain_with_its_line_and_its_row() -> None:
    """The fatal line first, then what shows it down."""
    (found,) = check(ticket_of(TABLE.format(status="CrashLoopBackOff") + LOG))

    assert 1.0 == found.certainty
    assert ["flag provided", "kube-flannel-ds"] == [
        " ".join(span.text.split()[:2])[:15].strip() for span in found.evidence
    ]


def test_an_agent_that_runs_said_it_before() -> None:
    """Its pod is up: the line is possible at most."""
    (found,) = check(ticket_of(TABLE.format(status="Running") + LOG))

    assert 0.6 == found.certainty


def test_programs_that_are_no_agents() -> None:
    """They have a page of their own."""
    text = "The pod crashes.\n\n```\n$ kubectl logs cart-0\nSIGSEGV: segmentation violation\n```\n"

    assert [] == list(check(ticket_of(text)))
