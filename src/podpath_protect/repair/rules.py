"""Which redirect rules stand in a pod's network namespace: read with iptables-save, in both of its
kinds and families, and nft.

A redirection is there when OUTPUT (for what the pod opens) and PREROUTING (for what comes to it) of
the nat table lead, by chains that TCP may take, to a REDIRECT, TPROXY or DNAT to the proxy's port.
This asks for the rules' presence, not for their effect on one packet: the proof by packets is the
validator's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from podpath.evidence.iptables.rules import read_rules
from podpath.evidence.iptables.ruleset import ChainText, RulesetRecord, RuleText
from podpath.net.provenance import Source
from podpath_protect.repair.judgement import NamespaceObservation
from podpath_protect.repair.programs import ProgramText, read_program
from podpath_protect.repair.redirect import PodRedirect
from podpath_protect.repair.serving import ListeningSocket, parse_listening

Flavour = Literal["nft", "legacy"]
SAVES: Final[Mapping[int, Mapping[Flavour, str]]] = {
    4: {"nft": "iptables-nft-save", "legacy": "iptables-legacy-save"},
    6: {"nft": "ip6tables-nft-save", "legacy": "ip6tables-legacy-save"},
}
_BASES: Final = ("OUTPUT", "PREROUTING")
_SECONDS = 5.0
_WHOLE = re.compile(r'(?:[^"\\]++|\\.|"(?:[^"\\]++|\\.)*+")*+')
"""A line whose quotes are closed; a backslash spells the letter behind it."""
_BROKEN: Final = "a comment there holds a line break, so its lines are not rules"
MOST_TEXT = 128 << 10
"""What is read of one listing: 1,500 rules. A mesh writes two dozen, and whoever has a namespace
can write 120,000, which took 16 s of the node's processor to read.
"""
_MOST_JSON: Final = 6 * MOST_TEXT
"""The same rules as nft spells them in JSON."""


class _NftRule(msgspec.Struct):
    family: str
    table: str
    chain: str
    expr: list[dict[str, object]]


class _NftObject(msgspec.Struct):
    rule: _NftRule | None = None


class _NftListing(msgspec.Struct):
    """What `nft -j` prints (libnftables-json(5)); other objects than rules are passed over."""

    nftables: list[_NftObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceRules:
    """What stands in a namespace, of one family."""

    hooks: Mapping[str, str]
    """The rule by which each of OUTPUT and PREROUTING redirects to the port asked for; missing
    where none does.
    """
    jumps: frozenset[str]
    """Which of them jump to the mesh's own chains, whatever stands in those."""
    flavour: Flavour
    """The kind of iptables whose rules are there; nft where none are."""
    kinds: Mapping[Flavour, int] = field(default_factory=dict)
    """How many NAT rules there are of each kind of iptables; a kind without any is missing."""
    unread: str = ""
    """Why it may be that more stands there than was read."""
    stopped: bool = False
    """There is more than is ever read, or what cannot be read as one rule a line."""
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The mesh's own chains of this kind of iptables as they stand, each with its rules' lines: to
    be put back where what is written instead does not help.
    """

    def is_as(self, other: NamespaceRules) -> bool:
        """Tell whether the same redirects, jumps and chains of the mesh stand here."""
        return (self.hooks, self.jumps, self.own) == (other.hooks, other.jumps, other.own)


def look(
    path: str, redirect: PodRedirect, families: Sequence[int]
) -> tuple[NamespaceObservation, dict[int, NamespaceRules]]:
    """Look into a namespace for the rules that a pod asks for, in each family of its addresses."""
    shown: dict[int, NamespaceRules] = {}
    for family in families:
        shown[family] = _look(path, redirect, family)
        if shown[family].stopped:
            why = f"its rules are not read: {shown[family].unread}"
            return NamespaceObservation(redirected=None, why=why), shown
    missing: list[str] = []
    for family, one in shown.items():
        for base in _BASES:
            if base not in one.hooks:
                way = "outbound" if base == "OUTPUT" else "inbound"
                port = _port(redirect, base)
                missing.append(f"IPv{family} {way} (nat {base}, to port {port})")
    mixed = describe_mixture(shown)
    mixed = f"; {mixed}" if mixed else ""
    unread = "; ".join(dict.fromkeys(one.unread for one in shown.values() if one.unread))
    if missing and unread:
        return NamespaceObservation(
            redirected=None, why=f"no rule was seen for {', '.join(missing)}, but {unread}{mixed}"
        ), shown
    if missing:
        return NamespaceObservation(
            redirected=False, why=f"no rule in its namespace redirects {', '.join(missing)}{mixed}"
        ), shown
    proofs = sorted({rule for one in shown.values() for rule in one.hooks.values()})
    return NamespaceObservation(
        redirected=True,
        why=f"its namespace redirects: {'; '.join(proofs)}"[: 900 - len(mixed)] + mixed,
    ), shown


def describe_mixture(shown: Mapping[int, NamespaceRules]) -> str:
    """Say where rules of both kinds of iptables meet: two writers, of whom one has the wrong
    backend; empty where they do not.
    """
    told = [
        f"IPv{family} has NAT rules of both kinds of iptables ({_count(one.kinds)}): at one "
        "priority, so the kind whose table came first decides, and what either lists is not the "
        "whole"
        for family, one in shown.items()
        if len(one.kinds) > 1
    ]
    sole = {family: next(iter(one.kinds)) for family, one in shown.items() if len(one.kinds) == 1}
    if len(set(sole.values())) > 1:
        apart = " and ".join(
            f"IPv{family}'s of iptables-{kind}" for family, kind in sorted(sole.items())
        )
        told.append(
            f"NAT rules are of two kinds of iptables: {apart}: whoever writes them does not use "
            "one backend"
        )
    return "; ".join(told)


def _count(kinds: Mapping[Flavour, int]) -> str:
    return ", ".join(f"{number} of iptables-{kind}" for kind, number in sorted(kinds.items()))


def _look(path: str, redirect: PodRedirect, family: int) -> NamespaceRules:
    """Read the rules of one family: both kinds of iptables, then nft's own."""
    seen = _SeenRules()
    for flavour, program in SAVES[family].items():
        # without -t: the old kind would make the table that it is asked for
        told = _run(path, (program,))
        if told.stopped:
            return _stop(flavour, told.trouble)
        if told.trouble:
            seen.troubles.append(told.trouble)
            continue
        if has_broken_line(told.text):
            return _stop(flavour, _BROKEN)
        seen.add(flavour, parse_nat(told.text, program), redirect)
    used: Flavour = "legacy" if "legacy" in seen.kinds else "nft"
    stopped = _add_native(seen.hooks, path, redirect, family)
    if stopped:
        return _stop(used, stopped)
    return NamespaceRules(
        hooks=seen.hooks,
        jumps=frozenset(seen.jumps),
        flavour=used,
        kinds=seen.kinds,
        unread="; ".join(seen.troubles) if len(seen.troubles) > 1 else "",
        own=seen.own.get(used, {}),
    )


def _stop(flavour: Flavour, why: str) -> NamespaceRules:
    """Say that the rules could not be read to their end, so that nothing is known of them."""
    return NamespaceRules(hooks={}, jumps=frozenset(), flavour=flavour, unread=why, stopped=True)


@dataclass(slots=True)
class _SeenRules:
    """What the listings of one family show so far."""

    hooks: dict[str, str] = field(default_factory=dict)
    """The rule that redirects, for each base chain that leads to one."""
    jumps: set[str] = field(default_factory=set)
    """Base chains that jump to the mesh's own chains."""
    kinds: dict[Flavour, int] = field(default_factory=dict)
    """How many rules each kind of iptables has."""
    own: dict[Flavour, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    """The lines of the mesh's own chains."""
    troubles: list[str] = field(default_factory=list)
    """Why a kind could not be listed."""

    def add(self, flavour: Flavour, chains: Mapping[str, ChainText], redirect: PodRedirect) -> None:
        """Take in the table nat as one kind of iptables lists it."""
        prefix = {"linkerd": "PROXY_INIT_", "istio": "ISTIO_"}.get(redirect.style, "")
        for base in _BASES:
            rule = find_redirect(chains, base, _port(redirect, base))
            if rule is not None:
                self.hooks.setdefault(base, rule.span.text)
            if base in chains and any(_jumps_to(rule, prefix) for rule in chains[base].rules):
                self.jumps.add(base)
        self.own[flavour] = {
            name: _lines(chain)
            for name, chain in chains.items()
            if prefix and name.startswith(prefix)
        }
        number = sum(len(chain.rules) for chain in chains.values())
        if number:
            self.kinds[flavour] = number


def has_broken_line(text: str) -> bool:
    """Tell whether a listing has a line whose quotes are open: iptables-save writes a line break
    within a comment as it is (`xtables_save_string`, iptables 1.8.9), so that what follows reads
    like a rule of its own, which nobody has and which must not be written anew.
    """
    return any(not _WHOLE.fullmatch(line) for line in text.splitlines())


def parse_nat(text: str, command: str) -> dict[str, ChainText]:
    """Read the chains of the nat table from what iptables-save printed."""
    reading = read_rules(Source(name=command, lines=tuple(text.splitlines()), command=command))
    tables = (
        record
        for record in reading.records
        if isinstance(record, RulesetRecord) and record.table == "nat"
    )
    return {name: chain for table in tables for name, chain in table.chains.items()}


def find_redirect(chains: Mapping[str, ChainText], base: str, port: int) -> RuleText | None:
    """Return the first rule that sends TCP to a port, by whatever chains lead to it; None where
    none does.
    """
    return next((rule for rule in _reachable(chains, base) if _sends_to(rule, port)), None)


def _reachable(chains: Mapping[str, ChainText], base: str) -> Iterator[RuleText]:
    """Yield the rules that TCP can come to, in the order of a packet's way, those of each chain
    once: by how many ways a chain is reached is up to who writes the rules, and doubles with each
    chain.
    """
    seen = {base}
    held = [iter(chains[base].rules)] if base in chains else []
    while held:
        rule = next(held[-1], None)
        if rule is None:
            held.pop()
            continue
        if not _takes_tcp(rule):
            continue
        yield rule
        name = rule.target.name if rule.target is not None else ""
        if name in chains and name not in seen:
            seen.add(name)
            held.append(iter(chains[name].rules))


def _takes_tcp(rule: RuleText) -> bool:
    protocols = [option for option in rule.selectors if option.name == "protocol"]
    return all(
        (option.values[:1] in {("tcp",), ("6",), ("all",), ("0",)}) != option.negated
        for option in protocols
    )


def _sends_to(rule: RuleText, port: int) -> bool:
    if rule.target is None or rule.target.name not in {"REDIRECT", "TPROXY", "DNAT"}:
        return False
    words = [
        word
        for option in rule.target.options
        for word in option.values
        if option.name in _PORT_OPTIONS
    ]
    return any(_names_port(word, port) for word in words)


_PORT_OPTIONS: Final = {"to-ports", "to-port", "on-port", "to-destination"}


def _names_port(word: str, port: int) -> bool:
    number = word.rpartition(":")[2] if ":" in word else word
    first, _, last = number.partition("-")
    return first.isdecimal() and int(first) <= port <= (
        int(last) if last.isdecimal() else int(first)
    )


def _jumps_to(rule: RuleText, prefix: str) -> bool:
    return bool(prefix) and rule.target is not None and rule.target.name.startswith(prefix)


def _port(redirect: PodRedirect, base: str) -> int:
    if base == "OUTPUT":
        return redirect.outbound
    return redirect.inbound


def _add_native(hooks: dict[str, str], path: str, redirect: PodRedirect, family: int) -> str:
    """Add what rules of nft's own redirect, since newer meshes write none of iptables; return why
    not all were read, empty where they were. They are read as JSON, in which a comment cannot be
    taken for anything else.
    """
    missing = [base for base in _BASES if base not in hooks]
    if not missing:
        return ""
    for kind in ("ip" if family == 4 else "ip6", "inet"):
        told = _run(path, ("nft", "-j", "list", "ruleset", kind), _MOST_JSON)
        if told.stopped:
            return told.trouble
        for base in missing:
            for rule in _find_native(told.text, _port(redirect, base)):
                hooks.setdefault(base, rule)
    return ""


def _find_native(text: str, port: int) -> Iterator[str]:
    """Yield the rules of a listing in JSON that redirect to a port."""
    try:
        listing = msgspec.json.decode(text, type=_NftListing)
    except (msgspec.MsgspecError, UnicodeError):
        return
    for rule in (held.rule for held in listing.nftables if held.rule is not None):
        for words in rule.expr:
            target = words.get("redirect")
            if isinstance(target, dict) and port in _nft_ports(target.get("port")):
                where = f"{rule.family} {rule.table} {rule.chain}"
                yield f"nft: {where}: redirect to :{port}"


def _nft_ports(told: object) -> range:
    """Return the ports that a statement of nft's JSON names; none where it is something else."""
    match told:
        case int():
            return range(told, told + 1)
        case {"range": [int(first), int(last)]}:
            return range(first, last + 1)
        case _:
            return range(0)


def _lines(chain: ChainText) -> tuple[str, ...]:
    return tuple(rule.span.text.strip() for rule in chain.rules)


def read_listening(path: str) -> tuple[ListeningSocket, ...]:
    """Return the sockets that take TCP connections within a namespace; none where that cannot be
    read.
    """
    return tuple(
        socket
        for name in ("tcp", "tcp6")
        for socket in parse_listening(_run(path, ("cat", f"/proc/thread-self/net/{name}")).text)
    )


def _run(path: str, command: tuple[str, ...], most: int = MOST_TEXT) -> ProgramText:
    """Run a program that reads within a namespace."""
    told = read_program(("nsenter", f"--net={path}", *command), seconds=_SECONDS, most=most)
    trouble = f"{command[0]}: {told.trouble}" if told.trouble else ""
    return told._replace(trouble=trouble)
