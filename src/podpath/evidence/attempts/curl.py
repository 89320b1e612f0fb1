"""curl's output: its exit code decides, no matter what language its message is in (curl/curl.h,
`CURLcode`).

With `-v` its lines name the address that a name has. A request without a response means that the
connection stood and the answer stayed out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.evidence.attempts.failures import SCHEME_PORTS, parse_host, parse_result
from podpath.evidence.attempts.outcome import AttemptOutcome, add_attempt
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import Ending, FailureKind, Result
from podpath.net.provenance import Source

_ERROR = re.compile(r"(?:command terminated.*|curl: )\((?P<code>\d+)\) ?(?P<message>.*)")
_EXIT = re.compile(r"command terminated with (?:non-zero )?exit code:? *(?P<code>\d+)(?P<message>)")
"""What kubectl says of a command that failed in a pod: all that `curl -s` leaves of a failure."""
_URL = re.compile(
    (
        r"(?:(?P<scheme>[a-z]+)://)?(?:[^@/\s]*@)?(?P<host>\[[^\]]+\]|[^/:\s?#]+)"
        r"(?::(?P<port>\d+))?(?:[/?#].*)?"
    ),
    re.IGNORECASE,
)
_TO = re.compile(
    r"\* +(?:Connected to \S+ \((?P<a>[^)]+)\) port (?P<b>\d+)|connect to (?P<c>\S+) port "
    r"(?P<d>\d+)|Trying \[?(?P<e>[0-9a-fA-F.:]+?)\]?(?::(?P<f>\d+))?\.\.\.|Connection (?:timed out|"
    r"refused))"
)
_IN_MESSAGE = re.compile(
    r"(?:connect(?: to)?|to) \[?(?P<host>[0-9a-fA-F.:]+?)\]?(?:[:;] ?| port )(?P<port>\d+)|"
    r"(?P<host2>\d+\.\d+\.\d+\.\d+):(?P<port2>\d+)"
)
_ELAPSED = re.compile(r"after (?P<ms>\d+) (?:ms|milliseconds)")
_VERBOSE = re.compile(r"[*<>{}](?: |$)|\s*% Total|\s*Dload|\s*\d+ +\d+ +\d+ |\s*--:--")
_REQUEST = re.compile(r"> (?:GET|POST|HEAD|PUT|DELETE|OPTIONS|PATCH) ")
_RESPONSE = re.compile(r"(?:< )?HTTP/[\d.]+ \d{3}")
_CODE = re.compile(
    r"\s*(?:(?:http_?code|status)\W*)?(?P<code>000|[1-5]\d\d)(?: \([\w ]+\))?\s*$", re.IGNORECASE
)
_CODES: Mapping[int, FailureKind] = {
    5: FailureKind.NAME_NOT_RESOLVED, 6: FailureKind.NAME_NOT_RESOLVED, 28: FailureKind.TIMEOUT,
    18: FailureKind.RESET, 35: FailureKind.RESET, 52: FailureKind.RESET, 55: FailureKind.RESET,
    56: FailureKind.RESET, 22: FailureKind.ERROR_ANSWER, 51: FailureKind.ERROR_ANSWER,
    53: FailureKind.ERROR_ANSWER, 54: FailureKind.ERROR_ANSWER, 58: FailureKind.ERROR_ANSWER,
    59: FailureKind.ERROR_ANSWER, 60: FailureKind.ERROR_ANSWER,
}  # fmt: skip
"""What an exit code says of the path where its message says no more."""
_NOT_CONNECTED, _STOPPED = 7, 130
"""Could not connect: its message says why, or how long it took; 128 + SIGINT is what a shell gives
for `^C`.
"""
_FAILED = re.compile(
    r"\* +(?:Immediate connect fail for \S+: |connect to \S+ port \d+ (?:from \S+ port \d+ )?"
    r"failed: )"
)
"""What `-v` says of an address before curl tries the next one, or gives up."""
_CONNECTED = re.compile(r"\* +(?:Connected to |SSL connection using|TLSv?[\d.]* \(OUT\))")
_INTERRUPT = re.compile(r"\s*\^C")
_VALUED = frozenset({
    "-m", "--max-time", "-o", "--output", "-H", "--header", "-d", "--data", "--data-raw", "-X",
    "--request", "-u", "--user", "-w", "--write-out", "-A", "--user-agent", "--connect-timeout",
    "--retry", "--retry-delay", "-e", "--cacert", "--cert", "--key", "-b", "-T", "-x", "--proxy",
    "--resolve", "--connect-to", "--interface", "--local-port", "-F", "--limit-rate", "-c",
    "--retry-max-time",
})  # fmt: skip
_REFUSAL_MS, _GIVE_UP_MS = 1000, 5000
"""A refusal comes at once, an unanswered ARP ends after three seconds (neigh: 3 probes of 1 s), an
unanswered SYN takes longer.
"""


class _Target(NamedTuple):
    dst: Address | None
    port: int


def recognise_curl(source: Source) -> int:
    """Recognize curl by its errors and its verbose lines, and what it fetched by its command."""
    lines = sample(source)
    if any(_ERROR.match(line) and line.startswith("curl: ") for line in lines):
        return CERTAIN
    if any(_TO.match(line) or _REQUEST.match(line) for line in lines):
        return CERTAIN if parse_typed(source.command or "").program == "curl" else LIKELY
    return LIKELY if lines and parse_typed(source.command or "").program == "curl" else NO


def read_curl(source: Source) -> Reading:
    """Read what came of each request."""
    ledger = LineLedger(source)
    errors = [index for index, line in enumerate(ledger.lines) if _ERROR.match(line)]
    errors = errors or [index for index, line in enumerate(ledger.lines) if _EXIT.match(line)]
    filled = [index for index, line in enumerate(ledger.lines) if line.strip()]
    target = _target(ledger)
    if not errors:
        _read_without_error(ledger, filled, target)
    said = (
        parse_result("\n".join(line for line in ledger.lines if line.startswith(("*", "curl:"))))
        if errors
        else None
    )
    for index in errors:
        _read_error(ledger, index, target, said)
    for index in filled:
        if not ledger.is_claimed(index):
            ledger.head(index)
    return ledger.close("a line of curl")


def _read_error(ledger: LineLedger, index: int, target: _Target, said: FailureKind | None) -> None:
    line = ledger.lines[index]
    found = _ERROR.match(line) or _EXIT.match(line)
    if found is None:
        return
    code, message = int(found["code"]), found["message"]
    named = _IN_MESSAGE.search(message)
    if target.dst is None and named is not None:
        target = _Target(
            parse_host(named["host"] or named["host2"]), int(named["port"] or named["port2"])
        )
    result = _result(ledger, code, message, said)
    if result is None:
        ledger.gap(index, f"curl's error {code} says nothing of the path: {message[:80]}")
        return
    outcome = AttemptOutcome(result, f"curl: ({code}) {message}", index, index)
    add_attempt(ledger, "curl", (protocols.TCP, target.dst, target.port), outcome)


def _result(ledger: LineLedger, code: int, message: str, said: FailureKind | None) -> Result | None:
    """Say what an exit code and its message tell; None where that is nothing of the connection."""
    if code == _STOPPED:
        return Ending.INTERRUPTED
    if code == _NOT_CONNECTED:
        return said or _guess(message)
    usual = _CODES.get(code)
    if usual is None or usual is FailureKind.ERROR_ANSWER:
        return usual
    told = parse_result(message) or usual
    stood = any(_CONNECTED.match(line) for line in ledger.lines)
    return FailureKind.HANGS if told is FailureKind.TIMEOUT and stood else told


def _guess(message: str) -> FailureKind:
    """Say how connecting failed by how long it took, where the message says no more than that it
    did.
    """
    elapsed = _ELAPSED.search(message)
    if elapsed is None or int(elapsed["ms"]) < _REFUSAL_MS:
        return FailureKind.REFUSED
    return FailureKind.NO_ROUTE_TO_HOST if int(elapsed["ms"]) < _GIVE_UP_MS else FailureKind.TIMEOUT


def _read_without_error(ledger: LineLedger, filled: list[int], target: _Target) -> None:
    """Read an output without an error: a response or a body is a success, a request that nothing
    followed hangs.

    What its person stopped before is neither.
    """
    lines = ledger.lines
    if not filled or (ledger.source.command is None and target.dst is None):
        return
    requests = [index for index in filled if _REQUEST.match(lines[index])]
    responses = [index for index in filled if _RESPONSE.match(lines[index])]
    stopped = [index for index in filled if _INTERRUPT.match(lines[index])]
    bodies = [
        index for index in filled if not _VERBOSE.match(lines[index]) and index not in stopped
    ]
    codes = [_CODE.fullmatch(lines[index]) for index in bodies]
    if bodies and all(codes):
        failed = [
            index
            for index, found in zip(bodies, codes, strict=True)
            if found is not None and found["code"] == "000"
        ]
        shown = failed or bodies
        outcome = AttemptOutcome(
            FailureKind.TIMEOUT if failed else Ending.OK,
            f"HTTP status {lines[shown[0]].strip()}",
            shown[0],
            shown[0],
        )
    elif responses or bodies:
        shown = responses or bodies
        outcome = AttemptOutcome(Ending.OK, lines[shown[0]].strip()[:80], shown[0], shown[0])
    elif stopped:
        outcome = AttemptOutcome(
            Ending.INTERRUPTED, "stopped by its person before it ended", stopped[0], stopped[0]
        )
    elif requests:
        outcome = AttemptOutcome(
            FailureKind.HANGS, "the request was sent, no response is shown", requests[0], filled[-1]
        )
    elif not any(_CONNECTED.match(line) for line in lines) and (
        failures := [index for index in filled if _FAILED.match(lines[index])]
    ):
        result = parse_result(lines[failures[-1]])
        if result is None:
            return
        said = lines[failures[-1]].lstrip("* ")[:80]
        outcome = AttemptOutcome(result, said, failures[-1], failures[-1])
    else:
        return
    add_attempt(ledger, "curl", (protocols.TCP, target.dst, target.port), outcome)


def _target(ledger: LineLedger) -> _Target:
    """Find whom curl spoke to: by the address it says it connected to, else by its URL."""
    host, port = _url(ledger.source.command)
    for line in ledger.lines:
        found = _TO.match(line)
        address = parse_host(found["a"] or found["c"] or found["e"]) if found is not None else None
        if found is not None and address is not None:
            return _Target(address, int(found["b"] or found["d"] or found["f"] or port))
    return _Target(parse_host(host), port)


def _url(command: str | None) -> tuple[str, int]:
    step = next(
        (step for step in parse_typed(command or "").commands if step.program == "curl"), None
    )
    words = list(step.arguments) if step is not None else []
    place = 0
    while place < len(words):
        word = words[place]
        if word.startswith("-"):
            place += 2 if word in _VALUED or re.fullmatch(r"-[a-zA-Z]*[moHdXuwAxT]", word) else 1
            continue
        found = _URL.fullmatch(word)
        if found is not None:
            scheme = (found["scheme"] or "http").lower()
            return found["host"], int(found["port"] or SCHEME_PORTS.get(scheme, 80))
        place += 1
    return "", 0


FORMAT = Format("curl", recognise_curl, read_curl)
