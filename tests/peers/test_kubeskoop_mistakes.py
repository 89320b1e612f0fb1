"""What the nearest peer gets wrong, each as a small ruleset through the public way: text, case,
conversation.

kubeskoop walks iptables too; its known mistakes are listed in this order: negations ignored, MARK
taken for a verdict, NAT that does not rewrite, nested chains that do not return, interface
wildcards, unknown matches that void a ruleset, no reply path and no reverse-path filter, and only
its own plugins' interface names.
"""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Conversation, Dropped, Trace
from podpath.net.probe import Probe
from podpath.report.sentences import spell_reason
from tests.assembly.evidence_text import Output, case_of

POD, OUTSIDE, UPLINK = "10.65.0.2", "198.51.100.7", "192.0.2.10"

ADDRESSES = f"""
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:42:c0:00:02:0a brd ff:ff:ff:ff:ff:ff
    inet {UPLINK}/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
7: DEVICE: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether ee:ee:ee:ee:ee:ee brd ff:ff:ff:ff:ff:ff link-netnsid 0
"""
ROUTES = f"""
default via 192.0.2.1 dev eth0
{POD} dev DEVICE scope link
192.0.2.0/24 dev eth0 proto kernel scope link src {UPLINK}
"""
SYSCTLS = """
net.ipv4.ip_forward = 1
net.ipv4.conf.all.rp_filter = STRICT
net.ipv4.conf.eth0.rp_filter = 0
net.ipv4.conf.DEVICE.rp_filter = 0
"""


def connect(  # noqa: PLR0913  # each argument is one thing that a test varies
    filters: str = "", *, nat: str = "", mangle: str = "", device: str = "cali5e0a", strict: bool = False, routes: str = "",  # noqa: E501
    probe: str = f"tcp {POD} > {OUTSIDE}:80",
) -> Conversation:  # fmt: skip
    """Walk a connection through a node with these rules: a pod behind `device`, and an uplink."""
    tables = {"mangle": mangle, "nat": nat, "filter": filters}
    save = "".join(f"*{name}\n{rules.strip()}\nCOMMIT\n" for name, rules in tables.items())

    def fill(text: str) -> str:
        return text.replace("DEVICE", device).replace("STRICT", "1" if strict else "0")

    case = case_of(
        Output("ip addr", fill(ADDRESSES)),
        Output("ip route", fill(ROUTES) + routes),
        Output("sysctl -a", fill(SYSCTLS)),
        Output("iptables-save", fill(save)),
    )
    return converse(case.node, Probe.parse(probe.format(device=device)))


def last(conversation: Conversation) -> Trace:
    """Return the trace that ended the conversation, under the likeliest answers."""
    return conversation.branches[0].last


def deciding_line(conversation: Conversation) -> str:
    """Return the line that decided it."""
    return last(conversation).deciding.spans[0].text


@pytest.mark.parametrize(
    ("match", "dropped"),
    [
        (f"! -s {POD}", False), (f"! -d {OUTSIDE}", False), ("! -i DEVICE", False), ("! -o eth0", False), ("! -p tcp", False),  # noqa: E501
        ("-p tcp -m tcp ! --dport 80", False), ("-m conntrack ! --ctstate NEW", False), ("-m mark ! --mark 0x0", False),  # noqa: E501
        ("! -s 10.99.0.0/16", True), ("! -d 10.99.0.0/16", True), ("! -i eth0", True), ("! -o lo", True), ("! -p udp", True),  # noqa: E501
        ("-p tcp -m tcp ! --dport 443", True), ((
            "-m conntrack ! --ctstate "
            "INVALID"
        ), True), ("-m mark ! --mark 0x1", True),
    ],
)  # fmt: skip
def test_negated_matches_are_honoured(match: str, *, dropped: bool) -> None:
    """`!` turns each kind of match round, whether the plain match would hold or not."""
    syn = connect(f":FORWARD ACCEPT [0:0]\n-A FORWARD {match} -j DROP").branches[0].traces[0]

    assert isinstance(syn.outcome, Dropped) == dropped


def test_mark_does_not_end_the_table() -> None:
    """MARK sets the mark, and the next rule is asked."""
    conversation = connect(
        ":FORWARD ACCEPT [0:0]\n-A FORWARD -j MARK --set-mark 0x1\n"
        "-A FORWARD -m mark --mark 0x1 -j DROP"
    )

    assert (conversation.verdict, deciding_line(conversation)) == (
        "NEVER",
        "-A FORWARD -m mark --mark 0x1 -j DROP",
    )


def test_dnat_rewrites_and_the_reply_is_translated_back() -> None:
    """A service's address is rewritten to its endpoint's on the way out, and back on the way in."""
    service = "10.96.0.80"
    conversation = connect(
        nat=":PREROUTING ACCEPT [0:0]\n"
        f"-A PREROUTING -d {service}/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination "
        f"{OUTSIDE}:8080",
        probe=f"tcp {POD} > {service}:80",
    )
    syn, answer = conversation.branches[0].traces[:2]
    left, back = syn.steps[-1].after, answer.steps[-1].after

    assert conversation.verdict == "ALWAYS"
    assert (OUTSIDE, 8080) == (str(left.dst), left.dport)
    assert (service, 80) == (str(back.src), back.sport)


@pytest.mark.parametrize("target", [f"SNAT --to-source {UPLINK}", "MASQUERADE"])
def test_snat_rewrites_and_the_reply_finds_its_way(target: str) -> None:
    """The source is rewritten as the packet leaves; the reply comes to the node and goes on to the
    pod.
    """
    conversation = connect(
        nat=f":POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s {POD}/32 -o eth0 -j {target}"
    )
    syn, answer = conversation.branches[0].traces[:2]

    assert conversation.verdict == "ALWAYS"
    assert str(syn.steps[-1].after.src) == UPLINK
    assert (UPLINK, POD) == (str(answer.packet.dst), str(answer.steps[-1].after.dst))


def test_nested_chains_return_to_their_caller() -> None:
    """After a chain that decided nothing, and after RETURN, the caller goes on with its next
    rule.
    """
    conversation = connect(
        ":FORWARD ACCEPT [0:0]\n:ONE - [0:0]\n:TWO - [0:0]\n"
        "-A FORWARD -j ONE\n-A FORWARD -p tcp -j DROP\n"
        "-A ONE -j TWO\n-A ONE -p udp -j ACCEPT\n"
        "-A TWO -p tcp -j RETURN\n-A TWO -j ACCEPT"
    )

    assert (conversation.verdict, deciding_line(conversation)) == (
        "NEVER",
        "-A FORWARD -p tcp -j DROP",
    )


def test_goto_returns_to_the_callers_caller() -> None:
    """`-g` leaves no way back to the chain that it stands in."""
    conversation = connect(
        ":FORWARD ACCEPT [0:0]\n:ONE - [0:0]\n:TWO - [0:0]\n"
        "-A FORWARD -j ONE\n-A ONE -g TWO\n-A ONE -j DROP\n-A TWO -p udp -j DROP"
    )

    assert conversation.verdict == "ALWAYS"


def test_a_wildcard_of_interfaces_matches() -> None:
    """`-i cali+` is every device whose name begins so, and no other."""
    rules = ":FORWARD DROP [0:0]\n-A FORWARD -i cali+ -j ACCEPT\n-A FORWARD -o cali+ -j ACCEPT"

    assert connect(rules, device="cali5e0a").verdict == "ALWAYS"
    assert connect(rules, device="veth5e0a").verdict == "NEVER"


def test_an_unknown_match_does_not_void_the_ruleset() -> None:
    """Rules before and after one that nobody knows keep their meaning."""
    before = connect(
        ":FORWARD ACCEPT [0:0]\n-A FORWARD -p tcp -j DROP\n"
        "-A FORWARD -m quantum --spin up -j ACCEPT"
    )
    after = connect(
        ":FORWARD ACCEPT [0:0]\n-A FORWARD -p udp -m quantum --spin up -j ACCEPT\n"
        "-A FORWARD -p tcp -j DROP"
    )

    assert ("NEVER", "-A FORWARD -p tcp -j DROP") == (before.verdict, deciding_line(before))
    assert ("NEVER", "-A FORWARD -p tcp -j DROP") == (after.verdict, deciding_line(after))


def test_an_unknown_match_that_matters_forks_the_walk() -> None:
    """Where it decides, both answers are walked, and the assumption says which rule it is about."""
    conversation = connect(":FORWARD ACCEPT [0:0]\n-A FORWARD -p tcp -m quantum --spin up -j DROP")
    assumed = {
        assumption.fact for branch in conversation.branches for assumption in branch.assumptions
    }

    assert {True, False} == {branch.works for branch in conversation.branches}
    assert any("quantum" in fact for fact in assumed)


def test_an_unknown_target_forks_or_is_undecided_and_is_named() -> None:
    """A target that nobody knows never counts as a verdict in silence."""
    conversation = connect(":FORWARD ACCEPT [0:0]\n-A FORWARD -p tcp -j TELEPORT --to mars")
    said = {
        assumption.fact for branch in conversation.branches for assumption in branch.assumptions
    }
    said |= {
        spell_reason(step.reason)
        for branch in conversation.branches
        for trace in branch.traces
        for step in trace.steps
    }

    assert any("TELEPORT" in sentence for sentence in said)


def test_the_reply_path_is_walked() -> None:
    """A rule that drops only what comes back breaks the connection at its second packet."""
    conversation = connect(
        ":FORWARD ACCEPT [0:0]\n-A FORWARD -i eth0 -p tcp -m tcp --sport 80 -j DROP"
    )

    assert (conversation.verdict, last(conversation).direction, last(conversation).name) == (
        "NEVER",
        "reply",
        "SYN-ACK",
    )


def test_the_reverse_path_filter_is_walked() -> None:
    """A source whose way back leads elsewhere is dropped under strict filtering, and only there."""
    elsewhere = "10.65.9.0/24 via 192.0.2.77 dev eth0\n"
    probe = f"tcp 10.65.9.4 > {OUTSIDE}:80 in {{device}}"
    strict, off = (connect(strict=mode, routes=elsewhere, probe=probe) for mode in (True, False))
    outcome = last(strict).outcome

    assert isinstance(outcome, Dropped)
    assert ("NEVER", "IP_RPFILTER") == (strict.verdict, outcome.reason)
    assert last(off).deciding.stage != last(strict).deciding.stage


@pytest.mark.parametrize(
    "device",
    ["cali5e0a", "lxc88a1", "veth0b2c3d", "vnet0", "tap1.100", "enP2p1s0", "nic-of-pod", "π0"],
)
def test_any_interface_name_is_accepted(device: str) -> None:
    """What a device is called tells nothing: what it is stands in the evidence."""
    conversation = connect(
        ":FORWARD DROP [0:0]\n-A FORWARD -i DEVICE -j ACCEPT\n-A FORWARD -o DEVICE -j ACCEPT",
        device=device,
    )

    assert conversation.verdict == "ALWAYS"
