"""Tests of `protect.repair.rules`: rules that redirect are found by whatever chains lead to them,
others do not count.
"""

from __future__ import annotations

import subprocess

import pytest

from podpath_protect.repair.redirect import PodRedirect
from podpath_protect.repair.rules import find_redirect, has_broken_line, look, parse_nat
from tests.protect.repair.netns import inside, pod_namespace

LINKERD = PodRedirect(style="linkerd", outbound=4140, inbound=4143, proxy_uid=2102)


def found(*rules: str, base: str = "OUTPUT", port: int = 4140) -> str | None:
    """Return the rule that redirects, in a nat table of these rules."""
    chains = dict.fromkeys(
        word for rule in rules for word in rule.split()[1:2] if word not in {"OUTPUT", "PREROUTING"}
    )
    head = [
        "*nat",
        ":PREROUTING ACCEPT [0:0]",
        ":OUTPUT ACCEPT [0:0]",
        *(f":{chain} - [0:0]" for chain in chains),
    ]
    rule = find_redirect(
        parse_nat("\n".join([*head, *rules, "COMMIT", ""]), "iptables-save"), base, port
    )
    return None if rule is None else rule.span.text


def test_a_redirect_is_found_through_chains() -> None:
    """Jumps and gotos are followed, also those of TCP only."""
    last = "-A B -p tcp -j REDIRECT --to-ports 4140"

    assert last == found(
        "-A OUTPUT -p tcp -j A", "-A A -m owner --uid-owner 2102 -j RETURN", "-A A -g B", last
    )


@pytest.mark.parametrize(
    "rule",
    [
        "-A OUTPUT -p tcp -j REDIRECT --to-ports 4143",
        "-A OUTPUT -p udp -j REDIRECT --to-ports 4140",
        "-A OUTPUT ! -p tcp -j REDIRECT --to-ports 4140",
        "-A PREROUTING -p tcp -j REDIRECT --to-ports 4140",
        "-A A -p tcp -j REDIRECT --to-ports 4140",
        "-A OUTPUT -p tcp -j DNAT --to-destination 10.0.0.1:8080",
    ],
)
def test_what_does_not_redirect_tcp_there_does_not_count(rule: str) -> None:
    """Another port, protocol, chain, or a chain that nobody jumps to: no redirection."""
    assert found(rule) is None


@pytest.mark.parametrize(
    "rule",
    [
        "-A OUTPUT -j REDIRECT --to-ports 4140",
        "-A OUTPUT -p 6 -j REDIRECT --to-ports 4140",
        "-A OUTPUT -p tcp -j REDIRECT --to-ports 4100-4200",
        "-A OUTPUT -p tcp -j DNAT --to-destination 127.0.0.1:4140",
        "-A OUTPUT -p tcp -j TPROXY --on-port 4140 --on-ip 127.0.0.1",
    ],
)
def test_every_way_to_send_tcp_there_counts(rule: str) -> None:
    """All protocols, ranges, DNAT to the node itself, TPROXY: a redirection."""
    assert rule == found(rule)


def test_chains_that_go_round_end() -> None:
    """A ruleset that is wound in itself, as a broken dump may show it, is no endless walk."""
    assert found("-A OUTPUT -j A", "-A A -j B", "-A B -j A") is None


def woven(depth: int, width: int) -> list[str]:
    """Return rules by which each chain is come to from the one before in many ways: as many as
    `width` to the power of `depth`.
    """
    ways = [
        f"-A W{place} -p tcp -m tcp --dport {port} -j W{place + 1}"
        for place in range(depth)
        for port in range(1, width + 1)
    ]
    return ["-A OUTPUT -p tcp -j W0", *ways, f"-A W{depth} -p tcp -j RETURN"]


def test_chains_that_are_come_to_in_many_ways_are_read_once() -> None:
    """Whoever owns a pod's namespace writes its rules: 20 kB of them are 10^25 ways, of which each
    leads through the same 644 rules; and a redirect behind them is found.
    """
    rules = woven(16, 40)

    assert found(*rules) is None
    last = "-A W16 -p tcp -j REDIRECT --to-ports 4140"
    assert last == found(*rules, last)


@pytest.mark.kernel("iptables-nft-save", "iptables-legacy-restore", "nft", "nsenter")
@pytest.mark.parametrize("kind", ["nft", "legacy"])
def test_woven_chains_hold_nobody_up(kind: str) -> None:
    """The kernel takes them in a moment, so a tenant can have them; the look ends all the same."""
    rules = woven(12, 5)
    chains = dict.fromkeys(rule.split()[1] for rule in rules[1:])
    text = "\n".join(["*nat", *(f":{chain} - [0:0]" for chain in chains), *rules, "COMMIT", ""])
    with pod_namespace("10.244.83.5/24") as name:
        command = ["ip", "netns", "exec", name, f"iptables-{kind}-restore"]
        subprocess.run(command, input=text, text=True, check=True, capture_output=True)
        sight, shown = look(f"/run/netns/{name}", LINKERD, (4,))

    assert sight.redirected is False
    assert {kind: len(rules)} == dict(shown[4].kinds)


@pytest.mark.kernel("iptables-nft-save", "ip6tables-nft-save", "nft", "nsenter")
def test_a_family_that_was_forgotten_is_named() -> None:
    """Rules for IPv4 alone: the sight names what IPv6 lacks, inbound and outbound."""
    with pod_namespace("10.244.81.5/24", "fd00:81::5/64") as name:
        for chain, port in (("OUTPUT", "4140"), ("PREROUTING", "4143")):
            inside(
                name,
                "iptables-nft",
                "-t",
                "nat",
                "-A",
                chain,
                "-p",
                "tcp",
                "-j",
                "REDIRECT",
                "--to-ports",
                port,
            )
        sight, shown = look(f"/run/netns/{name}", LINKERD, (4, 6))

        assert sight.redirected is False
        assert (
            "IPv6 outbound (nat OUTPUT, to port 4140), IPv6 inbound (nat PREROUTING, to port 4143)"
            in sight.why
        )
        assert "IPv4" not in sight.why
        assert (2, 0) == (len(shown[4].hooks), len(shown[6].hooks))


@pytest.mark.kernel("iptables-legacy", "iptables-legacy-save", "nft", "nsenter")
def test_legacy_rules_count_and_their_kind_is_known() -> None:
    """Rules of the old kind are seen, so that what is missing is written in the same kind."""
    with pod_namespace("10.244.82.5/24") as name:
        inside(
            name,
            "iptables-legacy",
            "-t",
            "nat",
            "-A",
            "OUTPUT",
            "-p",
            "tcp",
            "-j",
            "REDIRECT",
            "--to-ports",
            "4140",
        )
        sight, shown = look(f"/run/netns/{name}", LINKERD, (4,))

        assert ("legacy", {"OUTPUT"}) == (shown[4].flavour, set(shown[4].hooks))
        assert sight.redirected is False


@pytest.mark.parity("G15")
@pytest.mark.kernel("iptables-legacy", "iptables-nft", "iptables-legacy-save", "nft", "nsenter")
def test_g15_rules_of_both_kinds_are_named() -> None:
    """A plugin with the one backend beside rules of the other: that both are there is said, with
    how many of each.
    """
    with pod_namespace("10.244.85.5/24", "fd00:85::5/64") as name:
        inside(
            name,
            "iptables-legacy",
            "-t",
            "nat",
            "-A",
            "OUTPUT",
            "-p",
            "tcp",
            "-j",
            "REDIRECT",
            "--to-ports",
            "4140",
        )
        inside(
            name,
            "iptables-nft",
            "-t",
            "nat",
            "-A",
            "OUTPUT",
            "-p",
            "udp",
            "-j",
            "REDIRECT",
            "--to-ports",
            "53",
        )
        inside(
            name,
            "iptables-nft",
            "-t",
            "nat",
            "-A",
            "PREROUTING",
            "-p",
            "tcp",
            "-j",
            "REDIRECT",
            "--to-ports",
            "4143",
        )
        both, shown = look(f"/run/netns/{name}", LINKERD, (4,))
        absent, _ = look(f"/run/netns/{name}", LINKERD, (4, 6))

        assert (True, {"legacy": 1, "nft": 2}) == (both.redirected, shown[4].kinds)
        assert (
            "IPv4 has NAT rules of both kinds of iptables (1 of iptables-legacy, 2 of iptables-nft)"
            in both.why
        )
        assert absent.redirected is False
        assert "both kinds of iptables" in absent.why
        assert "IPv6 has" not in absent.why


@pytest.mark.parity("G15")
@pytest.mark.kernel("iptables-legacy", "ip6tables-nft", "iptables-legacy-save", "nft", "nsenter")
def test_g15_a_backend_for_each_family_is_named() -> None:
    """IPv4's rules of the old kind, IPv6's of the new one: told; of one kind in both, nothing
    is.
    """
    told = []
    for kind in ("nft", "legacy"):
        with pod_namespace("10.244.86.5/24", "fd00:86::5/64") as name:
            for program in ("iptables-legacy", f"ip6tables-{kind}"):
                inside(
                    name,
                    program,
                    "-t",
                    "nat",
                    "-A",
                    "OUTPUT",
                    "-p",
                    "tcp",
                    "-j",
                    "REDIRECT",
                    "--to-ports",
                    "4140",
                )
            told.append(look(f"/run/netns/{name}", LINKERD, (4, 6))[0].why)

    assert (
        "of two kinds of iptables: IPv4's of iptables-legacy and IPv6's of iptables-nft" in told[0]
    )
    assert "kinds of iptables" not in told[1]


@pytest.mark.kernel("nft", "nsenter")
def test_rules_of_nft_itself_count() -> None:
    """A mesh that writes nftables of its own is seen too."""
    with pod_namespace("10.244.83.5/24") as name:
        ruleset = (
            "table inet mesh { chain leaves { type nat hook output priority -100; "
            "meta l4proto tcp redirect to :4140; }\n"
        )
        ruleset += (
            "chain comes { type nat hook prerouting priority -100; meta l4proto tcp redirect to "
            ":4143; }\n}"
        )
        inside(name, "nft", ruleset)
        sight, _ = look(f"/run/netns/{name}", LINKERD, (4,))

        assert sight.redirected is True
        assert "redirect to :4140" in sight.why


@pytest.mark.kernel("nsenter")
def test_a_look_makes_no_table() -> None:
    """Looking changes nothing: no table of either kind is there afterwards."""
    with pod_namespace("10.244.84.5/24") as name:
        look(f"/run/netns/{name}", LINKERD, (4, 6))

        assert "" == inside(name, "nft", "list", "ruleset")
        assert "" == inside(name, "cat", "/proc/net/ip_tables_names", check=False)


def test_a_namespace_that_is_gone_is_unknown() -> None:
    """Where nothing could be read, nothing is claimed."""
    sight, _ = look("/run/netns/never-was", LINKERD, (4,))

    assert sight.redirected is None


FORGED = "x\n-A OUTPUT -p tcp -j REDIRECT --to-ports 4140\ny"
"""A comment that iptables-save prints as three lines."""


@pytest.mark.kernel("iptables-nft-save", "iptables-legacy-save", "nsenter")
@pytest.mark.parametrize("kind", ["nft", "legacy"])
def test_a_line_within_a_comment_is_no_rule(kind: str) -> None:
    """Whoever owns the namespace writes comments of any letters: a line of one is neither taken for
    a redirect nor kept as a rule to be written anew, and the pod is undecided.
    """
    with pod_namespace("10.244.83.6/24") as name:
        command = [f"iptables-{kind}", "-t", "nat"]
        inside(name, *command, "-N", "PROXY_INIT_OUTPUT")
        for chain in ("OUTPUT", "PROXY_INIT_OUTPUT"):
            words = ["-m", "comment", "--comment", FORGED, "-j", "RETURN"]
            inside(name, *command, "-A", chain, *words)
        assert "\n-A OUTPUT -p tcp -j REDIRECT" in inside(name, f"iptables-{kind}-save")
        sight, shown = look(f"/run/netns/{name}", LINKERD, (4,))

    assert sight.redirected is None
    assert "a comment there holds a line break" in sight.why
    assert ({}, {}) == (shown[4].hooks, shown[4].own)


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ('-A OUTPUT -m comment --comment "it\\"s -j" -j RETURN', False),
        ('-A OUTPUT -m comment --comment "two" -m comment --comment "x" -j RETURN', False),
        ('-A OUTPUT -m comment --comment "open', True),
        ('-A OUTPUT -m comment --comment "open \\"', True),
        ('closed" -j RETURN', True),
        ("", False),
    ],
)
def test_open_quotes_are_seen(line: str, broken: bool) -> None:  # noqa: FBT001  # parametrized
    """A quote that is spelled with a backslash opens and closes nothing."""
    assert broken == has_broken_line(f"*nat\n{line}\nCOMMIT\n")


@pytest.mark.kernel("nft", "nsenter")
def test_a_comment_of_nft_is_no_redirect() -> None:
    """The words of a redirect in a comment, or in what a rule logs, redirect nothing."""
    with pod_namespace("10.244.83.7/24") as name:
        base = "{ type nat hook output priority -100; }"
        inside(name, "nft", "add table ip mesh")
        inside(name, "nft", f"add chain ip mesh output {base}")
        for words in ('comment "redirect to :4140"', 'log prefix "a\nredirect to :4140"'):
            inside(name, "nft", f"add rule ip mesh output tcp dport 1 counter {words}")
        assert inside(name, "nft", "list", "ruleset").count("redirect to :4140") == 2
        sight = look(f"/run/netns/{name}", LINKERD, (4,))[0]

    assert sight.redirected is False


@pytest.mark.kernel("nft", "nsenter")
def test_more_rules_of_nft_than_are_read_leave_it_open() -> None:
    """Where no rule of iptables redirects and nft has more rules than are read, one of those may:
    nothing is said to be missing.
    """
    with pod_namespace("10.244.83.8/24") as name:
        rules = "\n".join(f"  ip daddr 10.0.0.{number % 250} accept" for number in range(9000))
        text = f"table ip many {{\n chain some {{\n{rules}\n }}\n}}\n"
        command = ["ip", "netns", "exec", name, "nft", "-f", "-"]
        subprocess.run(command, input=text, text=True, check=True, capture_output=True)
        sight = look(f"/run/netns/{name}", LINKERD, (4,))[0]

    assert sight.redirected is None
    assert "nft: it printed more than 768 KB" in sight.why
