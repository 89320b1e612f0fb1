"""What bears on a connection that is asked about."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.cni import pod_address_twice
from podpath.checks.conntrack import stale_conntrack
from podpath.checks.dns import dns_without_endpoints
from podpath.checks.finding import Finding, Severity
from podpath.checks.services import proxy_behind
from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.asked import keep_asked
from podpath.diagnosis.conclusion import Conclusion
from podpath.net.probe import Probe
from podpath.node.case import Case
from podpath.node.node import Pod, Service
from podpath.testing.nodes import given_netns, given_node, span

PROBE = Probe.parse("tcp 10.244.0.2 > 10.244.1.2:80")
CASE = Case(node=given_node(given_netns("host", "eth0 192.0.2.1/24")))


def found(check: str, line: str) -> Finding:
    """Return a finding that quotes a line."""
    return Finding(check=check, severity=Severity.FAULT, claim=check, evidence=(span(line),))


def test_what_no_walk_sees_bears_where_it_speaks_of_the_ends() -> None:
    """An address that two pods have breaks a connection that every walk delivers."""
    about = found(pod_address_twice.NAME, "web-0 10.244.1.2; web-1 10.244.1.2")
    other = found(pod_address_twice.NAME, "web-0 10.244.9.9; web-1 10.244.9.9")
    seen = found("no-endpoints", "10.244.1.2")

    assert keep_asked(CASE, (about, other, seen), Conclusion(), (PROBE,)) == (about,)


def test_an_entry_that_outlived_its_endpoint_bears_on_what_a_new_socket_delivers() -> None:
    """The walk is a new connection's; a client that keeps its socket sends by the entry."""
    entry = "src=10.244.0.2 dst=10.244.1.2 sport=5353 dport=53 src=10.244.3.3 dst=10.244.0.2"
    about = found(stale_conntrack.NAME, entry)
    other = found(stale_conntrack.NAME, "src=10.244.9.9 dst=10.96.9.9 sport=5353 dport=53")

    assert keep_asked(CASE, (about, other), Conclusion(), (PROBE,)) == (about,)


def test_rules_of_another_service_bear_on_nothing() -> None:
    """The line that shows what kube-proxy lacks may name a range that every pod is in."""
    line = "-A KUBE-SERVICES ! -s 10.244.0.0/16 -d 10.96.0.9/32 -p tcp --dport 80 -j KUBE-MARK-MASQ"
    other = replace(found(proxy_behind.NAME, line), about=frozenset({"front", "10.96.0.9"}))
    asked = replace(other, about=frozenset({"far", "10.244.1.2"}))
    names = replace(other, about=frozenset())

    assert keep_asked(CASE, (asked, other, names), Conclusion(), (PROBE,)) == (asked,)


def test_where_it_fails_unexplained_what_speaks_of_its_ends_may_be_why() -> None:
    """Then every kind of fault counts."""
    seen, other = found("no-endpoints", "10.244.1.2"), found("no-endpoints", "10.244.9.9")
    failing = Conclusion(possible=(seen,))

    assert keep_asked(CASE, (seen, other), failing, (PROBE,)) == (seen,)


def test_beside_a_certain_cause_of_the_walk_nothing_else_bears() -> None:
    """It says why the connection fails; another fault of its ends is another story."""
    failing = Branch(assumptions=(), traces=(), works=False)
    cause = replace(found("no-route", "default via 192.0.2.254"), shown_by=failing)
    possible = replace(cause, certainty=0.5)
    other = found("no-endpoints", "10.244.1.2")

    named = keep_asked(CASE, (cause, other), Conclusion(causes=(cause,)), (PROBE,))
    open_still = keep_asked(CASE, (possible, other), Conclusion(possible=(possible,)), (PROBE,))

    assert ((cause,), (possible, other)) == (named, open_still)


def test_a_name_server_without_endpoints_bears_on_a_pod_that_asks_for_a_service() -> None:
    """Programs ask by name, though the probe has an address."""
    address = PROBE.dst
    service = Service(
        namespace="shop", name="web", type="ClusterIP", addresses=(address,), ports=()
    )
    pod = Pod(namespace="shop", name="cart", address=PROBE.src)
    named = replace(CASE, node=replace(CASE.node, services=(service,), pods=(pod,)))
    silent = found(dns_without_endpoints.NAME, "kube-dns <none>")

    assert (silent,) == keep_asked(named, (silent,), Conclusion(), (PROBE,))
    assert () == keep_asked(CASE, (silent,), Conclusion(), (PROBE,))
