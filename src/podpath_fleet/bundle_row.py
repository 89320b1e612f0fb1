"""A bundle of a fleet, read, diagnosed and made a row: the one function that every engine runs."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from podpath.checks.finding import Finding
from podpath.library.diagnosis import diagnose
from podpath.library.reading import ReadEvidence, read
from podpath.net.errors import EvidenceError, PodpathError
from podpath.net.provenance import Gap, Source
from podpath.report.claims import spell_claim
from podpath.report.escape import escape
from podpath_fleet.node_facts import Facts, list_facts
from podpath_fleet.paths import fetch_bundle

DONE, REFUSED, CRASHED, HUNG, TOO_LARGE = "done", "refused", "crashed", "hung", "too large"
"""How a bundle ends: with an answer, or with the reason why there is none."""
_CLAIM = 400
"""Characters of a claim that a row keeps."""
_POOL = re.compile(
    r"(?P<pool>.*?)(?:(?:[-_.](?=[a-z]*\d)(?:[0-9a-f]{4,}|[a-z0-9]{4,5}|\d+))+|\d+)?(?:\..*)?"
)
"""What is left of a node's name without numbers and hashes at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding of one node."""

    check: str
    severity: str
    certain: bool
    claim: str
    evidence: str
    text: str
    history: str
    """What the logs say led to it; empty where they say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRow:
    """What became of one bundle."""

    path: str
    identity: str
    """What says that it is the same bundle in another run: path, size and time."""
    state: str
    why: str = ""
    """Why it has no answer, or of a bundle that has one: what of it a store did not give."""
    node: str = ""
    pool: str = ""
    taken: str = ""
    """When the evidence was taken, where it says so."""
    verdict: str = ""
    findings: tuple[FindingRow, ...] = ()
    facts: Facts = field(default_factory=dict)
    gaps: int = 0
    seconds: float = 0.0
    """CPU time that it took."""
    megabytes: int = 0
    """The most memory that its process had used until then."""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self)


def fail_row(path: str, identity: str, state: str, why: str) -> BundleRow:
    """Return the row of a bundle that has no answer."""
    return BundleRow(path=path, identity=identity, state=state, why=str(escape(why)))


def read_bundle(path: str, identity: str, pool: str = "") -> BundleRow:
    """Read and diagnose a bundle, and reduce it to a row; what is wrong with it is in the row."""
    started = time.process_time()
    try:
        row = _answer(path, identity, re.compile(pool) if pool else None)
    except PodpathError as error:
        row = fail_row(path, identity, REFUSED, str(error))
    except OSError as error:
        row = fail_row(path, identity, REFUSED, f"it cannot be read: {error.strerror or error}")
    except MemoryError:
        row = fail_row(path, identity, TOO_LARGE, "it needs more memory than a bundle may use")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    values = {name: getattr(row, name) for name in BundleRow.__slots__}
    values |= {"seconds": time.process_time() - started, "megabytes": used}
    return BundleRow(**values)


def _answer(path: str, identity: str, pool: re.Pattern[str] | None) -> BundleRow:
    with fetch_bundle(path) as bundle:
        held = str(bundle.path)
        try:
            case = read(held, shared=_share(bundle.gaps))
            answer = diagnose(case)
        except PodpathError as error:
            raise EvidenceError(str(error).replace(held, path)) from error
    name = case.nodes[0].name or case.node.name
    return BundleRow(
        path=path,
        identity=identity,
        state=DONE,
        why=str(escape("; ".join(_spell_gap(gap) for gap in bundle.gaps))),
        node=str(escape(name)),
        pool=name_pool(name, pool),
        taken=_find_time(case.sources),
        verdict=str(answer.verdict),
        findings=tuple(_row(finding, held, path) for finding in answer.findings),
        facts={
            str(escape(key)): str(escape(value)) for key, value in list_facts(case.node).items()
        },
        gaps=len(answer.gaps),
    )


def _share(gaps: tuple[Gap, ...]) -> ReadEvidence | None:
    """Return the evidence that only says what is missing."""
    if gaps:
        return ReadEvidence(sources=(), readings=(), gaps=gaps, kept=())
    return None


def _spell_gap(gap: Gap) -> str:
    return f"{gap.span.source.name}: {gap.why}"


def name_pool(node: str, pattern: re.Pattern[str] | None) -> str:
    """Return the pool of a node: what a pattern's group, or its whole, finds in its name; without a
    pattern, the name without numbers and hashes at its end.
    """
    found = _POOL.fullmatch(node) if pattern is None else pattern.search(node)
    if found is None:
        return ""
    return str(escape(found.group(1) if found.re.groups else found.group()))


def _find_time(sources: Iterable[Source]) -> str:
    """Return when the first of the evidence was taken that says so, in UTC."""
    taken = next((source.taken_at for source in sources if source.taken_at is not None), None)
    if taken is None:
        return ""
    return datetime.fromtimestamp(taken, UTC).isoformat()


def _row(finding: Finding, held: str, path: str) -> FindingRow:
    """Return a finding with its evidence named as the bundle is, wherever that is held."""
    span = finding.evidence[0] if finding.evidence else None
    name = "" if span is None else span.source.name.replace(held, path)
    return FindingRow(
        check=finding.check,
        severity=str(finding.severity),
        certain=finding.certainty == 1,
        claim=str(escape(spell_claim(finding.claim)))[:_CLAIM],
        evidence="" if span is None else f"{escape(name)}:{span.line}",
        text="" if span is None else str(escape(span.text.partition("\n")[0]))[:_CLAIM],
        history="; ".join(map(escape, finding.history))[:_CLAIM],
    )
