"""What the controller does to a pod, and how each action came out: it is announced first, and done
to the pod that was judged.

What comes in is a pod read a moment ago and why it is judged broken; what goes out is an `Outcome`.
Refusals become outcomes: a pod that changed or went in the meantime is skipped, a disruption
budget's no is waited out, everything else failed and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from podpath.kube.client import Client, KubeError, Refused
from podpath_protect.apply import Applier
from podpath_protect.cluster import pods
from podpath_protect.cluster.events import KubeEvent, Recorder, Regarding
from podpath_protect.cluster.limits import SharedAction
from podpath_protect.cluster.objects import KubePod
from podpath_protect.repair.judgement import NamespaceObservation, PodJudgement
from podpath_protect.repair.mend import Mending, mend, see
from podpath_protect.repair.namespaces import Namespaces
from podpath_protect.repair.policy import Action, Policy

Result = Literal["success", "skip", "fail", "refused", "undone", "impossible", "would"]
"""`skip`: the pod is no longer what was judged. `refused`: a disruption budget's no. `undone`: what
was done did not help, and was taken back. `impossible`: only a harder action helps.
"""

WORDS: dict[Action, tuple[str, str]] = {
    "label": ("LabelBrokenPod", "Labelling"),
    "mend": ("MendBrokenPod", "Mending"),
    "evict": ("EvictBrokenPod", "Evicting"),
    "delete": ("DeleteBrokenPod", "Deleting"),
}
_GONE, _CONFLICT, _BUSY = 404, 409, 429


class RepairOutcome(NamedTuple):
    """How an action came out."""

    result: Result
    why: str
    retry_after: float = 0.0
    """Seconds that the server asked us to wait."""
    unsure: bool = False
    """The answer was lost: it may have been done."""


class ClusterBudget(Protocol):
    """What all nodes together may do."""

    def spend(self, action: SharedAction, space: str) -> float:
        """Take a token for a namespace and return 0; or take nothing and return the seconds to
        wait.
        """

    def refund(self, action: SharedAction, space: str) -> None:
        """Put a token back, since nothing happened."""


class Unbounded:
    """A cluster in which each node has its own budgets alone."""

    def spend(self, action: SharedAction, space: str) -> float:  # noqa: ARG002  # as a budget has it
        """Grant it."""
        return 0.0

    def refund(self, action: SharedAction, space: str) -> None:
        """Take nothing back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodActions:
    """The actions on one cluster's pods."""

    policy: Policy
    client: Client
    recorder: Recorder
    evictor: pods.Evictor
    applier: Applier
    namespaces: Callable[[], Namespaces]
    cluster: ClusterBudget = field(default_factory=Unbounded)
    """What all nodes together may do, beside the node's own budget."""

    def read(self, pod: KubePod) -> KubePod | None:
        """Read a pod as it is now; None where it is gone. `KubeError` where the server does not
        say.
        """
        return pods.read(self.client, pod)

    def see(self, pod: KubePod) -> NamespaceObservation | None:
        """Look into a pod's namespace; None where it asks for no redirection."""
        return see(pod, self.namespaces())

    def announce(self, pod: KubePod, action: Action, judgement: PodJudgement) -> str:
        """Write the event that says what is about to be done; why it could not be written, empty
        where it was.
        """
        if self.policy.dry_run:
            return ""
        reason, doing = WORDS[action]
        note = f"started without its redirect rules ({judgement.why}); {doing.lower()} it"
        try:
            self.recorder.publish(
                KubeEvent(regarding=Regarding.of_pod(pod), reason=reason, action=doing, note=note)
            )
        except KubeError as error:
            return str(error)
        return ""

    def do(self, action: Action, pod: KubePod) -> RepairOutcome:
        """Do an action."""
        if action == "mend":
            return _of_mending(mend(pod, self.namespaces(), self.applier))
        try:
            self._ask(action, pod)
        except Refused as refused:
            return _of_refusal(refused)
        except KubeError as error:
            return RepairOutcome("fail", str(error), unsure=True)
        return RepairOutcome(
            "would" if self.policy.dry_run else "success", f"{WORDS[action][1].lower()} done"
        )

    def unlabel(self, pod: KubePod) -> RepairOutcome:
        """Take our label off a pod that is well."""
        try:
            pods.label(self.client, pod, {self.policy.label: None}, dry_run=self.policy.dry_run)
        except Refused as refused:
            return _of_refusal(refused)
        except KubeError as error:
            return RepairOutcome("fail", str(error))
        return RepairOutcome("success", "the label is off")

    def _ask(self, action: Action, pod: KubePod) -> None:
        dry_run = self.policy.dry_run
        grace = self.policy.grace_seconds if self.policy.grace_seconds >= 0 else None
        if action == "label":
            pods.label(
                self.client, pod, {self.policy.label: self.policy.label_value}, dry_run=dry_run
            )
        elif action == "evict":
            self.evictor.evict(pod, grace_seconds=grace, dry_run=dry_run)
        else:
            pods.delete(self.client, pod, grace_seconds=grace, dry_run=dry_run)


def _of_mending(mending: Mending) -> RepairOutcome:
    results: dict[str, Result] = {
        "mended": "success",
        "would": "would",
        "failed": "fail",
        "undone": "undone",
        "gone": "skip",
        "impossible": "impossible",
    }
    return RepairOutcome(results[mending.state], mending.why)


def _of_refusal(refused: Refused) -> RepairOutcome:
    if refused.code in {_GONE, _CONFLICT} or refused.code in pods.ANOTHER:
        return RepairOutcome("skip", f"it is no longer what was judged: {refused.message}")
    if refused.code == _BUSY:
        return RepairOutcome("refused", refused.message, refused.retry_after)
    return RepairOutcome("fail", str(refused))
