"""Score podpath on the incidents gathered from public places: how many causes it names, and how
often it misleads.

Each ticket is diagnosed by the command, as a user would run it, without a probe; the JSON answer is
held against `answer.json`. Of the open half the incidents can be listed; of the sealed half only
counts and kinds are ever printed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from podpath.checks.registry import CHECKS
from podpath.cli.main import run as run_command
from podpath.library import diagnosis, given

INCIDENTS = Path(__file__).parent.parent / "incidents"
HALVES = ("open", "sealed")
PAGE = INCIDENTS.parent / "docs" / "quality" / "incidents.md"
RECORDED = INCIDENTS / "open" / "outcomes.json"
SECONDS = 120
"""A diagnosis that takes longer has failed."""
FORKS = multiprocessing.get_context("fork")
FIRST_QUESTIONS = 3
"""How many questions a reader of the first screen sees."""
WEIGHTY = frozenset({"cause", "fault"})
CATEGORIES = {check.name: frozenset(map(str, check.categories)) for check in CHECKS}


class Outcome(StrEnum):
    """What an answer is worth, the best first."""

    NAMED = "named"
    """The cause, with one of its decisive lines."""
    RANKED = "ranked first"
    """The cause as the first of several possible ones."""
    ASKED = "asks the expert's question"
    SILENT = "silent"
    """Undecided, with another question or none."""
    FALSE_ALL_CLEAR = "false all-clear"
    WRONG = "wrong and certain"
    REFUSED = "refused"
    FAILED = "failed"
    """Neither an answer nor an error of the input: a crash or a timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One gathered incident."""

    folder: Path
    answerable: bool
    categories: frozenset[str]
    decisive: tuple[str, ...]
    ask: tuple[str, ...]
    source: str = ""
    """The address where it was published."""


def read_incidents(half: str, top: Path = INCIDENTS) -> tuple[Incident, ...]:
    """Read the incidents of a half, in the order of their names."""
    files = sorted((top / half).glob("*/answer.json"))
    return tuple(read_incident(file) for file in files)


def read_incident(file: Path) -> Incident:
    """Read one answer; `KeyError` names a field that is missing."""
    answer = json.loads(file.read_text(encoding="utf-8"))
    return Incident(
        folder=file.parent,
        answerable=answer["answerable"],
        categories=frozenset(answer["categories"]),
        decisive=tuple(answer["decisive"]),
        ask=tuple(answer["ask"]),
        source=answer["source"],
    )


class Diagnosis:
    """`podpath diagnose --json` of a ticket under way, in a copy of this process, which has the
    program loaded. One thread starts all and waits for all: threads take each other's exit codes.
    """

    def __init__(self, ticket: Path) -> None:
        """Start it."""
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # closed when it is read
        self._run = FORKS.Process(target=_print_diagnosis, args=(ticket, self._printed.fileno()))
        self._run.start()

    def finish(self) -> tuple[int, dict[str, object] | None]:
        """Wait for its exit code and answer; -1 stands for a timeout."""
        with self._printed as printed:
            self._run.join(SECONDS)
            code = self._run.exitcode
            if code is None:
                self._run.kill()
                self._run.join()
                return -1, None
            printed.seek(0)
            try:
                return code, json.loads(printed.read())
            except ValueError:
                return code, None


def load_program() -> None:
    """Load all that a diagnosis needs, once for all copies of this process."""
    diagnosis.diagnose(given.Pasted("A ticket.\n\n$ ip route\ndefault via 192.0.2.1 dev eth0\n"))


def _print_diagnosis(ticket: Path, descriptor: int) -> None:
    """Do what the command does, with nothing but its answer printed, and end as it ends."""
    os.dup2(descriptor, sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    code = run_command(["diagnose", "--json", str(ticket)])
    sys.stdout.flush()
    os._exit(code)


def judge(incident: Incident, code: int, answer: Mapping[str, object] | None) -> Outcome:
    """Say what an answer is worth, by the exit code and the JSON document."""
    if code == 2:
        return Outcome.REFUSED
    if answer is None or code not in {0, 1, 3}:
        return Outcome.FAILED
    if code == 0:
        return Outcome.FALSE_ALL_CLEAR
    findings = [one for one in _objects(answer["findings"]) if one["severity"] in WEIGHTY]
    sure = [one for one in findings if one["certainty"] == 1]
    if code == 1:
        return Outcome.NAMED if sure and is_right(incident, sure[0]) else Outcome.WRONG
    if findings and is_right(incident, findings[0]):
        return Outcome.RANKED
    questions = _objects(answer["unknowns"])[:FIRST_QUESTIONS]
    return (
        Outcome.ASKED if any(asks(incident, question) for question in questions) else Outcome.SILENT
    )


def is_right(incident: Incident, finding: Mapping[str, object]) -> bool:
    """Tell whether a finding is of the right sort and, where the ticket holds the cause, quotes a
    line that shows it.
    """
    if not CATEGORIES.get(str(finding["check"]), frozenset()) & incident.categories:
        return False
    if not incident.answerable:
        return True
    quoted = [_squeeze(str(line["text"])) for line in _objects(finding["evidence"])]
    decisive = [_squeeze(line) for line in incident.decisive]
    return any(part in line or (line and line in part) for line in quoted for part in decisive)


def asks(incident: Incident, question: Mapping[str, object]) -> bool:
    """Tell whether a question is the expert's: one of his words stands in its fact or its
    command.
    """
    text = f"{question['fact']} {question['ask']}".casefold()
    return any(word.casefold() in text for word in incident.ask)


def _squeeze(line: str) -> str:
    return " ".join(line.split())


def _objects(value: object) -> list[dict[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def score(incidents: Sequence[Incident], workers: int) -> Iterator[tuple[Incident, Outcome]]:
    """Diagnose every ticket and judge the answers, in order."""
    running: deque[tuple[Incident, Diagnosis]] = deque()
    for incident in incidents:
        running.append((incident, Diagnosis(incident.folder / "ticket.md")))
        if len(running) == workers:
            yield _finish(*running.popleft())
    for each in running:
        yield _finish(*each)


def _finish(incident: Incident, run: Diagnosis) -> tuple[Incident, Outcome]:
    return incident, judge(incident, *run.finish())


def render_table(scored: Mapping[str, Sequence[tuple[Incident, Outcome]]]) -> Iterator[str]:
    """Render the table of both halves, answerable and unanswerable apart."""
    yield "| half | incidents | " + " | ".join(Outcome) + " |"
    yield "|---|--:|" + "--:|" * len(Outcome)
    for half, results in scored.items():
        for answerable in (True, False):
            outcomes = [
                outcome for incident, outcome in results if incident.answerable is answerable
            ]
            counts = Counter(outcomes)
            name = f"{half}, {'answerable' if answerable else 'not answerable'}"
            yield (
                f"| {name} | {len(outcomes)} | "
                + " | ".join(str(counts[outcome]) for outcome in Outcome)
                + " |"
            )


def render_misses(results: Iterable[tuple[Incident, Outcome]], *, names: bool) -> Iterator[str]:
    """Render what was missed: each incident by name, or only how many of which category."""
    missed = [(incident, outcome) for incident, outcome in results if is_miss(incident, outcome)]
    if names:
        for incident, outcome in missed:
            yield f"{outcome}: {incident.folder.name} ({', '.join(sorted(incident.categories))})"
        return
    kinds = Counter(
        (str(outcome), category) for incident, outcome in missed for category in incident.categories
    )
    for (kind, category), count in sorted(kinds.items()):
        yield f"{count} {kind}: {category}"


def render_sources(halves: Mapping[str, Sequence[Incident]]) -> Iterator[str]:
    """Render where the incidents were published, in the order of the addresses, without saying
    which half has which.
    """
    for source in sorted(
        incident.source for incidents in halves.values() for incident in incidents
    ):
        yield f"- <{source}>"


def write_page(table: Sequence[str], halves: Mapping[str, Sequence[Incident]]) -> None:
    """Write the table and the sources between the marks of the page in docs/."""
    page = PAGE.read_text(encoding="utf-8")
    for mark, lines in (("table", table), ("sources", tuple(render_sources(halves)))):
        begin, end = f"<!-- measured: {mark} -->", "<!-- end -->"
        head, _, rest = page.partition(begin)
        _, _, tail = rest.partition(end)
        page = "\n".join([head + begin, *lines, end + tail])
    PAGE.write_text(page, encoding="utf-8")


def read_recorded() -> Mapping[str, Outcome]:
    """Return what each incident of the open half was worth when it was last recorded."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {name: Outcome(outcome) for name, outcome in recorded.items()}


def write_recorded(results: Iterable[tuple[Incident, Outcome]]) -> None:
    """Record what each incident of the open half is worth: CI lets none become worth less."""
    outcomes = {incident.folder.name: str(outcome) for incident, outcome in results}
    RECORDED.write_text(json.dumps(outcomes, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def is_miss(incident: Incident, outcome: Outcome) -> bool:
    """Tell whether an answer is less than what an expert would have said."""
    good = (
        {Outcome.NAMED} if incident.answerable else {Outcome.NAMED, Outcome.RANKED, Outcome.ASKED}
    )
    return outcome not in good


def main() -> int:
    """Score the halves that are asked for; exit code 1 where any answer misleads."""
    parser = argparse.ArgumentParser(prog="scripts/score-incidents", description=__doc__)
    parser.add_argument(
        "--half", choices=HALVES, action="append", help="score this half alone (default: both)"
    )
    parser.add_argument(
        "--misses",
        action="store_true",
        help="say what was missed: by name (open), by kind (sealed)",
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="tickets diagnosed at a time (default: 2)"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="record the open half's outcomes and both halves' figures",
    )
    parser.add_argument(
        "--incidents", type=Path, default=INCIDENTS, metavar="FOLDER",
        help="score those below FOLDER, which has open/ and sealed/ (default: incidents/)",
    )  # fmt: skip
    options = parser.parse_args()
    if options.record and options.incidents != INCIDENTS:
        parser.error("--record: only what is in incidents/ is recorded")
    halves = options.half or HALVES
    load_program()
    scored = {
        half: tuple(score(read_incidents(half, options.incidents), options.workers))
        for half in halves
    }
    table = tuple(render_table(scored))
    print("\n".join(table))
    if options.record:
        write_recorded(scored.get("open", ()))
        if len(scored) == len(HALVES):
            write_page(
                table,
                {half: [incident for incident, _ in results] for half, results in scored.items()},
            )
    if options.misses:
        for half, results in scored.items():
            print(f"\n{half}:", *render_misses(results, names=half == "open"), sep="\n  ")
    misleading = {Outcome.FALSE_ALL_CLEAR, Outcome.WRONG, Outcome.REFUSED, Outcome.FAILED}
    return int(any(outcome in misleading for results in scored.values() for _, outcome in results))


if __name__ == "__main__":
    sys.exit(main())
