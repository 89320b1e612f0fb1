"""The repair controller at work: one thread follows the pods, the other judges, acts, and looks
into namespaces now and then.

What the watch hears is put down by pod, newest state only: a thousand changes of one pod are one
look, nothing overflows and nothing is dropped. The budget's state is written down after each
action, so that a controller that is killed again and again spends no more.
"""

from __future__ import annotations

import json
import logging
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from podpath.kube.access import Access
from podpath.kube.client import Client, Unreachable
from podpath_protect.agent.keeper import Body, KeeperContext, KeeperStatus, Sample
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.cluster.events import Recorder
from podpath_protect.cluster.lease import LeaseBudget
from podpath_protect.cluster.limits import ClusterLimits
from podpath_protect.cluster.listwatch import ListWatch
from podpath_protect.cluster.objects import KubePod, MetadataFilter
from podpath_protect.cluster.pods import Evictor
from podpath_protect.repair.actions import PodActions, Unbounded
from podpath_protect.repair.budget import RepairBudget
from podpath_protect.repair.controller import Controller
from podpath_protect.repair.judgement import (
    MIRROR,
    NamespaceObservation,
    PodJudgement,
    judge,
    name_owner,
)
from podpath_protect.repair.mend import see
from podpath_protect.repair.namespaces import BOUND, PROC, Namespaces, read_namespaces
from podpath_protect.repair.policy import Policy
from podpath_protect.repair.redirect import ANNOTATIONS, VARIABLES, asked

LOG = logging.getLogger("podpath.protect.repair")
BOOT = Path("/proc/sys/kernel/random/boot_id")
REPORT_SECONDS = 5.0
UNSURE = 5
"""Scans until a namespace in which nothing could be told is looked into again."""
SCAN_SECONDS = 20.0
"""How long one scan may last, whatever the pods hold."""
FORESEEN = (ValueError, ArithmeticError, LookupError, RecursionError)
"""What reading of a stranger's words may raise where a bound was forgotten."""
LOOKS = 20
"""Namespaces that one scan looks into: the rest waits for the next, so that a full node costs no
more than an empty one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairScope:
    """Whose pods are repaired, by what policy."""

    node: str
    policy: Policy
    access: Access
    own_pod: str = ""
    """Our own pod as `NAMESPACE/NAME`, which is never touched; empty outside a cluster."""
    chain: Callable[[], str] = str
    """Says why the node's own CNI chain is unhealthy; empty where it is well."""
    state: Path | None = None
    """Where the budget's state outlives this process; None keeps it in memory."""
    cluster: ClusterLimits | None = None
    """What all nodes together may do; None leaves this one to its own budget."""
    proc: Path = PROC
    """The node's /proc."""
    bound: tuple[Path, ...] = BOUND


def query_of(node: str, policy: Policy) -> dict[str, str]:
    """Return the query that selects the pods to follow."""
    fields = ",".join(filter(None, (f"spec.nodeName={node}", policy.field_selector)))
    return {"fieldSelector": fields} | (
        {"labelSelector": policy.label_selector} if policy.label_selector else {}
    )


def make_body(assignment: RepairScope) -> Body:
    """Make what the agent runs as its part `repair`."""

    def body(context: KeeperContext) -> None:
        with Client(assignment.access) as client:
            work = Work(assignment, client)
            work.start()
            try:
                while not context.stopping:
                    context.report(work.status())
                    pause = min(work.step(time.monotonic()), REPORT_SECONDS)
                    if context.wait(pause, work.descriptor):
                        work.heard()
            finally:
                work.stop()

    return body


class Work:
    """The list-watch with its thread, the controller, and the scan. Mutable; `step` is of one
    thread.
    """

    def __init__(self, assignment: RepairScope, client: Client) -> None:
        """Make everything; nothing runs before `start`."""
        self._assignment, policy = assignment, assignment.policy
        self._lock = threading.Lock()
        self._inbox: dict[str, tuple[KubePod | None, KubePod | None]] = {}
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        draw, now = random.SystemRandom().random, time.monotonic()
        instance = assignment.own_pod.rpartition("/")[2] or assignment.node
        self.recorder = Recorder(client, instance, clock=time.monotonic, wall=time.time, draw=draw)
        limits = None if policy.dry_run else assignment.cluster
        shared = None if limits is None else LeaseBudget(client, limits, assignment.node, time.time)
        actions = PodActions(
            policy=policy,
            client=client,
            recorder=self.recorder,
            evictor=Evictor(client),
            applier=Applier(dry_run=policy.dry_run),
            namespaces=lambda: read_namespaces(assignment.proc, assignment.bound),
            cluster=Unbounded() if shared is None else shared,
        )
        self.budget = RepairBudget(policy, now)
        self._load(now)
        self.controller = Controller(
            policy,
            actions,
            self.budget,
            own_pod=assignment.own_pod,
            chain=assignment.chain,
            spent=self._save,
        )
        trim = MetadataFilter(
            labels=frozenset({policy.label, "pod-template-hash"}),
            annotations=ANNOTATIONS | {MIRROR, *policy.annotations},
            variables=VARIABLES,
        )
        self.watch = ListWatch(
            client,
            query_of(assignment.node, policy),
            draw=draw,
            clock=time.monotonic,
            changed=self._put,
            trim=trim,
        )
        self._thread = threading.Thread(target=self.watch.run, name="follow-pods", daemon=True)
        self._looked: dict[str, float] = {}
        self._unjudged: dict[str, None] = {}
        """Pods that could not be judged for what stands in them, by UID."""
        self._next_scan = now

    def start(self) -> None:
        """Begin to follow the pods."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and give the descriptor back."""
        self.watch.stop()
        self._thread.join(5.0)
        if not self._thread.is_alive():
            self.close()

    def close(self) -> None:
        """Close the descriptor, where no thread uses it."""
        os.close(self.descriptor)

    def heard(self) -> None:
        """Take note that the descriptor was seen to be readable."""
        try:
            os.eventfd_read(self.descriptor)
        except BlockingIOError:
            return

    def step(self, now: float) -> float:
        """Consider what changed and what is due, look into namespaces when it is time; the seconds
        until the next step.
        """
        if self._thread.ident is not None and not self._thread.is_alive():
            raise Unreachable(
                "what follows the pods has ended by a fault of its own"
            )  # the agent begins the part anew
        for before, after in self._take():
            if before is not None and (after is None or after.metadata.uid != before.metadata.uid):
                self.controller.forget(before)
                self._looked.pop(before.metadata.uid, None)
                self._unjudged.pop(before.metadata.uid, None)
            if after is not None:
                self._consider(after, now)
        for key in self.controller.due(now):
            pod = self.watch.pod(key)
            if pod is not None:
                self._consider(pod, now)
        if self._assignment.policy.scan and now >= self._next_scan and self.watch.figures.synced:
            self._next_scan = now + self._assignment.policy.scan
            self._scan(now)
        waits = [
            self.controller.wait(now),
            self._next_scan - now if self._assignment.policy.scan else None,
        ]
        return max(0.05, min((wait for wait in waits if wait is not None), default=REPORT_SECONDS))

    def _consider(
        self, pod: KubePod, now: float, sight: NamespaceObservation | None = None
    ) -> None:
        """Consider one pod; what its author or its own namespace holds that no code foresaw costs
        that pod its verdict, and nobody else.
        """
        try:
            self.controller.consider(pod, now, sight)
        except FORESEEN as error:
            self.controller.forget(pod)
            if pod.metadata.uid not in self._unjudged:
                fields = {"pod": pod.key, "uid": pod.metadata.uid, "error": repr(error)[:200]}
                LOG.warning("the pod cannot be judged: %s", pod.key, extra={"fields": fields})
            self._unjudged[pod.metadata.uid] = None
        else:
            self._unjudged.pop(pod.metadata.uid, None)

    def once(self) -> tuple[tuple[KubePod, PodJudgement], ...]:
        """List the pods once, look into all that no validator speaks for, do what is next; give
        each as it was judged.
        """
        self.watch.list_once()
        now = time.monotonic()
        namespaces = read_namespaces(self._assignment.proc, self._assignment.bound)
        found = []
        for pod in self.watch.pods():
            blind = judge(pod, self._assignment.policy).state == "unknown"
            sight = self._see(pod, namespaces) if blind and pod.status.phase == "Running" else None
            found.append((pod, self.controller.consider(pod, now, sight)))
        for pod, _ in found:
            while pod.key in self.controller.due(time.monotonic()):
                self.controller.consider(pod, time.monotonic())
        return tuple(found)

    def status(self) -> KeeperStatus:
        """Say how the part stands. An API server that is away makes no node unready: the chain is
        what new pods need.
        """
        figures = self.watch.figures
        if figures.watching:
            why = ""
        else:
            why = f"the API server is not followed: {figures.trouble or 'it was not reached yet'}"
        return KeeperStatus(
            ready=True,
            why=why,
            degraded=not (figures.synced and figures.watching),
            findings=self.controller.findings(),
            samples=self._samples(),
        )

    def _samples(self) -> tuple[Sample, ...]:
        figures, counts = self.watch.figures, self.controller.counts
        actions = [
            Sample(
                "repair_deeds",
                count,
                (("action", action), ("result", result)),
                "counter",
                "Actions on pods, by how they came out.",
            )
            for (action, result), count in sorted(counts.items())
        ]
        return (
            *actions,
            *self.controller.took.samples(),
            Sample(
                "repair_pods_broken",
                self.controller.broken,
                (),
                "gauge",
                "Pods that started misconfigured and still are.",
            ),
            Sample(
                "repair_pods_unjudged",
                len(self._unjudged),
                (),
                "gauge",
                "Pods that could not be judged for what stands in them.",
            ),
            Sample("repair_pods", len(self.watch.pods()), (), "gauge", "Pods that are followed."),
            Sample(
                "repair_budget_tokens",
                self.budget.tokens(time.monotonic()),
                (),
                "gauge",
                "Evictions that the node's budget has.",
            ),
            Sample(
                "repair_events_published", self.recorder.published, (), "counter", "Events written."
            ),
            Sample(
                "repair_events_suppressed",
                self.recorder.suppressed,
                (),
                "counter",
                "Events not said again.",
            ),
            Sample(
                "repair_events_errors",
                self.controller.event_errors,
                (),
                "counter",
                "Events that could not be written.",
            ),
            Sample(
                "kube_watching",
                float(figures.watching),
                (),
                "gauge",
                "Whether a watch on the API server is open.",
            ),
            Sample("kube_lists", figures.lists, (), "counter", "Times that all pods were listed."),
            Sample("kube_watches", figures.watches, (), "counter", "Watches opened."),
            Sample(
                "kube_failures",
                figures.failures,
                (),
                "counter",
                "Lists and watches that failed or broke.",
            ),
        )

    def _put(self, before: KubePod | None, after: KubePod | None) -> None:
        """Put down what the watch heard, in its thread: the newest state, with the oldest that was
        not looked at.
        """
        pod = after or before
        if pod is None:
            return
        with self._lock:
            first = self._inbox.get(pod.key, (before, None))[0]
            self._inbox[pod.key] = (first, after)
        os.eventfd_write(self.descriptor, 1)

    def _take(self) -> list[tuple[KubePod | None, KubePod | None]]:
        with self._lock:
            taken, self._inbox = self._inbox, {}
        return list(taken.values())

    def _scan(self, now: float) -> None:
        """Look into the namespaces of pods that no validator speaks for."""
        policy = self._assignment.policy
        again = policy.scan_again
        waiting = [pod for pod in self.watch.pods() if self._is_candidate(pod, now, policy)]
        due = [pod for pod in waiting if now - self._looked.get(pod.metadata.uid, -again) >= again]
        if not due:
            return
        namespaces = read_namespaces(self._assignment.proc, self._assignment.bound)
        waited = sorted(due, key=lambda pod: self._looked.get(pod.metadata.uid, 0.0))
        for pod in take_turns(waited, LOOKS):
            if time.monotonic() - now > SCAN_SECONDS:
                break
            sight = self._see(pod, namespaces)
            if sight is not None:
                soon = max(0.0, again - UNSURE * policy.scan) if sight.redirected is None else 0.0
                self._looked[pod.metadata.uid] = now - soon
                self._consider(pod, now, sight)

    @staticmethod
    def _see(pod: KubePod, namespaces: Namespaces) -> NamespaceObservation | None:
        try:
            return see(pod, namespaces)
        except FORESEEN as error:
            return NamespaceObservation(
                redirected=None, why=f"what stands in it cannot be read: {error!r}"[:300]
            )

    def _is_candidate(self, pod: KubePod, now: float, policy: Policy) -> bool:
        if (
            pod.status.phase != "Running"
            or asked(pod) is None
            or judge(pod, policy).state != "unknown"
        ):
            return False
        return now - self.controller.first_seen(pod) >= policy.young

    def _load(self, now: float) -> None:
        path = self._assignment.state
        if path is None:
            return
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if isinstance(saved, dict) and saved.get("boot") == _boot():
            self.budget.load(saved.get("budget"), now)

    def _save(self) -> None:
        path = self._assignment.state
        if path is None:
            return
        text = json.dumps({"boot": _boot(), "budget": self.budget.save()})
        try:
            Applier().write_file(path, text.encode(), mode=0o600)
        except ApplyError as error:
            LOG.warning(
                "the budget's state cannot be written", extra={"fields": {"error": str(error)}}
            )


def take_turns(pods: Sequence[KubePod], most: int) -> list[KubePod]:
    """Return so many pods, a namespace at a time and within it an owner at a time, so that one
    tenant's hundred pods wait for each other and not everybody for them.
    """
    queues: dict[str, dict[str, deque[KubePod]]] = {}
    for pod in pods:
        owners = queues.setdefault(pod.metadata.namespace, {})
        owners.setdefault(name_owner(pod), deque()).append(pod)
    taken: list[KubePod] = []
    while queues and len(taken) < most:
        for space in list(queues):
            owners = queues[space]
            owner = next(iter(owners))
            waiting = owners.pop(owner)
            taken.append(waiting.popleft())
            if waiting:
                owners[owner] = waiting  # behind the others of its namespace
            if not owners:
                del queues[space]
    return taken[:most]


def _boot() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
