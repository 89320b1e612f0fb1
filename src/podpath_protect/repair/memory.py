"""What the controller remembers of a broken pod: what was tried, how it came out, when it may be
looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from podpath_protect.repair.actions import RepairOutcome
from podpath_protect.repair.judgement import PodJudgement
from podpath_protect.repair.policy import Action, Policy


@dataclass(slots=True, kw_only=True)
class BrokenPod:
    """One broken pod, by its UID. Mutable, and of the controller's thread."""

    key: str
    judgement: PodJudgement
    failures: dict[Action, int] = field(default_factory=dict)
    """How often an action failed in a row."""
    hopeless: set[Action] = field(default_factory=set)
    """Actions that cannot help this pod."""
    labeled: bool = False
    mended_at: float | None = None
    """When it was mended in place, while it has not shown since whether that helped."""
    mended_seen: str = ""
    """What was seen of its failure then: the same still says nothing new."""
    ended: bool = False
    """It was sent away, or would have been in a dry run: nothing more is done to it."""
    not_before: float = 0.0
    held: str = ""
    """Why nothing is done now; empty where something may."""

    def next_action(self, policy: Policy) -> Action | None:
        """Return the gentlest action that may still help; None where all were tried."""
        for action in policy.escalation:
            limit = policy.mend_attempts if action == "mend" else policy.attempts
            if action not in self.hopeless and self.failures.get(action, 0) < limit:
                return action
        return None

    def note(self, action: Action, outcome: RepairOutcome, policy: Policy, now: float) -> None:
        """Remember how an action came out, and when the next may be."""
        if outcome.result in {"success", "would"}:
            if action == "label":
                self.labeled = True
            elif action == "mend" and outcome.result == "success":
                self.mended_at, self.mended_seen = now, self.judgement.seen
            else:
                self.ended = True
        elif outcome.result in {"impossible", "undone"}:
            self.hopeless.add(action)
        elif outcome.result == "fail":
            tries = self.failures.get(action, 0) + 1
            self.failures[action] = tries
            self.not_before = now + min(
                policy.pause * 2.0 ** min(tries - 1, 40), policy.longest_pause
            )
        elif outcome.result == "refused":
            self.not_before = now + max(outcome.retry_after, 2 * policy.pause)
        else:
            self.not_before = now + policy.pause

    def mending_failed(self, policy: Policy, now: float) -> bool | None:
        """Tell whether a pod that was mended is broken all the same; None where it was not mended,
        or may still come well.
        """
        if self.mended_at is None:
            return None
        if self.judgement.seen == self.mended_seen and now < self.mended_at + policy.mend_patience:
            return False
        self.mended_at = None
        self.failures["mend"] = self.failures.get("mend", 0) + 1
        return True
