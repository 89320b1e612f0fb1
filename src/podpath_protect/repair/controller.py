"""The repair controller's decisions: for each pod what to do next, if anything, and why nothing is
done where nothing is.

What comes in are pods as the watch tells of them, what was seen in their namespaces, and the time;
what goes out are actions. Before each action all of this must hold, and the first that does not is
told as the reason for waiting: the node's own CNI chain is healthy (a successor would be born as
broken), the pod waited out its pauses, somebody makes it again if it is to be sent away, the node's
and the owner's budgets have a token, a fresh look at the API server still shows it broken, and the
event that tells of the action is written. There is one controller on each node and it acts on that
node's pods alone, so there is no leader.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from podpath.kube.client import KubeError
from podpath_protect.agent.histograms import Histogram
from podpath_protect.agent.keeper import AgentFinding
from podpath_protect.cluster.limits import SharedAction
from podpath_protect.cluster.objects import KubePod
from podpath_protect.cluster.shared import Contended
from podpath_protect.repair.actions import PodActions, RepairOutcome
from podpath_protect.repair.budget import RepairBudget, space_of
from podpath_protect.repair.judgement import (
    NamespaceObservation,
    PodJudgement,
    find_owner,
    judge,
    name_owner,
)
from podpath_protect.repair.memory import BrokenPod
from podpath_protect.repair.policy import Action, Policy

LOG = logging.getLogger("podpath.protect.repair")
RECHECK = 5.0
"""Seconds until a pod that is held back by the node's state is considered again, and until rules
that were missing are looked for again.
"""


class Controller:
    """Decides and acts on the pods of one node. Mutable, and of one thread."""

    def __init__(
        self,
        policy: Policy,
        actions: PodActions,
        budget: RepairBudget,
        *,
        own_pod: str = "",
        chain: Callable[[], str] = str,
        spent: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with nothing known.

        `chain` says why the node's CNI chain is unhealthy, empty where it is well. `spent` hears
        that the budget changed: before each action, and after it.
        """
        self._policy, self._actions, self._budget = policy, actions, budget
        self._own_pod, self._chain, self._spent = own_pod, chain, spent
        self._memories: dict[str, BrokenPod] = {}
        self._first_seen: dict[str, float] = {}
        self._sights: dict[str, tuple[NamespaceObservation, float]] = {}
        """What was seen in a pod's namespace, and when."""
        self._sent: dict[str, float] = {}
        """When a pod of an owner was last sent away."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """(action, result): how often."""
        self.event_errors = 0
        self.took = Histogram("repair_deed_seconds", "How long actions on pods took.")

    def consider(
        self, pod: KubePod, now: float, sight: NamespaceObservation | None = None
    ) -> PodJudgement:
        """Judge a pod, and do what is next to it, if anything may be done."""
        uid = pod.metadata.uid
        self._first_seen.setdefault(uid, now)
        judgement = judge(pod, self._policy, self._see(pod, sight, now))
        if judgement.state != "broken":
            self._relieve(pod, judgement)
            return judgement
        memory = self._memories.get(uid)
        if memory is None:
            memory = self._memories[uid] = BrokenPod(key=pod.key, judgement=judgement)
            self._tell("the pod is broken", pod, judgement.why)
        memory.judgement = judgement
        memory.labeled = self._policy.label in pod.metadata.labels
        held = self._act(pod, memory, now)
        if held != memory.held:
            memory.held = held
            if held:
                self._tell("nothing is done now", pod, held)
        return judgement

    def forget(self, pod: KubePod) -> None:
        """Forget a pod that is gone."""
        self._memories.pop(pod.metadata.uid, None)
        self._first_seen.pop(pod.metadata.uid, None)
        self._sights.pop(pod.metadata.uid, None)

    def due(self, now: float) -> tuple[str, ...]:
        """Name the broken pods whose time has come again."""
        return tuple(
            memory.key
            for memory in self._memories.values()
            if not memory.ended and memory.not_before <= now
        )

    def wait(self, now: float) -> float | None:
        """Return the seconds until a broken pod is to be considered again; None where there is
        none.
        """
        times = [memory.not_before - now for memory in self._memories.values() if not memory.ended]
        return max(0.0, min(times)) if times else None

    def first_seen(self, pod: KubePod) -> float:
        """Return when a pod was heard of first; infinity where it never was."""
        return self._first_seen.get(pod.metadata.uid, float("inf"))

    @property
    def broken(self) -> int:
        """Return how many pods are broken now."""
        return len(self._memories)

    def findings(self) -> tuple[AgentFinding, ...]:
        """Return each broken pod, with what is known of it."""
        findings: list[AgentFinding] = []
        for memory in self._memories.values():
            namespace, _, name = memory.key.partition("/")
            found = AgentFinding(
                check="pod-unredirected",
                subject=memory.key,
                severity="error",
                claim=f"Its traffic is not redirected: {memory.judgement.why}.",
                evidence=(memory.held,) if memory.held else (),
                mend=(f"kubectl -n {namespace} delete pod {name}",),
            )
            findings.append(found)
        return tuple(findings)

    def _see(
        self, pod: KubePod, sight: NamespaceObservation | None, now: float, *, anew: bool = False
    ) -> NamespaceObservation | None:
        """Return what was seen in a pod's namespace; rules that were missing are looked for anew,
        but not at each change of a pod, which its owner can make many times a second.
        """
        uid = pod.metadata.uid
        known, seen_at = self._sights.get(uid, (None, now))
        if sight is None and known is not None and known.redirected is False:
            if not anew and now - seen_at < RECHECK:
                return known
            sight = self._actions.see(pod)
        if sight is None:
            return known
        self._sights[uid] = sight, now
        return sight

    def _relieve(self, pod: KubePod, judgement: PodJudgement) -> None:
        """Let a pod that is not broken be: its owner's pauses end if it was born after the last
        action and is well.
        """
        memory = self._memories.pop(pod.metadata.uid, None)
        if judgement.state != "healthy":
            return
        owner = name_owner(pod)
        if memory is not None or self._first_seen[pod.metadata.uid] > self._sent.get(
            owner, float("inf")
        ):
            self._budget.came_well(owner)
            self._sent.pop(owner, None)
        if memory is not None:
            self._tell("the pod is well again", pod, judgement.why)
        if self._policy.label in pod.metadata.labels and "label" in self._policy.actions:
            self._count("unlabel", self._actions.unlabel(pod), pod)

    def _act(self, pod: KubePod, memory: BrokenPod, now: float) -> str:
        """Do what is next to a broken pod; why nothing is done, empty where something was or all is
        done.
        """
        if memory.ended or memory.not_before > now:
            return memory.held
        if pod.key == self._own_pod:
            memory.ended = True
            return "it is our own pod"
        unhealthy = self._chain()
        if unhealthy:
            memory.not_before = now + RECHECK
            return (
                "the node's own CNI chain is not healthy, so another pod would start no better: "
                f"{unhealthy}"
            )
        self._label(pod, memory, now)
        if memory.mending_failed(self._policy, now) is False:
            memory.not_before = now + RECHECK
            return "it was mended, and its validator has not run since"
        why = ""
        while (action := memory.next_action(self._policy)) is not None:
            why = self._try(action, pod, memory, now)
            if action not in memory.hopeless:
                return why
        if memory.not_before > now:
            return "its label could not be written"
        memory.ended = True
        tried = "everything that the policy allows was tried" if self._policy.escalation else ""
        return "; ".join(filter(None, (why or memory.held, tried)))

    def _try(self, action: Action, pod: KubePod, memory: BrokenPod, now: float) -> str:
        if action in {"evict", "delete"} and find_owner(pod) is None and not self._policy.bare_pods:
            memory.hopeless |= {"evict", "delete"}
            return "nobody would make it again, and the policy spares such pods"
        owner = name_owner(pod)
        sends_away = action != "mend"
        wait = self._budget.take(owner, now) if sends_away else self._budget.take_mend(owner, now)
        if wait > 0:
            memory.not_before = now + wait
            return self._describe_wait(owner, wait)
        held = self._ask_cluster(action, owner, memory, now)
        if held:
            return held
        self._spent()
        began = time.monotonic()
        outcome = self._do(action, pod, memory, now)
        self.took.observe(time.monotonic() - began, (("action", action),))
        if sends_away:
            self._settle(outcome, owner, now)
        elif outcome.result in {"skip", "impossible"}:
            self._give_back(action, owner, now)
            self._actions.cluster.refund("mend", space_of(owner))
        self._spent()
        memory.note(action, outcome, self._policy, now)
        self._count(action, outcome, pod)
        if outcome.result in {"success", "would"}:
            return ""
        return f"{action}: {outcome.why}"

    def _ask_cluster(self, action: Action, owner: str, memory: BrokenPod, now: float) -> str:
        """Take from the cluster's budget; say why nothing is done where it gives nothing, and put
        back what the node's own gave.
        """
        try:
            kind: SharedAction = "mend" if action == "mend" else "evict"
            wait = self._actions.cluster.spend(kind, space_of(owner))
        except (KubeError, Contended) as error:
            wait, why = RECHECK, f"the cluster's budget cannot be asked: {error}"
        else:
            why = f"the cluster's budget allows the next action in {wait:.0f} s"
        if wait <= 0:
            return ""
        self._give_back(action, owner, now)
        memory.not_before = now + max(wait, RECHECK)
        return why

    def _give_back(self, action: Action, owner: str, now: float) -> None:
        if action == "mend":
            self._budget.give_back_mend(owner, now)
        else:
            self._budget.give_back(owner, now)

    def _settle(self, outcome: RepairOutcome, owner: str, now: float) -> None:
        """Keep what an action cost where it was done, and give it back where it was not."""
        if outcome.result in {"success", "would"}:
            self._budget.sent_away(owner, now)
            self._sent[owner] = now
        elif not outcome.unsure:
            self._budget.give_back(owner, now)
            self._actions.cluster.refund("evict", space_of(owner))

    def _do(self, action: Action, pod: KubePod, memory: BrokenPod, now: float) -> RepairOutcome:
        """Look once more, tell of the action, do it."""
        try:
            fresh = self._actions.read(pod)
        except KubeError as error:
            return RepairOutcome("fail", str(error))
        if fresh is None:
            return RepairOutcome("skip", "it is gone")
        judgement = judge(fresh, self._policy, self._see(fresh, None, now, anew=True))
        if judgement.state != "broken":
            return RepairOutcome("skip", f"it is {judgement.state} by now: {judgement.why}")
        untold = self._actions.announce(fresh, action, judgement)
        if untold:
            self.event_errors += 1
            if self._policy.require_event and action in {"evict", "delete"}:
                return RepairOutcome(
                    "fail", f"its event cannot be written, so it is not done: {untold}"
                )
        self._tell(f"the pod is broken, {action} is next", fresh, memory.judgement.why)
        return self._actions.do(action, fresh)

    def _label(self, pod: KubePod, memory: BrokenPod, now: float) -> None:
        """Label a pod once; where that fails, again with the next look, so often as any action."""
        if "label" not in self._policy.actions or memory.labeled or "label" in memory.hopeless:
            return
        outcome = self._set_label(pod, memory)
        memory.note("label", outcome, self._policy, now)
        if outcome.result != "fail" or memory.failures["label"] >= self._policy.attempts:
            memory.hopeless.add("label")
        if outcome.result == "fail":
            self._tell("the pod cannot be labeled", pod, outcome.why)
        self._count("label", outcome, pod)

    def _set_label(self, pod: KubePod, memory: BrokenPod) -> RepairOutcome:
        untold = self._actions.announce(pod, "label", memory.judgement)
        self.event_errors += bool(untold)
        if untold and self._policy.require_event:
            return RepairOutcome("fail", f"its event cannot be written: {untold}")
        return self._actions.do("label", pod)

    def _describe_wait(self, owner: str, wait: float) -> str:
        vain = self._budget.in_vain(owner)
        if vain > 1:
            again = f"; {vain} of its kind were replaced in vain, so the fault is not in the pod"
        else:
            again = ""
        return f"the budget of the node or of {owner} allows the next action in {wait:.0f} s{again}"

    def _count(self, action: str, outcome: RepairOutcome, pod: KubePod) -> None:
        self.counts[action, outcome.result] += 1
        if outcome.result in {"success", "would", "undone"}:
            self._tell(f"{action}: {outcome.result}", pod, outcome.why)

    def _tell(self, what: str, pod: KubePod, why: str) -> None:
        fields = {
            "pod": pod.key,
            "uid": pod.metadata.uid,
            "why": why,
            "dry_run": self._policy.dry_run,
        }
        LOG.warning("%s: %s", what, pod.key, extra={"fields": fields})
