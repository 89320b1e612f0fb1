"""Score podpath on public captures: how many of the faults it claims are false, and how many of its
all-clears.

The captures are not stored. `--clone` prints the commands that fetch their repositories, each at
the commit that was judged. Every listed capture below the folder is then read by `podpath capture
--json`, once for equal contents, and its claims are held against the judgement: of the open half
each claim can be read, of the sealed half only hashes are kept.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import io
import json
import lzma
import multiprocessing
import os
import re
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from podpath.cli.main import run as run_command

JUDGED = Path(__file__).parent.parent / "incidents" / "captures"
HALVES = ("open", "sealed")
PAGE = JUDGED.parent.parent / "docs" / "captures.md"
SECONDS = 120
"""An answer that takes longer has failed."""
FORKS = multiprocessing.get_context("fork")
BLAMES = frozenset({"cause", "fault", "risk"})
"""The severities that blame something; a note blames nothing."""
ALL_CLEAR = "all-clear"
"""What stands for a check where the judgement is of a whole capture."""
LISTED_DIGITS = 16
ANY = "*"
"""What stands for a connection where all claims of a check about one capture are worth the same."""
MAGICS = frozenset(
    bytes.fromhex(magic)
    for magic in (
        "d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a", "34cdb2a1", "a1b2cd34",
    )
)  # fmt: skip
PACKED = (b"\x1f\x8b", b"BZ", b"\xfd7")
"""The first bytes of gzip, bzip2 and xz."""
NO_ADDRESS = re.compile(r"\b\d\d:\d\d:\d\d\.\d+|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b")
"""Times of day and MACs."""
ADDRESS = re.compile(
    r"(?P<open>\[)?(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]*:[0-9a-f:]*:[0-9a-f.:]*[0-9a-f]|[0-9a-f:]+::)"
    r"(?(open)\])(?::\d+)?"
)


class Worth(StrEnum):
    """What a claim is worth."""

    TRUE = "true"
    OPINION = "opinion"
    FALSE = "false"
    UNJUDGED = "not judged"
    """Nobody has looked at it: a claim that podpath did not make when the corpus was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A fault that podpath claims."""

    check: str
    connection: str
    """The IP addresses that it names, sorted."""
    sure: bool
    """Whether it is claimed with full certainty."""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What podpath says about one capture."""

    digest: str
    """SHA-256 of the file's contents, in hexadecimal digits."""
    path: str
    code: int
    """The exit code; -1 stands for a timeout."""
    claims: tuple[Claim, ...] = ()


@dataclass(slots=True, kw_only=True)
class Tally:
    """The figures of one half."""

    captures: int = 0
    worths: Counter[tuple[str, Worth]] = field(default_factory=Counter)
    """How many claims of which check are worth what."""
    sure: Counter[Worth] = field(default_factory=Counter)
    """What the claims of full certainty are worth."""
    clear: int = 0
    falsely_clear: int = 0
    refused: int = 0
    failed: int = 0

    def count(self, worth: Worth) -> int:
        """Count the claims of all checks that are worth this."""
        return sum(number for (_, each), number in self.worths.items() if each is worth)


class Judgement:
    """What claims and all-clears were judged to be worth, of both halves, by hash."""

    def __init__(self, folder: Path = JUDGED) -> None:
        """Read it; `KeyError` names a field that is missing."""
        opened = json.loads((folder / "open.json").read_text(encoding="utf-8"))
        self._worths = {
            hash_claim(one["sha256"], one["check"], one["connection"]): Worth(one["worth"])
            for one in opened
        }
        sealed = json.loads((folder / "sealed.json").read_text(encoding="utf-8"))
        self._worths |= {hashed: Worth(worth) for hashed, worth in sealed.items()}

    def look_up(self, digest: str, claim: Claim) -> Worth:
        """Say what a claim is worth: as it was judged, or as all claims of its check about the same
        capture were.
        """
        for connection in (claim.connection, ANY):
            if worth := self._worths.get(hash_claim(digest, claim.check, connection)):
                return worth
        return Worth.UNJUDGED

    def is_falsely_clear(self, digest: str) -> bool:
        """Tell whether an all-clear about this capture is false."""
        return self._worths.get(hash_claim(digest, ALL_CLEAR, "")) is Worth.FALSE


def hash_claim(digest: str, check: str, connection: str) -> str:
    """Name a claim so that nobody reads by accident what it is about."""
    return hashlib.sha256(f"{digest} {check} {connection}".encode()).hexdigest()[:24]


def half_of(digest: str) -> str:
    """Tell the half that a capture is in, by the first bit of its SHA-256."""
    return HALVES[int(digest[0], 16) >= 8]


def read_connection(claim: str) -> str:
    """Read the IP addresses that a claim names, sorted, with their ports where it names those."""
    found = ADDRESS.finditer(NO_ADDRESS.sub("", claim.replace(": ", " ")))
    return " ".join(sorted({each.group() for each in found}))


def read_listed(folder: Path = JUDGED) -> frozenset[str]:
    """Read which captures the corpus has: the first 16 digits of the SHA-256 of each."""
    return frozenset((folder / "captures.txt").read_text(encoding="ascii").split())


def find_captures(top: Path, listed: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Find the listed captures below a folder by their contents, as they lie there, packed or not:
    the SHA-256 and a path of each, in the order of the paths, equal ones once.
    """
    left = set(listed)
    for path in sorted(top.rglob("*")):
        if path.is_symlink() or not path.is_file() or ".git" in path.parts or not is_capture(path):
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest[:LISTED_DIGITS] in left:
            left.remove(digest[:LISTED_DIGITS])
            yield digest, path


def is_capture(path: Path) -> bool:
    """Tell whether a file begins as a pcap or pcapng file does."""
    with path.open("rb") as file:
        start = file.read(4)
    return (_unpack_start(path, start) if start.startswith(PACKED) else start) in MAGICS


def _unpack_start(path: Path, start: bytes) -> bytes:
    """Read the first bytes of what a file packs; none where it is damaged."""
    try:
        if start.startswith(PACKED[0]):
            with gzip.open(path) as unpacked:
                return unpacked.read(4)
        with bz2.open(path) if start.startswith(PACKED[1]) else lzma.open(path) as unpacked:
            return unpacked.read(4)
    except (OSError, EOFError, lzma.LZMAError):
        return b""


class Reading:
    """`podpath capture --json` of a file under way, in a copy of this process, which has the
    program loaded.
    """

    def __init__(self, digest: str, path: Path) -> None:
        """Start it."""
        self._digest = digest
        self._path = path
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # closed when it is read
        self._run = FORKS.Process(target=_print_answer, args=(path, self._printed.fileno()))
        self._run.start()

    def finish(self) -> Answer:
        """Wait for the answer."""
        with self._printed as printed:
            self._run.join(SECONDS)
            code = self._run.exitcode
            if code is None:
                self._run.kill()
                self._run.join()
                code = -1
            printed.seek(0)
            claims = read_claims(printed.read())
        return Answer(digest=self._digest, path=str(self._path), code=code, claims=claims)


def read_claims(document: bytes) -> tuple[Claim, ...]:
    """Read the faults that a JSON answer claims; none where it is no answer."""
    try:
        findings = json.loads(document)["findings"]
    except (ValueError, KeyError):
        return ()
    return tuple(
        Claim(
            check=one["check"],
            connection=read_connection(one["claim"]),
            sure=one["certainty"] == 1,
            text=one["claim"],
        )
        for one in findings
        if one["severity"] in BLAMES
    )


def _print_answer(path: Path, descriptor: int) -> None:
    """Do what the command does, with nothing but its answer printed, and end as it ends."""
    os.dup2(descriptor, sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    code = run_command(["capture", "--json", str(path)])
    sys.stdout.flush()
    os._exit(code)


def load_program(path: Path) -> None:
    """Have the command load what it needs for a capture: each copy of this process has it then."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        run_command(["capture", "--json", str(path)])


def read_answers(captures: Iterable[tuple[str, Path]], workers: int) -> Iterator[Answer]:
    """Ask podpath about every capture, in order."""
    running: deque[Reading] = deque()
    for number, (digest, path) in enumerate(captures):
        if not number:
            load_program(path)
        running.append(Reading(digest, path))
        if len(running) == workers:
            yield running.popleft().finish()
    for each in running:
        yield each.finish()


def score(answers: Iterable[Answer], judgement: Judgement) -> dict[str, Tally]:
    """Hold answers against the judgement."""
    tallies = {half: Tally() for half in HALVES}
    for answer in answers:
        tally = tallies[half_of(answer.digest)]
        tally.captures += 1
        if answer.code == 0:
            tally.clear += 1
            tally.falsely_clear += judgement.is_falsely_clear(answer.digest)
        elif answer.code == 2:
            tally.refused += 1
        elif answer.code not in {1, 3}:
            tally.failed += 1
        for claim in answer.claims:
            worth = judgement.look_up(answer.digest, claim)
            tally.worths[claim.check, worth] += 1
            tally.sure[worth] += claim.sure
    return tallies


def render_halves(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """Render one row for each half."""
    yield (
        "| half | captures | faults claimed | "
        + " | ".join(Worth)
        + " | false and certain | all-clears | of these false | refused | failed |"
    )
    yield "|---|--:|--:|" + "--:|" * (len(Worth) + 5)
    for half, tally in tallies.items():
        figures = (
            tally.captures,
            sum(tally.worths.values()),
            *(tally.count(worth) for worth in Worth),
            tally.sure[Worth.FALSE],
            tally.clear,
            tally.falsely_clear,
            tally.refused,
            tally.failed,
        )
        yield f"| {half} | " + " | ".join(f"{figure:,}" for figure in figures) + " |"


def render_checks(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """Render one row for each check, with both halves side by side."""
    heads = [f"{half}: {worth}" for half in tallies for worth in Worth]
    yield "| check | " + " | ".join(heads) + " |"
    yield "|---|" + "--:|" * len(heads)
    for check in sorted({check for tally in tallies.values() for check, _ in tally.worths}):
        figures = [tally.worths[check, worth] for tally in tallies.values() for worth in Worth]
        yield f"| {check} | " + " | ".join(map(str, figures)) + " |"


def render_misses(answers: Iterable[Answer], judgement: Judgement) -> Iterator[str]:
    """Name what is false in the open half, or not judged yet."""
    for answer in answers:
        if half_of(answer.digest) != "open":
            continue
        if answer.code == 0 and judgement.is_falsely_clear(answer.digest):
            yield f"false all-clear: {answer.path}"
        for claim in answer.claims:
            worth = judgement.look_up(answer.digest, claim)
            if worth in {Worth.FALSE, Worth.UNJUDGED}:
                yield f"{worth}: {answer.path}: {claim.check}: {claim.text}"


def render_clones(folder: Path, judged: Path = JUDGED) -> Iterator[str]:
    """Render the commands that fetch every repository at the commit that was judged."""
    repositories = json.loads((judged / "repositories.json").read_text(encoding="utf-8"))
    for name, commit in repositories.items():
        into = folder / name.replace("/", "+")
        yield f"git init -q {into}"
        yield f"git -C {into} fetch -q --depth 1 https://github.com/{name} {commit}"
        yield f"git -C {into} checkout -q FETCH_HEAD"


def write_page(tables: Iterable[str]) -> None:
    """Write the tables between the marks of the page in docs/."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- measured: public captures -->", "<!-- end -->"
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    PAGE.write_text("\n".join([head + begin, *tables, end + tail]), encoding="utf-8")


def main() -> int:
    """Score the captures below a folder; exit code 1 where any fault that is claimed is false."""
    parser = argparse.ArgumentParser(prog="scripts/score-captures", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that the repositories lie in")
    parser.add_argument(
        "--clone", action="store_true", help="only print the commands that fetch them there"
    )
    parser.add_argument(
        "--misses", action="store_true", help="name what is false or not judged in the open half"
    )
    parser.add_argument("--record", action="store_true", help="write the tables into the page")
    parser.add_argument("--workers", type=int, default=2, help="captures at a time (default: 2)")
    options = parser.parse_args()
    if options.clone:
        print(*render_clones(options.folder), sep="\n")
        return 0
    judgement = Judgement()
    listed = read_listed()
    answers = tuple(read_answers(find_captures(options.folder, listed), options.workers))
    if len(answers) < len(listed):
        print(
            f"{len(listed) - len(answers)} of {len(listed)} captures are missing", file=sys.stderr
        )
    tallies = score(answers, judgement)
    tables = (*render_halves(tallies), "", *render_checks(tallies))
    print(*tables, sep="\n")
    if options.record:
        write_page(tables)
    if options.misses:
        print("", *render_misses(answers, judgement), sep="\n")
    return int(any(tally.count(Worth.FALSE) for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
