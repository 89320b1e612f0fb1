"""What the lab has to say, as terminal text. Strings only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.diagnosis.freed import DropAgreement
from podpath.library.replay import ReplayedDrop
from podpath.report.drop_text import spell_drop
from podpath.report.escape import escape
from podpath.report.quotes import quote
from podpath.report.sentences import spell_failure
from podpath_lab.agree import Tally
from podpath_lab.agreement import Disagreement
from podpath_lab.replayed import KernelAnswer
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


def is_named(found: ReplayedDrop, answer: KernelAnswer | None) -> bool:
    """Tell whether the model names what the kernel did, and where it was asked this kernel does the
    same.
    """
    named = found.explanation.agreement is DropAgreement.NAMED
    return named and (answer is None or found.kept.heard.key.reason in answer.reasons)


def render_replay(found: ReplayedDrop, answer: KernelAnswer | None) -> str:
    """Render a kept drop: what was told then, what the model says now, what this kernel does."""
    kept = found.kept
    key = kept.heard.key
    place = f"in {escape(kept.netns)} ({escape(kept.function)})"
    lines = [
        f"{escape(key.reason)} {escape(str(key))} {place}",
        f"then    {escape(kept.said)}",
        f"model   {escape(found.explanation.agreement)}: {spell_drop(key, found.explanation)}",
    ]
    lines += [f"        {escape(quote(span))}" for span in dict.fromkeys(found.explanation.spans)]
    if answer is not None:
        freed = ", ".join(answer.reasons)
        lines.append(f"kernel  {f'freed: {escape(freed)}' if freed else 'let it pass'}")
        lines += [f"note: {escape(note)}" for note in answer.notes]
    lines.append("They agree." if is_named(found, answer) else "THEY DIFFER")
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
        f"families: {_counts(tally.families)}",
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
