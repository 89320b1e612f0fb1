"""A possible fault becomes certain by a second stated fact that has to do with it, and by nothing
that only looks like one.
"""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.ground import Ground
from podpath.diagnosis.diagnose import diagnose
from podpath.library.given import Pasted
from podpath.library.reading import read_together

RULES = (
    "Mar 02 08:11:01 n1 iptables-restore[612]: iptables-restore v1.8.7 (nf_tables): line 12: "
    "RULE_APPEND failed (No such file or directory): rule in chain FORWARD"
)
FAILED = "Mar 02 08:11:02 n1 systemd[1]: {unit}.service: Failed with result 'exit-code'."
STARTED = "Mar 02 08:11:09 n1 systemd[1]: Started iptables.service - packet filter."
SYSCTL = (
    "Mar 02 08:11:01 n1 dplane[612]: write /proc/sys/net/ipv4/ip_forward: read-only file system"
)
CALL = 'openat(AT_FDCWD, "{path}", O_WRONLY) = -1 {errno}'
DENIED = "agent: open /proc/sys/net/ipv4/ip_forward: permission denied"


def first(*blocks: str, prose: str = "The rules are missing after each boot.") -> Finding:
    """Return the first finding of a ticket with these blocks of lines."""
    fences = "\n\n".join(f"```\n{block}\n```" for block in blocks)
    ticket = Pasted(f"{prose}\n\n{fences}\n", "ticket.md")
    return diagnose(read_together([ticket]).facts).findings[0]


def is_settled(finding: Finding, ground: Ground) -> bool:
    """Tell whether a finding is certain for this reason, with nothing left to ask."""
    settled = ground in finding.reasoning
    assert settled is (finding.certainty == 1)
    assert settled is not bool(finding.asks)
    return settled


@pytest.mark.parametrize(
    ("lines", "settled"),
    [
        ((RULES, FAILED.format(unit="iptables")), True),
        ((RULES, FAILED.format(unit="cups")), False),
        ((RULES, FAILED.format(unit="ipt")), True),
        ((RULES, FAILED.format(unit="ip")), False),
        ((FAILED.format(unit="iptables"), RULES), False),
        ((RULES, FAILED.format(unit="iptables"), STARTED), False),
        ((RULES,), False),
    ],
)
def test_an_error_is_final_where_the_unit_that_does_the_work_failed(
    lines: tuple[str, ...],
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """Not where another unit failed, or the same one before, or where it has started since."""
    found = first("\n".join(lines))

    assert found.check == "ruleset-not-written" or not settled
    assert settled is (found.check == "ruleset-not-written" and is_settled(found, Ground.ENDED))


@pytest.mark.parametrize(
    ("line", "settled"),
    [
        ("Mar 02 08:11:01 n1 dplane[612]: cannot continue without it, exiting", True),
        ("Mar 02 08:11:01 n1 other[99]: cannot continue without it, exiting", False),
        ("Mar 02 08:11:01 n1 dplane[612]: received signal SIGTERM, exiting", False),
        ("Mar 02 08:11:01 n1 dplane[612]: going on without it", False),
    ],
)
def test_an_error_is_final_where_its_program_gives_up(line: str, settled: bool) -> None:  # noqa: FBT001 # a row
    """Not where another program does, or somebody ends it, or it goes on."""
    assert settled is is_settled(first(f"{SYSCTL}\n{line}"), Ground.ENDED)


@pytest.mark.parametrize(
    ("path", "errno", "settled"),
    [
        ("/proc/sys/net/ipv4/ip_forward", "EACCES (Permission denied)", True),
        ("/etc/shadow", "EACCES (Permission denied)", False),
        ("/proc/sys/net/ipv4/ip_forward", "EROFS (Read-only file system)", False),
    ],
)
def test_a_trace_with_the_same_error_of_the_same_thing_settles(
    path: str,
    errno: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """Another file, or another error of the same one, does not."""
    found = first(DENIED, f"$ strace -f agent\n{CALL.format(path=path, errno=errno)}")

    assert settled is is_settled(found, Ground.SAME_ERROR)


@pytest.mark.parametrize(
    ("prose", "settled"),
    [
        ("After boot the rules are missing. Running the same script manually works.", True),
        ("The rules are missing; when I load the rules by hand later on, it works.", True),
        ("The rules are missing. If that is started by hand it succeeds.", True),
        ("The rules are missing. Restarting nginx manually works.", False),
        ("The rules are missing. Running it by hand fails alike.", False),
    ],
)
def test_what_helps_by_hand_failed_for_its_time(prose: str, settled: bool) -> None:  # noqa: FBT001 # a row
    """Another program that is helped by hand says nothing."""
    assert settled is is_settled(first(RULES, prose=prose), Ground.BY_HAND)


LOCKED = (
    "Mar 02 08:11:0{second} n1 kube-proxy[680]: E0302 08:11:0{second}.893976     680 "
    "proxier.go:1595] Failed to execute iptables-restore: failed to open iptables lock "
    "/run/xtables.lock: open /run/xtables.lock: {error}"
)


@pytest.mark.parametrize(
    ("error", "times", "settled"),
    [
        ("is a directory", 2, True),
        ("permission denied", 2, True),
        ("read-only file system", 3, True),
        ("is a directory", 1, False),
        ("resource temporarily unavailable", 2, False),
    ],
)
def test_an_error_that_waiting_does_not_cure_is_final_when_it_comes_again(
    error: str,
    times: int,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """Not the first one, nor one that may pass."""
    lines = [LOCKED.format(second=second, error=error) for second in range(times)]
    found = first("\n".join(lines), prose="Programs resolve no names since the restart.")

    assert settled is is_settled(found, Ground.LASTING)


UPSTREAM = (
    "[ERROR] plugin/errors: 2 example.com. A: read udp 10.244.0.7:43742->192.0.2.53:53: i/o timeout"
)


@pytest.mark.parametrize(
    ("prose", "settled"),
    [
        ("Pods sometimes cannot resolve external names.", True),
        ("Lookups of public domains time out now and then.", True),
        ("Names outside the cluster are not resolved from time to time.", True),
        ("Pods cannot resolve external names.", False),
        ("Names of services are sometimes not resolved.", False),
    ],
)
def test_names_outside_that_fail_at_times_convict_the_upstream(
    prose: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """The way out is open then; where they always fail, it may not be."""
    found = first(UPSTREAM, prose=prose)

    assert settled is (found.check == "upstream-silent" and found.certainty == 1)


def test_an_ending_in_another_document_settles_nothing() -> None:
    """Whose lines these are, and when, is another question there."""
    given = [
        Pasted(f"The rules are missing after each boot.\n\n```\n{RULES}\n```\n", "ticket.md"),
        Pasted(f"```\n{FAILED.format(unit='iptables')}\n```\n", "other.md"),
    ]
    found = diagnose(read_together(given).facts).findings

    assert not any(Ground.ENDED in one.reasoning for one in found)


ENTRY = (
    "udp      17 29 src=<CLIENT A> dst={dst} sport=40112 dport=5514 packets=812 bytes=90122 "
    "[UNREPLIED] src={dst} dst=<CLIENT A> sport=5514 dport=40112 packets=0 bytes=0 mark=0 use=1"
)
SILENT = "Since its pod was replaced the listener gets nothing."


@pytest.mark.parametrize(
    ("prose", "dst", "settled"),
    [
        (SILENT, "<SVC EXT IP>", True),
        (SILENT, "<service address>", True),
        (SILENT, "<LB VIP>", True),
        (SILENT, "<SERVER B>", False),
        ("A table of yesterday.", "<SVC EXT IP>", False),
    ],
)
def test_a_masked_address_may_say_that_it_is_a_services(
    prose: str,
    dst: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """What stands in an address' place names it; where nobody complains it breaks nothing."""
    found = first(ENTRY.format(dst=dst), prose=prose)

    assert found.check == "entry-untranslated"
    assert settled is is_settled(found, Ground.SERVICE_MASKED)


ASKED = "[ERROR] plugin/errors: 2 {question}: read udp 10.9.0.4:41022->192.0.2.53:53: i/o timeout"
OWN = "5571031446621213443.3120771883304210115. HINFO"


@pytest.mark.parametrize(
    ("prose", "question", "settled"),
    [
        ("CoreDNS logs errors when it starts. Pods resolve all names.", OWN, True),
        ("CoreDNS logs errors when it starts. Pods cannot resolve names.", OWN, False),
        ("CoreDNS logs errors. Pods resolve all names.", "example.org. A", False),
    ],
)
def test_only_the_resolvers_own_question_is_unanswered(
    prose: str,
    question: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """Its server answers everybody else; where names fail, too, the question shows no more than
    that.
    """
    found = first(ASKED.format(question=question), prose=prose)

    assert found.check == "upstream-silent"
    assert settled is is_settled(found, Ground.OTHERS_ANSWERED)


FLOOD = "[  812.1] TCP: request_sock_TCP: Possible SYN flooding on port {}. {}"


@pytest.mark.parametrize(
    ("prose", "line", "settled"),
    [
        (
            "Our debug program listens on TCP port 2542. Since the update none connects.",
            FLOOD.format("2542", "Dropping request."),
            True,
        ),
        (
            "Clients cannot connect to 10.0.0.9:2542. The kernel's log:",
            FLOOD.format("0.0.0.0:2542", "Dropping request.  Check SNMP counters."),
            True,
        ),
        ("The service is on TCP port 2542.", FLOOD.format("80", "Dropping request."), False),
        ("Port 2542 accepts nobody.", FLOOD.format("2542", "Sending cookies."), False),
        (
            "Clients cannot connect to 10.0.0.9:443. The log of port 80:",
            FLOOD.format(80, "Dropping request."),
            False,
        ),
    ],
)
def test_a_dropped_request_convicts_the_port_of_which_people_write(
    prose: str,
    line: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """Not another port, nor a kernel that answers by cookies."""
    found = first(line, prose=prose)

    assert settled is (found.check == "listener-overrun" and found.certainty == 1)


PING = "$ {command}\n" + "\n".join(
    f"From 10.0.3.3 icmp_seq={number} Time to live exceeded" for number in (1, 2)
)


@pytest.mark.parametrize(
    ("command", "settled"),
    [
        ("ping 10.0.9.2", True),
        ("ping -c 2 10.0.9.2", True),
        ("ping -t 3 10.0.9.2", False),
        ("ping -c2 -t3 10.0.9.2", False),
    ],
)
def test_a_whole_ttl_ends_in_loops_alone(
    command: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """A ping that is given no TTL starts with 64 hops or more."""
    found = first(PING.format(command=command), prose="10.0.9.2 cannot be reached.")

    assert found.check == "hop-loops"
    assert is_settled(found, Ground.WHOLE_TTL) is settled


@pytest.mark.parametrize(
    ("prose", "settled"),
    [
        ("A single-node cluster; pods cannot resolve names.", True),
        ("k3s on one machine. DNS does not work in pods.", True),
        ("DNS does not work in pods.", False),
        ("A cluster of two nodes; DNS does not work in pods.", False),
    ],
)
def test_on_one_machine_an_answer_passes_by_its_bridge_alone(
    prose: str,
    settled: bool,  # noqa: FBT001 # a row
) -> None:
    """Elsewhere a route back by another node makes the same."""
    reply = ";; reply from unexpected source: 10.42.0.3#53, expected 10.43.0.10#53"
    found = first(f"$ nslookup kubernetes.default\n{reply}", prose=prose)

    assert found.check == "answer-from-elsewhere"
    assert is_settled(found, Ground.ONE_NODE) is settled
