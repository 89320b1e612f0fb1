"""The law of certainty: a cause that rests on a guess is possible, and no command is printed for
its cure.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.checks.finding import Severity
from podpath.checks.routing.no_route import NAME as NO_ROUTE
from podpath.diagnosis.connections import ConnectionFrame, FramePlace
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.forbids import RestsOnInference
from podpath.diagnosis.resting import PlacedGuess, _guess_of_name, _steps_before, is_made_up
from podpath.diagnosis.verdict import Verdict
from podpath.net import protocols
from podpath.net.addresses import Address, IfName
from podpath.net.packet import Packet
from podpath.net.provenance import Basis, Inferred, Known, Source, Span
from podpath.node.case import Case
from podpath.node.links import Peer
from podpath.node.netfilter import InterfaceMatch
from podpath.node.node import HOST, Netns
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.style import Style
from podpath.testing.nodes import given_netns
from tests.diagnosis.scenes import BAD, GOOD, OUTSIDE, POD, attempt, case, cilium_node, known, whole
from tests.diagnosis.test_repairs import DROP, cause_of, node

PROBE = f"tcp {POD}:5000 > {OUTSIDE}:80"
FAILING = case(whole(cilium_node(known(BAD))), attempt(PROBE))
SOUND = case(whole(cilium_node(known(GOOD))))
GUESS = Inferred(Basis.GUESSED, "nothing shows it")
HARMLESS = [Inferred(basis, "it follows") for basis in (Basis.IMPLIED, Basis.SHOWN)]


def with_routes(made: Case, inferred: Inferred | None) -> Case:
    """Let the host's routes be known in a way."""
    host = made.node.host
    routes = tuple(replace(route, inferred=inferred) for route in host.routes.items)
    return with_host(made, replace(host, routes=host.routes._replace(items=routes)))


def with_host(made: Case, host: Netns) -> Case:
    """Put another host into a case."""
    return replace(made, node=replace(made.node, namespaces={**made.node.namespaces, HOST: host}))


def causes(answer: Diagnosis) -> set[str]:
    """Return the names of the causes."""
    return {finding.check for finding in answer.findings if finding.severity == Severity.CAUSE}


def test_a_cause_on_stated_facts_is_certain() -> None:
    """Nothing on the way to it was guessed."""
    answer = diagnose(FAILING)
    assert (Verdict.FAULT, ()) == (answer.verdict, answer.findings[0].rests_on)


@pytest.mark.parametrize("inferred", HARMLESS, ids=str)
def test_what_follows_from_stated_facts_leaves_it_certain(inferred: Inferred) -> None:
    """The kernel's own routes, and those that a line shows, are as good as listed."""
    assert diagnose(with_routes(FAILING, inferred)).verdict is Verdict.FAULT


def test_a_guessed_route_makes_it_possible_and_uncommanded() -> None:
    """The same cause is named, with what it rests on; its cure has a title, and neither commands
    nor a proof.
    """
    answer = diagnose(with_routes(FAILING, GUESS))
    named = [finding for finding in answer.findings if finding.check in causes(diagnose(FAILING))]
    assert answer.verdict is Verdict.POSSIBLE
    assert named
    assert {(GUESS,)} == {finding.rests_on for finding in named}
    assert {((), "")} >= {
        (repair.commands, repair.proven) for finding in named for repair in finding.repairs
    }


@given(st.sampled_from(("routes", "namespace")))
def test_a_walk_over_a_guess_is_no_all_clear(where: str) -> None:
    """It works in the simulation because the simulation was made so."""
    made = with_routes(SOUND, GUESS) if where == "routes" else SOUND
    if where == "namespace":
        guessed = {
            name: replace(one, inferred=GUESS) if name != HOST else one
            for name, one in made.node.namespaces.items()
        }
        made = replace(made, node=replace(made.node, namespaces=guessed))
    answer = diagnose(replace(made, attempts=(attempt(PROBE),)))
    assert answer.verdict is not Verdict.NONE
    assert not [
        finding
        for finding in answer.findings
        if finding.severity == Severity.CAUSE and finding.certainty == 1
    ]


def test_an_asked_connection_over_a_guess_says_what_it_rests_on() -> None:
    """The reason is a class of its own, with the guess."""
    guessed = with_routes(SOUND, GUESS)
    answer = diagnose(guessed, (attempt(PROBE).probe,))
    assert RestsOnInference in {type(one) for one in answer.forbids}
    assert answer.verdict is Verdict.POSSIBLE


def test_possibilities_are_told_without_percentages() -> None:
    """An order says what a share of certainty would only pretend to know."""
    text = render_diagnosis(diagnose(with_routes(FAILING, GUESS)), Style(width=100, verbose=True))
    assert "%" not in text
    assert "assumes what no output shows (nothing shows it)" in " ".join(text.split())


def test_a_device_that_nothing_names_is_made_up() -> None:
    """What an output lists has its own name."""
    assert [False, True] == [is_made_up(SOUND.node, name) for name in ("eth0", "(port of cni0)")]
    assert NO_ROUTE not in causes(diagnose(SOUND))


CLIENT, SERVER = "10.244.1.5", "192.0.2.9"


def place_at(netns: str | None, link: str | None) -> FramePlace:
    """Say where a capture ran."""
    return FramePlace(0, netns, link, None)


def frame(place: FramePlace, *, original: bool = True) -> ConnectionFrame:
    """Make a frame that was captured somewhere."""
    packet = Packet(Address.parse(CLIENT), Address.parse(SERVER), protocols.TCP, 1024, 80)
    return ConnectionFrame(
        "SYN", original, packet, place, None, Span(Source(name="t", lines=("x",)), 1, 1)
    )


@pytest.mark.parametrize(
    ("place", "original", "is_seen"),
    [
        (place_at(None, "eth0"), True, True),
        (place_at("host", "eth0"), True, True),
        (place_at(None, "eth0"), False, False),
        (place_at(None, "eth1"), True, False),
        (place_at("pod-a", "eth0"), True, False),
        (place_at(None, None), True, False),
    ],
)
def test_a_guessed_way_is_seen_by_frames_on_its_device(
    place: FramePlace,
    original: bool,  # noqa: FBT001 # a row
    is_seen: bool,  # noqa: FBT001 # a row
) -> None:
    """In the same direction, and on the host."""
    guess = PlacedGuess(GUESS, "eth0")
    assert is_seen is guess.is_seen([frame(place, original=original)])


@pytest.mark.parametrize(
    ("owned", "link", "is_seen"),
    [
        (CLIENT, "cni0", True),
        (SERVER, "cni0", True),
        ("10.244.1.9", "cni0", False),
        (CLIENT, None, False),
    ],
)
def test_a_guessed_owner_is_seen_by_frames_of_its_address(
    owned: str,
    link: str | None,
    is_seen: bool,  # noqa: FBT001 # a row
) -> None:
    """On a device that the capture names."""
    guess = PlacedGuess(GUESS, addresses=frozenset({Address.parse(owned)}))
    assert is_seen is guess.is_seen([frame(place_at(None, link))])


def test_a_cause_rests_on_what_was_decided_before_it() -> None:
    """On all that earlier packets met, and on its own packet's way up to the deciding step."""
    cause = cause_of(node(DROP))
    earlier = replace(cause.trace, name="SYN")
    after = replace(cause.trace, name="data")
    branch = replace(cause.branch, traces=(earlier, cause.trace, after))
    before = list(_steps_before(replace(cause, branch=branch)))
    steps = len(cause.trace.steps)

    assert steps + cause.trace.steps.index(cause.step) == len(before)
    assert cause.step not in [step for trace, step in before if trace is cause.trace]


@pytest.mark.parametrize(
    ("name", "wildcard", "negated", "expected"),
    [
        ("lxc1", False, False, GUESS),
        ("lxc", True, False, None),
        ("lxc1", False, True, None),
        ("lxc2", False, False, None),
        ("lxc2", False, True, None),
    ],
)
def test_a_rule_for_one_pods_device_rests_on_whose_device_it_is(
    name: str,
    wildcard: bool,  # noqa: FBT001 # a row
    negated: bool,  # noqa: FBT001 # a row
    expected: Inferred | None,
) -> None:
    """A rule for all of them holds whichever pod is behind the device."""
    link = given_netns("host", "lxc1").links.items[0]
    link = replace(link, peer=Known(Peer(netns="pod", link=IfName("eth0")), inferred=GUESS))
    match = InterfaceMatch(IfName(name), negated=negated, wildcard=wildcard)

    assert expected == _guess_of_name(match, link)
