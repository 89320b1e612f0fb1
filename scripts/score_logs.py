"""Score podpath on public logs: how many of them it reads.

A log is read where more than half of its lines that are not blank belong to events, or to headings
of their format. The logs are
not stored: `--clone` prints the commands that fetch their repositories, each at the commit that was
scored. Of the sealed half, which logs whose SHA-256 begins with 8 or more are in, only counts are
printed.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from podpath.collect.logs import read_texts
from podpath.net.provenance import Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.documents import find_logs
from podpath.timeline.reading import read_logs

PAGE = Path(__file__).parent.parent / "docs" / "timeline.md"
HALVES = ("open", "sealed")
ENOUGH = 0.5
"""The share of its lines above which a log is read."""


class Corpus(NamedTuple):
    """The logs of one repository."""

    name: str
    repository: str
    commit: str
    logs: str
    """The pattern of their paths."""


CORPORA = (
    Corpus(
        "loghub, the samples of 2,000 lines",
        "logpai/loghub",
        "dd61d0952749ee7963bde24220d1be5ede023033",
        "*/*_2k.log",
    ),
    Corpus(
        "lnav's tests, `test/logfile_*`",
        "tstack/lnav",
        "bb0005f96c8dc486ee0b9005a4562be0ef61c878",
        "test/logfile_*",
    ),
)


class Score(NamedTuple):
    """What became of one log."""

    path: Path
    half: str
    lines: int
    """Lines that are not blank."""
    read: int
    """Those of them that belong to events or headings."""

    @property
    def is_read(self) -> bool:
        """Tell whether enough of it is read."""
        return self.read > ENOUGH * self.lines


def score_log(path: Path, now: float) -> Score:
    """Read one log as `podpath timeline` does, and count."""
    half = HALVES[hashlib.sha256(path.read_bytes()).hexdigest()[0] >= "8"]
    texts = read_texts([str(path)]).sources
    lines = sum(_count_lines(text.lines) for text in texts)
    found = [log for text in texts for log in find_logs(text)]
    read = sum(_count_read(log, now) for log in found)
    return Score(path, half, lines, read)


def _count_read(source: Source, now: float) -> int:
    return sum(
        _count_lines(_lines_of(span))
        for reading in read_logs([source], Clock(now=now)).readings
        for span in {*(event.span for event in reading.events), *reading.headings}
    )


def _lines_of(span: Span) -> Iterator[str]:
    first = span.source.first_line
    yield from span.source.lines[span.line - first : span.last_line + 1 - first]


def _count_lines(lines: Iterable[str]) -> int:
    return sum(bool(line.strip()) for line in lines)


def render_table(scores: Iterable[tuple[Corpus, list[Score]]]) -> Iterator[str]:
    """Render one row for each corpus and half."""
    yield "| corpus | half | logs | read |"
    yield "|---|---|--:|--:|"
    for corpus, each in scores:
        for half in HALVES:
            own = [score for score in each if score.half == half]
            yield f"| {corpus.name} | {half} | {len(own)} | {sum(score.is_read for score in own)} |"


def render_misses(scores: Iterable[tuple[Corpus, list[Score]]]) -> Iterator[str]:
    """Name what is not read in the open half."""
    for _, each in scores:
        for score in each:
            if score.half == "open" and not score.is_read:
                yield f"{score.path}: {score.read} of {score.lines} lines"


def render_clones(folder: Path) -> Iterator[str]:
    """Render the commands that fetch every repository at the commit that was scored."""
    for corpus in CORPORA:
        into = _folder_of(folder, corpus)
        yield f"git init -q {into}"
        source = f"https://github.com/{corpus.repository} {corpus.commit}"
        yield f"git -C {into} fetch -q --depth 1 {source}"
        yield f"git -C {into} checkout -q FETCH_HEAD"


def _folder_of(folder: Path, corpus: Corpus) -> Path:
    return folder / corpus.repository.replace("/", "+")


def write_page(table: Iterable[str]) -> None:
    """Write the table between the marks of the page in docs/."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- measured: public logs -->", "<!-- end -->"
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    PAGE.write_text("\n".join([head + begin, *table, end + tail]), encoding="utf-8")


def main() -> int:
    """Score the logs below a folder; exit code 1 where a repository is missing."""
    parser = argparse.ArgumentParser(prog="scripts/score-logs", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that the repositories lie in")
    parser.add_argument(
        "--clone", action="store_true", help="only print the commands that fetch them there"
    )
    parser.add_argument("--misses", action="store_true", help="name what is not read, open half")
    parser.add_argument("--record", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    if options.clone:
        print(*render_clones(options.folder), sep="\n")
        return 0
    now = time.time()
    paths = {
        corpus: sorted(_folder_of(options.folder, corpus).glob(corpus.logs)) for corpus in CORPORA
    }
    scores = [(corpus, [score_log(path, now) for path in each]) for corpus, each in paths.items()]
    table = tuple(render_table(scores))
    print(*table, sep="\n")
    if options.record:
        write_page(table)
    if options.misses:
        print("", *render_misses(scores), sep="\n")
    return int(not all(each for _, each in scores))


if __name__ == "__main__":
    sys.exit(main())
