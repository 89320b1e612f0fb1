"""From what became of the probes to the verdict: what holds, what is missing, and by which rule it
would be mended.

What comes in are outcomes and what conntrack said; what goes out is a `Verdict` of
`RedirectionCheck`s. A process without rights cannot list rules; it knows them by what they do, so a
missing rule is named by what its mesh would have written.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from podpath_protect.validate.addresses import Family
from podpath_protect.validate.attempt import ProbeOutcome
from podpath_protect.validate.kernel import Kernel
from podpath_protect.validate.plan import Purpose, Settings, Style, Untried

Cause = Literal[
    "", "no-rules", "outbound-missing", "family-missing", "inbound-missing", "wrong-port",
    "skipped-redirected", "proxy-redirected", "filtered", "busy", "killed", "undecided",
    "foreign-answer", "unreachable",
]  # fmt: skip
CODES: dict[Cause, int] = {
    "": 0, "undecided": 3, "no-rules": 60, "outbound-missing": 61, "family-missing": 62,
    "inbound-missing": 63, "wrong-port": 64, "skipped-redirected": 65, "proxy-redirected": 66,
    "filtered": 67, "busy": 68, "foreign-answer": 69, "unreachable": 70, "killed": 71,
}  # fmt: skip
"""podpath's own exit codes, by cause; docs/contract.md lists them."""
STYLE_CODES: dict[Style, int] = {"linkerd": 95, "istio": 126}
_CHAINS = {
    "linkerd": ("PROXY_INIT_OUTPUT", "PROXY_INIT_REDIRECT"),
    "istio": ("ISTIO_OUTPUT", "ISTIO_INBOUND"),
    "podpath": ("OUTPUT", "PREROUTING"),
}
_NO_ROUTE = {
    errno.ENETUNREACH,
    errno.EHOSTUNREACH,
    errno.EADDRNOTAVAIL,
    errno.EAFNOSUPPORT,
    errno.EINVAL,
}
_FILTERED = {errno.EPERM, errno.EACCES}
_GRAVITY: tuple[Cause, ...] = (
    "busy", "filtered", "wrong-port", "no-rules", "family-missing", "outbound-missing",
    "inbound-missing", "proxy-redirected", "skipped-redirected",
)  # fmt: skip


MISSING: frozenset[Cause] = frozenset(
    {"no-rules", "outbound-missing", "family-missing", "inbound-missing"}
)
"""Causes that are a rule's absence."""


class RedirectionCheck(NamedTuple):
    """One part of the redirection, and how it stands."""

    purpose: Purpose
    family: Family
    state: Literal["passed", "failed", "untested"]
    claim: str
    cause: Cause = ""
    rule: str = ""
    """The rule that is missing or wrong, as the mesh would write it."""
    error: int = 0
    """The `errno` with which the connection ended before it was made; 0 where it had none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What the validator has to say."""

    checks: tuple[RedirectionCheck, ...]
    cause: Cause
    """What failed first and most; empty where all is well."""
    claim: str
    """The cause in one sentence."""
    kernel: tuple[Kernel, ...] = ()
    """What the kernel has of iptables, where rules are missing."""

    def exit_code(self, style: Style) -> int:
        """Return the exit code: the mesh's own for every failure, or podpath's by cause."""
        if not self.cause or style not in STYLE_CODES:
            return CODES[self.cause]
        return STYLE_CODES[style]


def judge(
    settings: Settings,
    outcomes: Sequence[ProbeOutcome],
    untried: Sequence[Untried],
    tracked: dict[Family, bool],
    busy: Mapping[tuple[Family, int], str] = MappingProxyType({}),
) -> Validation:
    """Judge a round. `tracked` says of which families conntrack follows connections here: without
    it there is no NAT. `busy` are ports that somebody else has, and why we do not listen there.
    """
    checks = list(_merge(settings, _Round(outcomes, tracked, busy)))
    checks += [
        RedirectionCheck(
            one.purpose,
            one.family,
            "untested",
            f"{_spell(one.purpose, one.family)} is not tested: {one.why}",
        )
        for one in untried
    ]
    return conclude(_name_families(checks, outcomes))


def conclude(checks: Sequence[RedirectionCheck]) -> Validation:
    """Put the checks together: one that failed decides; nothing that proved a redirection leaves it
    undecided.
    """
    failed = sorted(
        (check for check in checks if check.state == "failed"),
        key=lambda check: _GRAVITY.index(check.cause) if check.cause in _GRAVITY else 0,
    )
    if failed:
        return Validation(checks=tuple(checks), cause=failed[0].cause, claim=failed[0].claim)
    if any(
        check.state == "passed"
        and check.purpose in {"outbound", "inbound", "inbound-chain", "loopback"}
        for check in checks
    ):
        return Validation(
            checks=tuple(checks), cause="", claim="Traffic is redirected as it should be."
        )
    why = next(
        (check.claim for check in checks if check.state == "untested"), "nothing could be tried"
    )
    return Validation(
        checks=tuple(checks), cause="undecided", claim=f"No redirection could be tested: {why}"
    )


def explain(verdict: Validation, kernel: Sequence[Kernel]) -> Validation:
    """Add to missing rules what the kernel shows of why they are: as much as a process without
    rights can know.
    """
    why = {one.family: said for one in kernel if (said := one.explain())}
    checks = tuple(
        check._replace(claim=f"{check.claim} {why[check.family]}")
        if check.cause in MISSING and check.family in why
        else check
        for check in verdict.checks
    )
    return replace(conclude(checks), kernel=tuple(kernel))


class _Round(NamedTuple):
    """What a round showed."""

    outcomes: Sequence[ProbeOutcome]
    tracked: Mapping[Family, bool]
    busy: Mapping[tuple[Family, int], str]


def _merge(settings: Settings, seen: _Round) -> Iterator[RedirectionCheck]:
    """Judge each probe; the loopback's, which not every mesh redirects, counts where it shows
    something that no other does.
    """
    outcomes, tracked = seen.outcomes, seen.tracked
    for outcome in outcomes:
        probe = outcome.probe
        if probe.purpose == "loopback" and not outcome.as_wanted:
            others = [
                other
                for other in outcomes
                if other.probe.family == probe.family and other.probe.purpose in _DECISIVE
            ]
            telling = settings.style == "istio" or not tracked.get(probe.family, True)
            if not telling or has_no_route(outcome) or not all(map(has_no_route, others)):
                continue
        yield _judge(settings, outcome, seen)


_DECISIVE = ("outbound", "inbound-chain")
_LOCAL = ("loopback", "inbound-chain")
"""Probes to an address of this pod: where no rule redirects them, nobody listens there, and they
are refused.
"""


def _judge(settings: Settings, outcome: ProbeOutcome, seen: _Round) -> RedirectionCheck:
    probe, what = outcome.probe, _spell(outcome.probe.purpose, outcome.probe.family)
    what = f"{what} {probe.target.port}" if probe.purpose == "skipped" else what
    if has_no_route(outcome):
        why = (
            f"{what} is not tested: there is no route to {probe.target} "
            f"({os.strerror(outcome.error)})"
        )
        return RedirectionCheck(probe.purpose, probe.family, "untested", why)
    if outcome.as_wanted:
        if probe.redirected:
            how = f"{probe.target} arrived at port {outcome.port}"
        else:
            how = f"{probe.target} was let go"
        return RedirectionCheck(
            probe.purpose, probe.family, "passed", f"{what} holds: a connection to {how}."
        )
    if outcome.error in _FILTERED:
        said = (
            f"{what}: a filter refuses the connection to {probe.target} before it is "
            f"redirected ({os.strerror(outcome.error)})."
        )
        return RedirectionCheck(
            probe.purpose,
            probe.family,
            "failed",
            said,
            "filtered",
            "a DROP or REJECT in OUTPUT, or a policy",
        )
    if not probe.redirected:
        return _judge_skipped(settings, outcome, what)
    return _judge_missing(settings, outcome, what, seen)


def has_no_route(outcome: ProbeOutcome) -> bool:
    """Tell whether nothing was sent for want of a route; an answer from outside that says so means
    that it got out.
    """
    return outcome.at_once and outcome.error in _NO_ROUTE and outcome.port is None


def _judge_skipped(settings: Settings, outcome: ProbeOutcome, what: str) -> RedirectionCheck:
    probe = outcome.probe
    where = f"to port {outcome.port}" if outcome.port else "to a port where nothing listens"
    chain = _CHAINS[settings.style][0]
    if probe.purpose == "skipped":
        match = f"--dport {probe.target.port}"
    else:
        match = f"-m owner --uid-owner {settings.proxy_uid}"
    rule = f"{_program(probe.family)} -t nat -I {chain} -p tcp {match} -j RETURN"
    said = (
        f"{what}: the connection to {probe.target} is redirected {where}, although it must be let "
        "go."
    )
    return RedirectionCheck(
        probe.purpose,
        probe.family,
        "failed",
        said,
        "skipped-redirected" if probe.purpose == "skipped" else "proxy-redirected",
        rule,
    )


def _judge_missing(
    settings: Settings, outcome: ProbeOutcome, what: str, seen: _Round
) -> RedirectionCheck:
    """Say why a connection that should be redirected is not, the surest explanation first."""
    probe, rule = outcome.probe, _redirect_rule(settings, outcome)
    said, cause = _explain_missing(outcome, what, seen)
    if cause == "busy":
        return RedirectionCheck(probe.purpose, probe.family, "failed", said, cause)
    return RedirectionCheck(probe.purpose, probe.family, "failed", said, cause, rule)


def _explain_missing(outcome: ProbeOutcome, what: str, seen: _Round) -> tuple[str, Cause]:
    probe = outcome.probe
    to = f"{what}: the connection to {probe.target}"
    if outcome.port is not None:
        return f"{to} arrives at port {outcome.port}, {_spell_arrival(outcome)}.", "wrong-port"
    if outcome.error == errno.ECONNREFUSED and probe.purpose not in _LOCAL:
        said = (
            f"{to} is refused within this node: it is redirected to a port other than "
            f"{_spell_ports(probe.ports)}, or rejected by a rule."
        )
        return said, "wrong-port"
    if not seen.tracked.get(probe.family, True):
        said = (
            f"{what}: there is no NAT rule for IPv{probe.family} in this pod at all (conntrack "
            "follows no connection of it)."
        )
        return said, "no-rules"
    taken = [port for port in probe.ports if (probe.family, port) in seen.busy]
    if taken and not outcome.error:
        said = (
            f"{what}: port {_spell_ports(taken)} is busy ({seen.busy[probe.family, taken[0]]}), so "
            f"that what is redirected there ends at another process: whether a rule redirects the "
            f"connection to {probe.target} cannot be told."
        )
        return said, "busy"
    if probe.purpose in _LOCAL:
        cause: Cause = "inbound-missing" if probe.purpose == "inbound-chain" else "outbound-missing"
        return f"{to} was not redirected to {_spell_ports(probe.ports)}.", cause
    how = "was let out (or dropped)"
    if outcome.error:
        how = f"was let out, and somebody outside answers: {os.strerror(outcome.error)}"
    return f"{to} {how}; no rule redirects it.", "outbound-missing"


def _spell_arrival(outcome: ProbeOutcome) -> str:
    """Say how a connection came to a port that it is not redirected to by the mesh's rules."""
    if outcome.arrived:
        return f"not at {_spell_ports(outcome.probe.ports)}"
    meant = "and conntrack does not know where it was meant to go"
    if outcome.original:
        meant = f"as one to {outcome.original}"
    return f"{meant}: another rule rewrites it first"


def _name_families(
    checks: Sequence[RedirectionCheck], outcomes: Sequence[ProbeOutcome]
) -> list[RedirectionCheck]:
    """Say that a family was forgotten where the other is redirected: the commonest fault on pods
    with both.
    """
    good = {
        outcome.probe.family
        for outcome in outcomes
        if outcome.probe.redirected and outcome.as_wanted
    }
    named: list[RedirectionCheck] = []
    for check in checks:
        if (
            check.cause in {"no-rules", "outbound-missing", "inbound-missing"}
            and good - {check.family}
            and check.family not in good
        ):
            said = (
                f"{check.claim} IPv{10 - check.family} is redirected: the rules were written for "
                "that family only."
            )
            named.append(check._replace(cause="family-missing", claim=said))
        else:
            named.append(check)
    return named


def _redirect_rule(settings: Settings, outcome: ProbeOutcome) -> str:
    probe = outcome.probe
    inbound = probe.purpose in {"inbound", "inbound-chain"}
    chain = _CHAINS[settings.style][int(inbound)]
    return (
        f"{_program(probe.family)} -t nat -A {chain} -p tcp -j REDIRECT --to-ports "
        f"{(probe.ports or (0,))[0]}"
    )


def _program(family: Family) -> str:
    return "ip6tables" if family == 6 else "iptables"


def _spell_ports(ports: Sequence[int]) -> str:
    return " or ".join(map(str, ports))


def _spell(purpose: Purpose, family: Family) -> str:
    names: dict[Purpose, str] = {
        "outbound": "outbound redirection",
        "loopback": "redirection of the loopback probe",
        "skipped": "the skipped outbound port",
        "proxy-user": "the exemption of the proxy's own user",
        "inbound-chain": "the inbound chain",
        "inbound": "inbound redirection",
        "skipped-inbound": "the skipped inbound port",
    }
    return f"IPv{family} {names[purpose]}"
