"""Connections that the user or the evidence speaks of: in what order, and which lines are about
one.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.diagnosis.symptoms import Symptom, collect_symptoms
from podpath.net.failures import Ending, FailureKind
from podpath.node.case import Attempt, Case
from podpath.testing.nodes import given_netns, given_node, probe
from tests.diagnosis.scenes import SYN, attempt, frame

ENDS = "tcp 10.0.0.1 > 10.0.0.2:80"


def collected(*attempts: Attempt, asked: tuple[str, ...] = ()) -> tuple[Symptom, ...]:
    """Return what is spoken of."""
    node = given_node(given_netns("host", "lxc1", "lxc2"))
    return collect_symptoms(Case(node=node, attempts=attempts), map(probe, asked))


def test_what_is_asked_comes_first_and_what_works_last() -> None:
    """Between them what fails, before what nobody says the end of."""
    works = attempt("tcp 10.0.0.1 > 10.0.0.3:80", Ending.OK)
    cut = attempt("tcp 10.0.0.1 > 10.0.0.4:80", Ending.INTERRUPTED)
    fails = attempt("tcp 10.0.0.1 > 10.0.0.5:80")
    found = collected(works, cut, fails, asked=(ENDS,))

    assert [(True, None), (False, True), (False, False), (False, None)] == [
        (each.asked, each.fails) for each in found
    ]


def test_an_attempt_says_how_it_failed() -> None:
    """By the kind where it is one; what worked or was cut short has none."""
    fails, works, cut = collected(
        attempt(ENDS, FailureKind.REFUSED),
        attempt("tcp 10.0.0.1 > 10.0.0.3:80", Ending.OK),
        attempt("tcp 10.0.0.1 > 10.0.0.4:80", Ending.INTERRUPTED),
    )

    assert [FailureKind.REFUSED, None, None] == [each.kind for each in (fails, works, cut)]
    assert f"{ENDS} (curl): refused" == fails.words
    assert [True, False, None] == [fails.fails, works.fails, cut.fails]


def test_lines_about_one_connection_are_one_symptom() -> None:
    """Whatever the client's port, and with the place that any of them names."""
    placed = attempt("tcp 10.0.0.1:4000 > 10.0.0.2:80 in lxc1")
    (symptom,) = collected(attempt(ENDS), placed)
    (asked,) = collected(placed, asked=(ENDS,))

    assert ("lxc1", 2) == (symptom.probe.in_dev, len(symptom.spans))
    assert (True, True, "lxc1") == (asked.asked, asked.fails, asked.probe.in_dev)
    assert FailureKind.TIMEOUT is asked.kind


def test_other_ends_places_and_outcomes_are_other_symptoms() -> None:
    """Another protocol, port, address or device; and one that worked beside one that failed."""
    others = (
        "udp 10.0.0.1 > 10.0.0.2:80",
        "tcp 10.0.0.1 > 10.0.0.2:81",
        "tcp 10.0.0.9 > 10.0.0.2:80",
    )
    works = attempt(ENDS, Ending.OK)

    assert all(2 == len(collected(attempt(ENDS), attempt(other))) for other in others)
    assert 2 == len(collected(attempt(f"{ENDS} in lxc1"), attempt(f"{ENDS} in lxc2")))
    assert 2 == len(collected(attempt(f"{ENDS} from pod"), attempt(f"{ENDS} from pod2")))
    assert 1 == len(collected(attempt(f"{ENDS} from pod"), attempt(ENDS)))
    assert {True, False} == {each.fails for each in collected(attempt(ENDS), works)}


def test_a_device_that_the_node_has_not_is_of_another_moment() -> None:
    """What was tried is asked from wherever it comes in; what the user asks stays as it is."""
    gone = attempt(f"{ENDS} in lxc9")

    assert [None] == [each.probe.in_dev for each in collected(gone)]
    assert ["lxc9"] == [each.probe.in_dev for each in collected(asked=(f"{ENDS} in lxc9",))]


def test_a_good_nodes_attempt_is_no_symptom() -> None:
    """It is what the answer is compared with."""
    assert () == collected(replace(attempt(ENDS), good=True))


def test_captures_of_the_connection_go_with_it() -> None:
    """Those of other ends do not."""
    mine = frame("10.0.0.1:4000 > 10.0.0.2:80", SYN, "in eth0")
    other = frame("10.0.0.9:4001 > 10.0.0.3:80", SYN, "in eth0", seq=900)
    case = Case(node=given_node(), attempts=(attempt(ENDS),), sightings=(mine, other))
    (symptom,) = collect_symptoms(case, ())

    assert [(mine.span,)] == [tuple(seen.span for seen in each.seen) for each in symptom.observed]
