"""What the lab has to say, as terminal text. Strings only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.report.escape import escape
from podpath.report.sentences import spell_failure
from podpath_lab.agree import Tally
from podpath_lab.agreement import Disagreement
from podpath_lab.twin import TwinRun


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))


def render_twin(seen: TwinRun) -> str:
    """Render prediction and observation side by side."""
    branch = seen.prediction.branches[0]
    lines = [escape(str(seen.prediction.probe)), ""]
    predicted = "works" if branch.works else f"fails: {escape(spell_failure(branch.failure))}"
    lines.append(f"model   {'undecided' if branch.works is None else predicted}")
    drops = f" (freed: {', '.join(seen.evidence.drops)})" if seen.evidence.drops else ""
    lines += [f"kernel  {seen.evidence.observation.application}{drops}", ""]
    if seen.differences:
        lines.append("THEY DIFFER")
        lines += [line for difference in seen.differences for line in _difference(difference)]
    else:
        count = sum(frame.packet is not None for frame in seen.evidence.observation.frames)
        lines.append(
            f"They agree: {count} frames on the node's devices, every rule that matched, and what "
            "the client saw."
        )
    lines += ["", *(f"learned: {escape(line)}" for line in seen.learned)] if seen.learned else []
    lines += ["", *(f"note: {escape(note)}" for note in seen.notes)] if seen.notes else []
    return "\n".join(lines) + "\n"


def render_tally(tally: Tally) -> str:
    """Render what a run of many cases came to."""
    rate = tally.cases / tally.seconds if tally.seconds else 0.0
    kinds = (
        f"{tally.nat} with NAT, {tally.faults} with a planted fault, {tally.failing} that do not "
        "work"
    )
    lines = [
        f"{tally.cases} cases in {tally.seconds:.0f} s ({rate:.1f} per second): {kinds}",
        f"verdicts: {_counts(tally.verdicts)}",
        f"topologies: {_counts(tally.topologies)}",
        f"stages: {_counts(tally.stages)}",
        f"extensions that matched: {_counts(tally.rules)}",
    ]
    for result in tally.differing:
        said = f"the model says {result.verdict}, the client saw {result.application}"
        lines.append(f"DIFFERS: case {result.seed} ({result.topology}): {said}")
        lines += [line for difference in result.differences for line in _difference(difference)]
    agree = tally.cases - len(tally.differing)
    lines.append(
        f"{agree} agree, {tally.again} of them when looked at again; {len(tally.differing)} differ"
    )
    return "\n".join(lines) + "\n"


def _difference(difference: Disagreement) -> Iterator[str]:
    """Show only what is on one side: most of two long lists is alike."""
    predicted, observed = difference.predicted.split("\n"), difference.observed.split("\n")
    yield f"  {difference.what}"
    yield from (
        f"    model only:  {escape(line)}" for line in predicted if line not in observed and line
    )
    yield from (
        f"    kernel only: {escape(line)}" for line in observed if line not in predicted and line
    )
