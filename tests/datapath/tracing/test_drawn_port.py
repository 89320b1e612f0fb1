"""A port that the kernel draws: asked where it lies, and known as far as it was asked."""

from __future__ import annotations

import pickle

import pytest

from podpath.datapath.tracing.drawn_port import DrawnPort, PortQuestions
from podpath.net.addresses import PortRange


class Kernel:
    """Answers as if a port had been drawn, and keeps what it was asked."""

    def __init__(self, drawn: int) -> None:
        """Draw the port."""
        self.drawn = drawn
        self.answers: dict[str, bool] = {}

    def choose(self, name: str, _: bool) -> bool:  # noqa: FBT001  # as the model calls it
        """Say where it lies."""
        first, __, last = name.partition(" is from ")[2].partition(" to ")
        return self.answers.setdefault(name, int(first) <= self.drawn <= int(last))

    def port(self) -> DrawnPort:
        """Return the port as the model has it."""
        questions = PortQuestions(self.choose, self.answers.get)
        return DrawnPort.draw(40000, (32768, 60999), "port", questions)


@pytest.mark.parametrize("drawn", [32768, 39999, 40000, 47701, 47702, 60999])
def test_each_question_is_answered_as_for_the_port_that_was_drawn(drawn: int) -> None:
    """Whatever the order of the questions, no answer contradicts another."""
    port = Kernel(drawn).port()
    for first, last in ((0, 47701), (40000, 50000), (47000, 47701), (39999, 39999), (47702, 65535)):
        assert (first <= port <= last) is (first <= drawn <= last)
        assert (port in PortRange(first, last)) is (first <= drawn <= last)
    assert (port < 47701, port > 47701) == (drawn < 47701, drawn > 47701)


def test_what_the_range_settles_is_not_asked() -> None:
    """Nor is what an earlier answer settles."""
    kernel = Kernel(50000)
    port = kernel.port()
    assert port <= 60999
    assert not port < 32768
    assert kernel.answers == {}
    assert port > 47701
    assert not port <= 40000
    assert len(kernel.answers) == 1
    assert port.ranges() == ((47702, 60999),)


def test_a_copy_is_the_number_that_stands_for_it() -> None:
    """It is that number as a key, in print, and where the branch is left behind."""
    port = Kernel(50000).port()
    copy = pickle.loads(pickle.dumps(port))  # noqa: S301  # what was dumped here
    assert (type(copy), copy, {40000: "x"}[port], str(port)) == (int, 40000, "x", "40000")


def test_it_settles_on_a_port_that_every_answer_allows() -> None:
    """On the number that stands for it, until an answer rules that out."""
    port = Kernel(50000).port()
    assert 40000 == port.settle()
    assert not port <= 47701
    assert 47702 == port.settle()
