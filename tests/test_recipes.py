"""The recipes of CONTRIBUTING.md, followed to the letter with a toy of each kind in a copy of the
package.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/podpath"
LAB = ROOT / "src/podpath_lab"
RECIPE = re.compile(r"\*\*(?P<name>[^*]+)\*\*(?P<text>.+?)(?=\n\n|\Z)", re.DOTALL)
MOST_LINES = 5

NODE = """\
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0
3: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default qlen 1000
    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.244.1.1/24 brd 10.244.1.255 scope global cni0
$ ip route
default via 192.0.2.1 dev eth0
10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.10
"""
RULE = """\
$ iptables-save
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A OUTPUT {rule}
COMMIT
"""
FROM_NODE, FROM_POD = (
    "tcp 192.0.2.10 > 198.51.100.7:443",
    "tcp 10.244.1.5 > 198.51.100.7:443 in cni0",
)


class Copy:
    """A copy of podpath to which a recipe is applied."""

    def __init__(self, folder: Path) -> None:
        """Copy the package, and the lab that draws from it, into a folder."""
        self.folder = folder
        self.package = folder / "podpath"
        # Other tests' processes write bytecode into the source as they import it.
        sources_only = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE, self.package, ignore=sources_only)
        shutil.copytree(LAB, folder / "podpath_lab", ignore=sources_only)

    def add(self, path: str, text: str) -> None:
        """Add the toy's module."""
        self.package.joinpath(path).write_text(text, encoding="utf-8")

    def register(self, path: str, *rows: tuple[str, str]) -> None:
        """Add rows to a registry, each before the line that is named."""
        file = self.package / path
        text = file.read_text(encoding="utf-8")
        for before, row in rows:
            assert 1 == text.count(f"\n{before}"), (path, before)
            text = text.replace(f"\n{before}", f"\n{row}\n{before}")
        file.write_text(text, encoding="utf-8")

    def give(self, name: str, text: str) -> str:
        """Write a file of evidence."""
        file = self.folder / "evidence" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def run(self, *arguments: str) -> str:
        """Run the copy's `podpath` and return what it prints."""
        return self._start("-m", "podpath", *arguments)

    def evaluate(self, program: str) -> str:
        """Run a program that imports the copy, and return what it prints."""
        return self._start("-c", program)

    def _start(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Copy podpath into the test's own folder."""
    return Copy(tmp_path)


def recipes() -> dict[str, str]:
    """Return the recipes by name."""
    page = (
        (ROOT / "CONTRIBUTING.md")
        .read_text(encoding="utf-8")
        .partition("## Recipes")[2]
        .partition("\n## ")[0]
    )
    return {recipe["name"]: recipe[0] for recipe in RECIPE.finditer(page)}


def test_every_recipe_is_short() -> None:
    """A recipe takes five lines at most."""
    assert {} == {
        name: text for name, text in recipes().items() if len(text.splitlines()) > MOST_LINES
    }


@pytest.mark.parametrize(("name", "recipe"), recipes().items(), ids=recipes())
def test_what_a_recipe_names_is_there(name: str, recipe: str) -> None:
    """Every file and folder that a recipe names is one of the repository, or of the package."""
    named = [word for word in re.findall(r"`([\w./-]+)`", recipe) if "/" in word]

    assert named, name
    assert [] == [
        path
        for path in named
        if not any((base / path).exists() for base in (ROOT, ROOT / "src" / "podpath"))
    ]


CHECK = '''\
"""toy: a bridge is named cni0.

What it is
    A toy.

Why it breaks
    It does not.

How to confirm
    ip link show cni0

How to fix
    Take it away.

References
    None
"""

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity

CATEGORIES = (Category.WRONG_ROUTE,)
NAME = "toy"


def check(case):
    for link in case.node.host.links.items:
        if link.name == "cni0":
            yield Finding(
                check=NAME, severity=Severity.FAULT, claim="A toy stands in the way.", evidence=(link.span,)
            )
'''  # noqa: E501


def test_a_check(copy: Copy) -> None:
    """A module and its row: `explain` prints its page, `diagnose` names it."""
    copy.add("checks/routing/toy.py", CHECK)
    copy.register(
        "checks/registry.py",
        ("    shadowed_range,\n    source_of_other_card,", "    toy,"),
        ("    rp_filter,\n    bridge", "    toy,"),
    )

    assert "toy: a bridge is named cni0." in copy.run("explain", "toy")
    assert "A toy stands in the way." in copy.run("diagnose", copy.give("ticket.md", NODE))


MESSAGE_CHECK = """\
[[check]]
name = "toy"
title = "A toy broke."
kinds = ["toy broke"]
categories = ["mesh-policy"]
claim = "The toy {toy} broke."
values.toy = {}
breaks = "every game"
cure = "mend the toy"
what = "A toy that is broken."
why = "Nobody can play."
confirm = "look at it"
fix = "Mend it."
references = "None"
"""
MESSAGE = """  ["toy broke", "toy broke", 'toyd: (?P<toy>\\w+) toy broke'],"""


def test_a_message_and_its_check(copy: Copy) -> None:
    """A kind, a row that finds the line and a row that says what it means: `diagnose` quotes the
    line.
    """
    copy.register("net/messages.py", ("    HANDSHAKE_UNANSWERED", '    TOY_BROKE = "toy broke"'))
    copy.register(
        "evidence/messages/hosts.toml",
        ('  ["lease given", "DHCP",', MESSAGE),
    )
    copy.register(
        "checks/mesh/messages.toml",
        ('[[check]]\nname = "secret-not-supplied"', MESSAGE_CHECK),
    )
    said = copy.run(
        "diagnose",
        copy.give(
            "ticket.md", f"{NODE}$ journalctl -u toyd\nMar 12 03:13:45 kn-04 toyd: red toy broke\n"
        ),
    )

    assert "toy: A toy broke." in copy.run("explain", "toy")
    assert "The toy red broke." in said
    assert "toyd: red toy broke" in said


FORMAT = '''\
"""Reads `toyctl forwarding`."""

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import SysctlRecord
from podpath.evidence.text.ledger import Ledger

_LINE = re.compile(r"toy forwarding is (on|off)")


def recognise(source):
    return CERTAIN if any(_LINE.fullmatch(line) for line in sample(source)) else NO


def read(source):
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        found = _LINE.fullmatch(line)
        if found is not None:
            value = "1" if found[1] == "on" else "0"
            ledger.add(SysctlRecord(span=ledger.span(index), key="net.ipv4.ip_forward", value=value))
    return ledger.close("a line of toyctl")


FORMAT = Format("toyctl forwarding", recognise, read)
'''  # noqa: E501


def test_an_evidence_format(copy: Copy) -> None:
    """A module, its row and its program's name: what it reads decides a walk, with its line."""
    copy.add("evidence/kernel/toy.py", FORMAT)
    copy.register(
        "evidence/recognition.py",
        ("from podpath.evidence.kubernetes import cni,", "from podpath.evidence.kernel import toy"),
        ("    sysctl.FORMAT,", "    toy.FORMAT,"),
    )
    copy.register("evidence/documents/programs.py", ("    ovs-dpctl ovs-tcpdump", "    toyctl"))
    told = copy.run(
        "trace",
        copy.give("ticket.md", f"{NODE}$ toyctl forwarding\ntoy forwarding is off\n"),
        "--probe",
        FROM_POD,
    )

    assert "toy forwarding is off" in told
    assert "NEVER" in told


LAYOUT = '''\
"""Bundles of toyctl."""

from podpath.evidence.layouts.layout import BundleLayout, LayoutRow

LAYOUT = BundleLayout(
    name="toyctl dump",
    marks=(r"toy-version",),
    rows=(LayoutRow(r"forwarding", "cat /proc/sys/net/ipv4/ip_forward"), LayoutRow(r"toy-version", "toyctl version")),
)
'''  # noqa: E501


def test_a_layout_of_bundles(copy: Copy) -> None:
    """A module and its row: a bare 0 in a file of the bundle is the value that its row says."""
    copy.add("evidence/layouts/toy.py", LAYOUT)
    copy.register(
        "evidence/layouts/table.py",
        ("from podpath.evidence.layouts.layout import", "from podpath.evidence.layouts import toy"),
        ("    sosreport.LAYOUT,", "    toy.LAYOUT,"),
    )
    folder = Path(copy.give("toy-version", "toy 1.0\n")).parent
    copy.give("forwarding", "0\n")
    copy.give("outputs", NODE)
    told = copy.run("trace", str(folder), "--probe", FROM_POD)

    assert "forwarding:1" in told
    assert "NEVER" in told


LOG = '''\
"""Logs of toyd: `<toy> 2025-03-12T03:13:47Z systemd: Started ...`."""

import re

from podpath.timeline.event import LineParts
from podpath.timeline.lines import LineFormat, stamps_in

_HEAD = re.compile(r"<toy> (?P<stamp>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ) (?P<program>\\w+): ")


def _split(_):
    def take_apart(line):
        found = _HEAD.match(line)
        return LineParts(found["program"], line[found.end() :]) if found is not None else LineParts("", line)

    return take_apart


FORMAT = LineFormat("toy log", _HEAD, stamps_in(_HEAD, "stamp"), _split)
'''  # noqa: E501
WINDOW = ("--failed-at", "2025-03-12T03:13:59Z", "--timeout", "10s")


def test_a_log_format(copy: Copy) -> None:
    """A module and its row: what the log tells is a suspect of the window."""
    copy.add("timeline/formats/toy.py", LOG)
    copy.register(
        "timeline/formats/table.py",
        ("from podpath.timeline.lines import", "from podpath.timeline.formats import toy"),
        ("    rpm_history.YUM,\n    syslog.FORMAT,", "    toy.FORMAT,"),
    )
    log = copy.give(
        "toy.log",
        (
            "<toy> 2025-03-12T03:13:47Z systemd: Started tuned.service - Dynamic System Tuning "
            "Daemon.\n"
        ),
    )

    assert "tuned started" in copy.run("timeline", log, *WINDOW)


CHAIN = """\
title = "keepalived starts, and takes the toys of the node"
prevention = "Keep toys off nodes."
sources = ["https://toys.example/1"]

[[link]]
says = "keepalived is started"
kind = "network"
subject = "keepalived"
verb = ["started"]

[[leads_to]]
check = "no-route"
says = "the devices are gone"
ask = "ip link"
"""


def test_a_chain_of_causes(copy: Copy) -> None:
    """One file: a log in which its links happened tells it."""
    copy.add("timeline/chains/keepalived-takes-toys.toml", CHAIN)
    log = copy.give(
        "messages",
        (
            "2025-03-12T03:13:47Z kn-04 systemd[1]: Started keepalived.service - LVS and VRRP High "
            "Availability Monitor.\n"
        ),
    )

    assert "keepalived starts, and takes the toys of the node" in copy.run("timeline", log, *WINDOW)


MATCH = '''\
"""`-m toy`: the packet's destination port, plus one."""

from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form


def _read(text):
    number = parse_integer(text, most=65535)
    return lambda seen: seen.packet.dport + 1 == number


MATCH = MatchExtension(
    name="toy",
    options={"toy-port": OptionMeaning(_read, draws=("81", "444"))},
    forms=(make_form("toy", r"TOY port (?P<no_toy_port>!)?(?P<toy_port>\\d+)"),),
)
'''
TARGET = '''\
"""`-j TOY`: a mark, and on; without one it sends the packet away."""

from podpath.xtables.extension import TargetExtension, draw, make_options
from podpath.xtables.rule import single
from podpath.xtables.values import parse_integer
from podpath.xtables.verdicts import DROP
from podpath.xtables.wording import make_form


def compile_target(target, context):
    number = parse_integer(single(target.options[0]))

    def act(state):
        if number == 0:
            return DROP
        state.set_mark(number)

    return act


TARGET = TargetExtension(
    name="TOY",
    options=make_options("toy-mark"),
    forms=(make_form("TOY", r"TOY sets (?P<toy_mark>\\d+)"),),
    tables=frozenset({"filter"}),
    compiler=compile_target,
    draws=(draw("toy-mark 5"),),
)
'''
DRAW = """
from podpath_lab.cases.generate import generate_case
print(*(generate_case(seed).node for seed in range(60)))
"""
LISTED = """\
$ iptables -nvL OUTPUT
Chain OUTPUT (policy ACCEPT 0 packets, 0 bytes)
 pkts bytes target     prot opt in     out     source               destination
    0     0 DROP       0    --  *      *       0.0.0.0/0            0.0.0.0/0            TOY port 444
"""  # noqa: E501


@pytest.fixture(scope="module")
def with_match(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Follow the recipe of a match once, for all tests of it."""
    copy = Copy(tmp_path_factory.mktemp("match"))
    copy.add("xtables/matches/toy.py", MATCH)
    copy.add("xtables/targets/toy.py", TARGET)
    copy.register(
        "xtables/registry.py",
        (
            "from podpath.xtables.matches import (",
            (
                "from podpath.xtables.matches import toy\n"
                "from podpath.xtables.targets import toy as toy_target"
            ),
        ),
        ("    mark.MATCH,", "    toy.MATCH,"),
        ("    masquerade.TARGET,", "    toy_target.TARGET,"),
    )
    return copy


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        (RULE.format(rule="-m toy --toy-port 444 -j DROP"), "OUTPUT rule 1 drops it"),
        (RULE.format(rule="-m toy ! --toy-port 445 -j DROP"), "OUTPUT rule 1 drops it"),
        (LISTED, "OUTPUT rule 1 drops it"),
        (RULE.format(rule="-m toy --toy-port 445 -j DROP"), "SYN-ACK    ← host › eth0 ✓ delivered"),
    ],
    ids=["saved", "negated", "listed", "another"],
)
def test_a_match_of_iptables(with_match: Copy, shown: str, verdict: str) -> None:
    """A module and its row: a rule in either spelling decides a walk."""
    told = with_match.run("trace", with_match.give("ticket.md", NODE + shown), "--probe", FROM_NODE)

    assert verdict in told, told


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        (RULE.format(rule="-j TOY --toy-mark 0"), "OUTPUT rule 1 drops it"),
        (
            LISTED.replace("DROP  ", "TOY   ").replace("TOY port 444", "TOY sets 0"),
            "OUTPUT rule 1 drops it",
        ),
    ],
    ids=["saved", "listed"],
)
def test_a_target_of_iptables(with_match: Copy, shown: str, verdict: str) -> None:
    """A module and its row: a rule in either spelling ends a walk."""
    told = with_match.run("trace", with_match.give("ticket.md", NODE + shown), "--probe", FROM_NODE)

    assert verdict in told, told


def test_the_lab_draws_a_target_of_the_registry(with_match: Copy) -> None:
    """Without a line in the lab, some of its random rules have the toy."""
    assert "name='toy-mark', values=('5',)" in with_match.evaluate(DRAW.replace("60", "200"))


def test_the_lab_draws_a_match_of_the_registry(with_match: Copy) -> None:
    """Without a line in the lab, some of its random rules have the toy."""
    assert "name='toy-port', values=('444',)" in with_match.evaluate(DRAW)
