"""What a look at the sysctls found, in sentences with their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podpath_protect.agent.keeper import AgentFinding, Severity
from podpath_protect.fights import Fight
from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.conntrack import ProxyContradiction
from podpath_protect.sysctl.effective import SPREADS
from podpath_protect.sysctl.judgement import SettingJudgement
from podpath_protect.sysctl.keys import Key
from podpath_protect.sysctl.mending import SysctlWrite
from podpath_protect.sysctl.modules import ModuleState
from podpath_protect.sysctl.persistence import SettingLoss
from podpath_protect.sysctl.rivals import Rivals, describe_rivals
from podpath_protect.sysctl.tree import SysctlTree

_CHECKS = {
    "drifted": "sysctl-drifted", "forced": "sysctl-forced", "missing": "sysctl-missing",
    "unreadable": "sysctl-unreadable",
}  # fmt: skip
_BOUNDS = {"exact": "", "floor": "at least ", "ceiling": "at most "}


class FindingContext(NamedTuple):
    """What is known beside the judgments themselves."""

    tree: SysctlTree
    rivals: Rivals
    refusals: Mapping[Key, str]
    """Why keys could not be written."""
    plan: tuple[SysctlWrite, ...]
    """What would put everything right."""


def find_faults(
    judgements: Iterable[SettingJudgement], known: FindingContext
) -> tuple[AgentFinding, ...]:
    """Say of each key that does not hold what it is, what it shall be, what stood in the way and
    who may have written it.
    """
    return tuple(_describe(each, known) for each in judgements if not each.holds)


def _describe(judgement: SettingJudgement, known: FindingContext) -> AgentFinding:
    tree, rivals, refusal = known.tree, known.rivals, known.refusals.get(judgement.key, "")
    claims = rivals.about(judgement.key, judgement.raw)
    if judgement.state == "forced":
        claims = rivals.about(judgement.key.of("all"), judgement.everywhere)
    guess = describe_rivals(
        claims, judgement.everywhere if judgement.state == "forced" else judgement.raw
    )
    parts = [
        _claim(judgement),
        refusal,
        f"written by: {guess}" if guess and judgement.raw is not None else "",
    ]
    return AgentFinding(
        check="sysctl-refused" if refusal else _CHECKS[judgement.state],
        subject=str(judgement.key),
        severity="error" if judgement.setting.mandatory else "warning",
        claim="; ".join(part for part in parts if part),
        evidence=tuple(_evidence(judgement, tree, claims)),
        mend=tuple(_mend(judgement, known.plan)),
    )


def _claim(judgement: SettingJudgement) -> str:
    key, want = judgement.key, f"{_BOUNDS[judgement.setting.policy]}{judgement.want}"
    why = f": {judgement.setting.why}" if judgement.setting.why else ""
    match judgement.state:
        case "missing":
            module = judgement.setting.module
            if judgement.why:
                return f"{key} cannot be judged, since {judgement.why}; it shall be {want}{why}"
            cause = f", since the module {module} is not loaded" if module else ""
            return f"{key} does not exist{cause}; it shall be {want}{why}"
        case "unreadable":
            return f"{key} cannot be read ({judgement.why}); it shall be {want}"
        case "forced":
            everywhere = f"{key.of('all')} = {judgement.everywhere}"
            return (
                f"{key} is {judgement.raw}, but {everywhere} makes it {judgement.in_force}; "
                f"it shall be {want}{why}"
            )
        case _:
            return f"{key} is {judgement.in_force}, and shall be {want}{why}"


def _evidence(
    judgement: SettingJudgement, tree: SysctlTree, claims: Iterable[OtherWriter]
) -> Iterable[str]:
    path = judgement.key.path(tree.root)
    yield (
        f"{path} = {judgement.raw}"
        if judgement.raw is not None
        else f"{path}: {judgement.why or 'no such file'}"
    )
    if judgement.everywhere is not None:
        yield f"{judgement.key.of('all').path(tree.root)} = {judgement.everywhere}"
    if judgement.setting.source:
        yield (
            f"profile {judgement.setting.profile or 'of the configuration'}: "
            f"{judgement.setting.source}"
        )
    for claim in claims:
        yield f"{claim.actor}: {claim.where}" + (f" ({claim.note})" if claim.note else "")


def _mend(judgement: SettingJudgement, plan: Iterable[SysctlWrite]) -> Iterable[str]:
    """Yield the commands: what is forced by `all` needs all writes of that name, in their order."""
    key = judgement.key
    if judgement.state == "missing" and judgement.setting.module:
        yield f"modprobe {judgement.setting.module}"
    for write in plan:
        of_all = judgement.everywhere is not None and write.key == key.of(write.key.device or "")
        if write.key == key or of_all:
            yield write.command


def find_fights(
    fights: Iterable[Fight], rivals: Rivals, seen: Mapping[str, tuple[Key, str | None]]
) -> tuple[AgentFinding, ...]:
    """Say what is being fought over, and with whom as far as that can be known."""
    found = []
    for fight in fights:
        key, value = seen.get(fight.subject, (None, None))
        claims = rivals.about(key, value) if key is not None else ()
        guess = (
            describe_rivals(claims, value)
            or "nobody that is known writes it: see who starts `sysctl` or writes below /proc/sys"
        )
        found.append(
            AgentFinding(
                check="sysctl-fought",
                subject=fight.subject,
                severity="warning",
                claim=(
                    f"{fight.subject} was put back {fight.rounds} times in a minute, and comes "
                    f"back to {value}: {guess}"
                ),
                evidence=tuple(
                    f"{claim.actor}: {claim.where}" + (f" ({claim.note})" if claim.note else "")
                    for claim in claims
                ),
            )
        )
    return tuple(found)


def find_modules(
    states: Iterable[ModuleState], refusals: Mapping[str, str]
) -> tuple[AgentFinding, ...]:
    """Say which modules are not there."""
    findings: list[AgentFinding] = []
    for state in states:
        if state.loaded:
            continue
        claim = f"the kernel module {state.name} is not loaded"
        if state.name in refusals:
            claim += f": {refusals[state.name]}"
        if not state.available:
            claim += "; this kernel has no file of it"
        found = AgentFinding(
            check="module-missing",
            subject=state.name,
            severity="error",
            claim=claim,
            mend=(f"modprobe {state.name}",),
        )
        findings.append(found)
    return tuple(findings)


def find_lost(losses: Iterable[SettingLoss]) -> tuple[AgentFinding, ...]:
    """Say which keys will be set otherwise at boot or when a device appears, and by which line
    (Y7).
    """
    findings: list[AgentFinding] = []
    for loss in losses:
        key, winner = loss.judgement.key, loss.winner
        when = "at boot and whenever the device appears" if key.device else "at boot"
        found = AgentFinding(
            check="sysctl-lost-at-boot",
            subject=str(key),
            severity="warning",
            claim=(
                f"{key} shall be {loss.judgement.want}, and {winner.file} sets {winner.pattern} to "
                f"{winner.value} {when}"
            ),
            evidence=(winner.where,),
            mend=(f"remove or change line {winner.line} of {winner.file}",),
        )
        findings.append(found)
    return tuple(findings)


_CONTRADICTIONS = {
    "drops-though-liberal": (
        "kube-proxy still drops packets that conntrack calls INVALID, though "
        "nf_conntrack_tcp_be_liberal asks to let them pass: "
        "it read the key when it started, before it was set"
    ),
    "lets-pass-though-strict": (
        "kube-proxy has no rule against packets that conntrack calls INVALID, though "
        "nf_conntrack_tcp_be_liberal is 0: it read the key when it started, before it was set "
        "back, and a late packet can reset a translated connection"
    ),
}


def find_contradicting(contradictions: Iterable[ProxyContradiction]) -> tuple[AgentFinding, ...]:
    """Say where conntrack's settings and kube-proxy's rules disagree (Y10)."""
    return tuple(
        AgentFinding(
            check="conntrack-contradiction",
            subject=each.kind,
            severity="warning",
            claim=_CONTRADICTIONS[each.kind],
            evidence=each.evidence,
            mend=("restart kube-proxy on this node",),
        )
        for each in contradictions
    )


def severest(findings: Iterable[AgentFinding]) -> Severity | None:
    """Return the worst severity; None where there is nothing."""
    order: tuple[Severity, ...] = ("error", "warning", "info")
    present = {finding.severity for finding in findings}
    return next((severity for severity in order if severity in present), None)


def explain_refusal(key: Key, refusal: str, held: frozenset[str], *, read_only: bool) -> str:
    """Say why a key could not be written, and what the process lacks for it."""
    if read_only:
        return (
            "the kernel offers it for reading only in this network namespace, as all namespaces "
            "share it: set it on the host"
        )
    if refusal == "read-only":
        return (
            "/proc/sys is mounted read-only here, as in a container without privileges: "
            "give the container the host's /proc/sys"
        )
    if refusal == "denied":
        if key.segments[0] == "net" and "CAP_NET_ADMIN" not in held:
            return "CAP_NET_ADMIN is missing: writing sysctls of the network"
        return "the kernel denies it: keys outside of net can only be written by user 0 of the host"
    spread = " (it sets every device)" if key.segments in SPREADS else ""
    return f"the kernel refused it{spread}"
