"""The chain keeper: the folder watched, looked at and mended until told to stop.

The watch is armed before the first look, so nothing that happens at the start is missed; events are
gathered for a moment, so that a burst is one look. While somebody keeps changing the chain back,
the keeper sleeps through the pause that `Fights` gives it instead of waking at each of the rival's
writes.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from podpath_protect.agent.histograms import Histogram
from podpath_protect.agent.keeper import AgentFinding, KeeperContext, KeeperStatus, Sample
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.chain.entries import Mesh
from podpath_protect.chain.guard import ChainGuard, FolderState, describe_options
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.removal import remove
from podpath_protect.chain.rivals import Rival, name_rival
from podpath_protect.chain.writers import WriterWatch, list_watchers
from podpath_protect.watch import DirectoryWatch

_log = logging.getLogger("podpath.protect.chain")

GATHER_SECONDS = 0.02
"""How long events are gathered before a look."""


@dataclass(slots=True)
class ChainKeeperState:
    """What the keeper counts and knows."""

    counts: Counter[str] = field(default_factory=Counter)
    writers: WriterWatch | None = None
    seen: dict[str, None] = field(default_factory=dict)
    """Processes that fanotify saw write in this fight, in their order."""
    idle: bool = False
    took: Histogram = field(
        default_factory=lambda: Histogram("chain_look_seconds", "How long looks at the chain took.")
    )
    told: frozenset[tuple[str, str]] = frozenset()
    """Findings that were logged and still hold."""


def keep_chain(
    context: KeeperContext,
    options: ChainOptions,
    applier: Applier,
    mesh: Mesh | None = None,
    running: Callable[[], frozenset[str]] = frozenset,
) -> None:
    """Watch and mend until it is told to stop: a keeper's body. `mesh` says whether there is a
    mesh at all, and `running` which runtimes run here.
    """
    guard, memory = ChainGuard(options, applier, mesh, running), ChainKeeperState()
    _log.info(
        "keeping the chain", extra={"fields": dict(describe_options(options, guard.entry.type))}
    )
    try:
        with DirectoryWatch(watched(options), poll_seconds=min(options.poll, 2.0)) as watch:
            _sweep(applier, guard.directory)
            _keep(context, guard, memory, watch)
    finally:
        if memory.writers is not None:
            memory.writers.close()
    if options.remove_on_stop:
        for sentence in remove(options, applier).left:
            _log.error(sentence)


def _keep(
    context: KeeperContext, guard: ChainGuard, memory: ChainKeeperState, watch: DirectoryWatch
) -> None:
    while not context.stopping:
        now = time.monotonic()
        watch.changes()
        look = guard.look(now)
        memory.took.observe(time.monotonic() - now)
        _count(memory, look)
        rival = _find_rival(guard, memory, look, now)
        context.report(make_status(guard, memory, look, rival, watch.why_polling))
        held = guard.fights.next_mend(now) if look.held else None
        pending = guard.pending(now)
        soonest = guard.options.poll if pending is None else min(pending, guard.options.poll)
        due = now + (soonest if held is None else held)
        while (left := due - time.monotonic()) > 0 and not context.stopping:
            if held is not None:
                context.wait(left)  # a rival's writes wake nobody meanwhile
                continue
            context.wait(min(left, watch.pause()), *watch.descriptors())
            if watch.changes():
                context.wait(GATHER_SECONDS)
                break


def watched(options: ChainOptions) -> tuple[Path, ...]:
    """Return the folders whose changes matter: configurations, programs, the service account's
    token.
    """
    account = () if options.kubeconfig is None else (Path(options.kubeconfig.account_dir),)
    sources = tuple(Path(source).parent for source in options.binaries)
    return (Path(options.conf_dir), *map(Path, options.bin_dirs), *sources, *account)


def make_status(
    guard: ChainGuard,
    memory: ChainKeeperState,
    look: FolderState,
    rival: Rival | None,
    why_polling: str,
) -> KeeperStatus:
    """Say how the chain stands."""
    kind = guard.entry.type
    findings = [*_name_rival(rival, kind), *_name_troubles(look), *_name_missing(look, kind)]
    _log_news(memory, findings, kind)
    if look.idle and not memory.idle:
        _log.info(f"nothing to keep: {look.idle}")
    memory.idle = bool(look.idle)
    return KeeperStatus(
        ready=look.holds,
        why=next((finding.claim for finding in findings), look.idle or why_polling),
        findings=tuple(findings),
        samples=(
            *_sample_chain(look),
            *_sample_keeper(memory, is_fought=rival is not None, is_polling=bool(why_polling)),
            *memory.took.samples(),
        ),
        degraded=bool(findings or why_polling),
    )


def _name_rival(rival: Rival | None, kind: str) -> Iterator[AgentFinding]:
    """Yield who keeps changing the chain back."""
    if rival is not None:
        yield AgentFinding(
            check="chain-fight",
            subject=kind,
            severity="error",
            claim=f"{rival.name} keeps taking {kind} out of the chain",
            evidence=rival.signs,
            mend=(rival.peace,),
        )


def _name_troubles(look: FolderState) -> Iterator[AgentFinding]:
    """Yield what kept the keeper from writing."""
    for one in look.troubles:
        yield AgentFinding(check=one.check, subject=one.subject, severity="error", claim=one.claim)


def _name_missing(look: FolderState, kind: str) -> Iterator[AgentFinding]:
    """Yield the runtimes whose network lacks the plugin, where nothing else explains it."""
    if look.troubles or look.idle:
        return
    for verdict in look.verdicts:
        if verdict.runtime in look.chained:
            continue
        claim = f"{verdict.runtime} has no network: {verdict.why_none}"
        if verdict.network:
            claim = f"{verdict.runtime} would load {verdict.file}, and {kind} is not in it"
        yield AgentFinding(
            check="chain-missing",
            subject=verdict.runtime,
            severity="error",
            claim=claim,
            evidence=tuple(
                f"{one.file}:{one.line}: {one.action}: {one.why}" for one in verdict.decisions
            ),
        )


def _sample_chain(look: FolderState) -> Iterator[Sample]:
    """Yield for each runtime whether it loads the plugin."""
    for verdict in look.verdicts:
        name = verdict.runtime
        yield Sample(
            "chain_in_effect",
            float(name in look.chained),
            (("runtime", name),),
            help="The plugin is in what it loads.",
        )


def _sample_keeper(
    memory: ChainKeeperState, *, is_fought: bool, is_polling: bool
) -> tuple[Sample, ...]:
    """Return what the keeper did, and how it watches."""
    looks, edits = memory.counts["looks"], memory.counts["edits"]
    return (
        Sample("chain_looks", looks, kind="counter", help="Looks at the folder."),
        Sample("chain_edits", edits, kind="counter", help="Files written to put the plugin in."),
        Sample("chain_fight", float(is_fought), help="Somebody keeps changing the chain back."),
        Sample(
            "chain_idle",
            float(memory.idle),
            help="The mesh is not installed in this cluster: there is nothing to keep.",
        ),
        Sample(
            "chain_polling",
            float(is_polling),
            help="inotify is not to be had; the folder is listed at intervals.",
        ),
    )


def _log_news(memory: ChainKeeperState, findings: Sequence[AgentFinding], kind: str) -> None:
    """Log what came to be wrong and what holds again, each once: a flood of the same line helps
    nobody.
    """
    now_wrong = frozenset((finding.check, finding.claim) for finding in findings)
    for finding in findings:
        if (finding.check, finding.claim) not in memory.told:
            shown = "".join(f"; {sign}" for sign in (*finding.evidence, *finding.mend))
            _log.warning(
                f"{finding.claim}{shown}",
                extra={"fields": {"check": finding.check, "subject": finding.subject}},
            )
    if memory.told and not now_wrong and not memory.idle:
        _log.info(f"{kind} is in the chain")
    memory.told = now_wrong


def _find_rival(
    guard: ChainGuard, memory: ChainKeeperState, look: FolderState, now: float
) -> Rival | None:
    if not guard.fights.list_fights(now):
        if memory.writers is not None:
            memory.writers.close()
        memory.writers, memory.seen = None, {}
        return None
    if memory.writers is None:
        memory.writers = WriterWatch(guard.directory)
    memory.seen |= dict.fromkeys(memory.writers.writers())
    network = next((verdict.network for verdict in look.verdicts if verdict.network), None)
    watchers = () if memory.seen else list_watchers(guard.directory)
    return name_rival(look.files, network, guard.entry.type, memory.seen, watchers)


def _count(memory: ChainKeeperState, look: FolderState) -> None:
    memory.counts["looks"] += 1
    memory.counts["edits"] += len(look.edited)
    for name in look.edited:
        _log.info("the plugin was put in", extra={"fields": {"file": name}})


def _sweep(applier: Applier, directory: Path) -> None:
    try:
        applier.sweep(directory)
    except ApplyError:
        return  # the folder is not there yet, or not ours: the look says so
