"""Tests of `protect.repair.judgement`: which pod counts as misconfigured, and which never does
(rows R1-R4, I1-I3, G1).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.repair.judgement import NamespaceObservation, judge, name_owner
from podpath_protect.repair.policy import Policy, Validator
from tests import kube_objects as kube
from tests.protect.repair.pods import ISTIO, LINKERD, pod

POLICY = Policy()


def state(**more: object) -> str:
    """Judge a pod by the default policy."""
    return judge(pod(**more), POLICY).state  # type: ignore[arg-type]


@pytest.mark.parity("R2")
def test_r2_a_validator_that_ended_with_95_and_waits_is_broken() -> None:
    """The linkerd criterion: the last run ended with 95, the next waits in its crash loop."""
    judgement = judge(pod(kube.CRASH_LOOP, kube.ended(95, "no rules")), POLICY)

    assert ("broken", "validator-95") == (judgement.state, judgement.cause)
    assert "waits (CrashLoopBackOff) after it ended with 95: no rules" in judgement.why


@pytest.mark.parity("R2")
def test_r2_a_pod_that_goes_is_left_alone() -> None:
    """A pod with a deletion timestamp is nobody's business any more."""
    going = kube.pod("web-1", init=(LINKERD,))
    going["metadata"] |= {"deletionTimestamp": "2026-11-22T02:00:00Z", "uid": "u"}
    going["status"] = kube.status(LINKERD, kube.CRASH_LOOP, kube.ended(95))
    from tests.protect.repair.pods import read  # noqa: PLC0415  # beside its one use

    assert "excluded" == judge(read(going), POLICY).state


@pytest.mark.parity("R4", "G1")
@pytest.mark.parametrize("phase", ["Pending", "Failed"])
def test_r4_a_first_run_that_failed_is_broken_without_a_last_state(phase: str) -> None:
    """With restartPolicy Never, as Jobs have it, there is only a current state; it counts (G1)."""
    job = pod(
        kube.ended(95), restartPolicy="Never", owners=[kube.owner("work", "Job")], phase=phase
    )

    assert "broken" == judge(job, POLICY).state


@pytest.mark.parity("R4")
def test_r4_a_validator_that_passed_at_its_second_run_is_healthy() -> None:
    """The healthy pod that the linkerd controller deletes: failed once with 95, passed since."""
    assert "healthy" == state(state=kube.ended(0), last=kube.ended(95), phase="Running")


@pytest.mark.parity("I1")
@pytest.mark.parametrize(
    "now", [kube.ended(0), kube.ended(0, reason="Error"), kube.ended(1, reason="Completed")]
)
def test_i1_what_completed_now_is_never_broken(now: kube.Object) -> None:
    """Exit 0 or the reason Completed now: healthy, whatever the last run said."""
    assert "healthy" == state(state=now, last=kube.ended(126), validator=ISTIO)


@pytest.mark.parity("I2")
@pytest.mark.parametrize("now", [kube.CRASH_LOOP, kube.ended(126)])
def test_i2_126_while_it_waits_or_has_failed_again_is_broken(now: kube.Object) -> None:
    """The istio criterion: the last run ended with 126, and it waits or failed again."""
    assert "broken" == state(state=now, last=kube.ended(126), validator=ISTIO)


@pytest.mark.parity("I2")
def test_i2_the_termination_message_may_be_asked_for() -> None:
    """Where the policy names a message, it must be there, blanks around it aside."""
    policy = Policy(validators=(Validator(container=ISTIO, codes=(126,), message="no redirect"),))

    right, wrong = (
        pod(kube.CRASH_LOOP, kube.ended(126, said), validator=ISTIO)
        for said in ("\n no redirect ", "other")
    )
    assert ("broken", "unknown") == (judge(right, policy).state, judge(wrong, policy).state)


@pytest.mark.parity("I3")
def test_i3_another_exit_code_proves_nothing() -> None:
    """A validator that could not be started (127) or was killed (137) says nothing about rules."""
    assert ["unknown"] * 3 == [
        state(state=kube.CRASH_LOOP, last=kube.ended(code), validator=ISTIO)
        for code in (1, 127, 137)
    ]


@pytest.mark.parity("I3")
def test_i3_no_codes_means_every_failure() -> None:
    """A policy without codes takes every exit but 0, as istio's 0 does."""
    policy = Policy(validators=(Validator(container=ISTIO),))

    assert "broken" == judge(pod(kube.CRASH_LOOP, kube.ended(1), validator=ISTIO), policy).state


@pytest.mark.parity("I3")
def test_i3_without_the_annotation_a_pod_is_left_alone() -> None:
    """Where the policy asks for an annotation, pods without it are none of our business."""
    policy = Policy(annotations=("sidecar.istio.io/status",))
    bare, injected = (
        pod(kube.ended(126), validator=ISTIO),
        pod(kube.ended(126), validator=ISTIO, annotations={"sidecar.istio.io/status": "{}"}),
    )

    assert ("excluded", "broken") == (judge(bare, policy).state, judge(injected, policy).state)


@pytest.mark.parity("I3")
def test_i3_no_status_yet_is_no_verdict() -> None:
    """A pod whose init containers have no status yet is waited for."""
    assert "pending" == state(state={}, status={"phase": "Pending"})
    unborn = kube.pod("web-1", init=(LINKERD,))
    unborn["metadata"]["uid"] = "u"
    from tests.protect.repair.pods import read  # noqa: PLC0415  # as above

    assert "pending" == judge(read(unborn), POLICY).state


def test_a_validator_that_runs_now_is_waited_for() -> None:
    """While it runs, after whatever failure, nothing is done: it says soon."""
    assert "pending" == state(state=kube.RUNNING, last=kube.ended(95))


def test_a_validator_that_waits_after_it_passed_is_waited_for() -> None:
    """After a node's restart the init containers run again: no failure, no verdict."""
    assert "pending" == state(state=kube.CRASH_LOOP, last=kube.ended(0))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"hostNetwork": True}, "network namespace"),
        ({"annotations": {"kubernetes.io/config.mirror": "x"}}, "static pod"),
        ({"phase": "Succeeded"}, "ended well"),
    ],
)
def test_what_is_not_ours_is_excluded(more: dict[str, object], why: str) -> None:
    """Pods in the node's namespace, static pods and finished ones are excluded, saying why."""
    judgement = judge(pod(kube.ended(95), **more), POLICY)  # type: ignore[arg-type]

    assert "excluded" == judgement.state
    assert why in judgement.why


def test_an_excluded_namespace_is_left_alone() -> None:
    """The policy can name namespaces to leave alone."""
    assert "excluded" == judge(pod(kube.ended(95)), Policy(exclude_namespaces=("shop",))).state


@pytest.mark.parametrize(
    ("sight", "expected"),
    [
        (None, "unknown"),
        (NamespaceObservation(redirected=None, why="two namespaces hold its address"), "unknown"),
        (NamespaceObservation(redirected=True, why="there"), "healthy"),
        (NamespaceObservation(redirected=False, why="nothing"), "broken"),
    ],
)
def test_g1_without_a_validator_the_namespace_decides(
    sight: NamespaceObservation | None, expected: str
) -> None:
    """A pod without a validator is judged by what was seen in its namespace, and by nothing
    else.
    """
    assert (
        expected
        == judge(pod(containers=("app", "linkerd-proxy"), phase="Running"), POLICY, sight).state
    )


def test_a_validator_that_passed_outweighs_what_was_seen() -> None:
    """I1 holds against a look into the namespace too: a validator that passed tried packets."""
    assert (
        "healthy"
        == judge(
            pod(kube.ended(0)), POLICY, NamespaceObservation(redirected=False, why="none seen")
        ).state
    )


def test_another_failure_is_another_sight() -> None:
    """Each new failure of a validator can be told from the one before."""
    first, second = (
        {"terminated": {"exitCode": 95, "finishedAt": f"2026-11-22T02:00:0{number}Z"}}
        for number in (1, 2)
    )

    assert (
        judge(pod(kube.CRASH_LOOP, first), POLICY).seen
        != judge(pod(kube.CRASH_LOOP, second), POLICY).seen
    )


def test_owners_are_named_alike_across_rollouts() -> None:
    """Pods of two ReplicaSets of one Deployment have one owner; a bare pod is its own."""
    old, new = (
        pod(
            kube.ended(95),
            owners=[kube.owner(f"web-{suffix}")],
            labels={"pod-template-hash": suffix},
        )
        for suffix in ("5d9c", "77aa")
    )

    assert "shop/Deployment/web" == name_owner(old) == name_owner(new)
    assert "shop/Job/work" == name_owner(pod(kube.ended(95), owners=[kube.owner("work", "Job")]))
    assert "shop/Pod/web-1" == name_owner(pod(kube.ended(95), owners=[]))


STATES = st.sampled_from(
    [
        {},
        kube.CRASH_LOOP,
        kube.RUNNING,
        kube.ended(0),
        kube.ended(95),
        kube.ended(126),
        kube.ended(137),
    ]
)


@given(
    now=STATES,
    last=STATES,
    phase=st.sampled_from(["Pending", "Running", "Failed", "Unknown"]),
    redirected=st.sampled_from([True, False, None]),
)
def test_broken_needs_a_failure_that_nothing_took_back(
    now: kube.Object,
    last: kube.Object,
    phase: str,
    redirected: bool | None,  # noqa: FBT001  # Hypothesis gives them by name
) -> None:
    """Whatever the states: broken means that the current run failed with a code of ours, or waits
    after the last did.
    """
    judgement = judge(
        pod(now, last, phase=phase), POLICY, NamespaceObservation(redirected=redirected, why="seen")
    )

    failed = now == kube.ended(95) or (now in ({}, kube.CRASH_LOOP) and last == kube.ended(95))
    assert failed == (judgement.state == "broken")
