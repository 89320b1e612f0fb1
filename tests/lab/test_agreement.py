"""Prediction held against observation: what counts as a difference."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.devices import TooLongForEnd
from podpath.datapath.reasons.failures import OuterDelivered
from podpath.datapath.tracing.trace import Branch
from podpath.datapath.vocabulary import StageName
from podpath.net.addresses import Mac, unseen_mac
from podpath.net.probe import Probe
from podpath.node.node import HOST
from podpath_lab import agreement
from podpath_lab.agreement import ObservedEvidence, compare, compare_branch, count_frames
from podpath_lab.conversation import Observation
from podpath_lab.counters import CountedRule
from podpath_lab.frames import SeenFrame
from podpath_lab.topologies import routed_pods

PROBE = Probe.parse("udp 10.1.0.2:40000 > 10.1.0.3:80 from pod1")


def prediction() -> Branch:
    """Walk a probe that works."""
    return converse(routed_pods().draft.freeze(), PROBE).branches[0]


def as_predicted(branch: Branch) -> tuple[SeenFrame, ...]:
    """Return the frames that a kernel shows that does just what the model says."""
    steps = [
        step for trace in branch.traces for step in trace.steps if step.stage.startswith("device ")
    ]
    return tuple(
        SeenFrame(time, step.netns, step.link or "", step.stage == "device transmit", step.after)
        for time, step in enumerate(steps)
    )


def seen(branch: Branch, **changes: object) -> ObservedEvidence:
    """Return the evidence of a kernel that agrees, but for some changes."""
    evidence = ObservedEvidence(
        observation=Observation(as_predicted(branch), "ok"), counters={}, drops=()
    )
    return replace(evidence, **changes)  # type: ignore[arg-type]  # fields of Evidence


def test_a_kernel_that_does_what_the_model_says_agrees() -> None:
    """The same frames, rules and answer are no difference."""
    branch = prediction()
    assert () == compare_branch(branch, seen(branch))


def test_a_frame_too_few_a_rule_too_many_and_another_answer_differ() -> None:
    """Each kind of difference is told by its name, with both sides."""
    branch = prediction()
    place = CountedRule("host", "nft", "filter", "FORWARD", 1)
    fewer = Observation(as_predicted(branch)[:-1], "timeout")
    differences = compare_branch(branch, seen(branch, observation=fewer, counters={place: 2}))
    assert ["frames", "rules", "application"] == [difference.what for difference in differences]
    assert differences[1].observed == "2x host nft filter FORWARD:1"


def test_a_mac_that_no_evidence_shows_is_that_of_a_frame_without_one() -> None:
    """A tunnel of IP has none, and the model words for it."""
    assert "00:00:00:00:00:00" == agreement._shown(unseen_mac("t0 in host"))
    assert "00:00:00:00:00:00" == agreement._shown(None)
    assert "02:00:00:00:01:00" == agreement._shown(Mac("02:00:00:00:01:00"))


def test_a_rewritten_header_differs() -> None:
    """A frame with another TTL is not the predicted one."""
    branch = prediction()
    first, *others = as_predicted(branch)
    assert first.packet is not None
    wrong = first._replace(packet=first.packet._replace(ttl=9))
    assert (
        "ttl 9"
        in compare_branch(branch, seen(branch, observation=Observation((wrong, *others), "ok")))[
            0
        ].observed
    )


def test_word_of_a_silent_neighbor_may_come_behind_what_is_sent_meanwhile() -> None:
    """Its sender is told only when the kernel gives up; any other order differs as ever."""
    absent = Probe.parse("udp 10.1.0.2:40000 > 172.31.0.77:80 from pod1")
    silent = converse(routed_pods().draft.freeze(), absent).branches[0]
    assert silent.last.deciding.stage is StageName.NEIGHBOUR
    sent, told = silent.traces, silent.answers
    model = replace(silent, traces=(*sent, *told, *sent), answers=())

    later = Observation(as_predicted(replace(model, traces=(*sent, *sent, *told))), "timeout")
    assert () == compare_branch(model, seen(model, observation=later, drops=("NEIGH_FAILED",)))

    at_once = replace(prediction(), traces=(*told, *prediction().traces))
    later = Observation(as_predicted(replace(at_once, traces=(*prediction().traces, *told))), "ok")
    differences = compare_branch(at_once, seen(at_once, observation=later))
    assert ["frames"] == [difference.what for difference in differences]


def test_namespaces_of_the_lab_itself_do_not_count() -> None:
    """Frames in a far end, and MACs beside it, are left out of the comparison."""
    branch = prediction()
    stray = as_predicted(branch)[0]._replace(netns="wire-0")
    observation = Observation((stray, *as_predicted(branch)), "ok")
    assert () == compare_branch(
        branch, seen(branch, observation=observation), frozenset({"wire-0"})
    )


def test_the_branch_that_agrees_best_is_told() -> None:
    """Where the kernel draws, one branch that agrees is enough."""
    conversation = converse(routed_pods().draft.freeze(), PROBE)
    wrong = replace(conversation.branches[0], works=False, failure=OuterDelivered("SYN"))
    both = replace(conversation, branches=(wrong, conversation.branches[0]))
    assert () == compare(both, seen(conversation.branches[0]))


def test_frames_of_a_branch_are_counted() -> None:
    """As many as devices send and receive: what the lab waits for."""
    branch = prediction()
    assert len(as_predicted(branch)) == count_frames(branch)


def test_a_frame_that_is_too_long_for_the_other_end_is_shown_at_its_sender_alone() -> None:
    """The other end of the cable drops it before a packet socket sees it."""
    draft = routed_pods().draft
    host = draft.namespaces[HOST]
    host.links[:] = [replace(link, mtu=100) if link.name == "lxc1" else link for link in host.links]
    branch = converse(draft.freeze(), PROBE).branches[0]

    assert isinstance(branch.last.deciding.reason, TooLongForEnd)
    assert 1 == count_frames(branch)
