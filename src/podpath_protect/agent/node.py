"""The agent's word on the node: a taint that it owns from its start until every part is ready, and
Events of what is wrong.

The API server may be away for hours: everything is tried again, ever more slowly, and the parts do
not wait for it. The taint comes back where a part is unready for longer than the grace, and stays
as it is when the agent stops: a rolling update is no reason to keep pods away, and the next start
puts it there anyhow.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from podpath.kube import access
from podpath.kube.client import Client, KubeError
from podpath_protect.agent.config import KubernetesOptions
from podpath_protect.agent.keeper import KeeperContext, KeeperStatus, Sample, all_hold
from podpath_protect.cluster import conditions, taints
from podpath_protect.cluster.backoff import Backoff
from podpath_protect.cluster.conditions import NodeStanding
from podpath_protect.cluster.events import KubeEvent, Recorder, Regarding
from podpath_protect.cluster.lease import LeaseBudget
from podpath_protect.cluster.shared import Contended

_log = logging.getLogger("podpath.protect.node")

STEP_SECONDS = 1.0
CHECK_SECONDS = 300.0
"""How often a taint that is as it should be is read again: somebody else may have taken it off."""
HELD_BACK_SECONDS = 30.0
"""When a taint for which there was no place is tried again."""

Standings = Callable[[], Mapping[str, KeeperStatus]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReporting:
    """As whom, of which node, and how far the agent may speak."""

    node: str
    options: KubernetesOptions
    dry_run: bool = False


class TaintPolicy:
    """Decides whether the taint shall be there. Time is an argument."""

    def __init__(self, grace: float) -> None:
        """Want it from the start."""
        self.wanted, self._grace = True, grace
        self._unready_since: float | None = None

    def hear(self, ready: bool, now: float) -> bool:  # noqa: FBT001  # the one fact that is heard
        """Hear how the parts stand, and tell whether the taint shall be there."""
        if ready:
            self._unready_since, self.wanted = None, False
        elif not self.wanted:
            self._unready_since = now if self._unready_since is None else self._unready_since
            self.wanted = now - self._unready_since >= self._grace
        return self.wanted


def find_access(options: KubernetesOptions) -> access.Access:
    """Return the way to the API server that the configuration names."""
    return access.find(
        Path(options.kubeconfig) if options.kubeconfig else None, context=options.context or None
    )


def speak_of_node(context: KeeperContext, reporting: NodeReporting, standings: Standings) -> None:
    """Keep the taint and publish events until it is told to stop: a keeper's body."""
    options = reporting.options
    found = find_access(options)
    _log.info(
        "the API server is known",
        extra={"fields": {"server": found.server, "by": found.origin, "node": reporting.node}},
    )
    draw = random.SystemRandom().random
    with Client(found) as client:
        recorder = Recorder(client, reporting.node, clock=time.monotonic, wall=time.time, draw=draw)
        speaker = _Publisher(reporting, client, recorder, Backoff(draw))
        while not context.stopping:
            speaker.step(standings(), time.monotonic())
            context.report(speaker.status())
            context.wait(STEP_SECONDS)


class _Publisher:
    """What has been said so far."""

    def __init__(
        self, reporting: NodeReporting, client: Client, recorder: Recorder, backoff: Backoff
    ) -> None:
        self._reporting, self._client = reporting, client
        self._recorder, self._backoff = recorder, backoff
        self._taint = TaintPolicy(reporting.options.grace)
        self._applied: bool | None = None
        self._checked = self._reported = 0.0
        self._stood: NodeStanding | None = None
        self._not_before = 0.0
        self._told: set[tuple[str, str, str]] = set()
        self._pending: list[KubeEvent] = []
        self._error = self._held_back = ""
        self._places: LeaseBudget | None = None
        if reporting.options.budget is not None and not reporting.dry_run:
            self._places = LeaseBudget(client, reporting.options.budget, reporting.node, time.time)
        self.written = 0

    def step(self, statuses: Mapping[str, KeeperStatus], now: float) -> None:
        """Say what is to be said now; where the server is away, wait."""
        ready = all_hold(statuses)
        wanted = self._taint.hear(ready, now) if self._reporting.options.taint else False
        self._gather(statuses)
        if now < self._not_before:
            return
        try:
            if self._reporting.options.taint and self._is_due(wanted, now):
                self._apply(wanted, statuses)
                self._checked = now
            if self._reporting.options.condition and not self._reporting.dry_run:
                self._report_condition(NodeStanding(ready, _why_unready(statuses)), now)
            while self._pending:
                if not self._reporting.dry_run:
                    self._recorder.publish(self._pending[0])
                del self._pending[0]
        except (KubeError, Contended) as error:
            if str(error) != self._error:
                _log.warning(
                    "the API server did not do it", extra={"fields": {"error": str(error)}}
                )
            self._error = str(error)
            self._not_before = now + self._backoff.pause(getattr(error, "retry_after", 0.0))
        else:
            self._error = ""
            self._backoff.reset()

    def _is_due(self, wanted: bool, now: float) -> bool:  # noqa: FBT001  # whether it shall be there
        if wanted and self._held_back:
            return now - self._checked > HELD_BACK_SECONDS
        return self._applied is not wanted or now - self._checked > CHECK_SECONDS

    def _report_condition(self, standing: NodeStanding, now: float) -> None:
        """Write the node's condition where it is another, and now and then as a sign of life."""
        if standing == self._stood and now - self._reported < CHECK_SECONDS:
            return
        conditions.report(self._client, self._reporting.node, standing, time.time())
        self._stood, self._reported = standing, now

    def _has_place(self) -> bool:
        """Take or renew this node's place among those that may be tainted at one time."""
        if self._places is None or self._places.hold():
            self._held_back = ""
            return True
        if not self._held_back:
            self._held_back = (
                "the taint is held back: as many nodes are tainted as [kubernetes.budget] allows"
            )
            _log.warning("the taint is held back", extra={"fields": {"why": self._held_back}})
        return False

    def _apply(self, wanted: bool, statuses: Mapping[str, KeeperStatus]) -> None:  # noqa: FBT001  # whether it shall be there
        options, node, dry = self._reporting.options, self._reporting.node, self._reporting.dry_run
        if wanted:
            if not self._has_place():
                return
            outcome = taints.add(
                self._client, node, key=options.taint_key, effect=options.taint_effect, dry_run=dry
            )
        else:
            outcome = taints.remove(self._client, node, key=options.taint_key, dry_run=dry)
            self._held_back = ""
            if self._places is not None:
                self._places.release()
        self.written += outcome == "written"
        first = self._applied is None
        self._applied = wanted
        if outcome == "unchanged" and not first:
            return
        why = _why_unready(statuses)
        fields = {"taint": options.taint_key, "there": wanted, "outcome": outcome, "why": why}
        _log.info("the node's taint was put right", extra={"fields": fields})
        if options.events and not (wanted and first):
            if wanted:
                note = f"{options.taint_key} put on this node: {why}"
            else:
                note = f"every part is ready: {options.taint_key} taken off"
            reason, kind = ("PathNotReady", "Warning") if wanted else ("PathReady", "Normal")
            self._queue(
                reason, "Tainting" if wanted else "Untainting", note, warn=kind == "Warning"
            )

    def _gather(self, statuses: Mapping[str, KeeperStatus]) -> None:
        """Queue an event for each finding that is new; one that ended may be told again when it
        comes back.
        """
        if not self._reporting.options.events:
            return
        present = {
            (name, f.check, f.subject): f
            for name, status in statuses.items()
            for f in status.findings
        }
        self._told &= set(present)
        for key, finding in present.items():
            if key not in self._told and finding.severity != "info":
                self._told.add(key)
                self._queue(camel(finding.check), "Protecting", finding.claim, warn=True)

    def _queue(self, reason: str, action: str, note: str, *, warn: bool) -> None:
        if len(self._pending) < MOST_PENDING:
            about = Regarding.of_node(self._reporting.node)
            self._pending.append(
                KubeEvent(
                    regarding=about,
                    reason=reason,
                    action=action,
                    note=note,
                    type="Warning" if warn else "Normal",
                )
            )

    def status(self) -> KeeperStatus:
        """Say how it stands: a server that is away makes the node no less ready."""
        samples = (
            Sample(
                "node_tainted",
                int(bool(self._applied)),
                help="Whether the agent's taint is on the node.",
            ),
            Sample(
                "node_taint_writes",
                self.written,
                kind="counter",
                help="Writes of the node's taints.",
            ),
            Sample(
                "events_published",
                self._recorder.published,
                kind="counter",
                help="Kubernetes Events written.",
            ),
            Sample(
                "events_pending",
                len(self._pending),
                help="Kubernetes Events that wait for the API server.",
            ),
            Sample("api_failures", self._backoff.failures, help="Requests that failed in a row."),
        )
        why = self._error or self._held_back
        return KeeperStatus(ready=True, why=why, degraded=bool(why), samples=samples)


MOST_PENDING = 64
"""Events that wait for a server that is away; more would tell nothing new."""


def _why_unready(statuses: Mapping[str, KeeperStatus]) -> str:
    return "; ".join(
        f"{name}: {status.why}" for name, status in statuses.items() if not status.ready
    )


def camel(check: str) -> str:
    """Spell a finding's kind as Kubernetes spells reasons: `sysctl-drifted` is `SysctlDrifted`."""
    return "".join(word.capitalize() for word in check.split("-"))
