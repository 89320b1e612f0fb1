"""Evidence to a case: what is given is read, its sources recognized, and a node assembled for each
that it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from podpath.assembly.case import assemble_case
from podpath.assembly.host.clashes import list_clashes
from podpath.assembly.scenes.hosts import HostEvidence, part_by_host
from podpath.collect.captures import End, Kept
from podpath.collect.limits import DEFAULT, Limits
from podpath.collect.live import read_live
from podpath.collect.read import read_evidence, read_packed
from podpath.evidence.files import parse_file
from podpath.evidence.gathered import Evidence, join
from podpath.evidence.recognition import read as read_source
from podpath.evidence.records import Reading
from podpath.library.captured import (
    UNKNOWN,
    follow_captures,
    narrow_captures,
    span_lines,
    tell_unshown,
)
from podpath.library.case import Case, NodeCase
from podpath.library.given import (
    Asked,
    Given,
    Packed,
    Pasted,
    Piece,
    ThisNode,
    list_paths,
    list_pieces,
    name_piece,
    parse_probes,
)
from podpath.library.logged import is_log
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.net.complaints import Complaint, Told
from podpath.net.counted import Counted
from podpath.net.errors import EvidenceError, UsageError
from podpath.net.probe import Probe
from podpath.net.provenance import Gap, GapKind, Source
from podpath.net.technologies import Emphasis, Technology
from podpath.node import case as facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEvidence:
    """Evidence whose sources are recognized and read, before a node is made of it."""

    sources: tuple[Source, ...]
    readings: tuple[tuple[Source, Reading], ...]
    gaps: tuple[Gap, ...]
    kept: tuple[Kept, ...]
    """The captures, for whoever follows packets across them."""
    complaints: tuple[Complaint, ...] = ()
    mentions: frozenset[Technology] = frozenset()
    told: tuple[Told, ...] = ()
    emphasis: tuple[Emphasis, ...] = ()

    def beside(self, other: ReadEvidence) -> ReadEvidence:
        """Return this evidence with more of it behind."""
        return ReadEvidence(
            sources=(*self.sources, *other.sources),
            readings=(*self.readings, *other.readings),
            gaps=(*self.gaps, *other.gaps),
            kept=(*self.kept, *other.kept),
            complaints=(*self.complaints, *other.complaints),
            mentions=self.mentions | other.mentions,
            told=(*self.told, *other.told),
            emphasis=(*self.emphasis, *other.emphasis),
        )


def gather(evidence: Given, progress: Progress = silent) -> ReadEvidence:
    """Read evidence that is of no node in particular, once for several nodes."""
    with collecting_seldom():
        return _read_pieces(list_pieces(evidence), (), DEFAULT, progress)


def read(
    evidence: Given,
    *,
    shared: ReadEvidence | None = None,
    asking: Sequence[Asked] = (),
    node: str | None = None,
    limits: Limits = DEFAULT,
    progress: Progress = silent,
) -> Case:
    """Read all evidence; `EvidenceError` where nothing in it is of a kind that podpath knows.

    The evidence is a path, a text (`Pasted`), this node itself (`ThisNode`), or several of them.
    `asking` are probes that will be asked about: their addresses help to place what the evidence
    leaves open. Of evidence of several nodes, `node` names the only one that is wanted;
    `UsageError` says which there are. What `limits` cut off is among the case's gaps. `shared` is
    what else was read already.
    """
    probes = parse_probes(asking)
    pieces = tuple(_name_netns(piece, probes) for piece in list_pieces(evidence))
    ends = tuple(end for probe in probes for end in (probe.src, probe.dst))
    with collecting_seldom():
        found = _read_pieces(pieces, (), limits, progress)
        found = found if shared is None else found.beside(shared)
        with stage(progress, "putting the node together"):
            chosen = _choose(part_by_host(found.readings), node)
            cases = [
                (host.name, _add_prose(assemble_case(host.read, ends), found)) for host in chosen
            ]
            if node is not None and cases[0][0] != node != cases[0][1].node.name:
                raise UsageError(
                    f"expected {cases[0][1].node.name}, the only node in the evidence, saw {node!r}"
                )
        nodes = tuple(
            follow_captures(
                name, replace(case, gaps=(*found.gaps, *case.gaps)), found.kept, progress
            )
            for name, case in cases
        )
    return Case(nodes=nodes, sources=found.sources)


def read_together(
    evidence: Given, between: Sequence[tuple[End, End]] = (), progress: Progress = silent
) -> NodeCase:
    """Read all evidence, of whatever nodes, as one case with its captures put together.

    Of long captures what is said `between` ends is read, where some are named, else what tells of a
    failure.
    """
    with collecting_seldom():
        found = _read_pieces(list_pieces(evidence), between, DEFAULT, progress)
        with stage(progress, "putting the node together"):
            case = _add_prose(assemble_case(found.readings, ()), found)
        followed = follow_captures(
            "", replace(case, gaps=(*found.gaps, *case.gaps)), found.kept, progress
        )
    return tell_unshown(followed, {kept.name for kept in found.kept})


def _add_prose(case: facts.Case, found: ReadEvidence) -> facts.Case:
    """Return the case with what the prose of all evidence says, which names no host that it is
    about, and with what outputs of several hosts have alike.
    """
    return replace(
        case,
        complaints=found.complaints,
        told=found.told,
        mentions=found.mentions,
        emphasis=found.emphasis,
        clashes=list_clashes(found.readings),
    )


def as_case(given: Case | Given, asking: Sequence[Asked], progress: Progress) -> Case:
    """Return a case as it is, and read evidence to one."""
    if isinstance(given, Case):
        return given
    return read(given, asking=asking, progress=progress)


def _read_pieces(
    pieces: Sequence[Piece], between: Sequence[tuple[End, End]], limits: Limits, progress: Progress
) -> ReadEvidence:
    """Gather what is given, this node first and what was pasted next, and read every source."""
    kept: list[Kept] = []
    gathered = [_read_live(piece, progress) for piece in pieces if isinstance(piece, ThisNode)]
    doing = f"reading {len(pieces)} {'input' if len(pieces) == 1 else 'inputs'}"
    with stage(progress, doing) as tell:
        pasted = (piece for piece in pieces if isinstance(piece, Pasted))
        packed = (piece for piece in pieces if isinstance(piece, Packed))
        gathered += map(_parse_pasted, pasted)
        gathered += (read_packed(piece.name, piece.data, kept.append) for piece in packed)
        gathered.append(read_evidence(list_paths(pieces), limits, keep=kept.append))
        found = join(gathered)
        readings, unread = _read_sources(found, kept, between, tell)
        gaps = (*found.gaps, *unread)
        has_records = any(reading.records for _, reading in readings)
        if not kept and not has_records and not _says_something(found):
            raise EvidenceError(_nothing_read(pieces, gaps))
    return ReadEvidence(
        sources=found.sources,
        readings=tuple(readings),
        gaps=gaps,
        kept=tuple(kept),
        complaints=found.complaints,
        mentions=found.mentions,
        emphasis=found.emphasis,
        told=found.told,
    )


def _read_sources(
    found: Evidence,
    kept: Sequence[Kept],
    between: Sequence[tuple[End, End]],
    tell: Callable[[float], None],
) -> tuple[list[tuple[Source, Reading]], list[Gap]]:
    """Read each source in its format; a gap for each that has none."""
    readings: list[tuple[Source, Reading]] = []
    gaps: list[Gap] = []
    for number, (source, known) in enumerate(narrow_captures(found, kept, between)):
        if number:
            tell(Counted(number, max(len(found.sources), number)))
        reading = known if known is not None else read_source(source)
        if reading is not None:
            readings.append((source, reading))
        elif any(line.strip() for line in source.lines):
            kind = GapKind.ASIDE if is_log(source) else GapKind.UNREAD
            gaps.append(Gap(span_lines(source), UNKNOWN, kind=kind))
    return readings, gaps


def _says_something(found: Evidence) -> bool:
    """Tell whether prose names software, an end or a failure."""
    complaints = found.complaints
    return bool(found.mentions) or any(
        one.failure or one.source or one.target for one in complaints
    )


def _name_netns(piece: Piece, probes: Sequence[Probe]) -> Piece:
    """Have this node asked about the namespaces that probes start in, too."""
    if not isinstance(piece, ThisNode):
        return piece
    named = (probe.netns for probe in probes if probe.netns is not None)
    return replace(piece, netns=(*piece.netns, *named))


def _read_live(piece: ThisNode, progress: Progress) -> Evidence:
    with stage(progress, "asking this node") as share:
        return read_live(share, logs=piece.logs, wanted=piece.netns, node=piece.node)


def _parse_pasted(piece: Pasted) -> Evidence:
    return parse_file(piece.name, piece.text.encode("utf-8", "replace"))


def _choose(hosts: Sequence[HostEvidence], node: str | None) -> Sequence[HostEvidence]:
    """Return the evidence of the node that is named; of all where none is."""
    chosen = [host for host in hosts if node in (None, host.name)]
    if chosen or not hosts[0].name:
        return chosen or hosts
    raise UsageError(
        f"expected a node of the evidence ({', '.join(host.name for host in hosts)}), saw {node!r}"
    )


def _nothing_read(pieces: Sequence[Piece], gaps: Sequence[Gap]) -> str:
    names = ", ".join(name_piece(piece) for piece in pieces)
    why = f"; {gaps[0].span.source.name}: {gaps[0].why}" if gaps else ""
    return (
        f"{names}: expected outputs such as `ip route`, `iptables-save`, `tcpdump -n`, `sysctl "
        f"-a`, or a ticket with some of them, saw none{why}\n"
        "`podpath diagnose --help` shows what can be given; `podpath timeline` reads logs alone"
    )
