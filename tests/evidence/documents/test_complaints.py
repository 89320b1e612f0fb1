"""What people say in prose: what fails or works, between which ends, and how."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.complaints import MOST, read_complaints
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Source


def read(text: str) -> tuple[Complaint, ...]:
    """Read a text of which nothing was taken as an output."""
    return read_complaints("ticket.md", text.splitlines(), ())


@pytest.mark.parametrize(
    ("sentence", "failure"),
    [
        ("curl from the pod to the service times out.", FailureKind.TIMEOUT),
        ("The connection is refused at once.", FailureKind.REFUSED),
        ("Clients get `No route to host` from every source.", FailureKind.NO_ROUTE_TO_HOST),
        ("In the container no name can be resolved.", FailureKind.NAME_NOT_RESOLVED),
        ("The TLS handshake hangs after the client hello.", FailureKind.HANGS),
        ("The worker does not become ready since then.", FailureKind.NOT_STARTED),
        ("The coredns pods stay in ContainerCreating for hours.", FailureKind.NOT_STARTED),
        ("The VM does not get a usable address any more.", FailureKind.NO_ADDRESS),
        ("The host gets no more than 25 Mb/s through.", FailureKind.SLOW),
        ("Calls through the gateway are answered with 503.", FailureKind.ERROR_ANSWER),
        ("Downloads fail now and then with ECONNRESET in containers.", FailureKind.RESET),
        ("Large downloads fail now and then with ECONNRESET in containers.", FailureKind.RESET),
        ("Every second request to the service fails.", FailureKind.SOMETIMES),
        ("ping says: sendmsg: operation not permitted", FailureKind.NOT_PERMITTED),
    ],
)
def test_failure_is_named_by_the_words_for_it(sentence: str, failure: FailureKind) -> None:
    """Each way to fail has its words; denials of any verb count."""
    (complaint,) = read(sentence)

    assert (False, failure) == (complaint.works, complaint.failure)


def test_ends_protocol_ports_and_addresses_are_read() -> None:
    """Who cannot reach whom: behind `from` stands the source, behind the verb the target."""
    (complaint,) = read(
        "From a pod on another node I cannot ping the host 10.0.0.7 or open port 8080."
    )

    assert (EndKind.POD, False, protocols.ICMP) == (
        complaint.source,
        complaint.same_node,
        complaint.protocol,
    )
    assert ((8080,), ["10.0.0.7"]) == (
        complaint.ports,
        [str(address) for address in complaint.addresses],
    )


def test_what_works_is_told_apart() -> None:
    """A sentence that says that it works narrows down what does not."""
    assert [(True, None), (False, FailureKind.HANGS)] == [
        (one.works, one.failure)
        for one in read("To a pod of the same node it works fine. To the other node curl hangs.")
    ]


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("Pods on two nodes cannot reach each other.", False),
        ("Cross-node traffic fails.", False),
        ("It cannot be reached over the hosts' network.", None),
        ("Inter-node connections time out.", False),
        ("Pods can only reach pods of their own node.", False),
        ("The node port answers only on the node where the pod is running.", False),
        ("The node port answers only on some nodes.", None),
        ("The pod cannot be pinged from the node running it.", True),
        ("The liveness probe of the pod fails.", True),
        ("Pods cannot reach each other, not even on the same node.", False),
        ("The node that runs no pod gets no answer.", None),
        ("The service times out on both nodes.", None),
        ("From node n-1 a ping to a pod of node n-2 is lost.", False),
        ("From node n-1 a ping to a pod of node n-1 is lost.", None),
        ("Pods 10.1.0.4 and 10.1.0.9 of one node do not reach each other.", True),
        ("Pods of one node do not reach the API server.", None),
        ("The second uplink answers nobody since the update.", None),
        ("The server answers the LAN at 10.1.0.4 no more.", None),
        ("The split routing works until a package is upgraded.", None),
    ],
)
def test_one_node_or_two(sentence: str, *, same: bool | None) -> None:
    """Whether both ends are on one node: what works on the pod's own node alone fails across."""
    (complaint,) = read(sentence)

    assert (False, same) == (complaint.works, complaint.same_node)


def test_who_does_what_others_do_not() -> None:
    """A short clause at the end has the target of the one before it."""
    one, other = read("Programs of the node reach no service; pods do.")

    assert (False, EndKind.NODE, EndKind.SERVICE) == (one.works, one.source, one.target)
    assert (True, EndKind.POD, EndKind.SERVICE) == (other.works, other.source, other.target)


def test_part_of_the_tries_is_intermittent() -> None:
    """That some requests fail means that others do not; that some pods fail does not."""
    (some,) = read("Only some requests to the service fail.")
    (pods,) = read("Some pods cannot reach the service.")

    assert FailureKind.SOMETIMES is some.failure
    assert Circumstance.INTERMITTENT in some.circumstances
    assert Circumstance.INTERMITTENT not in pods.circumstances


def test_outputs_and_fences_are_no_prose() -> None:
    """Lines that an output took, and what stands in a fence, complain of nothing."""
    lines = ["```", "the connection was refused", "```", "connect: the connection was refused"]

    assert () == read_complaints(
        "ticket.md", lines, [Source(name="ticket.md", lines=(lines[3],), first_line=4)]
    )


def test_heading_complains_too_and_labels_do_not() -> None:
    """A heading is a sentence; two words are a label."""
    (complaint,) = read("# Pods cannot reach the API server\n\nBroken interface:\n")

    assert (1, EndKind.API_SERVER) == (complaint.span.line, complaint.target)


def test_complaints_are_limited() -> None:
    """Of a text that complains without end, the beginning counts."""
    assert MOST == len(read("The request to it failed again.\n\n" * (MOST + 10)))


@given(st.text())
def test_reading_never_raises(text: str) -> None:
    """Whatever stands in a text, each complaint quotes a line of it."""
    lines = text.splitlines()

    assert all(
        1 <= one.span.line <= one.span.last_line <= len(lines)
        for one in read_complaints("t", lines, ())
    )


@pytest.mark.parametrize(
    ("sentence", "works", "failure"),
    [
        ("The BGP sessions with the core switch fall each night.", False, FailureKind.RESET),
        ("The route of rack 7 vanishes for some minutes.", False, FailureKind.SOMETIMES),
        ("The uplink is flapping again.", False, FailureKind.SOMETIMES),
        ("The ingress pod restarts for ever.", False, FailureKind.NOT_STARTED),
        ("The service answers only after 63 seconds.", False, FailureKind.SLOW),
        ("From another node of this cluster not.", False, None),
        ("A pod in the other namespace resolves the same name.", True, None),
        ("Pods resolve names of the cluster.", True, None),
    ],
)
def test_sessions_routes_and_names(
    sentence: str,
    works: bool,  # noqa: FBT001 # a row
    failure: FailureKind | None,
) -> None:
    """What comes and goes is another failure than what is slow; who resolves names works."""
    (found,) = read(sentence)

    assert (works, failure) == (found.works, found.failure)


@pytest.mark.parametrize(
    ("text", "works", "fails"),
    [
        ("The host reaches 10.31.8.20, and pods do not.", EndKind.NODE, EndKind.POD),
        ("The node can ping 10.31.8.20 but its pods cannot.", EndKind.NODE, EndKind.POD),
        ("Pods cannot reach 10.31.8.20, the node itself can.", EndKind.NODE, EndKind.POD),
        ("Containers get no answer from 10.31.8.20, while the host does.",
         EndKind.NODE, EndKind.CONTAINER),
        ("Pods see 10.31.8.20, the guests on host b can't.", EndKind.POD, EndKind.GUEST),
    ],
)  # fmt: skip
def test_a_clause_may_leave_its_verb_to_the_one_before(
    text: str, works: EndKind, fails: EndKind
) -> None:
    """Who does and who does not stand in it alone; what is asked for is the same."""
    said = {one.works: one for one in read_complaints("t", [text], ())}

    assert (works, fails) == (said[True].source, said[False].source)
    assert ["10.31.8.20"] == [str(one) for one in said[False].addresses]
    assert not said[False].sources


@pytest.mark.parametrize(
    "text",
    [
        "I want to reach 10.0.0.9 from a pod.",
        "How can I get pods to connect to 10.0.0.9?",
        "I want to reach 10.0.0.9 from the node, pods do not.",
        "If the node reaches 10.0.0.9, containers cannot.",
        "No pods on w2 can.",
        "Sometimes pods on w2 can.",
        "The pods on this node are:",
        "Pods cannot reach 10.0.0.9, the affected pods are: web-1.",
        "Pods cannot reach 10.0.0.9, no host can.",
        "Pods cannot reach 10.0.0.9, I think hosts can.",
        "Pods cannot reach 10.0.0.9, previously the nodes did.",
        "The node hangs, its pods do.",
        "The node cannot reach 10.0.0.9, only some pods can.",
    ],
)
def test_what_is_wished_doubted_or_denied_does_not_work(text: str) -> None:
    """Nobody says of anything in these that it works now."""
    assert not [one for one in read_complaints("t", [text], ()) if one.works]


def test_an_address_for_any_and_that_of_a_url_are_no_clients() -> None:
    """A publication names any address of its host, a URL whom somebody connects to."""
    text = "It is published on 0.0.0.0:8080: from the office http://192.0.2.7:8080 does not answer."
    (one,) = read_complaints("ticket.md", (text,), ())

    assert (one.addresses, one.sources) == ((Address.parse("192.0.2.7"),), ())


@pytest.mark.parametrize(
    ("text", "addresses", "ports"),
    [
        ("curl http://192.168.7.2/ times out.", ["192.168.7.2"], (80,)),
        ("I cannot open https://192.0.2.7/index.html here.", ["192.0.2.7"], (443,)),
        ("Pods cannot reach http://192.0.2.7:8080/x.", ["192.0.2.7"], (8080,)),
        ("The network 10.1.2.0/24 is not reachable.", [], ()),
    ],
)
def test_a_url_has_its_address_and_the_port_of_its_scheme(
    text: str, addresses: list[str], ports: tuple[int, ...]
) -> None:
    """A path behind an address makes no network of it."""
    (said,) = read_complaints("t", [text], ())

    assert (addresses, ports) == ([str(one) for one in said.addresses], said.ports)
