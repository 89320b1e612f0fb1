"""Whom the cluster's DNS forwards to in vain."""

from __future__ import annotations

import pytest

from podpath.checks.dns.upstream_silent import OWN_WAY, POSSIBLE, check
from tests.checks.pasted import ticket_of

LINE = "[ERROR] plugin/errors: 2 a.org. A: read udp 10.42.0.9:41020->192.0.2.53:53: {}"
SILENT = LINE.format("i/o timeout")
SAID = "Pods do not resolve names."


def told(*lines: str, said: str = SAID) -> list[tuple[str, float]]:
    """Return what is claimed of a log, and how sure it is; what is not certain asks."""
    text = f"{said}\n\n```\n" + "\n".join(lines) + "\n```\n"
    found = list(check(ticket_of(text)))
    assert all(one.certainty < 1 and one.asks and one.settled_by for one in found)
    return [(str(one.claim), one.certainty) for one in found]


@pytest.mark.parametrize(
    "line",
    [
        SILENT,
        "[ERROR] plugin/errors: 2 a.org. A: dial tcp 192.0.2.53:853: i/o timeout",
        "dnsmasq[31]: Maximum number of concurrent DNS queries reached (max: 150)",
    ],
)
def test_silence(line: str) -> None:
    """The server, where it is named, does not answer."""
    ((claim, sure),) = told(line)
    assert claim.startswith("The name server")
    assert claim.endswith("does not answer.")
    assert POSSIBLE == sure


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ("read: connection refused", "refuses port 53"),
        ("read: no route to host", "A firewall rejects"),
        ("write: network is unreachable", "has no route"),
        ("write: operation not permitted", "its own node"),
    ],
)
def test_an_error_at_once_is_no_silence(error: str, word: str) -> None:
    """Somebody answered, whoever it was."""
    ((claim, sure),) = told(LINE.format(error))
    assert word in claim
    assert "192.0.2.53" in claim
    assert POSSIBLE == sure


def test_silence_and_errors_are_told_apart() -> None:
    """One of two servers refuses, the other is silent."""
    other = LINE.replace("2.53", "2.54").format("read: connection refused")
    assert len(told(SILENT, other)) == 2


def test_who_is_answered_elsewhere_may_be_well() -> None:
    """The pod's way there is more likely broken than the server."""
    ((_, sure),) = told(SILENT, said=f"{SAID} The host gets answers from 192.0.2.53, it works.")
    assert OWN_WAY == sure


def test_a_pod_that_reaches_nobody_is_another_fault() -> None:
    """The API server is silent, too."""
    api = 'plugin/kubernetes: Get "https://10.43.0.1/version": dial tcp 10.43.0.1:443: i/o'
    assert not told(SILENT, f"{api} timeout")


RESOLV_CONF = (
    "$ kubectl exec web-0 -- cat /etc/resolv.conf\nnameserver 10.5.0.10\n"
    "search shop.svc.cluster.local svc.cluster.local cluster.local"
)
SERVICE = (
    "$ kubectl get svc -n kube-system kube-dns\n"
    "NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE\n"
    "kube-dns   ClusterIP   10.5.0.10    <none>        53/UDP,53/TCP   9d"
)


@pytest.mark.parametrize(
    ("server", "beside"),
    [("10.43.0.10", ""), ("10.5.0.10", RESOLV_CONF), ("10.5.0.10", SERVICE)],
    ids=["default", "resolv.conf", "service"],
)
def test_the_clusters_own_service_is_no_upstream(server: str, beside: str) -> None:
    """It is asked by a node's cache, or by itself."""
    ((claim, sure),) = told(SILENT.replace("192.0.2.53", server), beside)
    assert claim == f"The cluster's DNS service {server} does not answer 10.42.0.9."
    assert OWN_WAY == sure


def test_a_log_without_failures() -> None:
    """A question that was answered."""
    assert not told('[INFO] 10.1.0.5:40 - 2 "A IN a.org. udp 40" NOERROR')
