"""The sysctl keeper: netconf events, inotify and a slow poll together, and a look for each.

Netconf tells of rp_filter and forwarding from wherever they are written, and of nothing else;
inotify on /proc/sys tells of every key, and only of writes through the same mount; the poll misses
nothing and is late. Events that cannot concern a declared key are passed over, so that a rival
elsewhere costs nothing; the others are gathered for a moment, so that a storm costs few looks.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from podpath_protect import netlink
from podpath_protect.agent.keeper import AgentFinding, KeeperContext, KeeperStatus, Sample
from podpath_protect.apply import Applier
from podpath_protect.capabilities import describe_missing, held_capabilities
from podpath_protect.sysctl.dropins import DIRECTORIES
from podpath_protect.sysctl.findings import severest
from podpath_protect.sysctl.guard import SysctlGuard, SysctlOutcome
from podpath_protect.sysctl.keys import EVERYWHERE, Key
from podpath_protect.sysctl.options import SysctlOptions, make_duty
from podpath_protect.sysctl.profiles import AUTOMATIC
from podpath_protect.watch import DirectoryWatch

_log = logging.getLogger("podpath.protect.sysctl")

GATHER_SECONDS = 0.02
"""How long events are gathered before a look: a burst of writes is one look."""
READ_SECONDS = 1.0
"""How often drop-ins are read at most, however often somebody writes there."""
NEEDED = {"CAP_NET_ADMIN": "writing sysctls of the network"}


@dataclass(slots=True)
class _SysctlKeeperState:
    """What the keeper counts and last said."""

    writes: Counter[str] = field(default_factory=Counter)
    looks: int = 0
    told: frozenset[tuple[str, str]] = frozenset()


def keep_sysctls(context: KeeperContext, options: SysctlOptions, applier: Applier) -> None:
    """Watch and mend until it is told to stop, or the node shows that it needs other profiles: a
    keeper's body.
    """
    duty, chosen = make_duty(options)
    for name, sign in chosen.items():
        _log.info("a profile was chosen", extra={"fields": {"profile": name, "because": sign}})
    guard, memory = SysctlGuard(duty, applier), _SysctlKeeperState()
    keys = tuple(setting.key for setting in duty.settings)
    folders = frozenset(duty.root / directory for directory in DIRECTORIES)
    with (
        netlink.Monitor(
            netlink.LINK_GROUP, netlink.IPV4_NETCONF_GROUP, netlink.IPV6_NETCONF_GROUP
        ) as monitor,
        DirectoryWatch(
            watched_directories(keys, duty.tree.root, duty.root), poll_seconds=options.poll
        ) as watch,
    ):
        due = next_thorough = may_read = time.monotonic()
        while not context.stopping:
            now = time.monotonic()
            if now >= due:
                thorough = now >= next_thorough
                if (
                    thorough
                    and AUTOMATIC in options.profiles
                    and make_duty(options)[0].settings != duty.settings
                ):
                    return  # the node shows other needs than before: begin anew with them
                if thorough:
                    next_thorough, may_read = now + options.poll, now + READ_SECONDS
                outcome = guard.look(now, thorough=thorough)
                _remember(memory, outcome)
                context.report(make_status(outcome, memory, guard, now, watch.why_polling))
                due = min(next_thorough, now + (guard.fights.next_mend(now) or options.poll))
            context.wait(
                min(due - time.monotonic(), watch.pause()), monitor.fileno(), *watch.descriptors()
            )
            changes = watch.changes()
            if any(change.directory in folders for change in changes):
                next_thorough = min(next_thorough, may_read)
                due = min(due, next_thorough)
            if concerns(monitor.events(), keys) or any(
                change.directory not in folders for change in changes
            ):
                context.wait(GATHER_SECONDS)
                due = min(due, time.monotonic())


def watched_directories(keys: Iterable[Key], proc_sys: Path, root: Path) -> tuple[Path, ...]:
    """Return the directories whose changes concern the declared keys, and of drop-ins; netconf
    tells of devices.
    """
    folders = {key.path(proc_sys).parent for key in keys if not key.is_pattern}
    return (*sorted(folders), *(root / directory for directory in DIRECTORIES))


def concerns(events: Iterable[netlink.Event], keys: Iterable[Key]) -> bool:
    """Tell whether some event can concern a declared key."""
    known = tuple(keys)
    return any(_concerns(event, known) for event in events)


def _concerns(event: netlink.Event, keys: tuple[Key, ...]) -> bool:
    match event:
        case netlink.LinkChange():
            return not event.gone and any(_is_of(key, event.name) for key in keys)
        case netlink.NetconfChange():
            name = netlink.device_name(event.ifindex)
            names = {value for value, _ in event.values}
            if name:
                own = any(
                    _is_of(key, name) or name in EVERYWHERE
                    for key in keys
                    if key.segments[-1] in names
                )
            else:
                own = False
            return own or (
                "forwarding" in names and any(key.segments[-1] == "ip_forward" for key in keys)
            )
        case _:
            return True


def _is_of(key: Key, device: str) -> bool:
    return key.device is not None and key.matches(key.of(device))


def _remember(memory: _SysctlKeeperState, outcome: SysctlOutcome) -> None:
    memory.looks += 1
    for attempt in outcome.attempts:
        memory.writes[attempt.state] += 1
        if attempt.state in {"done", "would"}:
            fields = {
                "key": str(attempt.write.key),
                "value": attempt.write.value,
                "reason": attempt.write.reason,
            }
            _log.info(
                "a sysctl was put right", extra={"fields": {**fields, "state": attempt.state}}
            )
    now_told = frozenset((finding.check, finding.subject) for finding in outcome.findings)
    for finding in outcome.findings:
        if (finding.check, finding.subject) not in memory.told:
            _log.log(
                logging.ERROR if finding.severity == "error" else logging.WARNING,
                finding.claim,
                extra={"fields": _fields(finding)},
            )
    for check, subject in memory.told - now_told:
        _log.info("it holds again", extra={"fields": {"check": check, "subject": subject}})
    memory.told = now_told


def _fields(finding: AgentFinding) -> dict[str, object]:
    return {
        "check": finding.check,
        "subject": finding.subject,
        "evidence": list(finding.evidence),
        "mend": list(finding.mend),
    }


def make_status(
    outcome: SysctlOutcome,
    memory: _SysctlKeeperState,
    guard: SysctlGuard,
    now: float,
    why_polling: str,
) -> KeeperStatus:
    """Say how the sysctls stand; where they are only reported, no pod waits for them."""
    worst = severest(outcome.findings)
    first = next((finding.claim for finding in outcome.findings if finding.severity == worst), "")
    if guard.duty.mend and not outcome.holds:
        lacking = describe_missing(NEEDED, held_capabilities())
    else:
        lacking = ()
    samples = [
        Sample(
            "sysctl_keys", len(outcome.after), help="Keys that are declared and exist or should."
        ),
        Sample("sysctl_looks", memory.looks, kind="counter", help="Looks at the declared keys."),
        Sample(
            "sysctl_fights",
            len(guard.fights.list_fights(now)),
            help="Keys that somebody keeps changing back.",
        ),
        Sample(
            "sysctl_keys_wrong",
            sum(not judgement.holds for judgement in outcome.after),
            help="Keys that do not hold.",
        ),
        *(
            Sample(
                "sysctl_writes",
                memory.writes[state],
                (("state", state),),
                "counter",
                "Writes of keys, by how they went.",
            )
            for state in ("done", "refused", "held")
        ),
    ]
    if outcome.after or guard.duty.modules:
        idle = ""
    else:
        idle = "nothing is declared, and no profile fits what the node shows"
    return KeeperStatus(
        ready=outcome.holds or not guard.duty.mend,
        why="; ".join((*lacking, first)) if first else idle or why_polling,
        findings=outcome.findings,
        samples=tuple(samples),
        degraded=worst is not None or bool(idle or why_polling),
    )
