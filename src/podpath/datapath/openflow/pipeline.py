"""One packet through the flow tables of a bridge (ofproto/ofproto-dpif-xlate.c, Open vSwitch 3.1).

The actions of a flow run in their order; what they change is seen by later tables, also after a
`resubmit` has come back. `ct(table=N)` forks the packet: a copy goes on at table N with what
connection tracking says of it, after this run. Whatever is not modeled, a flow that cannot be told
to take the packet, and the word of a controller end the run open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from podpath.datapath.openflow.actions import Action, parse_actions, parse_arguments
from podpath.datapath.openflow.fields import (
    ARP,
    IPV4,
    IPV6,
    PORTS,
    TRACKED,
    WIDTHS,
    Bits,
    State,
    find_subfield,
    parse_number,
    parse_value,
)
from podpath.datapath.openflow.matches import CFI, reserved
from podpath.datapath.openflow.tables import CompiledFlow, FlowTables
from podpath.net import protocols

DEPTH = 64
"""MAX_DEPTH: how deep resubmits and groups may stand one in another."""
RUNS = 4096
"""MAX_RESUBMITS: lookups for one packet."""
IN_PORT, NORMAL, FLOOD = PORTS["IN_PORT"], PORTS["NORMAL"], PORTS["FLOOD"]
ALL, CONTROLLER, NONE = PORTS["ALL"], PORTS["CONTROLLER"], PORTS["NONE"]


class Tracking(NamedTuple):
    """What a `ct` action asks of connection tracking."""

    zone: int
    commit: bool
    force: bool
    nat: str | None
    """The arguments of `nat`; empty where a connection's translation is to be applied alone."""
    marks: tuple[tuple[Bits, int], ...]
    """What it sets of the connection (`exec`): parts of `ct_mark` and `ct_label`."""
    helper: str = ""
    again: bool = False
    """True where the packet is looked up again with the answer."""


class Tracker(Protocol):
    """Connection tracking, as a bridge asks it."""

    def track(self, state: State, asked: Tracking) -> State | str:
        """Return the packet as it leaves connection tracking, or in words what is not known."""


class Choose(Protocol):
    """Takes one of several buckets where Open vSwitch goes by a hash."""

    def __call__(self, name: str, count: int) -> int:
        """Return the number of the one that is taken."""


class Sent(NamedTuple):
    """A packet that leaves a port."""

    port: int
    """Its number, or NORMAL, FLOOD, ALL."""
    state: State
    flow: CompiledFlow | None


class Opened(NamedTuple):
    """Why nobody can say what the tables do."""

    what: str
    """What is not known or not modeled: an action, a field, connection tracking, a group."""
    flow: CompiledFlow | None


class Pipelined(NamedTuple):
    """What the tables make of a packet."""

    sent: tuple[Sent, ...]
    met: tuple[CompiledFlow | int, ...]
    """The flows that took it, in their order; the number of a table where none did."""
    opened: Opened | None = None
    learned: tuple[int, ...] = ()
    """Tables that a `learn` action puts flows into."""


class _LeftOpen(Exception):
    def __init__(self, what: str, flow: CompiledFlow | None) -> None:
        super().__init__(what)
        self.opened = Opened(what, flow)


class _Exit(Exception):
    """`exit`: nothing more is done, however deep."""


def send_through(
    tables: FlowTables,
    state: State,
    tracker: Tracker,
    choose: Choose,
    unsure: frozenset[int] = frozenset(),
) -> Pipelined:
    """Send a packet through the tables from the first one. `state` holds its fields and `in_port`;
    what a flow of a table in `unsure` does is not known.
    """
    run = _Xlate(tables, tracker, choose, unsure)
    try:
        run.begin({**_INITIAL, **state})
    except _LeftOpen as ended:
        return Pipelined(tuple(run.sent), tuple(run.met), ended.opened, tuple(run.learned))
    return Pipelined(tuple(run.sent), tuple(run.met), None, tuple(run.learned))


_INITIAL: State = {
    "regs": 0, "metadata": 0, "conj_id": 0, "recirc_id": 0, "actset_output": NONE,
    "pkt_mark": 0, "skb_priority": 0, "packet_type": 0, **dict.fromkeys(TRACKED, 0),
}  # fmt: skip


class _Xlate:
    """One packet under way, with all its copies."""

    def __init__(
        self, tables: FlowTables, tracker: Tracker, choose: Choose, unsure: frozenset[int]
    ) -> None:
        self.tables = tables
        self.tracker = tracker
        self.choose = choose
        self.unsure = unsure
        self.state: State = {}
        self.stack: list[tuple[int, int]] = []
        self.sent: list[Sent] = []
        self.met: list[CompiledFlow | int] = []
        self.learned: list[int] = []
        self.again: list[tuple[int, State]] = []
        self.translated: State | None = None
        self.flow: CompiledFlow | None = None
        self.depth = self.lookups = 0
        self.table = 0

    def begin(self, state: State) -> None:
        """Run the packet, then its copies that connection tracking sends back."""
        self.again.append((0, state))
        while self.again:
            self.table, self.state = self.again.pop(0)
            self.stack, self.translated, self.depth = [], None, 0
            try:
                self.look_up(self.table)
            except _Exit:
                continue

    def end(self, what: str) -> _LeftOpen:
        """End the run open."""
        return _LeftOpen(what, self.flow)

    def look_up(self, table: int, in_port: int | None = None) -> None:
        """Run the flow of a table that takes the packet; a port to look it up by is not the one
        that its actions know.
        """
        self.lookups += 1
        if self.depth >= DEPTH or self.lookups > RUNS:
            raise self.end("resubmits without end")
        state = self.state if in_port is None else {**self.state, "in_port": in_port}
        found = self.tables.look_up(table, state)
        if found.open is not None:
            asked = ", ".join(found.open.match.asked(state)) or "two flows of one priority"
            raise _LeftOpen(asked, found.open)
        if table in self.unsure:
            raise self.end(f"learned flows of table {table}")
        if not self.tables.complete:
            raise _LeftOpen(f"flows of table {table} that are not shown", found.flow)
        self.met.append(found.flow or table)
        if found.flow is None:
            return
        outer = self.table, self.flow
        self.table, self.flow, self.depth = table, found.flow, self.depth + 1
        self.state["conj_id"] = found.conj_id
        self.run(found.flow.actions)
        self.state["conj_id"] = 0
        self.depth -= 1
        self.table, self.flow = outer

    def run(self, actions: tuple[Action, ...]) -> None:
        """Run a list of actions."""
        for action in actions:
            if action.name == "dec_ttl":
                if not self.decrease_ttl():
                    return
                continue
            known = _ACTIONS.get(action.name)
            if known is None:
                self.output_or_open(action)
            else:
                known(self, action.argument)

    def output_or_open(self, action: Action) -> None:
        """Take a bare port for an output; anything else is not modeled."""
        number = reserved(action.name)
        if action.argument or (number is None and action.name not in self.tables.numbers):
            raise self.end(f"action {action}")
        self.output(action.name)

    def output(self, argument: str) -> None:
        """`output:2`, `output:"eth0"`, `output:NXM_NX_REG15[]`."""
        bits = find_subfield(argument) if "[" in argument or argument.startswith("reg") else None
        if bits is not None:
            number = bits.read(self.state)
        else:
            named = parse_arguments(argument).get("port") if "port=" in argument else argument
            number = self.tables.port_number(named or "")
        if number is None:
            raise self.end(f"port {argument}")
        if number == CONTROLLER:
            raise self.end("the controller")
        if number in {NONE, self.state.get("in_port")}:
            return
        if number == IN_PORT:
            number = self.state.get("in_port", NONE)
        self.sent.append(Sent(number, dict(self.outgoing()), self.flow))

    def outgoing(self) -> State:
        """Return the packet as it leaves: translated, where `ct(nat)` did so beside the tables."""
        if self.translated is None:
            return self.state
        return {**self.state, **self.translated}

    def resubmit(self, argument: str) -> None:
        """`resubmit(port,table)`; the packet keeps what the flow there does to it."""
        port, _, rest = argument.partition(",")
        table, _, tracked = rest.partition(",")
        if tracked.strip():
            raise self.end("action resubmit with ct")
        number = self.table if not table.strip() else parse_number(table)
        if number is None:
            raise self.end(f"action resubmit({argument})")
        entered = None
        if port.strip() not in {"", "in_port", "IN_PORT"}:
            entered = self.tables.port_number(port.strip())
            if entered is None:
                raise self.end(f"port {port}")
        self.look_up(number, entered)

    def go_to(self, argument: str) -> None:
        """`goto_table:5`."""
        number = parse_number(argument)
        if number is None:
            raise self.end(f"action goto_table({argument})")
        self.look_up(number)

    def set_field(self, argument: str) -> None:
        """`set_field:10.0.0.1->ip_dst`, `set_field:0x1/0x1->reg0`."""
        value, _, target = argument.rpartition("->")
        bits = find_subfield(target)
        if bits is None:
            raise self.end(f"field {target}")
        whole = (1 << bits.width) - 1
        if bits.slot == "in_port" or "[" in target or bits.width != WIDTHS[bits.slot]:
            text, _, masked = value.partition("/")
            number = self.number_of(bits, text)
            mask = parse_number(masked) if masked else whole
        else:
            number, mask = parse_value(bits.slot, value) or (None, None)
        if number is None or mask is None:
            raise self.end(f"value {value} of {target}")
        self.put(bits, number, mask)

    def number_of(self, bits: Bits, text: str) -> int | None:
        """Read a value that may be the name of a port."""
        if bits.slot == "in_port":
            return self.tables.port_number(text)
        return parse_number(text)

    def load(self, argument: str) -> None:
        """`load:0x5->NXM_NX_REG0[0..15]`."""
        value, _, target = argument.rpartition("->")
        bits = find_subfield(target)
        if bits is None:
            raise self.end(f"field {target}")
        number = self.number_of(bits, value)
        if number is None:
            raise self.end(f"value {value} of {target}")
        self.put(bits, number)

    def move(self, argument: str) -> None:
        """`move:NXM_OF_IP_SRC[]->NXM_NX_REG0[]`."""
        source, _, target = argument.rpartition("->")
        taken, bits = find_subfield(source), find_subfield(target)
        if taken is None or bits is None:
            raise self.end(f"field {source if taken is None else target}")
        if not self.may_hold(taken):
            return
        value = taken.read(self.state)
        if value is None:
            raise self.end(f"field {source}")
        self.put(bits, value)

    def put(self, bits: Bits, value: int, mask: int | None = None) -> None:
        """Write a field that the packet has; one that it has not stays away
        (`mf_are_prereqs_ok`).
        """
        if not self.may_hold(bits):
            return
        if mask is not None and mask != (1 << bits.width) - 1:
            held = bits.read(self.state)
            if held is None:
                raise self.end(f"field {bits.slot}")
            value = held & ~mask | value & mask
        bits.write(self.state, value)

    def may_hold(self, bits: Bits) -> bool:
        """Tell whether the packet has a field."""
        state = self.state
        if bits.slot == "vlan_tci" and bits.width != 16:
            return bool(state.get("vlan_tci", 0) & CFI)
        asked = _HOLDERS.get(bits.slot)
        if asked is not None and state.get("eth_type") not in asked:
            return False
        if bits.slot in {"tp_src", "tp_dst"}:
            return state.get("ip_proto") in _PORTED and state.get("ip_frag") != 3
        return True

    def push(self, argument: str) -> None:
        """`push:NXM_NX_REG0[]`."""
        bits = find_subfield(argument)
        value = None if bits is None else bits.read(self.state)
        if bits is None or value is None:
            raise self.end(f"field {argument}")
        self.stack.append((value, bits.width))

    def pop(self, argument: str) -> None:
        """`pop:NXM_NX_REG0[]`."""
        bits = find_subfield(argument)
        if bits is None:
            raise self.end(f"field {argument}")
        if self.stack:
            value, _ = self.stack.pop()
            self.put(bits, value & (1 << bits.width) - 1)

    def decrease_ttl(self) -> bool:
        """Take one from the TTL; false where none is left, which ends the list."""
        if self.state.get("eth_type") not in {IPV4, IPV6}:
            return True
        left = self.state.get("ttl")
        if left is None:
            raise self.end("field ttl")
        if left > 1:
            self.state["ttl"] = left - 1
        return left > 1

    def track(self, argument: str) -> None:
        """`ct(commit,zone=...,nat(...),table=...,exec(...))`."""
        found = parse_arguments(argument)
        zone = self.zone_of(found.get("zone", "0"))
        table = parse_number(found["table"]) if "table" in found else None
        asked = Tracking(
            zone,
            "commit" in found,
            "force" in found,
            found.get("nat"),
            tuple(self.marks_of(found.get("exec", ""))),
            found.get("alg", ""),
            table is not None,
        )
        if self.state.get("eth_type") in {IPV4, IPV6}:
            answer = self.tracker.track(self.outgoing(), asked)
            if isinstance(answer, str):
                raise self.end(answer)
            if table is not None:
                self.again.append((table, answer))
            elif asked.nat is not None:
                ends = ("ip_src", "ip_dst", "ipv6_src", "ipv6_dst", "tp_src", "tp_dst")
                self.translated = {slot: answer[slot] for slot in ends if slot in answer}
        elif table is not None:
            raise self.end("ct of what is not IP")
        self.forget("")

    def zone_of(self, text: str) -> int:
        """Read a zone: a number or a field."""
        number = parse_number(text)
        bits = None if number is not None else find_subfield(text)
        number = number if bits is None else bits.read(self.state)
        if number is None:
            raise self.end(f"zone {text}")
        return number & 0xFFFF

    def marks_of(self, text: str) -> list[tuple[Bits, int]]:
        """Return what `exec` sets of the connection."""
        held, marks = dict(self.state), []
        for action in parse_actions(text):
            known = _ACTIONS.get(action.name)
            if known is None or action.name not in {"set_field", "load", "move"}:
                raise self.end(f"action {action} in ct")
            known(self, action.argument)
        for slot in ("ct_mark", "ct_label"):
            whole = find_subfield(slot)
            if whole is not None and self.state.get(slot) != held.get(slot):
                marks.append((whole, self.state[slot]))
        self.state = held
        return marks

    def forget(self, _: str) -> None:
        """`ct_clear`: what connection tracking said is gone."""
        self.state.update(dict.fromkeys(TRACKED, 0))

    def clone(self, argument: str) -> None:
        """`clone(...)`: what it changes is not seen outside."""
        kept = dict(self.state), list(self.stack), self.translated
        try:
            self.run(parse_actions(argument))
        except _Exit:
            # What runs behind it depends on the actions inside (`reversible_actions`).
            raise self.end("action exit in a clone") from None
        self.state, self.stack, self.translated = kept

    def group(self, argument: str) -> None:
        """`group:5`: each bucket has a copy of its own."""
        number = parse_number(argument)
        group = None if number is None else self.tables.groups.get(number)
        if group is None or number is None:
            raise self.end(f"group {argument}")
        buckets = group.buckets
        if group.type == "select" and len(buckets) > 1:
            buckets = (buckets[self.choose(f"bucket of group {number}", len(buckets))],)
        elif group.type not in {"all", "indirect", "select"}:
            raise self.end(f"group {argument} of type {group.type}")
        for bucket in buckets:
            kept = dict(self.state), list(self.stack), self.translated
            self.depth += 1
            self.run(_in_order(parse_actions(bucket)))
            self.depth -= 1
            self.state, self.stack, self.translated = kept

    def set_vlan(self, argument: str) -> None:
        """`mod_vlan_vid:5`: a packet without a tag gets one."""
        number = parse_number(argument)
        if number is None:
            raise self.end(f"VLAN {argument}")
        self.state["vlan_tci"] = self.state.get("vlan_tci", 0) & 0xE000 | CFI | number & 0xFFF

    def set_tos(self, argument: str) -> None:
        """`mod_nw_tos:32`: the upper six bits."""
        self.set_field(f"{(parse_number(argument) or 0) >> 2}->ip_dscp")

    def set_priority(self, argument: str) -> None:
        """`mod_vlan_pcp:3`."""
        number = parse_number(argument)
        if number is None:
            raise self.end(f"priority {argument}")
        self.state["vlan_tci"] = self.state.get("vlan_tci", 0) & 0x1FFF | CFI | (number & 7) << 13

    def push_vlan(self, _: str) -> None:
        """`push_vlan:0x8100`."""
        if self.state.get("vlan_tci", 0) & CFI:
            raise self.end("action push_vlan of a second tag")
        self.state["vlan_tci"] = CFI

    def pop_vlan(self, _: str) -> None:
        """`pop_vlan`, `strip_vlan`."""
        self.state["vlan_tci"] = 0

    def check_length(self, argument: str) -> None:
        """`check_pkt_larger(1414)->REG`: the frame with its Ethernet header."""
        limit, _, target = argument.partition(")->")
        number, bits = parse_number(limit.strip("(")), find_subfield(target)
        length = self.state.get("length")
        if number is None or bits is None or length is None:
            raise self.end("the length of the frame")
        self.put(bits, int(length > number))

    def learn(self, argument: str) -> None:
        """`learn(table=N,...)`: what it puts there is not followed."""
        table = parse_number(parse_arguments(argument).get("table", "1"))
        self.learned.append(1 if table is None else table)
        self.unsure |= {self.learned[-1]}

    def leave(self, _: str) -> None:
        """`exit`."""
        raise _Exit

    def ask_controller(self, _: str) -> None:
        """End open: what a controller does with the packet is a program's."""
        raise self.end("the controller")

    def pass_by(self, _: str) -> None:
        """Leave the packet as it is."""


_PORTED = frozenset({
    protocols.TCP, protocols.UDP, protocols.SCTP, protocols.ICMP, protocols.ICMPV6,
})  # fmt: skip
_BOTH = frozenset({IPV4, IPV6})
_HOLDERS: Mapping[str, frozenset[int]] = {
    **dict.fromkeys(("ip_src", "ip_dst"), frozenset({IPV4})),
    **dict.fromkeys(("ipv6_src", "ipv6_dst", "ipv6_label", "nd_target"), frozenset({IPV6})),
    **dict.fromkeys(("nd_sll", "nd_tll"), frozenset({IPV6})),
    **dict.fromkeys(("arp_op", "arp_spa", "arp_tpa", "arp_sha", "arp_tha"), frozenset({ARP})),
    **dict.fromkeys(("tos", "ttl", "ip_proto", "ip_frag", "tp_src", "tp_dst", "tcp_flags"), _BOTH),
}
"""Which EtherTypes a field is in."""


def _in_order(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return the actions of a bucket in the order of an action set: it goes out at the end, by a
    group, a port, a resubmit or connection tracking, whichever of them stands first in this list.
    """
    last = None
    for name in ("group", "output", "resubmit", "ct"):
        last = last or next((item for item in reversed(actions) if item.name == name), None)
    sets = tuple(item for item in actions if item.name not in {"group", "output", "resubmit", "ct"})
    return sets if last is None else (*sets, last)


def _setter(field: str) -> Callable[[_Xlate, str], None]:
    return lambda run, argument: run.set_field(f"{argument}->{field}")


_ACTIONS: Mapping[str, Callable[[_Xlate, str], None]] = {
    "output": _Xlate.output, "resubmit": _Xlate.resubmit, "goto_table": _Xlate.go_to,
    "set_field": _Xlate.set_field, "load": _Xlate.load, "move": _Xlate.move, "push": _Xlate.push,
    "pop": _Xlate.pop, "ct": _Xlate.track, "ct_clear": _Xlate.forget, "clone": _Xlate.clone,
    "group": _Xlate.group, "exit": _Xlate.leave, "controller": _Xlate.ask_controller,
    "CONTROLLER": _Xlate.ask_controller, "mod_vlan_vid": _Xlate.set_vlan, "learn": _Xlate.learn,
    "mod_vlan_pcp": _Xlate.set_priority, "push_vlan": _Xlate.push_vlan, "pop_vlan": _Xlate.pop_vlan,
    "strip_vlan": _Xlate.pop_vlan, "check_pkt_larger": _Xlate.check_length,
    "mod_dl_src": _setter("eth_src"), "mod_dl_dst": _setter("eth_dst"),
    "mod_nw_src": _setter("ip_src"), "mod_nw_dst": _setter("ip_dst"),
    "mod_tp_src": _setter("tp_src"), "mod_tp_dst": _setter("tp_dst"),
    "mod_nw_ttl": _setter("ttl"), "mod_nw_tos": _Xlate.set_tos,
    "mod_nw_ecn": _setter("nw_ecn"), "set_tunnel": _setter("tun_id"),
    "set_tunnel64": _setter("tun_id"), "write_metadata": _setter("metadata"),
    **dict.fromkeys(
        ("drop", "note", "set_queue", "pop_queue", "fin_timeout", "sample", "conjunction"),
        _Xlate.pass_by,
    ),
}  # fmt: skip
"""What is modeled. `write_actions`, `multipath`, `bundle`, `meter`, MPLS, NSH and whatever has no
row leave the packet's way open.
"""
