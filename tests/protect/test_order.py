"""The order of jumps on real iptables, in both backends: told, moved in one transaction, never
doubled, and fought over.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from podpath.collect.netns import inside
from podpath.net.tables import TableError, parse_tables
from podpath_protect.agent.keeper import AgentFinding, ThreadKeeper
from podpath_protect.apply import Applier
from podpath_protect.order.chains import BaseChain, find_disorder, parse_listing
from podpath_protect.order.guard import OrderGuard
from podpath_protect.order.keeper import keep_order
from podpath_protect.order.listings import legacy_tables, list_chain
from podpath_protect.order.moving import check_move, emit_script
from podpath_protect.order.options import OrderOptions, gather_rules
from podpath_protect.order.rules import OrderRule, load_rules

NAME = f"psy-order-{os.getpid()}"
HANDLE = f"/run/netns/{NAME}"
FEEDER = ("-m", "comment", "--comment", "cilium-feeder: CILIUM_FORWARD", "-j", "CILIUM_FORWARD")
KUBE = ("-m", "comment", "--comment", "kubernetes forwarding rules", "-j", "KUBE-FORWARD")
BOTH = pytest.mark.parametrize(
    "program", ["iptables-nft", "iptables-legacy", "ip6tables-nft", "ip6tables-legacy"]
)
PLACE = BaseChain("nft", "ipv4", "filter", "FORWARD")
FORWARD = next(rule for rule in load_rules() if rule.name == "cilium-forward")


@pytest.fixture
def namespace() -> Iterator[None]:
    """Make a namespace."""
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    yield
    subprocess.run(["ip", "netns", "delete", NAME], check=True)


def command(*arguments: str) -> str:
    """Run a command in the namespace."""
    done = subprocess.run(
        ["ip", "netns", "exec", NAME, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def start_kube_proxy_after_cilium(program: str) -> None:
    """Do what both do when they start, in the order that breaks the path: each puts its jump at the
    top.
    """
    for chain in ("CILIUM_FORWARD", "KUBE-FORWARD", "KUBE-SERVICES"):
        command(program, "-N", chain)
    command(program, "-A", "FORWARD", "-p", "tcp", "--dport", "9", "-j", "DROP")
    command(program, "-I", "FORWARD", *FEEDER)
    command(program, "-I", "FORWARD", "-m", "conntrack", "--ctstate", "NEW", "-j", "KUBE-SERVICES")
    command(program, "-I", "FORWARD", *KUBE)


def targets(program: str) -> list[str]:
    """Return the targets of FORWARD in order."""
    return [
        line.split("-j ")[1]
        for line in command(program, "-S", "FORWARD").split("\n")
        if "-j " in line
    ]


def protect(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Run the command in the namespace, and give its exit code and its JSON."""
    done = subprocess.run(
        [
            "ip", "netns", "exec", NAME, sys.executable, "-m", "podpath", "protect", "order",
            "--json", *arguments,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(
        found,
        json.loads(
            (resources.files("podpath.report") / "schema/order-v1.json").read_text(encoding="utf-8")
        ),
    )
    return done.returncode, found


@pytest.mark.parity("G22")
@pytest.mark.kernel("iptables-nft", "iptables-legacy")
@pytest.mark.usefixtures("namespace")
@BOTH
def test_a_jump_that_comes_too_late_is_told(program: str) -> None:
    """The two rules are quoted with their numbers, with why it matters and the commands that mend
    it; nothing is changed.
    """
    start_kube_proxy_after_cilium(program)
    before = command(program, "-S")
    code, found = protect()

    (finding,) = [each for each in found["findings"] if each["check"] == "jump-order"]
    assert code == 1
    assert finding["subject"] == f"cilium-forward in {program}"
    assert "conntrack calls INVALID" in finding["claim"]
    assert finding["evidence"][0].startswith(f"{program} -t filter -S FORWARD: rule 1: -A FORWARD")
    assert command(program, "-S") == before


@pytest.mark.kernel("iptables-nft", "iptables-legacy")
@pytest.mark.usefixtures("namespace")
@BOTH
def test_it_is_moved_and_never_doubled(program: str) -> None:
    """After the move the same rules are there, the others in their order; a second run moves
    nothing.
    """
    start_kube_proxy_after_cilium(program)
    code, found = protect("--fix")

    assert (code, [move["state"] for move in found["moves"]]) == (0, ["done"])
    assert targets(program) == ["CILIUM_FORWARD", "KUBE-FORWARD", "KUBE-SERVICES", "DROP"]
    assert protect("--fix") == (0,
                                {
                                    "schema": "podpath/order/v1", "holds": True,
                                    "chains": found["chains"], "moves": [], "findings": [],
                                })  # fmt: skip


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_the_proposed_commands_mend_it() -> None:
    """What a person is told to type does what --fix does."""
    start_kube_proxy_after_cilium("iptables-nft")
    for line in protect()[1]["findings"][0]["mend"]:
        subprocess.run(["ip", "netns", "exec", NAME, "sh", "-c", line], check=True)

    assert targets("iptables-nft") == ["CILIUM_FORWARD", "KUBE-FORWARD", "KUBE-SERVICES", "DROP"]


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_a_dry_run_shows_the_script_and_changes_nothing() -> None:
    """The transaction is shown whole."""
    start_kube_proxy_after_cilium("iptables-nft")
    before = command("iptables-nft", "-S")
    code, found = protect("--dry-run")

    assert (code, found["moves"][0]["state"]) == (1, "would")
    assert found["moves"][0]["script"].split("\n")[0::3] == ["*filter", "COMMIT"]
    assert command("iptables-nft", "-S") == before


def text(*arguments: str) -> tuple[int, str, str]:
    """Run the command in the namespace without --json, and give its exit code and what it
    printed.
    """
    done = subprocess.run(
        [
            "ip", "netns", "exec", NAME, sys.executable, "-m", "podpath", "protect", "order",
            *arguments,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_the_text_says_what_is_wrong_and_what_was_done() -> None:
    """Told, moved with the script shown, in order; an unknown rule to leave out is a usage
    error.
    """
    start_kube_proxy_after_cilium("iptables-nft")
    code, shown, _ = text()
    assert code == 1
    assert (
        "error: in FORWARD the jump to CILIUM_FORWARD stands behind that to KUBE-FORWARD" in shown
    )
    assert "  mend: iptables-nft -t filter -D FORWARD -m comment" in shown
    assert text("--leave-out", "cilium-forward")[0] == 0
    code, shown, _ = text("--fix")
    assert (code, "done: cilium-forward in iptables-nft\n    *filter\n    -D FORWARD" in shown) == (
        0,
        True,
    )
    assert "base chains are in order" in text()[1]
    assert (
        "cilium-forward: filter FORWARD: CILIUM_FORWARD before KUBE-FORWARD" in text("--rules")[1]
    )
    code, shown, complained = text("--leave-out", "nope")
    assert (code, shown, complained.count("\n")) == (2, "", 1)


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_several_chains_are_put_right_at_once() -> None:
    """Filter and nat, each of its own accord; a chain with an older copy of a jump keeps all its
    rules.
    """
    start_kube_proxy_after_cilium("iptables-nft")
    for chain in ("CILIUM_POST_nat", "KUBE-POSTROUTING"):
        command("iptables-nft", "-t", "nat", "-N", chain)
    command("iptables-nft", "-t", "nat", "-A", "POSTROUTING", "-j", "KUBE-POSTROUTING")
    command("iptables-nft", "-t", "nat", "-A", "POSTROUTING", "-j", "CILIUM_POST_nat")
    command("iptables-nft", "-A", "FORWARD", *FEEDER)

    code, found = protect("--fix")

    assert (code, len(found["moves"])) == (0, 2)
    assert targets("iptables-nft") == [
        "CILIUM_FORWARD",
        "KUBE-FORWARD",
        "KUBE-SERVICES",
        "DROP",
        "CILIUM_FORWARD",
    ]


@pytest.mark.kernel("iptables-nft", "iptables-legacy")
@pytest.mark.usefixtures("namespace")
def test_jumps_in_two_backends_are_told_apart() -> None:
    """No move can mend that: the order is that of the hooks."""
    command("iptables-legacy", "-N", "KUBE-FORWARD")
    command("iptables-legacy", "-A", "FORWARD", *KUBE)
    command("iptables-nft", "-N", "CILIUM_FORWARD")
    command("iptables-nft", "-A", "FORWARD", *FEEDER)
    code, found = protect("--fix")

    assert (code, [each["check"] for each in found["findings"]], found["moves"]) == (
        0,
        ["jump-order-split"],
        [],
    )


@pytest.mark.kernel("iptables-nft", "iptables-legacy")
@pytest.mark.usefixtures("namespace")
def test_looking_makes_no_tables() -> None:
    """iptables-legacy would make a table by listing it, so it is not asked for what is not
    there.
    """
    protect("--fix")

    with inside(HANDLE):
        assert (legacy_tables("ipv4"), legacy_tables("ipv6")) == (frozenset(), frozenset())
    assert not command("nft", "list", "ruleset")


@pytest.mark.kernel("iptables-nft", "capsh")
@pytest.mark.usefixtures("namespace")
def test_a_missing_capability_is_named() -> None:
    """Without CAP_NET_ADMIN nothing can be listed, and that is what it says."""
    done = subprocess.run(
        ["ip", "netns", "exec", NAME, "capsh", "--drop=cap_net_admin", "--", "-c",
         f"{sys.executable} -m podpath protect order --json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)

    assert done.returncode == 1
    assert found["findings"][0]["claim"].startswith("CAP_NET_ADMIN is missing: listing rules")


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_the_keeper_moves_within_moments_and_says_when_it_is_fought() -> None:
    """A jump put at the top again and again is moved back ever more slowly, and the rival is
    named.
    """
    start_kube_proxy_after_cilium("iptables-nft")
    keeper = ThreadKeeper(
        "order", lambda context: keep_order(context, OrderOptions(mode="fix", poll=60.0), Applier())
    )
    with inside(HANDLE):
        keeper.start()
    fought: tuple[AgentFinding, ...] = ()
    try:
        began, end = time.monotonic(), time.monotonic() + 90
        while not fought and time.monotonic() < end:
            if targets("iptables-nft")[0] == "CILIUM_FORWARD":
                if began:
                    assert time.monotonic() - began < 30
                    began = 0.0
                command("iptables-nft", "-D", "FORWARD", *KUBE)
                command("iptables-nft", "-I", "FORWARD", *KUBE)
            time.sleep(0.05)
            fought = tuple(
                each for each in keeper.status().findings if each.check == "jump-order-fought"
            )
    finally:
        keeper.stop()

    assert "kube-proxy, which puts its jumps at the top" in fought[0].claim


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_watching_goes_on_until_a_signal() -> None:
    """A jump that is put at the top while it watches is moved back; the exit code is that of the
    last look.
    """
    arguments = [sys.executable, "-m", "podpath", "protect", "order", "--fix", "--watch", "--json"]
    watching = subprocess.Popen(
        ["ip", "netns", "exec", NAME, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert watching.stdout is not None
    with watching.stdout:
        assert json.loads(watching.stdout.readline())["holds"]
        start_kube_proxy_after_cilium("iptables-nft")
        assert json.loads(watching.stdout.readline())["holds"]
        end = time.monotonic() + 60
        while targets("iptables-nft")[0] != "CILIUM_FORWARD" and time.monotonic() < end:
            time.sleep(0.05)
        assert targets("iptables-nft")[0] == "CILIUM_FORWARD"
        watching.terminate()
        assert watching.wait(60) == 0


@pytest.mark.kernel("iptables-nft")
@pytest.mark.usefixtures("namespace")
def test_a_rule_that_is_gone_meanwhile_changes_nothing() -> None:
    """The transaction fails as a whole, and says so; the chain is as the other left it."""
    start_kube_proxy_after_cilium("iptables-nft")
    with inside(HANDLE):
        (disorder,) = find_disorder((FORWARD,), (list_chain(PLACE, Applier()),))
        command("iptables-nft", "-D", "FORWARD", *FEEDER)
        move = OrderGuard((FORWARD,), Applier(), mend=True)._move(disorder, 0.0)

    assert move.state == "refused"
    assert targets("iptables-nft") == ["KUBE-FORWARD", "KUBE-SERVICES", "DROP"]


LISTING = """-P FORWARD ACCEPT
-A FORWARD -i eth0 -m comment --comment "says -j CILIUM_FORWARD" -j ACCEPT
-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-A FORWARD -m comment --comment "cilium-feeder: CILIUM_FORWARD" -j CILIUM_FORWARD
"""


def test_a_comment_is_no_jump() -> None:
    """Targets are read, not searched for in the text."""
    listing = parse_listing(LISTING, PLACE)
    (disorder,) = find_disorder((FORWARD,), (listing,))

    assert [line.target for line in listing.lines] == ["ACCEPT", "KUBE-FORWARD", "CILIUM_FORWARD"]
    assert (disorder.late.number, disorder.early.number) == (3, 2)
    assert emit_script(disorder) == (
        '*filter\n-D FORWARD -m comment --comment "cilium-feeder: CILIUM_FORWARD" -j '
        'CILIUM_FORWARD\n-I FORWARD 2 -m comment --comment "cilium-feeder: CILIUM_FORWARD" -j '
        "CILIUM_FORWARD\nCOMMIT\n"
    )


def test_a_comment_cannot_give_a_person_a_command() -> None:
    """What stands in a rule's comment reaches a shell as one word."""
    comment = "$(reboot) `id` it's; x"
    (disorder,) = find_disorder(
        (FORWARD,),
        (parse_listing(LISTING.replace("cilium-feeder: CILIUM_FORWARD", comment), PLACE),),
    )

    assert shlex.split(disorder.late.arguments) == [
        "-m",
        "comment",
        "--comment",
        comment,
        "-j",
        "CILIUM_FORWARD",
    ]
    assert "'$(reboot) `id` it'" in disorder.late.arguments


def test_the_chain_after_a_move_is_compared() -> None:
    """The same rules in the order that was asked for; anything else is said."""
    before = parse_listing(LISTING, PLACE)
    (disorder,) = find_disorder((FORWARD,), (before,))
    lines = LISTING.rstrip("\n").split("\n")
    good = parse_listing("\n".join([*lines[:2], lines[3], lines[2]]), PLACE)
    doubled = parse_listing("\n".join([*lines[:2], lines[3], lines[2], lines[3]]), PLACE)
    elsewhere = parse_listing("\n".join([lines[0], lines[3], lines[1], lines[2]]), PLACE)

    assert check_move(before, good, disorder) == ""
    assert check_move(before, doubled, disorder).startswith(
        "the chain changed while the jump was moved: gone [], new ["
    )
    assert (
        check_move(before, elsewhere, disorder)
        == "the chain has the same rules, and not in the order that was asked for"
    )


def test_a_chain_that_is_not_understood_is_left_alone() -> None:
    """A rule that cannot be read would be counted wrongly, so nothing is moved by number."""
    listing = parse_listing(LISTING + "-A FORWARD -m comment --comment unclosed\\", PLACE)

    assert listing.lines
    assert parse_listing("-A FORWARD nonsense -j", PLACE).unread


def test_every_known_order_has_its_reason_and_source() -> None:
    """The rules are evidence too."""
    assert [] == [
        rule.name for rule in load_rules() if not (rule.why and rule.source and rule.rival)
    ]
    assert len({rule.name for rule in load_rules()}) == len(load_rules())


def test_own_rules_join_and_replace() -> None:
    """A configuration adds rules, replaces one by its name and leaves one out."""
    own = OrderRule(name="mine", chain="FORWARD", first="MY-FIRST", then=("KUBE-FORWARD",))
    options = OrderOptions(rule=(own,), leave_out=("cilium-input",))
    names = {rule.name for rule in gather_rules(options)}

    assert own in gather_rules(options)
    assert "cilium-input" not in names
    with pytest.raises(ValueError, match="built-in rules"):
        OrderOptions(leave_out=("nope",))


@pytest.mark.parametrize(
    "text",
    [
        'first = "-F"\nthen = ["B"]',
        'first = "A"\nthen = []',
        'first = "A"\nthen = ["A"]',
        'first = "A"\nthen = ["B"]\ntable = "x"',
    ],
)
def test_names_that_could_be_options_are_refused(text: str) -> None:
    """What becomes an argument of iptables is a chain's name and nothing else."""
    with pytest.raises(TableError, match=r"agent\.toml:1: expected"):
        parse_tables(f'name = "n"\nchain = "FORWARD"\n{text}', "agent.toml", OrderRule)


def test_a_folder_without_tables(tmp_path: Path) -> None:
    """Where the kernel has no legacy iptables there are no tables."""
    assert legacy_tables("ipv4", tmp_path) == frozenset()
