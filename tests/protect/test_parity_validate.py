"""Parity with linkerd's network-validator (rows V) and istio's iptables validation (rows W), on
real rules, without rights.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from podpath.net.errors import UsageError
from podpath_protect.validate.durations import parse_go_duration, parse_linkerd_duration
from tests.protect.pods import Pod, finish, istio, linkerd, pod, run, server, wait_for

KERNEL = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "setpriv")
FAILED = "Please ensure traffic redirection rules are rewriting traffic as expected."


@pytest.fixture
def bare() -> Iterator[Pod]:
    """Provide a pod without any rule."""
    with pod() as made:
        yield made


@pytest.fixture
def meshed(bare: Pod) -> Pod:
    """Provide a pod with linkerd's rules in both families."""
    bare.restore(*linkerd())
    return bare


@pytest.mark.parity("V1")
@KERNEL
@pytest.mark.parametrize("backend", ["nft", "legacy"])
def test_v1_redirected_traffic_is_validated(bare: Pod, backend: str) -> None:
    """With the rules in place, whichever backend wrote them, it says what it does and ends with
    0.
    """
    bare.restore(*linkerd(), backend=backend)
    answer = bare.validate("--mode", "linkerd")

    assert (0, "") == (answer.code, answer.document["cause"])
    for words in (
        "Listening for connections on 0.0.0.0:4140",
        "Connecting to 192.0.2.2:1404",
        "Validated",
    ):
        assert words in answer.log


@KERNEL
def test_v1_one_rule_for_its_target_is_enough(bare: Pod) -> None:
    """As linkerd's does, it passes at once where only the connection that it makes is
    redirected.
    """
    bare.restore(
        "-A OUTPUT -d 192.0.2.2 -p tcp --dport 1404 -j REDIRECT --to-ports 4140", families="4"
    )
    started = time.monotonic()

    assert bare.validate("--mode", "linkerd", "--timeout", "90s").code == 0
    assert time.monotonic() - started < 30


@pytest.mark.parity("V2")
@KERNEL
def test_v2_no_answer_within_the_time_is_95(bare: Pod) -> None:
    """Without rules the connection is lost outside; at the end of the time it fails with linkerd's
    code and words.
    """
    started = time.monotonic()
    answer = bare.validate("--mode", "linkerd", "--timeout", "1s", "--families", "4")

    assert (95, "no-rules") == (answer.code, answer.document["cause"])
    assert FAILED in answer.log
    assert "timeout=1s" in answer.log
    assert time.monotonic() - started >= 1


@pytest.mark.parity("V3")
@KERNEL
def test_v3_a_refused_connection_is_95_at_once(bare: Pod) -> None:
    """A target that refuses ends it without waiting for the time to pass."""
    started = time.monotonic()
    answer = bare.validate(
        "--mode", "linkerd", "--timeout", "90s", "--connect-addr", "10.9.0.1:1404"
    )

    assert (95, "no-rules") == (answer.code, answer.document["cause"])
    assert (
        "Unable to connect to validator. Please ensure iptables rules are rewriting traffic as "
        "expected"
    ) in answer.log
    assert "Connection refused" in answer.log
    assert time.monotonic() - started < 30


@pytest.mark.parity("V4")
@KERNEL
@pytest.mark.parametrize("says", ["hello", "x" * 64], ids=["short read", "other bytes"])
def test_v4_an_answer_of_somebody_else_is_95(bare: Pod, says: str) -> None:
    """Other bytes, or too few before the end, are told with what was expected and what came."""
    run("ip", "-n", bare.node, "route", "add", "local", "192.0.2.2/32", "dev", "lo")
    with server(bare.node, 4, 1404, says=says):
        answer = bare.validate("--mode", "linkerd", "--timeout", "5s")

    assert (95, "foreign-answer") == (answer.code, answer.document["cause"])
    assert "expected client to receive" in answer.log
    assert f"got '{says}' instead" in answer.log


@pytest.mark.parity("V5")
@KERNEL
def test_v5_a_silent_target_is_95_at_the_end(bare: Pod) -> None:
    """Somebody who accepts and says nothing, as an API server does, holds it up until the time is
    over, and no longer.
    """
    with server(bare.node, 4, 1404, says=None):
        started = time.monotonic()
        answer = bare.validate("--mode", "linkerd", "--timeout", "1s")

    assert answer.code == 95
    assert 1 <= time.monotonic() - started < 60


@pytest.mark.parity("V6")
@KERNEL
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_v6_a_signal_is_95(bare: Pod, number: signal.Signals) -> None:
    """It says by which signal it was killed."""
    process = bare.start("--json", "--mode", "linkerd", "--timeout", "20s")
    read = wait_for("Connecting", process)
    process.send_signal(number)
    answer = finish(process)

    assert (95, "killed") == (answer.code, answer.document["cause"])
    assert f"Killed by {number.name}" in read + answer.log


@pytest.mark.parity("V7")
@KERNEL
def test_v7_a_taken_port_is_95(meshed: Pod) -> None:
    """Where somebody listens at its port already it says so."""
    blocker = meshed.start(
        "--mode",
        "linkerd",
        "--connect-addr",
        "192.0.2.2:22",
        "--timeout",
        "20s",
        "--listen-addr",
        "0.0.0.0:7777",
        uid=2102,
    )
    wait_for("Listening", blocker)
    answer = meshed.validate(
        "--mode", "linkerd", "--listen-addr", "0.0.0.0:7777", "--timeout", "1s"
    )
    blocker.kill()
    blocker.communicate(timeout=60)

    assert (95, "busy") == (answer.code, answer.document["cause"])
    assert "Address already in use" in answer.document["claim"]


@pytest.mark.parity("V8")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("10s", 10),
        (" 10s ", 10),
        ("500ms", 0.5),
        ("2m", 120),
        ("1h", 3600),
        ("1d", 86400),
        ("+3s", 3),
        ("000", 0),
    ],
)
def test_v8_durations_are_read_as_linkerd_does(text: str, seconds: float) -> None:
    """A whole number with its unit, blanks around it, and a bare nought."""
    assert seconds == parse_linkerd_duration(text)


@pytest.mark.parity("V8")
@pytest.mark.parametrize(
    "text",
    [
        "120",
        "",
        "s",
        "1.5s",
        "1 s",
        "-1s",
        "10sec",
        "1w",
        "18446744073709551616ms",
        "213503982335d",
        "٣s",
    ],
)
def test_v8_wrong_durations_are_refused(text: str) -> None:
    """A number without a unit, an unknown one, a sign, a fraction, more than 64 bits."""
    with pytest.raises(UsageError, match="expected a duration"):
        parse_linkerd_duration(text)


@pytest.mark.parity("V9")
@KERNEL
def test_v9_a_wrong_option_is_2(bare: Pod) -> None:
    """A usage error has the code that usage errors have everywhere."""
    process = bare.start("--mode", "linkerd", "--no-such-option")
    _, log = process.communicate(timeout=60)

    assert process.returncode == 2
    assert "--no-such-option" in log


@pytest.mark.parity("V10")
@KERNEL
def test_v10_the_token_is_told_at_debug_only(meshed: Pod) -> None:
    """The token is in no log but the one that was asked to have everything."""
    assert "token=" not in meshed.validate("--mode", "linkerd").log
    assert "token=" in meshed.validate("--mode", "linkerd", "--log-level", "debug").log


@pytest.mark.parity("V11")
@KERNEL
def test_v11_an_address_of_its_own_proves_the_server(bare: Pod) -> None:
    """Connecting to where it listens passes without any rule, as linkerd's does."""
    answer = bare.validate(
        "--mode", "linkerd", "--listen-addr", "127.0.0.1:4140", "--connect-addr", "127.0.0.1:4140"
    )

    assert answer.code == 0


@KERNEL
def test_linkerd_blind_spot_one_family(bare: Pod) -> None:
    """With IPv6 on, linkerd tests IPv6 only; a rule that is missing in IPv4 is found here."""
    bare.restore(*linkerd(), families="6")
    answer = bare.validate(
        "--mode",
        "linkerd",
        "--listen-addr",
        "[::]:4140",
        "--connect-addr",
        "[fd00::1]:20001",
        "--timeout",
        "1s",
    )

    assert (95, "family-missing") == (answer.code, answer.document["cause"])
    assert {6: "passed", 4: "failed"} == answer.states("outbound")


@KERNEL
@pytest.mark.parametrize("backend", ["nft", "legacy"])
def test_linkerd_with_ipv6_tests_both_families(bare: Pod, backend: str) -> None:
    """With the addresses that linkerd's chart gives where IPv6 is on, both families are proven."""
    bare.restore(*linkerd(), backend=backend)
    answer = bare.validate(
        "--mode", "linkerd", "--listen-addr", "[::]:4140", "--connect-addr", "[fd00::1]:20001"
    )

    assert (0, {4: "passed", 6: "passed"}) == (answer.code, answer.states("outbound"))


@KERNEL
def test_linkerd_ipv4_alone_says_what_it_left_out(bare: Pod) -> None:
    """With linkerd's IPv4 addresses on a pod with both families, IPv6 is told as untested, and
    tested where it is asked for.
    """
    bare.restore(*linkerd(), families="4")
    told, tested = (
        bare.validate("--mode", "linkerd"),
        bare.validate("--mode", "linkerd", "--families", "both", "--timeout", "1s"),
    )

    assert (0, {4: "passed", 6: "untested"}) == (told.code, told.states("outbound"))
    assert (95, {4: "passed", 6: "failed"}) == (tested.code, tested.states("outbound"))


@pytest.mark.parity("W1")
@KERNEL
def test_w1_istio_rules_are_validated(bare: Pod) -> None:
    """As the proxy's own user, as istio runs it, and as anybody else; istio's own options choose
    the mode.
    """
    bare.restore(*istio(), families="4")
    options = ("--run-validation", "--skip-rule-apply", "--families", "4")
    own, other = bare.validate(*options, uid=1337), bare.validate(*options)

    assert (0, 0) == (own.code, other.code)
    assert "Validation passed, iptables rules established" in own.log
    assert ({4: "passed"}, {4: "passed"}) == (own.states("loopback"), own.states("inbound-chain"))
    assert {4: "passed"} == other.states("outbound")


@pytest.mark.parity("W1")
@KERNEL
def test_w1_istios_own_arguments_are_taken(bare: Pod) -> None:
    """The arguments that istio gives its validation container work as they are."""
    bare.restore(*istio(), families="4")
    given = (
        "-p 15001 -z 15006 -u 1337 -m REDIRECT -i * -x  -b * -d 15090,15021,15020 "
        "--log_output_level=default:info"
    )
    answer = bare.validate(
        *given.split(" "), "--run-validation", "--skip-rule-apply", "--families", "4", uid=1337
    )

    assert (0, "istio") == (answer.code, answer.document["mode"])


@pytest.mark.parity("W2")
@KERNEL
def test_w2_without_rules_it_is_126(bare: Pod) -> None:
    """At the end of the time it fails with istio's code and words, in Go's grammar of durations."""
    started = time.monotonic()
    answer = bare.validate(
        "--mode", "istio", "--probe-timeout", "1.2s", "--families", "4", uid=1337
    )

    assert (126, 126) == (answer.code, answer.document["exit_code"])
    assert "iptables validation failed; workload is not ready for Istio" in answer.log
    assert time.monotonic() - started >= 1.2


@pytest.mark.parity("W2")
@KERNEL
def test_w2_a_rule_that_comes_late_is_seen(bare: Pod) -> None:
    """It tries again every second: rules that are written while it waits are enough."""
    process = bare.start(
        "--json",
        "--mode",
        "istio",
        "--probe-timeout",
        "8s",
        "--families",
        "4",
        "--log-level",
        "debug",
    )
    wait_for("Trying again", process)
    bare.restore(*istio(), families="4")

    assert finish(process).code == 0


@pytest.mark.parity("W3")
@KERNEL
def test_w3_a_configuration_error_is_no_validation_failure(bare: Pod) -> None:
    """A wrong option is told apart from missing rules: 2, where istio has 1."""
    process = bare.start("--mode", "istio", "--iptables-probe-port", "99999")
    process.communicate(timeout=60)

    assert process.returncode == 2


@pytest.mark.parity("W4")
@KERNEL
def test_w4_both_families_are_tested(bare: Pod) -> None:
    """istio tests the family of the pod's first address; here a pod with both must have rules in
    both.
    """
    bare.restore(*istio(), families="4")
    answer = bare.validate("--mode", "istio", "--probe-timeout", "1s")

    assert (126, "family-missing") == (answer.code, answer.document["cause"])
    assert "ip6tables -t nat -A ISTIO_OUTPUT -p tcp -j REDIRECT --to-ports 15001" in answer.claims(
        "failed"
    )


@pytest.mark.parity("W5", "V7")
@KERNEL
def test_w5_one_taken_port_is_tolerated_and_both_are_not(bare: Pod) -> None:
    """With one of its ports taken it still proves what it can; with both it says that it has no
    listener, and where all depends on the taken one that it is busy, not that a rule is missing.
    """
    bare.restore(*istio(), families="4")
    options = ("--mode", "istio", "--families", "4", "--probe-timeout", "1s")
    blocker = bare.start(
        "--mode",
        "linkerd",
        "--listen-addr",
        "0.0.0.0:15006",
        "--connect-addr",
        "192.0.2.2:1404",
        "--timeout",
        "30s",
        uid=1337,
    )
    wait_for("Listening", blocker)
    one = bare.validate(*options)
    other = bare.start(
        "--mode",
        "linkerd",
        "--listen-addr",
        "0.0.0.0:15001",
        "--connect-addr",
        "192.0.2.2:1404",
        "--timeout",
        "30s",
        uid=1337,
    )
    wait_for("Listening", other)
    both = bare.validate(*options)
    blocker.kill()
    blocker.communicate(timeout=60)
    outbound = bare.validate(*options)
    other.kill()
    other.communicate(timeout=60)

    assert (0, 126, 126) == (one.code, both.code, outbound.code)
    assert "no listener available" in both.document["claim"]
    assert "busy" == outbound.document["cause"], outbound.document
    assert "port 15001 is busy" in outbound.document["claim"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5),
        ("0", 0),
        ("1m30.5s", 90.5),
        ("1h", 3600),
        ("100us", 0.0001),
        ("1µs", 1e-6),
        (".5s", 0.5),
        ("1.s", 1),
        ("+2s", 2),
        ("-0s", 0),
    ],
)
def test_go_durations_are_read(text: str, seconds: float) -> None:
    """The grammar of Go's time.ParseDuration, as istio's options have it."""
    assert seconds == parse_go_duration(text)


@pytest.mark.parametrize(
    "text", ["", "5", "s", ".s", "5d", "-1s", "1.2.3s", "9223372037s", "1s 2s"]
)
def test_wrong_go_durations_are_refused(text: str) -> None:
    """Without a unit, with an unknown one, negative, or more than 64 bits of nanoseconds."""
    with pytest.raises(UsageError, match="expected a duration"):
        parse_go_duration(text)
