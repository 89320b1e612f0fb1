"""The table of all formats, and the choice among them by content.

A format is chosen by what its block shows; the command that printed it counts, but content must
agree. Adding a format is one module with its `FORMAT` (or `FORMATS`), one line here, one test and
one fixture. At equal degrees the earlier row wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from podpath.evidence import bundle_manifest
from podpath.evidence.attempts import (
    component_log,
    connects,
    curl,
    ping,
    resolvers,
    unit_status,
)
from podpath.evidence.bridge import brctl
from podpath.evidence.bridge import fdb as bridge_fdb
from podpath.evidence.bridge import link as bridge_link
from podpath.evidence.bridge import vlan as bridge_vlan
from podpath.evidence.cilium import config as cilium_config
from podpath.evidence.cilium import maps as cilium_maps
from podpath.evidence.cilium import status as cilium_status
from podpath.evidence.commands.command import parse_command
from podpath.evidence.configuration.reader import find_settings
from podpath.evidence.docker import inspect as docker_inspect
from podpath.evidence.docker import ps as docker_ps
from podpath.evidence.documents import typed_changes
from podpath.evidence.documents.quoted import is_quoted, leave_out_disowned
from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.iproute import brief as ip_brief
from podpath.evidence.iproute import columns as ip_columns
from podpath.evidence.iproute import device as ip_device
from podpath.evidence.iproute import device_json as ip_device_json
from podpath.evidence.iproute import neigh as ip_neigh
from podpath.evidence.iproute import qdisc as tc_qdisc
from podpath.evidence.iproute import route as ip_route
from podpath.evidence.iproute import route_get as ip_route_get
from podpath.evidence.iproute import route_json as ip_route_json
from podpath.evidence.iproute import rt_tables
from podpath.evidence.iproute import rule as ip_rule
from podpath.evidence.iproute import xfrm as ip_xfrm
from podpath.evidence.iptables import listing as iptables_listing
from podpath.evidence.iptables import rules as iptables_rules
from podpath.evidence.iptables.command import LISTING_ACTIONS, parse_iptables_command
from podpath.evidence.iptables.ruleset import NetfilterNoteRecord
from podpath.evidence.kernel import (
    date,
    folder,
    lsmod,
    netstat,
    nstat,
    procnet,
    sysctl,
    sysfs,
    totals,
    uname,
)
from podpath.evidence.kubernetes import cni, columns, corefile, manifest, none_found, picked
from podpath.evidence.kubernetes import describe as kubectl_describe
from podpath.evidence.kubernetes import events as kubectl_events
from podpath.evidence.kubernetes import files as kubernetes_files
from podpath.evidence.kubernetes import get as kubectl_get
from podpath.evidence.messages.endings import ASIDE
from podpath.evidence.messages.table import find_messages
from podpath.evidence.messages.unknown import find_unknown
from podpath.evidence.netfilter import (
    conntrack,
    firewalld,
    ipset,
    ipvs,
    rule_count,
    security_list,
    tracking_counts,
    typed,
    ufw,
)
from podpath.evidence.nettools import (
    arp,
    arping,
    configured,
    ethtool,
    hops,
    ifconfig,
    interfaces,
    link_mode,
    listed,
    lsof,
    managers,
    networkctl,
    strongswan,
    wireguard,
)
from podpath.evidence.nettools import route as route_table
from podpath.evidence.nettools import sockets as socket_table
from podpath.evidence.nft import json as nft_json
from podpath.evidence.nft import text as nft_text
from podpath.evidence.nft import trace as nft_trace
from podpath.evidence.ovs import bond as ovs_bond
from podpath.evidence.ovs import ofctl as ovs_ofctl
from podpath.evidence.ovs import vsctl as ovs_vsctl
from podpath.evidence.records import HeadingRecord, MessageRecord, Reading, SettingsRecord
from podpath.evidence.tcpdump import output as tcpdump
from podpath.evidence.tcpdump import tshark
from podpath.net.messages import MessageKind
from podpath.net.provenance import Gap, GapKind, Source, Span

UNKNOWN_LINE = "expected a line of a known output or message, saw something else"
OPEN_END = (
    "expected a prompt behind the output, saw the end of the text: this line may be cut, and "
    "others may be missing"
)
_LISTING = frozenset({
    "ip", "bridge", "brctl", "ifconfig", "route", "arp", "ss", "netstat", "iptables", "ip6tables",
    "iptables-legacy", "ip6tables-legacy", "iptables-nft", "ip6tables-nft", "nft", "ipset",
    "ipvsadm", "conntrack",
})  # fmt: skip
"""Programs whose outputs have no end of their own."""

FORMATS: tuple[Format, ...] = (
    typed_changes.FORMAT,
    *ip_device.FORMATS,
    *ip_device_json.FORMATS,
    *ip_brief.FORMATS,
    ip_columns.FORMAT,
    ip_route_get.FORMAT,
    ip_route.FORMAT,
    ip_route_json.FORMAT,
    *ip_rule.FORMATS,
    rt_tables.FORMAT,
    *ip_neigh.FORMATS,
    ip_xfrm.FORMAT,
    *tc_qdisc.FORMATS,
    arp.FORMAT,
    route_table.FORMAT,
    *bridge_link.FORMATS,
    *bridge_fdb.FORMATS,
    *bridge_vlan.FORMATS,
    *brctl.FORMATS,
    socket_table.FORMAT,
    lsof.FORMAT,
    ifconfig.FORMAT,
    ethtool.FORMAT,
    link_mode.FORMAT,
    arping.FORMAT,
    hops.FORMAT,
    wireguard.FORMAT,
    strongswan.FORMAT,
    managers.FORMAT,
    networkctl.FORMAT,
    configured.FORMAT,
    sysctl.FORMAT,
    totals.FORMAT,
    folder.FORMAT,
    sysfs.FORMAT,
    procnet.FORMAT,
    lsmod.FORMAT,
    nstat.FORMAT,
    netstat.FORMAT,
    interfaces.FORMAT,
    uname.FORMAT,
    *iptables_rules.FORMATS,
    *iptables_listing.FORMATS,
    nft_text.FORMAT,
    nft_json.FORMAT,
    nft_trace.FORMAT,
    ovs_vsctl.FORMAT,
    *ovs_ofctl.FORMATS,
    ovs_bond.FORMAT,
    bundle_manifest.FORMAT,
    picked.FORMAT,
    columns.FORMAT,
    cni.FORMAT,
    cilium_config.FORMAT,
    cilium_status.FORMAT,
    cilium_maps.FORMAT,
    kubectl_describe.FORMAT,
    kubectl_events.FORMAT,
    kubectl_get.FORMAT,
    none_found.FORMAT,
    corefile.FORMAT,
    *kubernetes_files.FORMATS,
    docker_ps.FORMAT,
    *docker_inspect.FORMATS,
    manifest.FORMAT,
    tcpdump.FORMAT,
    tshark.FORMAT,
    curl.FORMAT,
    ping.FORMAT,
    connects.FORMAT,
    resolvers.FORMAT,
    unit_status.FORMAT,
    component_log.FORMAT,
    *ipset.FORMATS,
    *conntrack.FORMATS,
    rule_count.FORMAT,
    tracking_counts.FORMAT,
    date.FORMAT,
    ipvs.FORMAT,
    ufw.FORMAT,
    firewalld.FORMAT,
    security_list.FORMAT,
    *listed.FORMATS,
    typed.FORMAT,
)
"""All formats. Rows of one family of tools stand together."""
CONFIGURATIONS = (
    configured.FORMAT,
    *kubernetes_files.FORMATS,
    corefile.FORMAT,
    manifest.FORMAT,
    cni.FORMAT,
    component_log.FORMAT,
)
"""Formats of files, which may be read as settings beside; a file may look like a log to a reader
that takes anything.
"""
LONG = 5000
"""Lines of a list (rules, connections, routes) from which only those that its reader could not read
are searched for messages.
"""


def recognise(source: Source) -> Format | None:
    """Return the format that is surest of the source; None where none is sure at all: prose, or
    something unknown.
    """
    best: Format | None = None
    degree = NO
    for row in FORMATS:
        claim = row.recognise(source)
        if claim > degree:
            best, degree = row, claim
            if degree >= CERTAIN:  # the earlier row wins, so that none behind it can
                break
    return best


def read(source: Source) -> Reading | None:
    """Read a source with the format that recognizes it, and the messages in its lines; None where
    it has neither.
    """
    found = recognise(source) if not is_quoted(source) else None
    if found is None:
        said = find_messages(source)
        said += () if is_quoted(source) else tuple(find_unknown(source, _list_told(said)))
        shown = find_settings(source) if not is_quoted(source) else None
        reading = _read_messages(source, said) if said or shown is not None else None
        return reading if reading is None or shown is None else _add_settings(reading, shown)
    reading = _leave_open(found, source, _set_aside(found, found.read(source)))
    shown = find_settings(source) if found in CONFIGURATIONS else None
    reading = reading if shown is None else _add_settings(reading, shown)
    said = (
        _find_unread(source, reading)
        if found.decides and (len(source.lines) > LONG or _is_member(source))
        else find_messages(source)
    )
    said = leave_out_disowned(_leave_out_answers(source, reading, said))
    said += () if found.decides else tuple(find_unknown(source, _list_known(reading, said)))
    if found is component_log.FORMAT and len(source.lines) <= LONG:
        reading = _tell_unknown(source, reading, said)
    return _add_messages(reading, said) if said else reading


def _leave_out_answers(
    source: Source, reading: Reading, said: tuple[MessageRecord, ...]
) -> tuple[MessageRecord, ...]:
    """Leave out what iptables says of a chain that somebody asked it to list: nobody failed to
    write it.
    """
    if parse_iptables_command(source).action not in LISTING_ACTIONS:
        return said
    answers = {one.span for one in reading.records if isinstance(one, NetfilterNoteRecord)}
    return tuple(
        one
        for one in said
        if one.kind is not MessageKind.IPTABLES_FAILED or one.span not in answers
    )


def _is_member(source: Source) -> bool:
    """Tell whether a source is a bundle's file of one namespace: what one program printed, with no
    message between its lines but those that its reader cannot read.
    """
    placed = source.netns is not None and source.command is not None
    return placed and source.prompt is None


def _tell_unknown(source: Source, reading: Reading, said: Sequence[MessageRecord]) -> Reading:
    """Add to a log one gap for each run of lines that say nothing which podpath knows."""
    known = _list_known(reading, said) | _list_said(said)
    numbered = enumerate(source.lines, source.first_line)
    rest = [number for number, line in numbered if line.strip() and number not in known]
    runs = groupby(enumerate(rest), key=lambda placed: placed[1] - placed[0])
    gaps: list[Gap] = []
    for _, run in runs:
        numbers = [number for _, number in run]
        span = Span(source, numbers[0], numbers[-1])
        gaps.append(Gap(span, UNKNOWN_LINE, kind=GapKind.ASIDE))
    return reading._replace(gaps=(*reading.gaps, *gaps))


def _leave_open(found: Format, source: Source, reading: Reading) -> Reading:
    """Say of a listing at the end of a console's text that more may have followed; half a line
    states nothing.
    """
    last = source.first_line + len(source.lines) - 1
    if not (source.open_end and source.lines and _lists(found, source)) or any(
        gap.span.last_line == last for gap in reading.gaps
    ):
        return reading
    records = reading.records
    if source.open_line:
        records = tuple(record for record in records if record.span.line != last)
    return Reading(records, (*reading.gaps, Gap(Span(source, last, last), OPEN_END)))


def _lists(found: Format, source: Source) -> bool:
    """Tell whether a command lists what the kernel holds, as many lines as there are things."""
    program, arguments = parse_command(source.command)[:2]
    if program == "sysctl":
        return bool({"-a", "-A", "--all"} & set(arguments))
    return program in _LISTING and "get" not in arguments and found.decides


def _list_known(reading: Reading, said: Sequence[MessageRecord]) -> frozenset[int]:
    """Return the lines that say something known: a message, or a failed connection. A heading says
    nothing.
    """
    told = (record for record in reading.records if not isinstance(record, HeadingRecord))
    lines = (line for record in told for line in range(record.span.line, record.span.last_line + 1))
    return frozenset(lines) | _list_told(said)


def _list_told(said: Sequence[MessageRecord]) -> frozenset[int]:
    """Return the lines of messages that say what they are about."""
    return frozenset(
        line
        for record in said
        if record.kind not in ASIDE
        for line in range(record.span.line, record.span.last_line + 1)
    )


def _find_unread(source: Source, reading: Reading) -> tuple[MessageRecord, ...]:
    """Return the messages among the lines that a reader could not read: of a long list the others
    say none.
    """
    spans = {line for gap in reading.gaps for line in range(gap.span.line, gap.span.last_line + 1)}
    numbers = sorted(spans)
    lines = tuple(source.lines[number - source.first_line] for number in numbers)
    records = find_messages(replace(source, lines=lines, first_line=0))
    return tuple(_place_message(source, record, numbers) for record in records)


def _place_message(source: Source, said: MessageRecord, numbers: Sequence[int]) -> MessageRecord:
    """Return a message of some lines of a source with the numbers that they have in it."""
    place = numbers[said.span.line]
    again = tuple(numbers[number] for number in said.again)
    return replace(said, span=Span(source, place, place), again=again)


def _set_aside(found: Format, reading: Reading) -> Reading:
    """Say of the gaps in what only tells of failures that they decide nothing."""
    if found.decides or not reading.gaps:
        return reading
    return reading._replace(gaps=tuple(gap._replace(kind=GapKind.ASIDE) for gap in reading.gaps))


def _read_messages(source: Source, said: Sequence[MessageRecord]) -> Reading:
    """Make a reading of messages among lines that no reader knows: each of those lines is a gap."""
    told = _list_said(said)
    gaps: list[Gap] = []
    for number, line in enumerate(source.lines, source.first_line):
        if line.strip() and number not in told:
            gaps.append(Gap(Span(source, number, number), UNKNOWN_LINE))
    return Reading(tuple(said), tuple(gaps))


def _list_said(said: Sequence[MessageRecord]) -> frozenset[int]:
    """Return the lines of messages, and of those that say the same."""
    first = {line for one in said for line in range(one.span.line, one.span.last_line + 1)}
    return frozenset(first.union(*(one.again for one in said)))


def _add_settings(reading: Reading, shown: SettingsRecord) -> Reading:
    """Add a configuration file to what was read: lines of a kind that is known are no gaps."""
    told = (
        {
            line
            for one in shown.file.settings
            for line in range(one.span.line, one.span.last_line + 1)
        }
        if shown.file.kind
        else set()
    )
    gaps = tuple(
        gap
        for gap in reading.gaps
        if gap.span.line != gap.span.last_line or gap.span.line not in told
    )
    return Reading((*reading.records, shown), gaps)


def _add_messages(reading: Reading, said: Sequence[MessageRecord]) -> Reading:
    """Add messages to what a reader read: a line that it could not read and that is one is no
    gap.
    """
    told = _list_said(said)
    gaps = tuple(
        gap
        for gap in reading.gaps
        if gap.span.line != gap.span.last_line or gap.span.line not in told
    )
    return Reading((*reading.records, *said), gaps)
