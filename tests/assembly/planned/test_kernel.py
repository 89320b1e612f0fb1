"""A change that is predicted is the change that the kernel makes: the same file is loaded in a
network namespace, and what is there afterwards is compared rule by rule.
"""

from __future__ import annotations

import random
import secrets
import subprocess
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import pytest

from podpath.assembly.case import assemble_case
from podpath.assembly.planned.change import assemble_change
from podpath.evidence.planned.files import read_change
from podpath.evidence.recognition import read as read_source
from podpath.net.provenance import Known, Source
from podpath.node.alteration import apply_changes
from podpath.node.netfilter import Chain
from podpath.node.nftables_text import emit_rule
from podpath.node.node import Node
from podpath.xtables.alike import is_same_rule
from podpath.xtables.legality import ChainPolicy
from tests.seeds import fresh_seed

pytestmark = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "nft")
FILES = 40
"""Files that are drawn for each program."""
BASES = ("INPUT", "FORWARD", "OUTPUT")
USERS = ("U1", "U2", "U3")


@pytest.fixture
def inside() -> Iterator[Callable[..., str]]:
    """Provide a function that runs a command in a namespace of its own, with standard input; it
    returns what the command prints, and `!` where the command fails.
    """
    name = f"planned-{secrets.token_hex(4)}"
    subprocess.run(["ip", "netns", "add", name], check=True)

    def run(*command: str, text: str = "") -> str:
        done = subprocess.run(
            ["ip", "netns", "exec", name, *command],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        return "!" if done.returncode else done.stdout

    yield run
    subprocess.run(["ip", "netns", "del", name], check=True)


def read_node(*outputs: tuple[str, str]) -> Node:
    """Return the node that outputs show, each with its command."""
    read = []
    for command, text in outputs:
        source = Source(name=command, lines=tuple(text.splitlines()), command=command, netns="host")
        reading = read_source(source)
        if reading is not None:
            read.append((source, reading))
    return assemble_case(read).node


def predict(node: Node, text: str, *, noflush: bool = False) -> tuple[Node, bool]:
    """Return the node as the model has it after a file, and whether the file is refused."""
    read = read_change(Source(name="change", lines=tuple(text.splitlines())))
    assert read is not None
    planned = assemble_change(read, node, name="change", noflush=noflush)
    return apply_changes(node, planned.changes), bool(planned.refused)


NOT_TAKEN_OVER = ("is named in a script that removes", "above a command that replaces a rule")
"""Of what a file does: nobody says whether it is refused."""


def reasons(node: Node, text: str) -> list[str]:
    """Return why a file is not taken over."""
    read = read_change(Source(name="change", lines=tuple(text.splitlines())))
    assert read is not None
    return [gap.why for gap in assemble_change(read, node, name="change").refused]


def draw_rule(chance: random.Random, targets: tuple[str, ...]) -> str:
    """Draw what a rule says: few enough that rules of two files are often the same."""
    selectors = (
        "-s 10.0.0.1/32",
        "-s 10.0.0.2",
        "-p tcp --dport 80",
        "-i eth0",
        "",
        "-d 10.1.0.0/16",
    )
    extras = ("", "", '-m comment --comment "a b"', "-m conntrack --ctstate NEW,INVALID")
    words = (chance.choice(selectors), chance.choice(extras), f"-j {chance.choice(targets)}")
    return " ".join(word for word in words if word)


def draw_command(chance: random.Random, chains: tuple[str, ...], first: bool) -> str:  # noqa: FBT001
    """Draw one line of a file; `first` where it may be anything."""
    chain = chance.choice(chains)
    rule = draw_rule(chance, ("ACCEPT", "DROP", "RETURN", chance.choice(USERS)))
    number = chance.choice((1, 1, 1, 2, 2, 3, 4))
    commands = [
        f"-A {chain} {rule}",
        f"-I {chain} {rule}",
        f"-I {chain} {number} {rule}",
        f"-A {chain} {draw_rule(chance, ('ACCEPT', 'DROP'))}",
        f"--insert {chain} {number} {draw_rule(chance, ('ACCEPT', 'DROP'))}",
    ]
    if first:
        commands += [
            f"-D {chain} {number}",
            f"-D {chain} {rule}",
            f"--delete {chain} {rule}",
            f"-R {chain} {number} {rule}",
            f"-N {chance.choice(USERS)}",
            f"-X {chance.choice(USERS)}",
            f"-E {chance.choice(USERS)} {chance.choice((*USERS, 'U4', 'U4'))}",
            f"-F {chain}",
            f"-C {chain} {rule}",
            f"-P {chance.choice(BASES)} {chance.choice(('ACCEPT', 'DROP'))}",
            f":{chance.choice(USERS)} - [0:0]",
            chance.choice(("-Z", "-X", "-F", f"-Z {chain}", f"-P {chain} DROP")),
        ]
    return chance.choice(commands)


def draw_block(chance: random.Random) -> list[str]:
    """Draw one block of a file for iptables-restore."""
    users = chance.sample(USERS, chance.randint(0, 3))
    bases = chance.sample(BASES, chance.randint(0, 3))
    lines = ["*filter"]
    lines += [f":{base} {chance.choice(('ACCEPT', 'DROP'))} [0:0]" for base in bases]
    lines += [f":{user} - [0:0]" for user in users]
    first = chance.random() < 0.7
    chains = (*bases, *users, "FORWARD", chance.choice(USERS))
    lines += [draw_command(chance, chains, first) for _ in range(chance.randint(0, 5))]
    return [*lines, "COMMIT"]


def draw_rules(chance: random.Random) -> str:
    """Draw a file for iptables-restore."""
    blocks = [draw_block(chance) for _ in range(chance.choice((1, 1, 1, 2)))]
    lines = [line for block in blocks for line in block]
    if any(line.startswith((":INPUT", ":FORWARD", ":OUTPUT", "-P")) for line in lines):
        # see `TableDraft.zero`
        lines = [line for line in lines if not line.startswith("-Z") and line != "-X"]
    return "\n".join([*lines, ""])


def chains_of(node: Node) -> dict[str, Chain]:
    """Return what the tables of iptables hold; iptables-nft leaves out base chains without rules
    and policy.
    """
    empty = [Chain(name=base, rules=(), policy=ChainPolicy.ACCEPT) for base in BASES]
    found: dict[str, Chain] = {f"filter {chain.name}": chain for chain in empty}
    for table in node.host.netfilter[4].tables:
        for name, fact in table.chains.items():
            assert isinstance(fact, Known)
            found[f"{table.name} {name}"] = fact.value
    return found


def demand_alike(kernel: Node, model: Node, text: str) -> None:
    """Demand the same chains with the same policies and rules."""
    held, predicted = chains_of(kernel), chains_of(model)
    assert held.keys() == predicted.keys(), text
    for name, chain in held.items():
        assert chain.policy == predicted[name].policy, text
        pairs = zip_longest(chain.rules, predicted[name].rules)
        alike = [one and other and is_same_rule(one, other) for one, other in pairs]
        assert all(alike), f"{name}\n{text}"


@pytest.mark.parametrize("flavour", ["nft", "legacy"])
def test_iptables_restore(
    flavour: str, inside: Callable[..., str], say: Callable[[str], None]
) -> None:
    """What drawn files leave in the kernel is what they leave in the model, one after the other;
    a file that the program refuses, whole or in part, is refused by the model.
    """
    seed = fresh_seed()
    say(f"seed {seed}")
    chance = random.Random(seed)
    save, restore = f"iptables-{flavour}-save", f"iptables-{flavour}-restore"
    inside(f"iptables-{flavour}", "-P", "FORWARD", "ACCEPT")
    taken = 0
    for _ in range(FILES):
        text, noflush = draw_rules(chance), chance.random() < 0.7
        before = read_node((save, inside(save)))

        predicted, refused = predict(before, text, noflush=noflush)
        loaded = inside(restore, *(["-n"] if noflush else []), text=text)

        assert refused or loaded != "!", text
        # what iptables-nft counts in a chain that the same file empties is not modeled
        assert not refused or loaded == "!" or flavour == "nft", text
        if not refused:
            taken += 1
            demand_alike(read_node((save, inside(save))), predicted, text)
    assert taken


@pytest.mark.parametrize("flavour", ["nft", "legacy"])
def test_iptables_called_by_a_script(
    flavour: str, inside: Callable[..., str], say: Callable[[str], None]
) -> None:
    """Calls one after the other, as a shell makes them, leave what the model has."""
    seed = fresh_seed()
    say(f"seed {seed}")
    chance = random.Random(seed)
    program, save = f"iptables-{flavour}", f"iptables-{flavour}-save"
    inside(program, "-P", "FORWARD", "ACCEPT")
    taken = 0
    for _ in range(FILES):
        chains = (*BASES, *USERS)
        drawn = [draw_command(chance, chains, True) for _ in range(chance.randint(1, 4))]
        calls = [f"{program} -w {command}" for command in drawn if command[0] != ":"]
        text = "\n".join(("#!/bin/sh", "set -e", *calls, f"{program} -w -A INPUT -j ACCEPT", ""))
        before = read_node((save, inside(save)))

        predicted, refused = predict(before, text)
        done = inside("sh", text=text)

        assert refused or done != "!", text
        if not refused:
            taken += 1
            demand_alike(read_node((save, inside(save))), predicted, text)
    assert taken


@pytest.mark.parametrize(
    "lines",
    [
        ("net.ipv4.conf.lo.rp_filter=0", "net.ipv4.conf.*.rp_filter=2"),
        ("net/ipv4/conf/*/rp_filter = 2", "-net.ipv4.conf.lo.rp_filter", "; a word"),
        ("-net.ipv4.conf.all.forwarding = 1", "-net.ipv4.no.such = 1", "# a word", ""),
        ("net.ipv4.conf.*.log_martians = 1", "net.ipv4.conf.l*.log_martians = 0"),
    ],
)
def test_sysctl(lines: tuple[str, ...], inside: Callable[..., str], tmp_path: Path) -> None:
    """What `sysctl -p` leaves is what the model has: patterns, what they spare, slashes, keys that
    need not exist.
    """
    text = "\n".join(lines)
    (tmp_path / "x.conf").write_text(text, encoding="utf-8")
    show = ("sysctl", "-a", "-r", "^net.ipv4")
    predicted, refused = predict(read_node(("sysctl -a", inside(*show))), text)

    inside("sysctl", "-p", str(tmp_path / "x.conf"))
    after = read_node(("sysctl -a", inside(*show)))
    held = {key: fact.value for key, fact in after.host.sysctls.items() if isinstance(fact, Known)}
    keys = [key for key in held if key.endswith(("rp_filter", "forwarding", "log_martians"))]
    made = predicted.host.sysctls

    assert not refused
    assert keys
    for key in keys:
        fact = made[key]
        options = () if isinstance(fact, Known) else fact.options
        allowed = [fact.value] if isinstance(fact, Known) else [one.value for one in options]
        assert held[key] in allowed, key


def draw_by_handle(
    chance: random.Random, table: str, handles: dict[str, list[tuple[str, int]]], rule: str
) -> str:
    """Draw a command that names a rule by its handle; now and then one that no rule has."""
    known = handles.get(table, [])
    chain, handle = chance.choice(known) if known and chance.random() < 0.9 else ("c", 999)
    return chance.choice(
        (
            f"delete rule {table} {chain} handle {handle}",
            f"replace rule {table} {chain} handle {handle} {rule}",
            f"add rule {table} {chain} handle {handle} {rule}",
            f"insert rule {table} {chain} position {handle} {rule}",
        )
    )


def handles_of(node: Node) -> dict[str, list[tuple[str, int]]]:
    """Return the handles of rules, with their chains, by table."""
    return {
        f"{table.family} {table.name}": [
            (chain.name, rule.handle)
            for chain in table.chains.values()
            for rule in chain.rules
            if rule.handle is not None
        ]
        for table in node.host.nftables.items
    }


def draw_script(chance: random.Random, handles: dict[str, list[tuple[str, int]]]) -> str:
    """Draw a script for nft -f."""
    lines = [chance.choice(("", "", "", "flush ruleset"))]
    for number in range(chance.randint(1, 5)):
        table, chain = chance.choice(("inet t", "ip u")), chance.choice(("c", "d"))
        rule = f"ip saddr 10.0.{number}.{chance.randint(1, 9)} {chance.choice(('accept', 'drop'))}"
        base = f"type filter hook forward priority 0; policy {chance.choice(('accept', 'drop'))};"
        lines.append(
            chance.choice(
                (
                    f"table {table} {{ chain c {{ {base} {rule}; }}; chain d {{ {rule}; }}; }}",
                    f"table {table} {{ chain c {{ {base} {rule}; }}; chain d {{ {rule}; }}; }}",
                    f"add table {table}",
                    f"add chain {table} {chain}",
                    f"add rule {table} {chain} {rule}",
                    f"insert rule {table} {chain} {rule}",
                    f"flush chain {table} {chain}",
                    f"flush table {table}",
                    f"delete table {table}",
                    f"add rule {table} {chain} index {chance.randint(0, 2)} {rule}",
                    f"insert rule {table} {chain} index {chance.randint(0, 2)} {rule}",
                    *(draw_by_handle(chance, table, handles, rule) for _ in range(3)),
                )
            )
        )
    return "\n".join([*lines, ""])


REPLACED = "replace rule inet t d handle HANDLE ip saddr 10.0.3.6 drop"


def tables_of(node: Node) -> dict[str, object]:
    """Return what the native tables hold."""
    return {
        f"{table.family} {table.name} {name}": (
            chain.hook,
            chain.policy,
            [emit_rule(rule) for rule in chain.rules],
        )
        for table in node.host.nftables.items
        for name, chain in table.chains.items()
    } | {f"{table.family} {table.name}": None for table in node.host.nftables.items}


def test_nft(inside: Callable[..., str], say: Callable[[str], None]) -> None:
    """The same for scripts of nft: loaded, or refused, as the model says."""
    seed = fresh_seed()
    say(f"seed {seed}")
    chance = random.Random(seed)
    show = ("nft", "-a", "list", "ruleset")
    loads = 0
    first = "table inet t { chain c { type filter hook forward priority 0; }; }\n"
    for _ in range(FILES):
        listed = inside(*show)
        if not listed:  # What prints nothing shows nothing: nobody knows then what is there.
            inside("nft", "-f", "-", text=first)
            listed = inside(*show)
        before = read_node((" ".join(show), listed))
        text = draw_script(chance, handles_of(before))

        predicted, refused = predict(before, text)
        loaded = inside("nft", "-f", "-", text=text)

        if any(one in " ".join(reasons(before, text)) for one in NOT_TAKEN_OVER):
            continue
        assert (loaded == "!") is refused, f"{listed}\n{text}\n{reasons(before, text)}"
        if not refused:
            loads += 1
            after = read_node((" ".join(show), inside(*show)))
            assert tables_of(after) == tables_of(predicted), text
    assert loads


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (("add rule inet t c index 0 accept",), 1),
        (("add rule inet t c index 0 accept", REPLACED), 2),
        (("insert rule inet t c index 1 accept", REPLACED), 0),
        ((REPLACED, "add rule inet t c index 0 accept"), 1),
        (("add rule inet t c index 7 accept", REPLACED), 2),
    ],
)
def test_nft_forgets_a_number_above_a_replacement(
    lines: tuple[str, ...], place: int, inside: Callable[..., str]
) -> None:
    """The rule stands at the end, or at the beginning; nothing is refused."""
    chains = "chain c { ip saddr 10.0.0.1 drop; ip saddr 10.0.0.2 drop; }; chain d { drop; };"
    inside("nft", "-f", "-", text=f"table inet t {{ {chains} }}\n")
    listed = inside("nft", "-a", "list", "chain", "inet", "t", "d")
    handle = listed.partition("drop # handle ")[2].split()[0]
    script = "\n".join(lines).replace("HANDLE", handle)

    assert inside("nft", "-f", "-", text=f"{script}\n") != "!"
    rules = inside("nft", "list", "chain", "inet", "t", "c").splitlines()[2:-2]
    assert rules[place].strip() == "accept"


@pytest.mark.parametrize(
    ("noflush", "before", "kept"),
    [(False, "", True), (True, "", True), (True, ":U - [0:0]\n", False)],
)
def test_iptables_nft_may_keep_what_the_file_adds(
    before: str, inside: Callable[..., str], *, noflush: bool, kept: bool
) -> None:
    """`-F` of all chains, below a rule of the same file: a new or emptied table keeps it."""
    restore, option = "iptables-nft-restore", ["-n"] * noflush
    if before:
        inside(restore, text=f"*filter\n{before}COMMIT\n")
    held = read_node(("iptables-nft-save", inside("iptables-nft-save")))
    text = "*filter\n:U - [0:0]\n-A U -j RETURN\n-F\nCOMMIT\n"

    assert inside(restore, *option, text=text) != "!"
    assert ("-A U -j RETURN" in inside("iptables-nft-save")) is kept
    assert predict(held, text, noflush=noflush)[1]
