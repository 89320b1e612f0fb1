"""Tests of commands that were typed in one line: each prints what is its own."""

from __future__ import annotations

import pytest

from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.documents.document import split_document
from podpath.evidence.documents.shapes import match_shape
from podpath.evidence.documents.steps import find_step, list_steps

DEVICES = """\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.10/24 scope global eth0
"""
ROUTES = "default via 192.0.2.1 dev eth0\n192.0.2.0/24 dev eth0 scope link src 192.0.2.10\n"
NEIGHBOURS = "192.0.2.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE\n192.0.2.7 dev eth0  FAILED\n"
RULES = "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n"
RESOLVER = "nameserver 10.96.0.10\nsearch default.svc.cluster.local\n"
NODES = "NAME   STATUS   ROLES    AGE   VERSION\nn1     Ready    <none>   1d    v1.28.9\n"
PODS = "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   1/1     Running   0          1d\n"


def sources(line: str, *printed: str) -> list[tuple[str | None, str | None, int]]:
    """Return the command, the place and the number of lines of what a line of commands printed."""
    text = f"```\nroot@n1:~# {line}\n{''.join(printed)}```\n"
    found = split_document("t.md", text.splitlines())
    return [(one.command, one.netns, len(one.lines)) for one in found]


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("ip a", ["ip a"]),
        ("ip a; ip r", ["ip a", "ip r"]),
        ("ip a && ip r | grep eth0 ; sudo ip rule", ["ip a", "ip r | grep eth0", "ip rule"]),
        ("nsenter -t 7 -n sh -c 'ip a; ip r'", ["ip a", "ip r"]),
        ("kubectl exec web -- ip a; ip r", ["ip a", "ip r"]),
        ("iptables -S -m comment --comment 'a; b'", ["iptables -S -m comment --comment 'a; b'"]),
    ],
)
def test_a_line_is_cut_into_its_commands(line: str, cut: list[str]) -> None:
    """What a listing is piped through stays with it."""
    assert cut == [step.text for step in list_steps(parse_typed(line))]
    assert () == list_steps(None)


@pytest.mark.parametrize(
    ("line", "printed", "commands"),
    [
        ("ip addr; ip route", (DEVICES, ROUTES), ["ip addr", "ip route"]),
        ("ip route && ip a", (ROUTES, DEVICES), ["ip route", "ip a"]),
        ("ip r; ip n; ip ru", (ROUTES, NEIGHBOURS, RULES), ["ip r", "ip n", "ip ru"]),
        ("ip rule; ip route", (RULES, ROUTES), ["ip rule", "ip route"]),
        ("cat /etc/resolv.conf; ip r", (RESOLVER, ROUTES), ["cat /etc/resolv.conf", "ip r"]),
        ("kubectl get no; kubectl get po", (NODES, PODS), ["kubectl get no", "kubectl get po"]),
    ],
)  # fmt: skip
def test_each_prints_its_own(line: str, printed: tuple[str, ...], commands: list[str]) -> None:
    """The first line that only a later command prints begins its listing."""
    found = sources(line, *printed)

    assert [text.count("\n") for text in printed] == [number for _, _, number in found]
    assert commands[1:] == [command for command, _, _ in found[1:]]
    assert (found[0][0] or "").startswith(commands[0])


def test_a_shell_around_them_is_the_place_of_all() -> None:
    """One that ends with the first command is not that of the next."""
    inner = sources("kubectl exec web -- sh -c 'ip addr; ip route'", DEVICES, ROUTES)
    outer = sources("kubectl exec web -- ip addr; ip route", DEVICES, ROUTES)

    assert ["pod/default/web", "pod/default/web"] == [place for _, place, _ in inner]
    assert ["pod/default/web", None] == [place for _, place, _ in outer]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ip netns exec blue ip rule; ip route", [("ip route", None, 2)]),
        ("ip rule; kubectl exec web -- ip r", [("ip r", "pod/default/web", 2)]),
        (
            "ip netns exec blue ip link set eth0 up; ip route",
            [("ip link set eth0 up; ip route", "blue", 1), ("ip route", None, 2)],
        ),
    ],
)
def test_one_that_printed_nothing_lends_no_place(
    line: str, expected: list[tuple[str | None, str | None, int]]
) -> None:
    """What the next one printed is of the place where that one runs."""
    assert expected == sources(line, ROUTES)


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("ip addr", (DEVICES, ROUTES)),
        ("ip route; ip route show table 7", (ROUTES, ROUTES)),
        ("kubectl get no,po; kubectl get svc", (NODES, PODS)),
        ("true; ip route", (ROUTES,)),
        ("cd /tmp && ip route; ip neigh", (ROUTES,)),
        ("while sleep 1; do ip route; done", (ROUTES, ROUTES)),
        ("for d in a b; do ip neigh show dev $d; done", (NEIGHBOURS, NEIGHBOURS)),
        ("docker exec web ./routes.sh; ip route", (ROUTES,)),
    ],
)
def test_what_the_first_may_have_printed_stays_with_it(line: str, printed: tuple[str, ...]) -> None:
    """Nothing tells where a second listing of the same kind begins."""
    assert 1 == len(sources(line, *printed))


@pytest.mark.parametrize("line", ["./net.sh; ip route", "docker exec web ./net.sh; ip route"])
def test_a_script_may_print_what_stands_below_it(line: str) -> None:
    """Its own lines are not given to a command that runs in another place."""
    places = [place for _, place, _ in sources(line, "done\n", ROUTES)]

    assert {"container web"} == set(places) if "docker" in line else {None} == set(places)


def test_commands_of_a_loop_print_more_than_once() -> None:
    """Also in a shell of its own: no later line is the second command's alone."""
    line = "sudo bash -c 'for n in a b; do ip a; ip r; done'"

    assert 1 == len(list_steps(parse_typed(line)))


def test_a_line_of_nobody_is_the_first_commands() -> None:
    """Where no later command prints such lines, it stays where it stands."""
    steps = list_steps(parse_typed("ip addr; ip route"))
    shape = match_shape("net.ipv4.ip_forward = 1")

    assert shape is not None
    assert find_step(steps, shape, "net.ipv4.ip_forward = 1", ["2: eth0: <UP>"]) is None
