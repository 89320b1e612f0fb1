"""What makes a certain fault a possible one: a fact that is stated beside its lines, of a kind that
its check says would leave it open.

One line of a program convicts only while no other line of the ticket ends it, explains it, or says
that it means something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from podpath.checks.finding import WEIGHTY, Finding, FollowUp, Severity
from podpath.checks.ground import Unsettling
from podpath.diagnosis.beside import (
    find_answered_beyond,
    find_done,
    find_other_device,
    find_other_failure,
    find_outside_range,
    find_own_words,
    find_recovered,
    find_running,
    find_standing,
    find_tentative,
    find_unowned,
    find_without_speed,
    find_xdp_queue,
    list_quoted,
)
from podpath.diagnosis.later import find_again, find_later, find_long_ago
from podpath.diagnosis.spoken import (
    find_agent_down,
    find_by_hand,
    find_no_service,
    find_other_family,
    find_other_program,
    find_past,
    find_rescue,
    find_supposed,
)
from podpath.diagnosis.wording import (
    find_cut_off,
    find_existing,
    find_not_loaded,
    find_only_probed,
    find_perhaps_built_in,
    find_reason_beside,
    find_teardown,
    find_typed,
    find_unread,
)
from podpath.net.provenance import Span
from podpath.node.case import Case

DOUBTED = 0.6
"""The certainty of a fault that something stated leaves open."""


def doubt_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, each possible that something stated beside its lines leaves open."""
    return tuple(_doubt(case, finding) for finding in findings)


def _doubt(case: Case, finding: Finding) -> Finding:
    """Return a finding, possible only, and not to be settled, where anything unsettles it; one
    that is no fault, or a possible one that the same log is done with, is only seen as well.
    """
    if finding.severity not in WEIGHTY:
        return finding
    settled = finding.settled_by or finding.proves or finding.needed_for or finding.doubted_by
    doubts = NOT_THERE
    if settled or finding.certainty == 1:
        doubts = NOT_THERE | finding.doubted_by | ALWAYS
    for doubt in sorted(doubts, key=lambda one: one.value):
        span = next(RULES[doubt](case, finding), None)
        if span is not None:
            done = doubt is Unsettling.DONE and (finding.certainty < 1 or _is_wait(case, finding))
            over = done or doubt in NO_FAULT or doubt in UNRELATED
            return replace(
                finding,
                severity=Severity.RISK if over else finding.severity,
                certainty=min(finding.certainty, DOUBTED),
                settled_by=frozenset(),
                proves=frozenset(),
                needed_for=frozenset(),
                asks=() if over else finding.asks or ASKS.get(doubt, ()),
                evidence=tuple(dict.fromkeys((*finding.evidence, span))),
                reasoning=(*finding.reasoning, doubt),
            )
    return finding


_WAITS = re.compile(r"\bwaiting (?:for|on|until)\b|\bnot yet\b|\bretry(?:ing)?\b", re.IGNORECASE)


def _is_wait(case: Case, finding: Finding) -> bool:
    """Tell whether all that a finding quotes is that somebody waits."""
    quoted = list_quoted(case, finding)
    return bool(quoted) and all(_WAITS.search(one.span.text) for one in quoted)


UNRELATED = frozenset({Unsettling.NO_SERVICE, Unsettling.OTHER_FAMILY})
"""What leaves a fault no more than a thing that was seen as well."""
RULES: Mapping[Unsettling, Callable[[Case, Finding], Iterator[Span]]] = {
    Unsettling.OVER: find_later,
    Unsettling.WORKS: find_answered_beyond,
    Unsettling.UNREAD_BESIDE: find_unread,
    Unsettling.EXISTS: find_existing,
    Unsettling.RECOVERED: find_recovered,
    Unsettling.STANDS: find_standing,
    Unsettling.OTHER_DEVICE: find_other_device,
    Unsettling.OTHER_FAILURE: find_other_failure,
    Unsettling.OWN_WORDS: find_own_words,
    Unsettling.OUTSIDE_RANGE: find_outside_range,
    Unsettling.ITS_OWN: find_unowned,
    Unsettling.NO_SPEED: find_without_speed,
    Unsettling.TENTATIVE: find_tentative,
    Unsettling.XDP_QUEUE: find_xdp_queue,
    Unsettling.CUT_OFF: find_cut_off,
    Unsettling.PERHAPS_BUILT_IN: find_perhaps_built_in,
    Unsettling.ONLY_PROBED: find_only_probed,
    Unsettling.NO_SERVICE: find_no_service,
    Unsettling.OTHER_FAMILY: find_other_family,
    Unsettling.TEARDOWN: find_teardown,
    Unsettling.DONE: find_done,
    Unsettling.LATER: find_by_hand,
    Unsettling.TYPED: find_typed,
    Unsettling.RUNS: find_running,
    Unsettling.LONG_AGO: find_long_ago,
    Unsettling.OTHER_PROGRAM: find_other_program,
    Unsettling.AGAIN: find_again,
    Unsettling.NOT_LOADED: find_not_loaded,
    Unsettling.SUPPOSED: find_supposed,
    Unsettling.PAST: find_past,
    Unsettling.RESCUE: find_rescue,
    Unsettling.AGENT_DOWN: find_agent_down,
    Unsettling.REASON_BESIDE: find_reason_beside,
}
"""By what would leave a fault open, what looks for it."""
ALWAYS = frozenset({
    Unsettling.DONE, Unsettling.RUNS, Unsettling.LONG_AGO, Unsettling.OTHER_PROGRAM,
    Unsettling.AGAIN,
})  # fmt: skip
"""What leaves any fault open that messages tell."""
NO_FAULT = frozenset({Unsettling.SUPPOSED, Unsettling.PAST})
"""What says of anything that it is no fault."""
NOT_THERE = NO_FAULT | {Unsettling.NOT_LOADED}
"""What says of anything, a possible fault too, that it is not there, or may not be."""

_NOW = FollowUp(
    "what fails now: the logged fault is over, or the device works despite it",
    "ip -s link; ip neigh; ip route get ADDRESS; ping -c 3 ADDRESS; getent hosts NAME",
    "the device's error counters grow, or its next hop does not answer: this is the cause; "
    "otherwise look at the name, the route or the port that fails",
)
_SINCE = FollowUp(
    "whether the program has said it again since it went on",
    "the newest lines of the same log (kubectl logs --since=10m POD; journalctl -u UNIT -n 50)",
    "the line comes again: this is the cause; otherwise it is over, and something else fails",
)
_REFUSED = FollowUp(
    "why the kernel refuses that command",
    "nft list ruleset; iptables-save; lsmod | grep -e nf_ -e xt_ -e ipt_; uname -r",
    "a module of a match or target that is not loaded, a chain of another type or hook, or a "
    "device that is not there",
)
_HELD = FollowUp(
    "which rules the kernel holds",
    "iptables-save -c; ip6tables-save -c; nft list ruleset",
    "these rules are there: this is the cause; they are not: the refused file says nothing of what "
    "fails",
)
_EARLY = FollowUp(
    "what was not there yet when it was refused",
    "systemctl list-dependencies --after UNIT; journalctl -b -o short-monotonic",
    "a device or another service that came up later: order the unit behind it",
)
_LEFT_OVER = FollowUp(
    "whether what is in the way is left over from the same network",
    "ip -br addr; virsh net-list --all; docker network ls; podman network ls; "
    "ip -d link show DEVICE",
    "its own device, but no network of that name: delete the device; otherwise another network "
    "or route has the range",
)
_ON_NEW_PODS = FollowUp(
    "whether a new pod on the node gets a network",
    "kubectl run probe --image=busybox --restart=Never -- true; kubectl describe pod probe; "
    "ls /etc/cni/net.d /var/lib/cni/cache",
    "it does: what is left of the old pod alone is affected; it does not: this is the cause",
)
_ON_HOST = FollowUp(
    "whether the host's kernel has it",
    "modprobe -v NAME; lsmod; grep NAME /lib/modules/$(uname -r)/modules.builtin   # on the host",
    "it neither loads nor is built in: the kernel lacks it; otherwise the line says nothing",
)
ASKS: Mapping[Unsettling, tuple[FollowUp, ...]] = {
    Unsettling.OVER: (_NOW,),
    Unsettling.WORKS: (_NOW,),
    Unsettling.RECOVERED: (_NOW,),
    Unsettling.STANDS: (_NOW,),
    Unsettling.OTHER_DEVICE: (_NOW,),
    Unsettling.DONE: (_SINCE,),
    Unsettling.LATER: (_EARLY,),
    Unsettling.TYPED: (_REFUSED,),
    Unsettling.NOT_LOADED: (_HELD,),
    Unsettling.RUNS: (_SINCE,),
    Unsettling.LONG_AGO: (_SINCE,),
    Unsettling.OTHER_PROGRAM: (_SINCE,),
    Unsettling.AGAIN: (_SINCE,),
    Unsettling.EXISTS: (_LEFT_OVER,),
    Unsettling.PERHAPS_BUILT_IN: (_ON_HOST,),
    Unsettling.ONLY_PROBED: (_SINCE,),
    Unsettling.TEARDOWN: (_ON_NEW_PODS,),
    Unsettling.ITS_OWN: (_LEFT_OVER,),
}
"""What to ask where a doubt leaves a fault open whose check asks nothing."""
