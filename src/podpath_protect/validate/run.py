"""The validator's run: rounds of probes until all is well or the time is over, then the verdict.

What comes in are `Settings`; what goes out is a `Verdict`. By the loopback and the original
destination (istio's way, in both families), or by linkerd's token server with the same probes
behind it.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from podpath_protect.validate.addresses import (
    Family,
    PodEnvironment,
    read_surroundings,
    read_tracked,
)
from podpath_protect.validate.attempt import LONGEST, Listeners, attempt
from podpath_protect.validate.inbound import check_inbound
from podpath_protect.validate.judgement import (
    MISSING,
    Cause,
    RedirectionCheck,
    Validation,
    conclude,
    explain,
    has_no_route,
    judge,
)
from podpath_protect.validate.kernel import read_kernel
from podpath_protect.validate.plan import (
    NOWHERE,
    PlannedProbe,
    Settings,
    Untried,
    choose_families,
    list_unreflected,
    plan_probes,
)
from podpath_protect.validate.sockets import ANY, SocketEnd, connect, family_of, listen
from podpath_protect.validate.token_server import Reply, TokenServer, ask, make_token

BEYOND = ("skipped", "proxy-user", "inbound-chain")
"""What linkerd's validator does not look at."""
UNSEEN = (
    "the server listens in the other family only; give --listen-addr '[::]:PORT', or --families "
    "both"
)
Tell = Callable[[str, str], None]
"""Hears of the run as it goes: a level (`debug`, `info`, `error`) and a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEnds:
    """linkerd's two addresses."""

    listen: SocketEnd = SocketEnd("0.0.0.0", 4140)  # noqa: S104  # as linkerd has it: the redirected packet comes to an address of the pod
    connect: SocketEnd = SocketEnd("192.0.2.2", 1404)


def validate(settings: Settings, tell: Tell, *, await_inbound: bool = False) -> Validation:
    """Try all there is to try, again every second while something fails, until the time is over."""
    deadline = time.monotonic() + settings.timeout
    around = read_surroundings()
    probes, untried = plan_probes(settings, around)
    verdict = _try(settings, probes, untried, (), deadline, tell)
    families = choose_families(settings, around)
    return _explained(
        _with_inbound(settings, families, verdict, deadline, await_inbound=await_inbound)
    )


def _try(
    settings: Settings,
    probes: Sequence[PlannedProbe],
    untried: Sequence[Untried],
    known: Sequence[RedirectionCheck],
    deadline: float,
    tell: Tell,
) -> Validation:
    """Try probes round by round; `known` are checks that stand already."""
    families = tuple(dict.fromkeys(probe.family for probe in probes))
    listeners = Listeners((*settings.outbound, *settings.inbound), families)
    try:
        if probes and not listeners.sockets:
            return _busy(families, listeners)
        while True:
            began = time.monotonic()
            outcomes = attempt(listeners, probes, deadline) if probes else ()
            tracked = dict.fromkeys(families, True)
            judged = judge(settings, outcomes, untried, tracked, listeners.busy)
            verdict = conclude([*known, *judged.checks])
            settled = verdict.cause == "undecided" and not any(map(has_no_route, outcomes))
            if not verdict.cause or settled or time.monotonic() >= deadline:
                break
            tell("debug", f"{verdict.claim} Trying again.")
            time.sleep(max(0.0, min(began + LONGEST, deadline) - time.monotonic()))
        if verdict.cause:
            tracked = {family: is_tracked(family) for family in families}
            judged = judge(settings, outcomes, untried, tracked, listeners.busy)
            verdict = conclude([*known, *judged.checks])
    finally:
        listeners.close()
    return verdict


def validate_token(
    settings: Settings, ends: TokenEnds, tell: Tell, *, await_inbound: bool = False
) -> Validation:
    """Validate as linkerd does, once; then, where that holds, what linkerd does not look at."""
    deadline = time.monotonic() + settings.timeout
    token = make_token()
    try:
        server = TokenServer(ends.listen, token)
    except OSError as error:
        said = f"cannot listen at {ends.listen}: {error.strerror}"
        return conclude(
            [RedirectionCheck("outbound", family_of(ends.listen), "failed", said, "busy")]
        )
    try:
        tell("info", f"Listening for connections on {ends.listen}")
        tell("debug", f"token={token.decode()!r}")
        around = read_surroundings()
        targets = [ends.connect, *_other_families(settings, ends, around)]
        checks = [_ask(server, target, deadline, tell) for target in targets]
    finally:
        server.close()
    if any(check.state == "failed" for check in checks):
        return _explained(conclude(_blame(checks, around)))
    if ends.listen.port not in settings.outbound or _is_own(ends):
        return conclude(checks)
    done = {check.family for check in checks}
    families = tuple(dict.fromkeys((*done, *settings.families)))
    probes, untried = plan_probes(replace(settings, families=families), around)
    beyond = [
        probe
        for probe in probes
        if probe.purpose in BEYOND or (probe.purpose == "outbound" and probe.family not in done)
    ]
    others = [family for family in choose_families(settings, around) if family not in families]
    unseen = [Untried("outbound", family, UNSEEN) for family in others]
    unseen += [one for family in others for one in list_unreflected(settings, family)]
    left = [one for one in untried if one.purpose != "outbound" or one.family not in done]
    verdict = _try(settings, beyond, [*left, *unseen], checks, deadline, tell)
    return _explained(
        _with_inbound(
            settings, (*families, *others), verdict, deadline, await_inbound=await_inbound
        )
    )


def _explained(verdict: Validation) -> Validation:
    """Look at the kernel where a rule is missing; where all is well it costs nothing."""
    families = tuple(
        dict.fromkeys(check.family for check in verdict.checks if check.cause in MISSING)
    )
    if families:
        return explain(verdict, read_kernel(families))
    return verdict


def is_tracked(family: Family) -> bool:
    """Tell whether conntrack follows connections of a family here: where it follows none there is
    no NAT rule.

    Where the count cannot be read, it is taken to do so.
    """
    before = read_tracked()
    if before is None:
        return True
    loopback = "::1" if family == 6 else "127.0.0.1"
    try:
        listener = listen(SocketEnd(loopback, 0))
    except OSError:
        return True
    with listener:
        caller, code = connect(SocketEnd(loopback, listener.getsockname()[1]))
        with caller:
            return bool(code) or (read_tracked() or 0) > before


def _busy(families: Sequence[Family], listeners: Listeners) -> Validation:
    taken = ", ".join(
        f"{SocketEnd(ANY[family], port)}: {why}" for (family, port), why in listeners.busy.items()
    )
    return conclude(
        [
            RedirectionCheck(
                "outbound", families[0], "failed", f"no listener available: {taken}", "busy"
            )
        ]
    )


def _with_inbound(
    settings: Settings,
    families: Sequence[Family],
    verdict: Validation,
    deadline: float,
    *,
    await_inbound: bool,
) -> Validation:
    if verdict.cause not in {"", "undecided"} or not (settings.reflectors or await_inbound):
        return verdict
    found = check_inbound(settings, families, deadline, wait=await_inbound)
    tested = {(check.purpose, check.family) for check in found}
    kept = [check for check in verdict.checks if (check.purpose, check.family) not in tested]
    return conclude([*kept, *found])


def _other_families(settings: Settings, ends: TokenEnds, around: PodEnvironment) -> list[SocketEnd]:
    """Return a target in the family that the caller's does not test, where the server takes
    both.
    """
    other: Family = 4 if family_of(ends.connect) == 6 else 6
    wanted = other in (
        settings.families or tuple(family for family in (4, 6) if around.addresses[family])
    )
    if family_of(ends.listen) == 6 and wanted and not _is_own(ends):
        return [SocketEnd(NOWHERE[other], ends.connect.port)]
    return []


def _is_own(ends: TokenEnds) -> bool:
    return ends.connect.port == ends.listen.port


def _ask(server: TokenServer, target: SocketEnd, deadline: float, tell: Tell) -> RedirectionCheck:
    tell("info", f"Connecting to {target}")
    reply = ask(server, target, deadline)
    family = family_of(target)
    if reply.validated:
        tell("info", "Validated")
        return RedirectionCheck(
            "outbound",
            family,
            "passed",
            f"IPv{family} outbound redirection holds: {target} gave our token.",
        )
    cause, said = _explain(reply, target)
    return RedirectionCheck("outbound", family, "failed", said, cause, error=reply.error)


def _explain(reply: Reply, target: SocketEnd) -> tuple[Cause, str]:
    if reply.error in {errno.EPERM, errno.EACCES}:
        why = os.strerror(reply.error)
        return (
            "filtered",
            f"unable to connect to {target}: a filter refuses it before it is redirected ({why})",
        )
    if reply.error:
        return "unreachable", f"unable to connect to {target}: {os.strerror(reply.error)}"
    if reply.got is None:
        return "outbound-missing", f"no answer from {target} in time: no rule redirects it"
    expected, got = reply.token.decode(), reply.got.decode("utf-8", "backslashreplace")
    return (
        "foreign-answer",
        f"expected client to receive {expected!r}; got {got!r} instead: {target} is somebody else",
    )


def _blame(checks: Sequence[RedirectionCheck], around: PodEnvironment) -> list[RedirectionCheck]:
    """Name what a process without rights can know of the cause: whether there is NAT at all, and in
    the other family.
    """
    good = {check.family for check in checks if check.state == "passed"}
    named: list[RedirectionCheck] = []
    for check in checks:
        if check.state == "failed" and check.cause in {"outbound-missing", "unreachable"}:
            if good - {check.family}:
                said = (
                    f"{check.claim}; IPv{10 - check.family} is redirected: the rules were written "
                    "for that family only"
                )
                named.append(check._replace(cause="family-missing", claim=said))
                continue
            if around.tracked is not None and not is_tracked(check.family):
                said = (
                    f"{check.claim}; there is no NAT rule for IPv{check.family} in this pod at all"
                )
                named.append(check._replace(cause="no-rules", claim=said))
                continue
        named.append(check)
    return named
