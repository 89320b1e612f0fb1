"""What the configuration says of the order keeper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from podpath.net.tables import parse_duration
from podpath_protect.order.rules import OrderRule, load_rules

POLL_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderOptions:
    """The section [order] of the agent's configuration, and the options of `podpath protect
    order`.
    """

    mode: Literal["report", "fix"] = "report"
    """`report` by default: moving rules is a change of the firewall."""
    leave_out: tuple[str, ...] = ()
    """Names of built-in rules that shall not be held."""
    rule: tuple[OrderRule, ...] = ()
    """Own rules, [[order.rule]]; one with the name of a built-in one replaces it."""
    poll: float = field(default=POLL_SECONDS, metadata={"parse": parse_duration})
    """How often the chains are listed, whatever was heard: legacy iptables tells of nothing."""

    def __post_init__(self) -> None:
        """Refuse a name that leaves nothing out, and a poll that would never rest."""
        known = {rule.name for rule in load_rules()}
        unknown = [name for name in self.leave_out if name not in known]
        if unknown:
            raise ValueError(
                f"names of built-in rules ({', '.join(sorted(known))}) in leave_out, saw "
                f"{unknown[0]!r}"
            )
        if self.poll < 1:
            raise ValueError("a poll of 1s or more")


def gather_rules(options: OrderOptions) -> tuple[OrderRule, ...]:
    """Return the rules that hold."""
    joined = {rule.name: rule for rule in load_rules() if rule.name not in options.leave_out}
    return tuple((joined | {rule.name: rule for rule in options.rule}).values())
