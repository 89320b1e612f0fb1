"""The order keeper: events of nftables and a poll, and a look for each.

iptables-nft changes nftables, of which the kernel tells (with CAP_NET_ADMIN); legacy iptables tells
of nothing, so its chains are listed at intervals. kube-proxy changes rules all the time, and base
chains hardly ever: events of other chains are passed over, and those of ours gathered for a second.
"""

from __future__ import annotations

import logging
import time

from podpath_protect import netlink
from podpath_protect.agent.keeper import KeeperContext, KeeperStatus, Sample
from podpath_protect.apply import Applier
from podpath_protect.order.guard import OrderGuard, OrderOutcome
from podpath_protect.order.options import OrderOptions, gather_rules

_log = logging.getLogger("podpath.protect.order")

GATHER_SECONDS = 1.0
AGAIN_SECONDS = 1.0
"""When chains that could not be listed are asked for again: a lock is free in a moment."""


def keep_order(context: KeeperContext, options: OrderOptions, applier: Applier) -> None:
    """Watch and mend until it is told to stop: a keeper's body."""
    guard = OrderGuard(gather_rules(options), applier, mend=options.mode == "fix")
    chains = frozenset(rule.chain for rule in guard.rules)
    monitor = _listen()
    looks = moved = 0
    told: frozenset[tuple[str, str]] = frozenset()
    try:
        while not context.stopping:
            outcome = guard.look(time.monotonic())
            looks, moved = looks + 1, moved + sum(move.state == "done" for move in outcome.moves)
            context.report(_make_status(outcome, looks, moved, mends=guard.mend))
            told = _tell(outcome, told)
            context.wait(GATHER_SECONDS)
            pause = min(options.poll, AGAIN_SECONDS) if outcome.unknown else options.poll
            _wait(context, monitor, time.monotonic() + pause, chains)
    finally:
        if monitor is not None:
            monitor.close()


def _wait(
    context: KeeperContext, monitor: netlink.Monitor | None, until: float, chains: frozenset[str]
) -> None:
    """Wait until a base chain changes, or it is time to look anyway."""
    while not context.stopping and (left := until - time.monotonic()) > 0:
        context.wait(left, *(() if monitor is None else (monitor.fileno(),)))
        if monitor is not None and any(_concerns(event, chains) for event in monitor.events()):
            return


def _concerns(event: netlink.Event, chains: frozenset[str]) -> bool:
    return isinstance(event, netlink.MessagesLost) or (
        isinstance(event, netlink.RuleChange) and event.chain in chains
    )


def _listen() -> netlink.Monitor | None:
    try:
        return netlink.Monitor(netlink.NFTABLES_GROUP, protocol=netlink.NETFILTER)
    except OSError as error:
        fields = {"error": str(error), "needs": "CAP_NET_ADMIN"}
        _log.warning(
            "changes of nftables are not told to us: the chains are listed at intervals",
            extra={"fields": fields},
        )
        return None


def _tell(outcome: OrderOutcome, told: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    for move in outcome.moves:
        fields = {
            "rule": move.disorder.rule.name,
            "state": move.state,
            "script": move.script,
            "why": move.why,
        }
        _log.info(
            "a jump was moved" if move.state == "done" else "a jump is out of order",
            extra={"fields": fields},
        )
    now = frozenset((finding.check, finding.subject) for finding in outcome.findings)
    for finding in outcome.findings:
        if (finding.check, finding.subject) not in told:
            told_of = {
                "check": finding.check,
                "subject": finding.subject,
                "evidence": list(finding.evidence),
            }
            level = logging.ERROR if finding.severity == "error" else logging.WARNING
            _log.log(level, finding.claim, extra={"fields": told_of})
    return now


def _make_status(outcome: OrderOutcome, looks: int, moved: int, *, mends: bool) -> KeeperStatus:
    """Say how the order stands; where it is only reported, no pod waits for it."""
    claims = [finding.claim for finding in outcome.findings]
    return KeeperStatus(
        ready=outcome.holds or not mends,
        why=claims[0] if claims else "",
        findings=outcome.findings,
        degraded=bool(claims),
        samples=(
            Sample("order_chains", outcome.chains, help="Base chains that were listed."),
            Sample("order_looks", looks, kind="counter", help="Looks at the order of jumps."),
            Sample("order_moves", moved, kind="counter", help="Jumps that were moved."),
            Sample(
                "order_wrong",
                sum(each.check == "jump-order" for each in outcome.findings),
                help="Jumps that come too late.",
            ),
        ),
    )
