"""Who cannot reach whom, in the many ways in which people say it."""

from __future__ import annotations

import re

import pytest

from podpath.evidence.documents.complaints import read_complaints
from podpath.evidence.documents.ends import Ends, find_ends, find_subject, has_pronoun
from podpath.net.complaints import EndKind

POD, NODE, SERVICE = EndKind.POD, EndKind.NODE, EndKind.SERVICE
CONTAINER, GUEST, OUTSIDE = EndKind.CONTAINER, EndKind.GUEST, EndKind.OUTSIDE
PORT, DNS = EndKind.NODE_PORT, EndKind.NAME_SERVER


def failing(text: str) -> list[Ends]:
    """Return the ends of what a text says that fails."""
    found = read_complaints("ticket.md", text.splitlines(), ())
    return [Ends(one.source, one.target) for one in found if not one.works]


@pytest.mark.parametrize(
    ("text", "source", "target"),
    [
        ("Containers cannot reach the internet.", CONTAINER, OUTSIDE),
        ("The guests on our host have lost the internet.", GUEST, OUTSIDE),
        ("From inside a pod the service times out, 10.96.0.7.", POD, SERVICE),
        ("The service is unreachable from a pod.", POD, SERVICE),
        ("The published ports cannot be opened from other computers.", OUTSIDE, PORT),
        ("In the container no name server can be reached.", CONTAINER, DNS),
        ("On some nodes pods cannot connect to services.", POD, SERVICE),
        ("Pods get no answer from the name server.", POD, DNS),
        ("No website loads on the phones behind it.", None, OUTSIDE),
        ("The machines behind it cannot open any website.", OUTSIDE, OUTSIDE),
        ("The pods can reach the host, but nothing beyond it.", POD, OUTSIDE),
        ("Containers ping each other and nothing else.", CONTAINER, OUTSIDE),
        ("VMs can only ping each other.", GUEST, OUTSIDE),
        ("Pods cannot ping 8.8.8.8.", POD, OUTSIDE),
        ("No container gets out to the Internet.", CONTAINER, OUTSIDE),
        ("None of the guests reaches the Internet.", GUEST, OUTSIDE),
        ("Pods of different nodes cannot reach each other.", POD, POD),
        ("The web interface was never reachable from the LAN.", OUTSIDE, None),
        ("Pods of two nodes cannot communicate.", POD, POD),
        ("Pods cannot communicate with the service.", POD, SERVICE),
        ("Pods cannot reach each other, not even on the same node.", POD, POD),
        ("Pods from different hosts cannot talk to each other.", POD, POD),
        ("Pod-to-service traffic fails.", POD, SERVICE),
        ("Traffic between the nodes is lost.", NODE, NODE),
        ("Between pods and services nothing arrives.", POD, SERVICE),
        ("Some requests to the service fail.", None, SERVICE),
        ("Requests from pods to the service fail.", POD, SERVICE),
        ("There is no Internet in the containers.", CONTAINER, OUTSIDE),
        ("DNS lookups in pods sometimes take five seconds.", POD, DNS),
        ("After I updated the host, my containers cannot reach the Internet.", CONTAINER, OUTSIDE),
        ("After the node restarted, everything fails.", NODE, None),
        ("The service is reachable from the node but not from a pod.", POD, SERVICE),
        ("The pod is not accessible on the node.", NODE, POD),
        ("The readiness probes of the new pods fail.", NODE, POD),
        ("The service works only from inside the cluster.", OUTSIDE, SERVICE),
        (
            "It answers on the worker where the container runs and hangs on the master.",
            NODE,
            CONTAINER,
        ),
        ("The pod NodePort answers only on one node.", None, PORT),
        ("curl from a pod to another pod hangs when the nodes differ.", POD, POD),
    ],
)
def test_who_connects_and_whom_to(
    text: str, source: EndKind | None, target: EndKind | None
) -> None:
    """Active and passive, with and without a word for `from`, in both halves of a contrast."""
    assert Ends(source, target) in failing(text)


def test_a_pronoun_is_whom_the_sentence_before_speaks_of() -> None:
    """Only where a sentence begins with one."""
    assert failing("The guests have addresses. They cannot reach the internet.") == [
        Ends(GUEST, OUTSIDE)
    ]
    assert failing("The guests have addresses. Everything on other nodes times out.") == [
        Ends(GUEST, NODE)
    ]
    assert failing("The guests have addresses. Nobody can reach the internet.") == [
        Ends(None, OUTSIDE)
    ]


def test_only_one_thing_works_means_that_the_others_do_not() -> None:
    """What is on the same node is told apart from what is beyond it."""
    (one,) = read_complaints("t", ("Pods can only reach pods on the same node.",), ())

    assert (False, POD, POD, False) == (one.works, one.source, one.target, one.same_node)


def test_a_text_without_ends_has_none() -> None:
    """What mentions nobody tells of nobody."""
    verb = re.search("fails", "this fails")

    assert verb is not None
    assert find_ends("this fails", verb) == Ends(None, None)
    assert find_ends("this fails", verb, POD) == Ends(POD, None)
    assert (find_subject("this fails"), has_pronoun("this fails")) == (None, False)
    assert (find_subject("A pod on a node"), has_pronoun("They fail")) == (POD, True)
