"""What was written later and leaves a fault open: its log goes on, days have passed, or the same
command no longer says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from podpath.checks.finding import Finding
from podpath.checks.stated import statements_of
from podpath.checks.told import is_said_to_recur
from podpath.diagnosis.beside import (
    READ,
    list_devices,
    list_quoted,
    names_any,
    shape,
)
from podpath.net.dates import find_date
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import ClockRead
from podpath.node.case import Case

LONG = 300.0
"""Seconds of a log after which what was said at their beginning is over."""
DAYS = timedelta(days=1)
"""Age of an event, beside what else was printed, from which on it is over."""
HALF_YEAR = timedelta(days=180)
"""What two dates without a year must not be apart, since either may be of another year."""
_SOME_YEAR = datetime(1904, 12, 31, 23, 59, 59)  # noqa: DTZ001  # no evidence is of that year
_SAME = 40
"""Characters at the end of a line, without numbers, that tell two events of one kind alike."""
_EVENTS = frozenset({
    MessageKind.NEIGHBOUR_TABLE_FULL, MessageKind.CONNTRACK_TABLE_FULL, MessageKind.SYN_FLOOD,
    MessageKind.SOCKET_MEMORY_FULL, MessageKind.MARTIAN_SOURCE, MessageKind.NETFILTER_LOG,
    MessageKind.OWN_ADDRESS_RECEIVED, MessageKind.TRANSMIT_TIMEOUT, MessageKind.DEVICE_RESET,
    MessageKind.XDP_QUEUE_HANGS,
    MessageKind.CHECKSUM_FAILED, MessageKind.FRAME_TOO_LARGE, MessageKind.PROCESS_KILLED,
})  # fmt: skip
"""What happens at a moment and lasts no longer, where it does not happen again."""
_UPTIME = re.compile(r"\[ *(\d{1,9}\.\d{3,9})\]")
_CLOCK = re.compile(r"(?<!\d)(\d\d):(\d\d):(\d\d)(?!\d)")


def find_later(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a line of the same log about the same device, long after the last word of the fault."""
    quoted = list_quoted(case, finding)
    devices = list_devices(case, finding)
    shapes = {shape(message.span.text) for message in quoted}
    for source in {message.span.source for message in quoted}:
        numbered = enumerate(source.lines, source.first_line)
        spoken = [(number, line) for number, line in numbered if names_any(line, devices)]
        hangs = [number for number, line in spoken if shape(line) in shapes]
        ended = [read_time(line) for number, line in spoken if number == max(hangs, default=0)]
        for number, line in spoken:
            time = read_time(line)
            if number > max(hangs, default=number) and time is not None and ended[0] is not None:
                yield from (Span(source, number, number),) if time - ended[0] > LONG else ()


def read_time(line: str) -> float | None:
    """Return the seconds that a line of a log begins with: since the boot, or of the day."""
    uptime = _UPTIME.search(line)
    if uptime is not None:
        return float(uptime[1])
    clock = _CLOCK.search(line)
    if clock is None:
        return None
    hours, minutes, seconds = map(int, clock.groups())
    return hours * 3600.0 + minutes * 60.0 + seconds


def find_long_ago(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what was printed days after the last event that the finding quotes, unless people say
    that it comes and goes.
    """
    quoted = list_quoted(case, finding)
    if not quoted or not _EVENTS.issuperset(one.kind for one in quoted) or is_said_to_recur(case):
        return
    clocks = [(clock.moment, stated.span) for clock, stated in statements_of(case, ClockRead)]
    other = [message.span for message in case.messages]
    other += [gap.span for gap in case.gaps]
    other += [attempt.span for attempt in case.attempts]
    other += [one.span for one in case.unplaced]
    moments = [(find_date(span.text), span) for span in other]
    dated = [*clocks, *((moment, span) for moment, span in moments if moment is not None)]
    if not dated:
        moments = [(find_date(span.text, _SOME_YEAR), span) for span in other]
        dated = [(moment, span) for moment, span in moments if moment is not None]
    newest, span = max(dated, key=itemgetter(0), default=(None, None))
    if newest is None or span is None:
        return
    events = [moment for moment in _list_moments(quoted, newest) if moment is not None]
    age = newest - max(events, default=newest)
    if age > DAYS and (newest.year != _SOME_YEAR.year or age < HALF_YEAR):
        yield span


def _list_moments(quoted: Sequence[Message], newest: datetime) -> Iterator[datetime | None]:
    """Yield when each quoted event was logged, those that the same log has again included."""
    for message in quoted:
        end = shape(message.span.text)[-_SAME:]
        for line in message.span.source.lines[-READ:]:
            if shape(line).endswith(end):
                yield find_date(line, newest)


def find_again(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a line of a later run of the same command at the same prompt that does not say any of
    what the finding quotes; unless people say that it comes and goes.
    """
    quoted = list_quoted(case, finding)
    ran = {message.span.source for message in quoted if message.span.source.command}
    if not ran or len({one.command for one in ran}) > 1 or is_said_to_recur(case):
        return
    last = max(ran, key=lambda one: one.first_line)
    said = {message.span.source for message in case.messages}
    for gap in case.gaps:
        other = gap.span.source
        same = (other.name, other.command, other.prompt) == (last.name, last.command, last.prompt)
        if same and other.order > last.order and other not in said:
            yield gap.span
