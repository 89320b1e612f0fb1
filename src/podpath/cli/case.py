"""Evidence from the command line to a case: files read, sources recognised, a node assembled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import click

from podpath.assembly.case import assemble_case
from podpath.assembly.scenes.hosts import HostEvidence, part_by_host
from podpath.cli.captured import UNKNOWN, first_line, follow_captures, keep_standing, look_seldom, narrow_captures
from podpath.cli.terminal import progress
from podpath.collect.captures import End, Kept
from podpath.collect.live import read_live
from podpath.collect.matched import MatchedCaptures
from podpath.collect.read import read_evidence
from podpath.evidence.gathered import Evidence
from podpath.evidence.recognition import read
from podpath.evidence.records import HeadingRecord, Reading
from podpath.net.errors import EvidenceError, UsageError
from podpath.net.probe import Probe
from podpath.net.provenance import Gap, Source
from podpath.node.case import Case
from podpath.node.node import Node
from podpath.node.probe_names import names_ends, resolve_probe


class HostCase(NamedTuple):
    """What the evidence says of one node."""

    name: str
    """Empty where all evidence is of one node."""
    case: Case
    matched: MatchedCaptures | None


def read_case(paths: Sequence[str], asked: Sequence[Probe] = (), *, live: bool = False, node: str | None = None) -> Case:
    """Read all evidence; `EvidenceError` where nothing in it is of a kind that podpath knows.

    Of several nodes the one that is named is taken, else the one that most outputs are of.
    """
    hosts = read_hosts(paths, asked, live=live, node=node)
    if len(hosts) > 1:
        names = ", ".join(host.name for host in hosts)
        click.echo(f"podpath: the evidence is of {len(hosts)} nodes ({names}); this is {hosts[0].name}, --node chooses", err=True)
    return hosts[0].case


def read_captured(
    paths: Sequence[str], asked: Sequence[Probe] = (), between: Sequence[tuple[End, End]] = ()
) -> tuple[Case, MatchedCaptures | None]:
    """Read all evidence, of whatever nodes, with its captures put together; None where no capture file is among it."""
    host = read_hosts(paths, asked, between=between, apart=False)[0]
    return host.case, host.matched


def read_hosts(  # noqa: PLR0913 - what users can say of evidence
    paths: Sequence[str],
    asked: Sequence[Probe] = (),
    sources: list[Source] | None = None,
    between: Sequence[tuple[End, End]] = (),
    *,
    live: bool = False,
    node: str | None = None,
    apart: bool = True,
) -> tuple[HostCase, ...]:
    """Read all evidence, this node's too where it is asked for `live`, into a case for each node that it is of.

    `sources` is given what was read, for those who look for more in it than a node. Of long captures what is said `between` ends
    is read, where some are named, else what tells of a failure. `node` names the only one that is wanted; unless they are taken
    `apart`, all nodes make one case.
    """
    look_seldom()
    kept: list[Kept] = []
    here = _read_this_node(logs=sources is not None) if live else Evidence((), ())
    with progress(f"reading {len(paths)} {'input' if len(paths) == 1 else 'inputs'}"):
        found = read_evidence(paths, keep=kept.append)
        evidence = Evidence((*here.sources, *found.sources), (*here.gaps, *found.gaps))
        readings: list[tuple[Source, Reading]] = []
        gaps: list[Gap] = list(evidence.gaps)
        if sources is not None:
            sources += evidence.sources
        for source in narrow_captures(evidence.sources, kept, between):
            reading = read(source)
            if reading is not None:
                readings.append((source, reading))
            elif any(line.strip() for line in source.lines):
                gaps.append(Gap(first_line(source), UNKNOWN))
        if not kept and not any(_states_something(reading) for _, reading in readings):
            raise EvidenceError(_nothing_read(paths, gaps))
    with progress("putting the node together"):
        ends = tuple(end for probe in asked for end in (probe.src, probe.dst))
        hosts = part_by_host(readings) if apart else (HostEvidence("", tuple(readings)),)
        cases = [(host.name, assemble_case(host.read, ends)) for host in _choose(hosts, node)]
        if node is not None and cases[0][0] != node != cases[0][1].node.name:
            raise UsageError(f"expected the one node that the evidence is of ({cases[0][1].node.name}), saw {node!r}")
    keep_standing()
    return tuple(HostCase(name, *follow_captures(replace(case, gaps=(*gaps, *case.gaps)), kept)) for name, case in cases)


def _choose(hosts: Sequence[HostEvidence], node: str | None) -> Sequence[HostEvidence]:
    """Give the evidence of the node that is named; of all where none is."""
    chosen = [host for host in hosts if node in (None, host.name)]
    if chosen or not hosts[0].name:
        return chosen or hosts
    raise UsageError(f"expected a node of the evidence ({', '.join(host.name for host in hosts)}), saw {node!r}")


def _read_this_node(*, logs: bool) -> Evidence:
    with progress("asking this node"):
        return read_live(logs=logs)


def parse_probes(texts: Sequence[str]) -> tuple[Probe, ...]:
    """Read the probes that take no evidence to be read; `UsageError` says which part of one is wrong."""
    return tuple(Probe.parse(text) for text in texts if not names_ends(text))


def place_probes(texts: Sequence[str], node: Node) -> tuple[Probe, ...]:
    """Read all probes, with the addresses that the evidence gives to names; `UsageError` says which names there are."""
    return tuple(resolve_probe(text, node) for text in texts)


def _states_something(reading: Reading) -> bool:
    return any(not isinstance(record, HeadingRecord) for record in reading.records)


def _nothing_read(paths: Sequence[str], gaps: Sequence[Gap]) -> str:
    names = ", ".join("standard input" if path == "-" else path for path in paths)
    why = f"; {gaps[0].span.source.name}: {gaps[0].why}" if gaps else ""
    return (
        f"{names}: expected outputs such as `ip route`, `iptables-save`, `tcpdump -n`, `sysctl -a`, or a ticket with some of "
        f"them, saw none{why}\n`podpath diagnose --help` shows what can be given; `podpath timeline` reads logs alone"
    )
