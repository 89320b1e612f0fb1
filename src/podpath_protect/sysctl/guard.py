"""One look at the sysctls: judged, mended where that is asked for, judged again, and told.

The guard remembers what it must between looks: what was right before, what is being fought over,
and who the rivals are. What may be slow (rivals, drop-ins, kube-proxy's rules, modules) is for
thorough looks only; the others read the declared keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from podpath_protect.agent.keeper import AgentFinding
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.capabilities import held_capabilities
from podpath_protect.fights import Fights
from podpath_protect.sysctl import findings as tell
from podpath_protect.sysctl.conntrack import BE_LIBERAL, find_contradictions, list_rules
from podpath_protect.sysctl.dropped import read_dropped
from podpath_protect.sysctl.effective import rule_of
from podpath_protect.sysctl.judgement import SettingJudgement, judge_settings
from podpath_protect.sysctl.keys import Key
from podpath_protect.sysctl.mending import SysctlWrite, plan_writes
from podpath_protect.sysctl.modules import load_module, look_at_modules, persist_modules
from podpath_protect.sysctl.persistence import (
    emit_dropin,
    find_losses,
    persist_settings,
    read_others,
)
from podpath_protect.sysctl.rivals import Rivals, gather_rivals
from podpath_protect.sysctl.settings import SysctlSetting
from podpath_protect.sysctl.tree import SysctlTree

COMPARE_SECONDS = 300.0
"""How often kube-proxy's rules are listed although conntrack's key did not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlPolicy:
    """What the guard shall keep, and how far it may go."""

    settings: tuple[SysctlSetting, ...]
    modules: tuple[str, ...] = ()
    cores: int = 1
    mend: bool = False
    persist: bool = False
    load_modules: bool = False
    lower_all: bool = True
    """Whether `all` may be changed for the sake of devices although it is not itself declared."""
    tree: SysctlTree = field(default_factory=SysctlTree)
    root: Path = Path("/")
    """Where the host's files are; in a container the host's root is mounted somewhere."""
    proc: Path = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAttempt:
    """One write and how it went."""

    write: SysctlWrite
    state: Literal["done", "unchanged", "would", "refused", "held"]
    """`held`: it is being fought over, and waits."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlOutcome:
    """What a look found and did."""

    before: tuple[SettingJudgement, ...]
    after: tuple[SettingJudgement, ...]
    attempts: tuple[WriteAttempt, ...] = ()
    findings: tuple[AgentFinding, ...] = ()
    effects: tuple[str, ...] = ()
    """What was written besides keys: drop-ins, modules."""

    @property
    def holds(self) -> bool:
        """Tell whether nothing is wrong that costs packets."""
        return all(finding.severity != "error" for finding in self.findings)


class SysctlGuard:
    """Looks, mends and remembers."""

    def __init__(self, duty: SysctlPolicy, applier: Applier) -> None:
        """Remember nothing yet."""
        self.duty, self.applier = duty, applier
        self.fights = Fights()
        self._settled: set[Key] = set()
        self._rivals: Rivals | None = None
        self._slow: tuple[AgentFinding, ...] = ()
        self._seen: dict[str, tuple[Key, str | None]] = {}
        self._compared: tuple[str | None, float, tuple[AgentFinding, ...]] | None = None

    def look(self, now: float, *, thorough: bool = True) -> SysctlOutcome:
        """Look once. `now` is of a clock that only goes forward."""
        effects: list[str] = []
        modules = self._keep_modules(effects) if thorough else ()
        before = judge_settings(self.duty.settings, self.duty.tree, self.duty.cores)
        attempts = self._mend(before, now) if self.duty.mend else ()
        wrote = any(attempt.state == "done" for attempt in attempts)
        if wrote:
            after = judge_settings(self.duty.settings, self.duty.tree, self.duty.cores)
        else:
            after = before
        self._settle(after)
        if thorough:
            self._rivals = None
            self._slow = (*modules, *self._persist(after, effects), *self._contradictions(now))
        refusals = {
            attempt.write.key: attempt.why for attempt in attempts if attempt.state == "refused"
        }
        faults = [judgement for judgement in after if not judgement.holds]
        fought = self.fights.list_fights(now)
        rivals = self._look_for_rivals() if faults or fought else Rivals()
        if faults:
            plan = plan_writes(after, self.duty.tree, settled=frozenset(self._settled))
        else:
            plan = ()
        found = (
            *tell.find_faults(faults, tell.FindingContext(self.duty.tree, rivals, refusals, plan)),
            *tell.find_fights(fought, rivals, self._seen),
            *self._slow,
        )
        return SysctlOutcome(
            before=before, after=after, attempts=attempts, findings=found, effects=tuple(effects)
        )

    def _mend(
        self, judgements: tuple[SettingJudgement, ...], now: float
    ) -> tuple[WriteAttempt, ...]:
        writes = plan_writes(
            judgements,
            self.duty.tree,
            settled=frozenset(self._settled),
            lower_all=self.duty.lower_all,
        )
        attempts = (self._write(write, now) for write in writes)
        return tuple(attempt for attempt in attempts if attempt.state != "unchanged")

    def _write(self, write: SysctlWrite, now: float) -> WriteAttempt:
        subject, tree = str(write.key), self.duty.tree
        if not self.fights.may_mend(subject, now):
            return WriteAttempt(write=write, state="held", why="it is being fought over, and waits")
        seen = tree.read(write.key).value
        try:
            effect = self.applier.write_setting(write.key.path(tree.root), write.value)
        except ApplyError as error:
            read_only = tree.is_read_only(write.key)
            why = tell.explain_refusal(
                write.key, error.refusal, held_capabilities(), read_only=read_only
            )
            return WriteAttempt(write=write, state="refused", why=f"{why} ({error.why})")
        if effect.state == "done":
            self.fights.record(subject, now)
            self._seen[subject] = (write.key, seen)
        return WriteAttempt(write=write, state=effect.state)

    def _settle(self, judgements: tuple[SettingJudgement, ...]) -> None:
        """Remember which keys of `all` are right: what changes them from now on is drift."""
        for judgement in judgements:
            if judgement.holds and (
                judgement.key.device == "all" or rule_of(judgement.key) is not None
            ):
                self._settled.add(judgement.key.of("all"))

    def _keep_modules(self, effects: list[str]) -> tuple[AgentFinding, ...]:
        """Load what is declared, or what a declared key does not exist without; the key itself
        shows best whether it is there.
        """
        duty, names = self.duty, dict.fromkeys(self.duty.modules)
        mending = duty.load_modules and duty.mend
        if duty.load_modules:
            judged = judge_settings(duty.settings, duty.tree, duty.cores)
            names |= dict.fromkeys(
                each.setting.module
                for each in judged
                if each.state == "missing" and each.setting.module
            )
        refusals: dict[str, str] = {}
        for state in look_at_modules(names, duty.root, duty.tree.root):
            if mending and not state.loaded:
                refusals |= self._load(state.name, effects)
        if mending and duty.persist:
            needed = {
                setting.module for setting in duty.settings if setting.mandatory and setting.module
            }
            refusals |= self._persist_modules(tuple(needed.union(names)), effects)
        return tell.find_modules(look_at_modules(names, duty.root, duty.tree.root), refusals)

    def _load(self, name: str, effects: list[str]) -> dict[str, str]:
        try:
            effects.append(f"{load_module(name, self.applier).state}: modprobe {name}")
        except ApplyError as error:
            lacks = (
                ""
                if "CAP_SYS_MODULE" in held_capabilities()
                else "CAP_SYS_MODULE is missing: loading modules; "
            )
            return {name: f"{lacks}{error.why}"}
        return {}

    def _persist_modules(self, names: tuple[str, ...], effects: list[str]) -> dict[str, str]:
        if not names:
            return {}
        try:
            effect = persist_modules(names, self.duty.root, self.applier)
        except ApplyError as error:
            return dict.fromkeys(names, f"it cannot be kept for the next boot: {error}")
        effects.append(f"{effect.state}: {effect.target}")
        return {}

    def _persist(
        self, judgements: tuple[SettingJudgement, ...], effects: list[str]
    ) -> tuple[AgentFinding, ...]:
        duty, text = self.duty, ""
        if duty.persist:
            text = emit_dropin(duty.settings, read_others(duty.root), duty.cores)
        if duty.persist and duty.mend:
            try:
                effect = persist_settings(duty.settings, duty.root, self.applier, duty.cores)
                effects.append(f"{effect.state}: {effect.target}")
            except ApplyError as error:
                return (
                    *self._not_persisted(error),
                    *tell.find_lost(find_losses(judgements, duty.root, duty.cores)),
                )
        return tell.find_lost(find_losses(judgements, duty.root, duty.cores, text))

    @staticmethod
    def _not_persisted(error: ApplyError) -> tuple[AgentFinding, ...]:
        return (
            AgentFinding(
                check="sysctl-not-persisted",
                subject=error.target,
                severity="warning",
                claim=(
                    f"the drop-in cannot be written ({error.why}): the keys hold while this keeper "
                    "runs, until the next boot"
                ),
                evidence=(str(error),),
            ),
        )

    def _contradictions(self, now: float) -> tuple[AgentFinding, ...]:
        """Hold conntrack's key against kube-proxy's rules when it changed, and now and then:
        listing them is what costs most.
        """
        value = self.duty.tree.read(BE_LIBERAL).value
        if (
            self._compared is None
            or self._compared[0] != value
            or now - self._compared[1] >= COMPARE_SECONDS
        ):
            listings = list_rules(replace(self.applier, dry_run=False, tell=None))
            found = find_contradictions(self.duty.tree, listings, read_dropped())
            self._compared = (value, now, tell.find_contradicting(found))
        return self._compared[2]

    def _look_for_rivals(self) -> Rivals:
        if self._rivals is None:
            self._rivals = gather_rivals(self.duty.root, self.duty.proc)
        return self._rivals
