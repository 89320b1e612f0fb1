"""Evidence read to a case."""

from __future__ import annotations

import os

import pytest

from podpath.library.case import Case
from podpath.library.given import Pasted
from podpath.library.reading import as_case, read, read_together
from podpath.net.errors import EvidenceError, UsageError
from tests.library.samples import NO_FORWARDING, PROBE, RP_FILTER, SECOND_NODE


def test_text_reads_as_a_file_does() -> None:
    """What is pasted makes the same node as the file with it."""
    ticket = RP_FILTER / "ticket.md"
    pasted = read(Pasted(ticket.read_text(encoding="utf-8"), "ticket.md"))

    assert read(ticket).text() == pasted.text()
    assert {"ticket.md"} == {source.name for source in pasted.sources}


def test_nodes_are_told_apart_and_chosen() -> None:
    """Each node of the evidence has its facts; one may be asked for by name, and all may be read as
    one.
    """
    both = read([NO_FORWARDING, SECOND_NODE])
    key = "net.ipv4.ip_forward"
    assert {"node1": "0", "node2": "1"} == {
        one.name: str(one.facts.node.host.sysctls[key][0]) for one in both.nodes
    }
    assert ["node2"] == [one.name for one in read([NO_FORWARDING, SECOND_NODE], node="node2").nodes]
    assert "" == read_together([NO_FORWARDING, SECOND_NODE]).name
    with pytest.raises(UsageError, match="node1, node2"):
        read([NO_FORWARDING, SECOND_NODE], node="node3")
    with pytest.raises(UsageError, match="the only node in the evidence"):
        read(NO_FORWARDING, node="node3")


def test_what_says_nothing_is_the_callers_fault() -> None:
    """The message names what was given; a file that is not there is named too."""
    with pytest.raises(EvidenceError, match="note: expected outputs such as"):
        read(Pasted("hello, it does not work", "note"))
    with pytest.raises(EvidenceError, match="no such file"):
        read(os.path.join(os.sep, "nowhere", "ticket.md"))  # noqa: PTH118 - any path
    with pytest.raises(UsageError, match="nonsense"):
        read(NO_FORWARDING, asking=["nonsense"])


def test_case_is_taken_as_it_is() -> None:
    """A case needs no reading; evidence does."""
    case = read(NO_FORWARDING, asking=[PROBE])
    assert case is as_case(case, (), lambda *_: None)
    assert isinstance(as_case(NO_FORWARDING, (), lambda *_: None), Case)
