"""Flow tables drawn from a seed, on a real Open vSwitch and on the model: which flows take a
packet, and what leaves which port.

The switch runs with dummy devices and needs no root; `ofproto/trace` is its word. Longer runs:
`python -m tests.kernel.openflow --cases 20000 --seed 1`.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from podpath.assembly.devices.openflow import FlowRecord, collect_openflow
from podpath.datapath.openflow.fields import CT_STATES, PORTS, State
from podpath.datapath.openflow.matches import compile_match
from podpath.datapath.openflow.pipeline import Pipelined, Tracking, send_through
from podpath.datapath.openflow.tables import CompiledFlow, FlowTables
from podpath.evidence.ovs import ofctl
from podpath.net.openflow import split_outside
from podpath.net.provenance import Source
from podpath.node.openflow import OpenFlow
from podpath_lab.switches import SCHEMA

BRIDGE = "br0"
DEVICES = {"p1": 1, "p2": 2, "p3": 3, "p4": 4, "br0": PORTS["LOCAL"]}
_PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


class Switch:
    """An Open vSwitch of dummy devices in a folder of its own, for as long as the context lasts."""

    def __init__(self) -> None:
        """Make the folder; nothing runs yet."""
        self._folder = tempfile.TemporaryDirectory(prefix="ovs")
        self.path = Path(self._folder.name)
        self._running: list[subprocess.Popen[bytes]] = []
        self._env = {**_PATH, "OVS_RUNDIR": str(self.path), "OVS_LOGDIR": str(self.path)}

    def __enter__(self) -> Self:
        """Start the daemons and make the bridge."""
        database = f"{self.path}/db.sock"
        self.run("ovsdb-tool", "create", f"{self.path}/conf.db", SCHEMA)
        quiet = ("-vsyslog:off", "-vconsole:off")
        self._start("ovsdb-server", *quiet, f"--remote=punix:{database}", f"{self.path}/conf.db")
        _await(Path(database))
        control = self.path / "control"
        self._start(
            "ovs-vswitchd", *quiet, "--enable-dummy=override", "--disable-system",
            f"--unixctl={control}", f"unix:{database}",
        )  # fmt: skip
        words = [f"--db=unix:{database}", "--timeout=30", "add-br", BRIDGE]
        words += ["--", "set", "bridge", BRIDGE, "datapath_type=dummy", "fail_mode=secure",
                  "protocols=OpenFlow10,OpenFlow13,OpenFlow15"]  # fmt: skip
        for name, number in DEVICES.items():
            if name != BRIDGE:
                words += ["--", "add-port", BRIDGE, name, "--", "set", "interface", name]
                words += ["type=dummy", f"ofport_request={number}"]
        self.run("ovs-vsctl", *words)
        _await(control)
        self._control = socket.socket(socket.AF_UNIX)
        self._control.connect(str(control))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the daemons and remove the folder."""
        for process in reversed(self._running):
            process.kill()
            process.wait()
        self._control.close()
        self._folder.cleanup()

    def _start(self, *words: str) -> None:
        self._running.append(subprocess.Popen(words, env=self._env, stderr=subprocess.DEVNULL))

    def run(self, *words: str, given: str = "") -> str:
        """Run a program beside the switch; what it prints."""
        done = subprocess.run(
            words, input=given, capture_output=True, text=True, env=self._env, check=False
        )
        assert not done.returncode, f"{words}: {done.stderr}"
        return done.stdout

    def load(self, flows: str, groups: str, protocol: str) -> OpenFlow:
        """Put flows and groups in place of those that are there; what podpath reads of them."""
        self.run("ovs-ofctl", "-OOpenFlow15", "del-groups", BRIDGE)
        self.run("ovs-ofctl", "-OOpenFlow13", "del-flows", BRIDGE)
        if groups:
            self.run("ovs-ofctl", "-OOpenFlow15", "add-groups", BRIDGE, "-", given=groups)
        version = "OpenFlow13" if groups else "OpenFlow10"
        self._add(flows.splitlines(), version)
        records: list[FlowRecord] = []
        for reader, verb in (
            (ofctl.read_flows, "dump-flows"),
            (ofctl.read_groups, "dump-groups"),
            (ofctl.read_ports, "show"),
        ):
            words = ("ovs-ofctl", "-O", protocol, verb, BRIDGE)
            if verb == "dump-groups":
                words = ("ovs-ofctl", "-O", "OpenFlow15", verb, BRIDGE)
            lines = tuple(self.run(*words).splitlines())
            reading = reader(Source(name=verb, lines=lines, command=" ".join(words)))
            assert not reading.gaps, reading.gaps
            records += [item for item in reading.records if isinstance(item, FlowRecord)]
        return collect_openflow(records)

    def _add(self, flows: list[str], version: str) -> None:
        """Put flows in; one that OpenFlow refuses, for what it asks for does not fit what it does,
        is left out.
        """
        while True:
            try:
                words = ("ovs-ofctl", "-O", version, "add-flows", BRIDGE, "-")
                self.run(*words, given="\n".join(flows))
            except AssertionError as error:
                line = re.search(r"-:(\d+): .*MATCH_INCONSISTENT", str(error))
                if line is None:
                    raise
                del flows[int(line[1]) - 1]
            else:
                return

    def trace(self, packet: str, states: tuple[str, ...]) -> str:
        """Ask the switch what it does with a packet, and its copies that come back from connection
        tracking.
        """
        words = [BRIDGE, packet, *(word for state in states for word in ("--ct-next", state))]
        return self.ask("ofproto/trace", *words)

    def ask(self, method: str, *words: str) -> str:
        """Send a command to the daemon as ovs-appctl does (JSON-RPC)."""
        asked = {"id": 0, "method": method, "params": list(words)}
        self._control.sendall(json.dumps(asked).encode())
        text, decoder = "", json.JSONDecoder()
        while True:
            part = self._control.recv(1 << 16)
            assert part, text
            text += part.decode()
            try:
                answer, _ = decoder.raw_decode(text)
            except ValueError:
                continue
            assert answer["error"] is None, answer["error"]
            return str(answer["result"])


def _await(path: Path) -> None:
    for _ in range(1000):
        if path.exists():
            return
        time.sleep(0.01)
    raise TimeoutError(path)


# What the switch says.

Frame = tuple[tuple[str, int], ...]
"""Headers of a packet by name."""


class Account(NamedTuple):
    """What became of a packet."""

    met: tuple[str, ...]
    """Cookies of the flows that took it, or `table N` where none did."""
    sent: tuple[tuple[int, Frame], ...]
    """Ports with what left them, sorted."""


_MET = re.compile(r"^ *(\d+)\. (.*)$", re.MULTILINE)
_COOKIE = re.compile(r"cookie (0x[0-9a-f]+)$")
_FLOODED = tuple(DEVICES.values())
_HEADERS = ("eth_src", "eth_dst", "vlan_tci", "tp_src", "tp_dst", "ip_src", "ip_dst", "ttl", "tos",
            "arp_op")  # fmt: skip
_KEPT = {
    "dl_src": "eth_src", "dl_dst": "eth_dst", "nw_src": "ip_src", "nw_dst": "ip_dst",
    "nw_ttl": "ttl", "tp_src": "tp_src", "tp_dst": "tp_dst", "vlan_tci": "vlan_tci",
    "icmp_type": "tp_src", "icmp_code": "tp_dst", "arp_spa": "ip_src", "arp_tpa": "ip_dst",
    "arp_op": "arp_op",
}  # fmt: skip
_OF_IP = frozenset({"ip", "tcp", "udp", "icmp"})


def read_account(text: str) -> Account:
    """Read what `ofproto/trace` prints."""
    met: list[str] = []
    sent: list[tuple[int, Frame]] = []
    for section in re.split(r"^={20,}\nrecirc", text, flags=re.MULTILINE):
        for table, line in _MET.findall(section):
            cookie = _COOKIE.search(line)
            met.append(cookie[1] if cookie else f"table {table}")
        flow = re.search(r"^Flow: (.*)$", section, re.MULTILINE)
        actions = re.search(r"^Datapath actions: (.*)$", section, re.MULTILINE)
        assert flow, text
        assert actions, text
        sent += _execute(_read_flow(flow[1]), actions[1])
    return Account(tuple(met), tuple(sorted(sent)))


def _number(text: str) -> int:
    if text.count(":") == 5:
        return int(text.replace(":", ""), 16)
    return int(ipaddress.ip_address(text)) if "." in text else int(text, 0)


def _read_flow(text: str) -> dict[str, int]:
    frame = dict.fromkeys(_HEADERS, 0)
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name in _KEPT:
            frame[_KEPT[name]] = _number(value)
        elif name in {"nw_tos", "nw_ecn"}:
            frame["tos"] |= _number(value)
        elif name == "dl_vlan":
            frame["vlan_tci"] |= 0x1000 | int(value)
        elif name == "dl_vlan_pcp":
            frame["vlan_tci"] |= int(value) << 13
    return frame


def _execute(frame: dict[str, int], actions: str) -> Iterator[tuple[int, Frame]]:
    """Do what the datapath is told."""
    for action in split_outside(actions):
        name, _, inside = action.rstrip(")").partition("(")
        if name.isdigit():
            port = DEVICES["br0"] if name == "100" else int(name)
            yield port, tuple(sorted(frame.items()))
        elif name == "clone":
            yield from _execute(dict(frame), action[6:-1])
        elif name == "set":
            header, _, fields = inside.partition("(")
            for part in fields.rstrip(")").split(","):
                _set(frame, header, part)
        elif name == "push_vlan":
            tag = dict(part.split("=") for part in inside.split(","))
            frame["vlan_tci"] = 0x1000 | int(tag["vid"]) | int(tag["pcp"]) << 13
        elif name == "pop_vlan":
            frame["vlan_tci"] = 0
        else:
            assert name in {"drop", "ct", "recirc", "ct_clear", "userspace", "hash"}, action


def _set(frame: dict[str, int], header: str, part: str) -> None:
    name, _, text = part.partition("=")
    if header in {"skb_mark", "tunnel"}:
        return
    field = {
        "eth": f"eth_{name}", "ipv4": f"ip_{name}", "tcp": f"tp_{name}", "udp": f"tp_{name}",
        "arp": {"sip": "ip_src", "tip": "ip_dst", "op": "arp_op"}.get(name, ""),
        "icmp": {"type": "tp_src", "code": "tp_dst"}.get(name, ""),
    }[header]  # fmt: skip
    field = {"ip_ttl": "ttl", "ip_tos": "tos"}.get(field, field)
    value, _, mask = text.partition("/")
    kept = ~_number(mask) if mask else 0
    assert field in frame, (header, name)
    frame[field] = frame[field] & kept | _number(value)


# What the model says.


class TracedTracker:
    """Connection tracking as `ofproto/trace` has it: the states that it was told, one for each copy
    that comes back, and translation to the first address and port.
    """

    def __init__(self, states: tuple[str, ...]) -> None:
        """Take the states in their order; `trk,new` when they are used up."""
        self._states = list(states)

    def track(self, state: State, asked: Tracking) -> State | str:
        """Return the packet with the next state."""
        if not asked.again:
            return state
        words = (self._states.pop(0) if self._states else "trk,new").split(",")
        after = {**state, "ct_state": sum(CT_STATES[word] for word in words)}
        after["ct_zone"] = asked.zone
        for bits, value in asked.marks:
            bits.write(after, value)
        side, _, target = (asked.nat or "").partition("=")
        if target:
            address, _, port = target.partition(":")
            after[f"ip_{side}"] = int(ipaddress.ip_address(address))
            if port:
                after[f"tp_{side}"] = int(port)
        return after


def walk(tables: FlowTables, packet: str, states: tuple[str, ...], bucket: int) -> Pipelined:
    """Send a packet, spelled as for `ofproto/trace`, through the model."""
    pairs = [part.partition("=")[::2] for part in packet.split(",")]
    state: State = {
        **dict.fromkeys((*_HEADERS, "ip_frag", "tcp_flags", "arp_spa", "arp_tpa"), 0),
        **dict.fromkeys(("arp_sha", "arp_tha", "ip_proto", "eth_type", "tun_id"), 0),
    }
    for slot, value, _ in compile_match(tuple(pairs), tables.port_number).bits:
        state[slot] = value
    return send_through(tables, state, TracedTracker(states), lambda _, count: bucket % count)


def tell(passage: Pipelined) -> Account:
    """Return what the model says as the switch says it."""
    met = tuple(
        f"table {flow}" if isinstance(flow, int) else _cookie_of(flow) for flow in passage.met
    )
    sent = []
    for out in passage.sent:
        state = {name: out.state.get(name, 0) for name in _HEADERS}
        if out.state.get("eth_type") == 0x806:
            state |= {"ip_src": out.state["arp_spa"], "ip_dst": out.state["arp_tpa"]}
        frame = tuple(sorted(state.items()))
        flooded = out.port in {PORTS["NORMAL"], PORTS["FLOOD"], PORTS["ALL"]}
        ports = _FLOODED if flooded else (out.port,)
        sent += [
            (port, frame)
            for port in ports
            if port in _FLOODED and not (flooded and port == out.state["in_port"])
        ]
    return Account(met, tuple(sorted(sent)))


def _cookie_of(flow: CompiledFlow) -> str:
    span = flow.flow.span
    found = re.search(r"cookie=(0x[0-9a-f]+)", span.text if span else "")
    return found[1] if found else ""


# What is drawn.

ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.1.1", "192.0.2.9")
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02", "ff:ff:ff:ff:ff:ff")
NUMBERS = (80, 443, 8080, 53)
TABLES = 5
_TAGS = re.compile(r"mod_vlan_\w+:\d+|strip_vlan|load:\d+->NXM_OF_VLAN_TCI\[\]")
STATES = ("trk,new", "trk,est", "trk,est,rpl", "trk,inv", "trk,rel", "trk,new,dnat")


class Drawn(NamedTuple):
    """One set of tables with packets."""

    seed: int
    flows: str
    groups: str
    packets: tuple[tuple[str, tuple[str, ...]], ...]
    protocol: str


def draw(seed: int) -> Drawn:
    """Draw tables and packets."""
    rng = random.Random(seed)
    flows = [_flow(rng, number, table) for number, table in enumerate(_places(rng), 1)]
    flows += _conjunctions(rng, len(flows) + 1)
    groups = ""
    if any("group:7" in flow for flow in flows):
        kind = rng.choice(("all", "indirect", "select"))
        count = rng.randint(1, 3) if kind == "all" else 1
        buckets = [
            ",".join([*_sets(rng, "ip", 1), f"output:{rng.randint(1, 4)}"]) for _ in range(count)
        ]
        parts = ",".join(f"bucket=actions={bucket}" for bucket in buckets)
        # With groups flows are put in by OpenFlow 1.3, which wants a match for every changed tag.
        flows = [_TAGS.sub("ct_clear", flow) for flow in flows]
        # A trace ends where the datapath hashes (dp_hash), so that it names the fields to go by.
        method = "selection_method=hash,fields(ip_src)," if kind == "select" else ""
        groups = f"group_id=7,type={kind},{method}{parts}\n"
    packets = tuple((_packet(rng), tuple(rng.choice(STATES) for _ in range(4))) for _ in range(6))
    protocol = rng.choice(("OpenFlow10", "OpenFlow13", "OpenFlow15"))
    if groups:
        protocol = "OpenFlow15"
    return Drawn(seed, "\n".join(flows) + "\n", groups, packets, protocol)


def _places(rng: random.Random) -> list[int]:
    return [table for table in range(TABLES) for _ in range(rng.randint(2, 7))]


_KINDS = ("", "arp", "ip", "tcp", "udp", "icmp")


def _asked(rng: random.Random, kind: str) -> list[str]:
    """Draw what a flow asks for."""
    asked = [kind] if kind else []
    may = [
        f"in_port={rng.choice((1, 2, 3, 4, 'LOCAL'))}",
        f"dl_src={rng.choice(MACS)}",
        f"dl_dst={rng.choice((*MACS, '01:00:00:00:00:00/01:00:00:00:00:00'))}",
        f"reg{rng.randint(0, 2)}={rng.randint(0, 3)}{rng.choice(('', '/0x1', '/0x3'))}",
        f"metadata={rng.randint(0, 2)}",
        f"xreg0={rng.randint(0, 1) << 32 | rng.randint(0, 2)}",
        rng.choice(("dl_vlan=5", "vlan_tci=0x0000", "dl_vlan=0xffff", "vlan_tci=0x1000/0x1000")),
        f"tun_id={rng.randint(0, 1)}",
        f"pkt_mark={rng.randint(0, 2)}",
    ]
    if kind and kind != "arp":
        may += [
            f"nw_src={_prefix(rng)}", f"nw_dst={_prefix(rng)}", f"nw_tos={rng.choice((0, 32))}",
            f"nw_ttl={rng.choice((1, 64))}", f"ct_state={_state(rng)}",
            f"ct_zone={rng.randint(0, 5)}",
            f"ct_mark={rng.randint(0, 2)}/0x3", f"ct_state={_state(rng)}",
            f"nw_frag={rng.choice(('no', 'not_later', 'later')[: 3 if kind == 'ip' else 2])}",
        ]  # fmt: skip
    if kind == "arp":
        may += [
            f"arp_op={rng.choice((1, 2))}",
            f"arp_tpa={_prefix(rng)}",
            f"arp_spa={_prefix(rng)}",
        ]
    if kind in {"tcp", "udp"}:
        may += [f"tp_dst={_range(rng)}", f"tp_src={rng.choice(NUMBERS)}"] * 2
    if kind == "tcp":
        may += [f"tcp_flags={rng.choice(('+syn', '+syn-ack', '-rst', '+ack'))}"]
    if kind == "icmp":
        may += [f"icmp_type={rng.choice((0, 8))}", "icmp_code=0"]
    names: set[str] = set()
    for word in rng.sample(may, min(len(may), rng.choice((0, 0, 1, 1, 2, 3)))):
        name = word.partition("=")[0]
        names.add(name)
        overlap = {"xreg0", "reg0", "reg1"} if name in {"xreg0", "reg0", "reg1"} else set()
        tags = {"dl_vlan", "vlan_tci"} if name in {"dl_vlan", "vlan_tci"} else set()
        if any(part.partition("=")[0] in {name, *overlap, *tags} for part in asked):
            continue
        asked.append(word)
    return asked


def _prefix(rng: random.Random) -> str:
    address = rng.choice(ADDRESSES)
    return rng.choice((address, f"{address}/24", f"{address}/255.0.0.255"))


def _range(rng: random.Random) -> str:
    return rng.choice((str(rng.choice(NUMBERS)), "0x50/0xfff0", "0x1f00/0xff00"))


def _state(rng: random.Random) -> str:
    return rng.choice(
        ("-trk", "+trk", "+new+trk", "+est+trk", "+est-rpl+trk", "+inv+trk", "+trk-inv", "-new+trk",
         "+rpl+trk", "+dnat+trk")
    )  # fmt: skip


def _sets(rng: random.Random, kind: str, most: int) -> list[str]:
    """Draw actions that change the packet."""
    may = [
        f"load:{rng.randint(0, 3)}->NXM_NX_REG{rng.randint(0, 2)}[]",
        f"load:{rng.randint(0, 1)}->NXM_NX_REG{rng.randint(0, 2)}[{rng.randint(0, 3)}]",
        f"set_field:{rng.randint(0, 3)}/0x3->reg{rng.randint(0, 2)}",
        f"set_field:{rng.randint(0, 2)}->metadata",
        f"set_field:{rng.choice(MACS)}->eth_dst", f"mod_dl_src:{rng.choice(MACS)}",
        "move:NXM_NX_REG0[0..15]->NXM_NX_REG1[16..31]", "move:NXM_OF_IN_PORT[]->NXM_NX_REG2[0..15]",
        "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]", "mod_vlan_vid:5", "strip_vlan",
        "move:NXM_NX_REG1[]->NXM_NX_XXREG0[64..95]",
        f"load:{rng.randint(1, 9)}->NXM_NX_XXREG0[0..31]",
        f"set_field:{rng.randint(0, 2)}->pkt_mark", f"set_tunnel:{rng.randint(0, 1)}",
        "push:NXM_NX_REG0[],pop:NXM_NX_REG2[]", "mod_vlan_pcp:3",
        f"load:{rng.choice((0, 0x1005))}->NXM_OF_VLAN_TCI[]",
    ]  # fmt: skip
    if kind and kind != "arp":
        may += [
            f"mod_nw_dst:{rng.choice(ADDRESSES)}", f"mod_nw_src:{rng.choice(ADDRESSES)}",
            "dec_ttl", "mod_nw_tos:32", "set_field:9->nw_ttl", "ct_clear",
            "move:NXM_OF_IP_SRC[]->NXM_NX_REG1[]", "move:NXM_NX_REG0[]->NXM_OF_IP_DST[]",
            "move:NXM_OF_IP_SRC[]->NXM_OF_IP_DST[]", "set_field:10.0.0.0/255.255.255.0->ip_dst",
        ]  # fmt: skip
    if kind in {"tcp", "udp"}:
        may += [f"mod_tp_dst:{rng.choice(NUMBERS)}", f"load:0x50->NXM_OF_{kind.upper()}_SRC[]"]
    if kind == "arp":
        may += ["load:2->NXM_OF_ARP_OP[]", "move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[]"]
    return [rng.choice(may) for _ in range(rng.randint(0, most))]


def _ends(rng: random.Random, kind: str, table: int) -> list[str]:
    """Draw what a flow does with the packet."""
    port = rng.choice(("output:1", "output:2", "output:3", "output:4", "LOCAL", "IN_PORT",
                       "output:NXM_NX_REG0[]", "output:NXM_NX_REG2[0..15]",
                       "output:9"))  # fmt: skip
    may = [port, port, "NORMAL", "FLOOD", "drop"]
    later = table + 1
    if later < TABLES:
        following = rng.randint(later, TABLES - 1)
        may += [f"goto_table:{following}", f"resubmit(,{following})"] * 3
        may += [f"resubmit({rng.randint(1, 4)},{following}),{port}",
                f"clone(mod_dl_src:{rng.choice(MACS)},resubmit(,{following})),resubmit(,{later})",
                f"resubmit(,{following}),exit",
                f"resubmit(,{following}),resubmit(,{later}),{port}"]  # fmt: skip
        if kind and kind != "arp":
            may += [f"ct({_track(rng)},table={following})"] * 3
    if kind and kind != "arp":
        may += [f"ct(commit,zone={rng.randint(0, 5)}),{port}", "group:7"]
    return [rng.choice(may)]


def _track(rng: random.Random) -> str:
    zone = rng.choice((f"zone={rng.randint(0, 5)}", "zone=NXM_NX_REG0[0..15]"))
    nat = rng.choice(("", "", ",nat", f",nat(dst={rng.choice(ADDRESSES)}:8080)",
                      f",nat(src={rng.choice(ADDRESSES)})"))  # fmt: skip
    if nat == ",nat":
        return f"{zone}{nat}"
    marks = rng.choice(("", f",exec(set_field:{rng.randint(0, 3)}->ct_mark)",
                        ",exec(load:1->NXM_NX_CT_MARK[0])"))  # fmt: skip
    return f"commit,{zone}{nat}{marks}" if nat or marks or rng.random() < 0.3 else zone


def _flow(rng: random.Random, number: int, table: int) -> str:
    kind = rng.choice(_KINDS)
    asked = ",".join((f"priority={number * 7 % 97 * 100 + number}", *_asked(rng, kind)))
    actions = _sets(rng, kind, 3) + _ends(rng, kind, table)
    if "drop" in actions:
        actions = ["drop"]
    return f"table={table},cookie={number},{asked},actions={','.join(actions)}"


def _conjunctions(rng: random.Random, number: int) -> list[str]:
    """Draw a conjunction of two clauses in some table, as network policies have them."""
    if rng.random() < 0.5:
        return []
    table, rank = rng.randint(0, TABLES - 2), rng.choice((50, 3000, 9900))
    head = f"table={table},priority={rank}"
    flows = [
        f"{head},cookie={number + at},ip,nw_src={address},actions=conjunction(9,1/2)"
        for at, address in enumerate(rng.sample(ADDRESSES, 2))
    ]
    second = (f"tcp,tp_dst={rng.choice(NUMBERS)}", f"ip,nw_dst={_prefix(rng)}")
    flows += [
        f"{head},cookie={number + 2 + at},{asked},actions=conjunction(9,2/2)"
        for at, asked in enumerate(second)
    ]
    flows.append(f"{head},cookie={number + 4},conj_id=9,ip,actions=load:3->NXM_NX_REG0[],"
                 f"{rng.choice(('output:2', f'resubmit(,{TABLES - 1})'))}")  # fmt: skip
    return flows


def _packet(rng: random.Random) -> str:
    kind = rng.choice(("tcp", "tcp", "udp", "icmp", "arp"))
    words = [f"in_port={rng.choice((1, 2, 3, 4, 'LOCAL'))}", kind, f"dl_src={rng.choice(MACS[:2])}"]
    words.append(f"dl_dst={rng.choice(MACS)}")
    if rng.random() < 0.2:
        words.append("vlan_tci=0x1005")
    if kind == "arp":
        words += [f"arp_op={rng.choice((1, 2))}", f"arp_spa={rng.choice(ADDRESSES)}"]
        return ",".join([*words, f"arp_tpa={rng.choice(ADDRESSES)}"])
    words += [f"nw_src={rng.choice(ADDRESSES)}", f"nw_dst={rng.choice(ADDRESSES)}"]
    words += [f"nw_ttl={rng.choice((64, 64, 64, 1, 2))}", f"nw_tos={rng.choice((0, 32))}"]
    if kind == "icmp":
        return ",".join([*words, f"icmp_type={rng.choice((0, 8))}", "icmp_code=0"])
    words += [f"{kind}_src={rng.choice(NUMBERS)}", f"{kind}_dst={rng.choice(NUMBERS)}"]
    if kind == "tcp":
        words.append(f"tcp_flags={rng.choice(('0x2', '0x12', '0x10'))}")
    return ",".join(words)


# The comparison.


class Compared(NamedTuple):
    """What a set of tables came to."""

    agree: int
    open: Counter[str]
    """What the model says that it does not know, with the number of packets."""
    differ: tuple[str, ...]


def compare(switch: Switch, drawn: Drawn) -> Compared:
    """Send the drawn packets through switch and model."""
    tables = FlowTables(switch.load(drawn.flows, drawn.groups, drawn.protocol))
    agree, opened, differ = 0, Counter[str](), []
    for packet, states in drawn.packets:
        passage = walk(tables, packet, states, 0)
        said = switch.trace(packet, states)
        if passage.opened is not None:
            opened[passage.opened.what] += 1
            continue
        theirs, ours = read_account(said), tell(passage)
        if theirs == ours:
            agree += 1
        else:
            differ.append(
                f"seed {drawn.seed}: {packet} {states}\nswitch {theirs}\nmodel  {ours}\n{said}"
            )
    return Compared(agree, opened, tuple(differ))


def main() -> int:
    """Compare many, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="sets of tables, six packets each")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    agree, opened = 0, Counter[str]()
    started, differ = time.monotonic(), list[str]()
    with Switch() as switch:
        for seed in range(chosen.seed, chosen.seed + chosen.cases):
            found = compare(switch, draw(seed))
            agree, opened = agree + found.agree, opened + found.open
            differ += found.differ
    rate = (agree + opened.total() + len(differ)) / (time.monotonic() - started)
    sys.stdout.write("\n\n".join(differ[:5]))
    sys.stdout.write(
        f"\n{agree} packets agree, {len(differ)} differ, {opened.total()} open "
        f"{dict(opened)}; {rate:.0f} a second\n"
    )
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
