"""What the repair controller may do, to which pods, how often: the section `[repair]` of the
agent's configuration.

The defaults know the validators of podpath, linkerd and istio by their containers' names and exit
codes. Values that cannot be meant (a budget of nothing, an action twice) are refused where the
configuration is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from podpath.net.tables import parse_duration
from podpath_protect.validate.judgement import CODES, Cause

Action = Literal["label", "mend", "evict", "delete"]
ORDER: Final[tuple[Action, ...]] = ("label", "mend", "evict", "delete")
"""From the gentlest to the hardest: escalation never goes back."""
_PROOFS: tuple[Cause, ...] = (
    "no-rules", "outbound-missing", "family-missing", "inbound-missing", "wrong-port",
    "skipped-redirected", "proxy-redirected",
)  # fmt: skip
OWN_CODES: Final = tuple(CODES[cause] for cause in _PROOFS)
"""The exit codes of podpath's validator that say that rules are missing or wrong; its others (busy,
undecided) prove nothing.
"""


def _duration(default: float) -> Any:  # noqa: ANN401  # a dataclass field, whose type is the default's
    return field(default=default, metadata={"parse": parse_duration})


@dataclass(frozen=True, slots=True, kw_only=True)
class Validator:
    """An init container whose failure says that its pod's traffic is not redirected."""

    container: str
    codes: tuple[int, ...] = ()
    """The exit codes that say so; none means every code but 0."""
    message: str = ""
    """The termination message that it must have left too, without blanks around it; empty leaves it
    open.
    """


VALIDATORS: Final = (
    Validator(container="podpath-validate", codes=(95, 126, *OWN_CODES)),
    Validator(container="linkerd-network-validator", codes=(95, *OWN_CODES)),
    Validator(container="istio-validation", codes=(126, *OWN_CODES)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may be done, to whom, how often."""

    actions: tuple[Action, ...] = ("label", "mend", "evict")
    """What may be done; tried in the order label, mend, evict, delete, each harder one when the
    gentler did not help.
    """
    validators: tuple[Validator, ...] = VALIDATORS
    label_selector: str = ""
    """Pods that are looked at, as `kubectl get -l` has it; empty: all of the node."""
    field_selector: str = ""
    """More of `kubectl get --field-selector`, beside the node's name."""
    annotations: tuple[str, ...] = ()
    """Pods that are looked at have one of these annotations (`sidecar.istio.io/status`); none
    leaves it open.
    """
    exclude_namespaces: tuple[str, ...] = ()
    bare_pods: bool = False
    """Whether a pod that nobody makes again may be evicted or deleted: it would be gone for
    good.
    """
    require_event: bool = True
    """Whether a label, an eviction or a deletion waits until its event is written: nothing dies
    without a word.
    """
    label: str = "podpath.dev/unredirected"
    label_value: str = "true"
    grace_seconds: int = -1
    """For eviction and deletion; -1 leaves it to the pod."""
    mend_attempts: int = 2
    attempts: int = 5
    """How often eviction or deletion is tried on one pod when it fails; a disruption budget's no
    does not count.
    """
    mend_burst: int = 20
    mend_per_hour: float = 120.0
    """Pods of this node that are mended in place: that ends no pod, so the budget is wide."""
    node_burst: int = 3
    node_per_hour: float = 12.0
    """Pods of this node that are evicted or deleted."""
    share: float = 0.5
    """What of the node's budgets one namespace may have, and of the namespace's mendings one owner:
    1 lets a single tenant spend all.
    """
    owner_burst: int = 1
    owner_per_hour: float = 4.0
    pause: float = _duration(5.0)
    """After a failure, before the next try on the same pod; doubled each time."""
    owner_pause: float = _duration(60.0)
    """After a pod was sent away, before the next of the same owner may be; doubled while successors
    are born broken.
    """
    longest_pause: float = _duration(3600.0)
    mend_patience: float = _duration(330.0)
    """How long a mended pod may take to pass its validator: the kubelet's longest crash-loop pause,
    and a little.
    """
    scan: float = _duration(60.0)
    """How often pods without a validator are looked at from within their namespace; 0 never."""
    scan_again: float = _duration(900.0)
    """When a pod whose rules were there is looked at again."""
    young: float = _duration(20.0)
    """A pod without a validator is not judged before it ran so long."""
    dry_run: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if len(set(self.actions)) != len(self.actions):
            raise ValueError(f"each action once, saw {', '.join(self.actions)}")
        if (
            min(
                self.mend_burst,
                self.node_burst,
                self.owner_burst,
                self.attempts,
                self.mend_attempts,
            )
            < 1
        ):
            raise ValueError("bursts and attempts of at least 1")
        if min(self.mend_per_hour, self.node_per_hour, self.owner_per_hour) <= 0:
            raise ValueError("a budget above 0; leave an action out of `actions` to forbid it")
        numbers = (getattr(self, each.name) for each in fields(self))
        if not all(math.isfinite(each) for each in numbers if isinstance(each, float)):
            raise ValueError("numbers that are finite")
        if not 0 < self.share <= 1:
            raise ValueError("a share above 0 and at most 1")
        if not self.validators and not self.scan:
            raise ValueError("validators, or a scan: without both no pod can be judged")
        if not self.label or "/" not in self.label:
            raise ValueError("a label with a prefix, as podpath.dev/unredirected")

    @property
    def escalation(self) -> tuple[Action, ...]:
        """Return the actions that do something to the pod, from the gentlest; labeling is beside
        them.
        """
        return tuple(action for action in ORDER if action in self.actions and action != "label")
