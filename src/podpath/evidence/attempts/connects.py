"""nc, wget, telnet, ssh and clients of databases: programs that connect to a port and report the
result in one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from podpath.evidence.attempts.failures import SCHEME_PORTS, parse_host, parse_result
from podpath.evidence.attempts.outcome import AttemptOutcome, add_attempt
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import Ending, FailureKind
from podpath.net.provenance import Source

_PROGRAMS = frozenset({"nc", "ncat", "netcat", "wget", "telnet"})
_CLIENTS = frozenset(
    {
        "ssh",
        "psql",
        "mysql",
        "mysqladmin",
        "mariadb",
        "redis-cli",
        "grpcurl",
        "mongo",
        "mongosh",
        "openssl",
    }
)
"""Programs of which only a failure is read: what they print otherwise is anything."""
_OK = re.compile(
    r"Connection to \S+ (?P<port>\d+) port .*succeeded|.*\(\S+:\d+\) open|\S+ \[[^\]]*\] \d+ "
    r"\([^)]*\) open|Ncat: Connected to |Connected to \S+\.$|Escape character is|"
    r"HTTP request sent, awaiting response\.\.\. \d{3}|\S+ +100% ?\||saving to|"
    r".* saved \[|"
    r"Connecting to .*connected\.|remote file exists"
)
_FAILED = re.compile(
    r"(?:nc|Ncat|netcat|ncat|wget|telnet|ssh): |Connection (?:reset|closed) by \S+ port \d+|"
    r"kex_exchange_identification: |psql: |could not connect to server: |connection to server at |"
    r"ERROR 20(?:02|03|05|13) |Could not connect to \S+ at |"
    r"Failed to dial target host |\S*:error:.*:connect|connect:errno=\d+|"
    r"Connecting to .*failed: |.*\(UNKNOWN\) \[|Unable to connect|"
    r"(?:\S+ \[[^\]]*\]|Connection to \S+) .*(?:refused|timed out|no route)|HTTP request sent, "
    r"awaiting response\.\.\. (?:$|Read error)"
)
_OTHER = re.compile(
    r"Trying |--\d{4}-\d\d-\d\d|Resolving |Connecting to |Connection closed|Length: |"
    r"\s*Is the server running on|\s*TCP/IP connections on port|\^C|Saving to|Retrying|"
    r"Giving up|Ncat: Version|\s*\d+%|Connection to "
)
_TRIED = re.compile(r"Trying (?P<host>[0-9a-fA-F.:]+?)\.\.\.\s*$")
_INTERRUPT = re.compile(r"\s*\^C")
_ADDRESSES = (
    re.compile(r"Connecting to [^|]*\|(?P<host>[^|]+)\|:(?P<port>\d+)"),
    re.compile(r"Connecting to \S+ \(\[?(?P<host>[0-9a-fA-F.:]+?)\]?:(?P<port>\d+)\)"),
    re.compile(r"\(?\[?(?P<host>\d+\.\d+\.\d+\.\d+)\]?\)?[: ](?:port )?(?P<port>\d+)"),
    re.compile(r"\[(?P<host>[^\]]+)\] (?P<port>\d+) "),
    re.compile(r"server at \"(?P<host>[^\"]+)\"(?: \([^)]*\))?, port (?P<port>\d+)"),
    re.compile(r"(?:Connection|connect) to (?P<host>\S+) (?:port )?(?P<port>\d+)"),
)  # fmt: skip


def recognise_connect(source: Source) -> int:
    """Recognize these programs by their messages; what wget fetched by its command."""
    lines = sample(source)
    spoken = any(_OK.match(line) or _FAILED.match(line) for line in lines)
    program = parse_typed(source.command or "").program
    if spoken:
        return CERTAIN if program in _PROGRAMS else LIKELY
    stopped = program in _CLIENTS and any(_INTERRUPT.match(line) for line in lines)
    return LIKELY if lines and (program in _PROGRAMS or stopped) else NO


def read_connect(source: Source) -> Reading:
    """Read the last line that says what came of it; a body that wget printed is a success."""
    ledger = LineLedger(source)
    typed = parse_typed(source.command or "")
    udp = typed.program in {"nc", "ncat", "netcat"} and any(map(_asks_udp, _arguments(source)))
    dst, port = _destination(ledger)
    target = (protocols.UDP if udp else protocols.TCP, dst, port)
    outcome = _judge(ledger.lines, fetches=typed.program in _PROGRAMS)
    if outcome is not None:
        add_attempt(ledger, typed.program or "nc", target, outcome)
    for index, line in enumerate(ledger.lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a line of nc, wget or telnet")


def _judge(lines: Sequence[str], *, fetches: bool) -> AttemptOutcome | None:
    """Say what came of it; None where no line says so. `fetches` says that the program prints what
    it gets.
    """
    failed = [index for index, line in enumerate(lines) if _FAILED.match(line)]
    worked = [index for index, line in enumerate(lines) if _OK.match(line)]
    stopped = [index for index, line in enumerate(lines) if _INTERRUPT.match(line)]
    if failed:
        said = " ".join(lines[index] for index in failed)
        kind, last = parse_result(said) or FailureKind.TIMEOUT, failed[-1]
        return AttemptOutcome(kind, lines[last].strip(), last, last)
    if stopped and not worked:
        why = "stopped by its person before it ended"
        return AttemptOutcome(Ending.INTERRUPTED, why, stopped[0], stopped[0])
    bodies = [index for index, line in enumerate(lines) if line.strip() and not _OTHER.match(line)]
    told = worked or (bodies if fetches else [])
    if not told:
        return None
    return AttemptOutcome(Ending.OK, lines[told[0]].strip(), told[0], told[0])


def _asks_udp(word: str) -> bool:
    return re.fullmatch(r"-[a-zA-Z]*u[a-zA-Z]*", word) is not None


def _arguments(source: Source) -> tuple[str, ...]:
    commands = parse_typed(source.command or "").commands
    return commands[0].arguments if commands else ()


def _destination(ledger: LineLedger) -> tuple[Address | None, int]:
    """Find the address and port: what the program says it connects to, else its arguments."""
    for line in ledger.lines:
        for shape in _ADDRESSES:
            found = shape.search(line)
            said = parse_host(found["host"]) if found is not None else None
            if found is not None and said is not None:
                return said, int(found["port"]) & 0xFFFF
    address = _find_tried(ledger.lines)
    port = 0
    for word in _arguments(ledger.source):
        url = re.match(
            r"(?:(?P<scheme>https?)://)?(?P<host>\[[^\]]+\]|[^/:]+)(?::(?P<port>\d+))?(?:/.*)?$",
            word,
        )
        if word.isdigit() and address is not None:
            port = int(word) & 0xFFFF
        elif not word.startswith("-") and url is not None and parse_host(url["host"]) is not None:
            address = parse_host(url["host"])
            port = int(url["port"] or SCHEME_PORTS.get(url["scheme"] or "http", 80))
    return address, port


def _find_tried(lines: Sequence[str]) -> Address | None:
    """Return the last address that telnet says it tried for a name."""
    tried = [parse_host(found["host"]) for found in map(_TRIED.match, lines) if found is not None]
    return tried[-1] if tried else None


FORMAT = Format("nc, wget or telnet", recognise_connect, read_connect)
