"""A change that is predicted is the change that the kernel makes: the same file is loaded in a
network namespace, and what is there afterwards is compared rule by rule.
"""

from __future__ import annotations

import random
import secrets
import subprocess
from collections.abc import Callable, Iterator

import pytest

from podpath.assembly.case import assemble_case
from podpath.assembly.planned.change import assemble_change
from podpath.evidence.planned.files import read_change
from podpath.evidence.recognition import read as read_source
from podpath.net.provenance import Known, Source
from podpath.node.alteration import apply_changes
from podpath.node.nftables_text import emit_rule
from podpath.node.node import Node

pytestmark = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "nft")
FILES = 12
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


def draw_rules(chance: random.Random) -> str:
    """Draw a file for iptables-restore."""
    users = chance.sample(USERS, chance.randint(0, 3))
    bases = chance.sample(BASES, chance.randint(0, 3))
    lines = ["*filter"]
    lines += [f":{base} {chance.choice(('ACCEPT', 'DROP'))} [0:0]" for base in bases]
    lines += [f":{user} - [0:0]" for user in users]
    for number in range(chance.randint(0, 6)):
        chain = chance.choice((*bases, *users, "FORWARD"))
        target = chance.choice(("ACCEPT", "DROP", "RETURN"))
        lines.append(f"-A {chain} -s 10.0.{number}.{chance.randint(1, 9)}/32 -j {target}")
    return "\n".join([*lines, "COMMIT", ""])


def chains_of(node: Node) -> dict[str, object]:
    """Return what the tables of iptables hold."""
    found: dict[str, object] = {}
    for table in node.host.netfilter[4].tables:
        for name, fact in table.chains.items():
            assert isinstance(fact, Known)
            rules = [rule[4:12] for rule in fact.value.rules]
            found[f"{table.name} {name}"] = (fact.value.policy, rules)
    return found


@pytest.mark.parametrize("flavour", ["nft", "legacy"])
def test_iptables_restore(
    flavour: str, inside: Callable[..., str], say: Callable[[str], None]
) -> None:
    """What drawn files leave in the kernel is what they leave in the model, one after the other."""
    seed = secrets.randbelow(1 << 40)
    say(f"seed {seed}")
    chance = random.Random(seed)
    save, restore = f"iptables-{flavour}-save", f"iptables-{flavour}-restore"
    inside(f"iptables-{flavour}", "-P", "FORWARD", "ACCEPT")
    for _ in range(FILES):
        text, noflush = draw_rules(chance), chance.random() < 0.6
        before = read_node((save, inside(save)))

        predicted, refused = predict(before, text, noflush=noflush)
        loaded = inside(restore, *(["-n"] if noflush else []), text=text)

        assert (loaded == "!") is refused, text
        if not refused:
            assert chains_of(read_node((save, inside(save)))) == chains_of(predicted), text


def draw_script(chance: random.Random) -> str:
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
                    f"add table {table}",
                    f"add chain {table} {chain}",
                    f"add rule {table} {chain} {rule}",
                    f"insert rule {table} {chain} {rule}",
                    f"flush chain {table} {chain}",
                    f"flush table {table}",
                    f"delete table {table}",
                )
            )
        )
    return "\n".join([*lines, ""])


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
    seed = secrets.randbelow(1 << 40)
    say(f"seed {seed}")
    chance = random.Random(seed)
    show = ("nft", "-a", "list", "ruleset")
    loads = 0
    first = "table inet t { chain c { type filter hook forward priority 0; }; }\n"
    for _ in range(4 * FILES):
        text = draw_script(chance)
        listed = inside(*show)
        if not listed:  # What prints nothing shows nothing: nobody knows then what is there.
            inside("nft", "-f", "-", text=first)
            listed = inside(*show)
        before = read_node((" ".join(show), listed))

        predicted, refused = predict(before, text)
        loaded = inside("nft", "-f", "-", text=text)

        assert (loaded == "!") is refused, text
        if not refused:
            loads += 1
            after = read_node((" ".join(show), inside(*show)))
            assert tables_of(after) == tables_of(predicted), text
    assert loads
