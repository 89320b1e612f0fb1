"""One look at the order of jumps: listed, judged, mended where that is asked for, listed again, and
told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from podpath_protect.agent.keeper import AgentFinding
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.capabilities import held_capabilities
from podpath_protect.fights import Fights
from podpath_protect.order.chains import Disorder, Split, find_disorder, find_splits
from podpath_protect.order.listings import PROC_NET, WAIT, list_chain, list_chains
from podpath_protect.order.moving import check_move, emit_script
from podpath_protect.order.rules import OrderRule

PASSES = 8
"""A chain in which several jumps come too late is put right one move at a time; no chain has so
many.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One jump that was moved, or would be."""

    disorder: Disorder
    state: Literal["done", "would", "refused", "held"]
    script: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderOutcome:
    """What a look found and did."""

    moves: tuple[Move, ...] = ()
    findings: tuple[AgentFinding, ...] = ()
    chains: int = 0
    """How many base chains could be listed."""
    unknown: bool = False
    """Something that may be there could not be listed now: it is to be looked at again soon."""

    @property
    def holds(self) -> bool:
        """Tell whether nothing is wrong that costs packets."""
        return all(finding.severity != "error" for finding in self.findings)


class OrderGuard:
    """Looks, moves and remembers what is being fought over."""

    def __init__(
        self,
        rules: tuple[OrderRule, ...],
        applier: Applier,
        *,
        mend: bool,
        proc_net: Path = PROC_NET,
    ) -> None:
        """Remember nothing yet."""
        self.rules, self.applier, self.mend, self.proc_net = rules, applier, mend, proc_net
        self.reader = replace(applier, dry_run=False, tell=None)
        self.fights = Fights()

    def look(self, now: float) -> OrderOutcome:
        """Look once. `now` is of a clock that only goes forward."""
        moves: list[Move] = []
        seen = list_chains(self.rules, self.reader, self.proc_net)
        for _ in range(PASSES if self.mend else 0):
            left = [
                each for each in find_disorder(self.rules, seen.listings) if not _tried(each, moves)
            ]
            if not left:
                break
            moves.append(self._move(left[0], now))
            seen = list_chains(self.rules, self.reader, self.proc_net)
        refused = {
            _subject(move.disorder): move for move in moves if move.state in {"refused", "held"}
        }
        found = [
            _describe(each, refused.get(_subject(each)))
            for each in find_disorder(self.rules, seen.listings)
        ]
        found += [_describe_split(each) for each in find_splits(self.rules, seen.listings)]
        found += [_describe_change(move) for move in moves if move.state == "done" and move.why]
        found += self._fought(now)
        if not seen.listings:
            found.append(self._blind(seen.failures))
        elif seen.unknown:
            found.append(_describe_unknown(seen.unknown))
        return OrderOutcome(
            moves=tuple(moves),
            findings=tuple(found),
            chains=len(seen.listings),
            unknown=bool(seen.unknown),
        )

    def _move(self, disorder: Disorder, now: float) -> Move:
        subject, place, script = _subject(disorder), disorder.listing.place, emit_script(disorder)
        if disorder.listing.unread:
            return Move(
                disorder=disorder,
                state="refused",
                script=script,
                why=f"not understood: {disorder.listing.unread[0]}",
            )
        if not self.fights.may_mend(subject, now):
            return Move(
                disorder=disorder,
                state="held",
                script=script,
                why="it is being fought over, and waits",
            )
        try:
            effect = self.applier.run(
                (f"{place.program}-restore", *WAIT, "--noflush"), stdin=script
            )
            if effect.state == "would":
                return Move(disorder=disorder, state="would", script=script)
            self.fights.record(subject, now)
            wrong = check_move(disorder.listing, list_chain(place, self.reader), disorder)
        except ApplyError as error:
            lacks = (
                ""
                if "CAP_NET_ADMIN" in held_capabilities()
                else "CAP_NET_ADMIN is missing: changing rules; "
            )
            return Move(
                disorder=disorder, state="refused", script=script, why=f"{lacks}{error.why}"
            )
        return Move(disorder=disorder, state="done", script=script, why=wrong)

    def _fought(self, now: float) -> list[AgentFinding]:
        rivals = {rule.name: rule.rival for rule in self.rules}
        findings: list[AgentFinding] = []
        for fight in self.fights.list_fights(now):
            rival = rivals.get(fight.subject.split(" ")[0])
            rival = rival or "whoever writes the jump that stands before it"
            claim = (
                f"{fight.subject} was put in order {fight.rounds} times in a minute and comes "
                f"back: likely {rival}"
            )
            found = AgentFinding(
                check="jump-order-fought", subject=fight.subject, severity="warning", claim=claim
            )
            findings.append(found)
        return findings

    @staticmethod
    def _blind(failures: tuple[str, ...]) -> AgentFinding:
        if "CAP_NET_ADMIN" in held_capabilities():
            lacks = ""
        else:
            lacks = "CAP_NET_ADMIN is missing: listing rules; "
        return AgentFinding(
            check="jump-order-unknown",
            subject="iptables",
            severity="error",
            claim=(
                f"{lacks}no base chain could be listed: "
                f"{failures[0] if failures else 'no backend has any'}"
            ),
            evidence=failures,
        )


def _tried(disorder: Disorder, moves: list[Move]) -> bool:
    """Tell whether a disorder was dealt with in this look: moved once (and back again by somebody)
    or refused.
    """
    return any(
        _subject(move.disorder) == _subject(disorder)
        and move.disorder.early.text == disorder.early.text
        for move in moves
    )


def _subject(disorder: Disorder) -> str:
    return f"{disorder.rule.name} in {disorder.listing.place.program}"


def _describe(disorder: Disorder, move: Move | None) -> AgentFinding:
    rule, place = disorder.rule, disorder.listing.place
    stopped = f"; {move.why}" if move is not None else ""
    why = f": {rule.why}" if rule.why else ""
    rival = f"; brought about by {rule.rival}" if rule.rival else ""
    return AgentFinding(
        check="jump-order",
        subject=_subject(disorder),
        severity=rule.severity,
        claim=(
            f"in {place.chain} the jump to {rule.first} stands behind that to "
            f"{disorder.early.target}{why}{rival}{stopped}"
        ),
        evidence=(
            f"{place}: rule {disorder.early.number}: {disorder.early.text}",
            f"{place}: rule {disorder.late.number}: {disorder.late.text}",
            *((rule.source,) if rule.source else ()),
        ),
        mend=(
            f"{place.program} -t {place.table} -D {place.chain} {disorder.late.arguments}",
            (
                f"{place.program} -t {place.table} -I {place.chain} {disorder.early.number} "
                f"{disorder.late.arguments}"
            ),
        ),
    )


def _describe_unknown(unknown: tuple[str, ...]) -> AgentFinding:
    return AgentFinding(
        check="jump-order-unknown",
        subject="iptables",
        severity="error",
        claim=f"a chain that may be there could not be listed, so its order is unknown: "
        f"{unknown[0]}",
        evidence=unknown,
    )


def _describe_change(move: Move) -> AgentFinding:
    return AgentFinding(
        check="jump-order-changed",
        subject=_subject(move.disorder),
        severity="warning",
        claim=f"{move.disorder.listing.place.chain}: {move.why}",
        evidence=(str(move.disorder.listing.place),),
    )


def _describe_split(split: Split) -> AgentFinding:
    rule, first, then = split.rule, split.first.place, split.then.place
    return AgentFinding(
        check="jump-order-split",
        subject=f"{rule.name} in {first.family}",
        severity="warning",
        claim=f"the jump to {rule.first} is in {first.program} and one that it must come before in "
        f"{then.program}: a packet meets that backend first which came to the hook first, and "
        "no move can mend it",
        evidence=(str(first), str(then)),
        mend=("let all components use the same backend of iptables",),
    )
