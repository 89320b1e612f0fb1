"""`podpath protect validate`: what it proves beyond the meshes' own validators, what it says, and
how fast.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

from podpath.diagnosis.proxied import VALIDATED
from podpath_protect.validate.addresses import Family, PodEnvironment
from podpath_protect.validate.attempt import ProbeOutcome
from podpath_protect.validate.judgement import CODES, RedirectionCheck, conclude, judge
from podpath_protect.validate.kernel import (
    gather_symbols,
    is_legacy_absent,
    judge_symbols,
    read_kernel,
)
from podpath_protect.validate.plan import MESHES, NOWHERE, Settings, choose_families, plan_probes
from podpath_protect.validate.sockets import SocketEnd, parse_end
from tests.command import podpath, slowness, spent_by_children
from tests.folders import let_pass
from tests.kube.following import until
from tests.protect.pods import PREFIX, SOMEBODY, UNPRIVILEGED, Pod, istio, linkerd, pod, run

KERNEL = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "setpriv")


@pytest.fixture
def bare() -> Iterator[Pod]:
    """Provide a pod without any rule."""
    with pod() as made:
        yield made


@KERNEL
@pytest.mark.parametrize("backend", ["nft", "legacy"])
@pytest.mark.parametrize("mesh", ["linkerd", "istio"])
def test_both_families_on_both_backends(
    bare: Pod, mesh: str, backend: str, repository: Path
) -> None:
    """Rules of either mesh, written by iptables-nft or iptables-legacy, are proven in IPv4 and IPv6
    without knowing the mesh.
    """
    bare.restore(
        *(linkerd() if mesh == "linkerd" else [line for line in istio() if "127.0.0" not in line]),
        backend=backend,
    )
    answer = bare.validate()

    assert (0, {4: "passed", 6: "passed"}) == (answer.code, answer.states("outbound"))
    assert {4: "untested", 6: "untested"} == answer.states("inbound")
    assert (
        "give --reflector with the node's address (the agent's [reflect] serves it)"
        in answer.claims("untested")
    )
    schema = json.loads((repository / "src/podpath/report/schema/validate-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(answer.document)


@KERNEL
def test_native_nftables_are_proven_too(bare: Pod) -> None:
    """It looks at what rules do, so it does not matter who wrote them."""
    chain = (
        "type nat hook output priority -100",
        "oifname != lo meta l4proto tcp redirect to :4140",
    )
    ruleset = "\n".join(("table inet m {", "chain o {", *chain, "}", "}", ""))
    run("ip", "netns", "exec", bare.name, "nft", "-f", "-", stdin=ruleset)

    assert {4: "passed", 6: "passed"} == bare.validate("--timeout", "1s").states("outbound")


@pytest.mark.parity("G15")
@KERNEL
@pytest.mark.parametrize(
    ("lines", "families", "cause"),
    [
        ((), "46", "no-rules"),
        (("-A OUTPUT -p udp -j REDIRECT --to-ports 4140",), "46", "outbound-missing"),
        (tuple(linkerd()), "4", "family-missing"),
        (tuple(linkerd()), "6", "family-missing"),
        (("-A OUTPUT -p tcp -j REDIRECT --to-ports 15099",), "46", "wrong-port"),
        (("-A OUTPUT -p tcp -j REDIRECT --to-ports 4143",), "46", "wrong-port"),
    ],
    ids=["nothing", "udp only", "IPv4 only", "IPv6 only", "to nobody", "to the inbound port"],
)
def test_the_cause_is_named(bare: Pod, lines: tuple[str, ...], families: str, cause: str) -> None:
    """Each way of missing redirection has a cause, an exit code and the rule that is missing."""
    bare.restore(*lines, families=families) if lines else None
    answer = bare.validate("--timeout", "1s", "--outbound-port", "4140")

    assert (cause, CODES[cause]) == (answer.document["cause"], answer.code)  # type: ignore[index]  # one of the causes
    assert "-t nat -A OUTPUT -p tcp -j REDIRECT --to-ports 4140" in answer.claims("failed")


SYMBOLS = "0000 T nf_hook_slow\n{}0000 t redirect_tg4\t[xt_REDIRECT]\n"
LEGACY, NFT = (
    "0000 t iptable_nat_table_init\t[iptable_nat]\n",
    "0000 t nf_tables_newrule\n0000 t nft_nat_do_chain.cold\n",
)


@pytest.mark.parity("G15")
@pytest.mark.parametrize(
    ("symbols", "kinds", "said"),
    [
        (
            SYMBOLS.format(""),
            (False, False, True),
            "has not loaded a NAT table for IPv4, of iptables-legacy or iptables-nft",
        ),
        (SYMBOLS.format(LEGACY), (True, False, True), ""),
        (SYMBOLS.format(NFT), (False, True, True), ""),
        (
            SYMBOLS.format(LEGACY + NFT).replace("redirect_tg4", "x"),
            (True, True, False),
            "has not loaded REDIRECT or TPROXY for IPv4",
        ),
        (LEGACY + NFT, (None, None, None), ""),
        ("", (None, None, None), ""),
        ("garbage\n\xff\n", (None, None, None), ""),
    ],
)
def test_what_the_kernel_never_loaded_wrote_no_rule(
    tmp_path: Path, symbols: str, kinds: tuple[bool | None, ...], said: str
) -> None:
    """Where no NAT table of either kind, or no REDIRECT, was ever loaded, nobody wrote such rules;
    else nothing follows.
    """
    path = tmp_path / "kallsyms"
    path.write_text(symbols, encoding="latin-1")
    (kernel,) = read_kernel((4,), path)

    assert kinds == kernel[1:]
    assert said in kernel.explain()
    assert bool(said) == bool(kernel.explain())
    assert str(kernel.family) in kernel.describe()


def test_a_list_of_symbols_may_be_cut_anywhere() -> None:
    """Names are found however the list comes in pieces."""
    text = (SYMBOLS.format(LEGACY + NFT) + "0000 t redirect_tg6").encode()
    whole = gather_symbols([text])

    assert {
        "nf_hook_slow",
        "iptable_nat_table_init",
        "nf_tables_newrule",
        "nft_nat_do_chain",
        "redirect_tg4",
        "redirect_tg6",
    } == whole
    assert {whole} == {gather_symbols([text[:cut], text[cut:]]) for cut in range(len(text))}


def test_a_hidden_list_is_unknown(tmp_path: Path) -> None:
    """Without the list nothing is claimed; that the kernel has not even heard of the old kind is
    known without it.
    """
    assert [(4, None, None, None)] == [tuple(one) for one in read_kernel((4,), tmp_path / "none")]
    assert judge_symbols(6, frozenset(), absent=True).legacy is False
    assert (
        judge_symbols(4, frozenset({"nf_hook_slow", "iptable_nat_table_init"}), absent=True).legacy
        is False
    )


@pytest.mark.parity("G15")
@pytest.mark.kernel("iptables-legacy-restore", "setpriv", "unshare")
def test_as_nobody_it_tells_what_the_kernel_never_loaded(bare: Pod, tmp_path: Path) -> None:
    """It says what the kernel has, as root would; on a node whose kernel never loaded what rules
    need the claim names that.
    """
    bare.restore(*linkerd(), backend="legacy", families="4")
    own = bare.validate("--timeout", "1s", "--families", "both")
    (tmp_path / "kallsyms").write_text(
        "0 T nf_hook_slow\n0 t iptable_nat_table_init\n0 t redirect_tg4\n"
    )
    let_pass(tmp_path)
    user = (*UNPRIVILEGED, f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}")
    validator = (
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "validate",
        "--json",
        "--timeout",
        "1s",
        "--families",
        "both",
    )
    script = f'mount --bind {tmp_path}/kallsyms /proc/kallsyms && exec "$@"'
    words = (
        "ip",
        "netns",
        "exec",
        bare.name,
        "unshare",
        "-m",
        "sh",
        "-c",
        script,
        "sh",
        *user,
        *validator,
    )
    other = json.loads(
        subprocess.run(words, capture_output=True, text=True, check=False, cwd="/").stdout
    )

    (seen,) = read_kernel((6,))
    assert [seen._asdict()] == own.document["kernel"]
    assert [{"family": 6, "legacy": False, "nft": False, "redirects": False}] == other["kernel"]
    assert bool(seen.explain()) == ("No pod of this node has such rules" in own.document["claim"])
    assert (
        "has not loaded a NAT table for IPv6, of iptables-legacy or iptables-nft" in other["claim"]
    )


@pytest.mark.parametrize("family", [4, 6])
def test_the_kernel_says_whether_it_knows_the_old_kind(family: Family) -> None:
    """Its refusal is no denial: where iptables-legacy lists tables, or is refused, the old kind is
    there.
    """
    there = Path(f"/proc/net/ip{'6' * (family == 6)}_tables_names").exists()

    assert is_legacy_absent(family) is not there


@pytest.mark.parity("G15")
def test_a_refusing_filter_is_told_apart() -> None:
    """A program on the control group that refuses the connection (EPERM) is no missing
    redirection.
    """
    (probe,) = [
        one
        for one in plan_probes(Settings(families=(4,)), around())[0]
        if one.purpose == "outbound"
    ]
    verdict = judge(Settings(), [ProbeOutcome(probe, None, None, errno.EPERM)], (), {4: True})

    assert ("filtered", 67) == (verdict.cause, verdict.exit_code("podpath"))


@KERNEL
def test_skipped_ports_are_held_to(bare: Pod) -> None:
    """Ports that must be let go are, or the one that is not is named."""
    bare.restore(*linkerd(25, 443))
    good, bad = (
        bare.validate("--skip-outbound-ports", "25,443"),
        bare.validate("--skip-outbound-ports", "443,8443", "--timeout", "1s"),
    )

    assert (0, "skipped-redirected", 65) == (good.code, bad.document["cause"], bad.code)
    assert "8443" in bad.document["claim"]
    assert "443 -j RETURN" in bad.claims("failed")


@KERNEL
def test_the_proxys_user_is_let_go(bare: Pod) -> None:
    """Run as the proxy's own user, it proves that the proxy's connections are not sent back to the
    proxy.
    """
    bare.restore(*linkerd())
    good = bare.validate("--proxy-uid", "2102", "--timeout", "1s", uid=2102)
    bad = bare.validate("--proxy-uid", "2103", "--timeout", "1s", uid=2103)

    assert {4: "passed", 6: "passed"} == good.states("proxy-user")
    assert ("proxy-redirected", 66) == (bad.document["cause"], bad.code)


@KERNEL
def test_with_cap_setuid_every_user_is_tried(bare: Pod) -> None:
    """Who may change its user needs to be run but once: outbound, exemption and inbound chain are
    all tested.
    """
    bare.restore(*[line for line in istio() if "127.0.0.6" not in line], families="4")
    words = (
        "ip",
        "netns",
        "exec",
        bare.name,
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "validate",
        "--json",
        "--mode",
        "istio",
        "--families",
        "4",
    )
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
    states = {check["purpose"]: check["state"] for check in json.loads(done.stdout)["checks"]}

    assert {"outbound": "passed", "proxy-user": "passed", "inbound-chain": "passed"} == {
        key: states[key] for key in ("outbound", "proxy-user", "inbound-chain")
    }
    assert done.returncode == 0


@contextmanager
def reflecting(pod: Pod, *more: str) -> Iterator[None]:
    """Run a reflector on the node, in both families, as nobody."""
    started = [
        pod.start("--reflect", at, *more, netns=pod.node)
        for at in ("10.9.0.1:15105", "[fd00:9::1]:15105")
    ]
    try:
        until(
            lambda: (
                run("ip", "netns", "exec", pod.node, "ss", "-Hlun", "sport = :15105").count("\n")
                == 2
            ),
            "it listens",
        )
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate(timeout=60)


BOTH = ("--reflector", "10.9.0.1,fd00:9::1", "--timeout", "5s")
INBOUND = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "setpriv", "ss")


@INBOUND
@pytest.mark.parametrize("backend", ["nft", "legacy"])
@pytest.mark.parametrize("inbound", [True, False])
def test_inbound_is_proven_with_somebody_outside(bare: Pod, backend: str, *, inbound: bool) -> None:
    """A reflector on the node connects back: arriving at the proxy's port proves the rule,
    elsewhere disproves it.
    """
    bare.restore(*linkerd(8080, inbound=inbound), backend=backend)
    with reflecting(bare):
        answer = bare.validate(*BOTH, "--skip-inbound-ports", "8080")

    state = "passed" if inbound else "failed"
    assert (0 if inbound else 63, {4: state, 6: state}) == (answer.code, answer.states("inbound"))
    assert {4: "passed", 6: "passed"} == answer.states("skipped-inbound")


OWN = """
import socket
own = {socket.AF_INET: ("10.9.0.2", "10.9.0.1"), socket.AF_INET6: ("fd00:9::2", "fd00:9::1")}
for family, (address, gateway) in own.items():
    with socket.create_server((address, 15104), family=family) as server:
        for device, source in ((b"", ""), (b"eth0", ""), (b"lo", ""), (b"", "127.0.0.1" if family == socket.AF_INET else "::1")):
            with socket.socket(family) as one:
                one.settimeout(0.3)
                try:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
                    one.bind((source, 0))
                    one.connect((address, 15104))
                    print("connected")
                except OSError as error:
                    print(error)
        with socket.socket(family) as one:
            one.settimeout(0.3)
            try:
                if family == socket.AF_INET:  # a loose source route by the gateway and back
                    route = bytes((131, 11, 4)) + socket.inet_aton(gateway) + socket.inet_aton(address) + b"\\0"
                    one.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, route)
                one.connect((gateway, 15104))
            except OSError as error:
                print(error)
"""  # noqa: E501


@INBOUND
def test_no_connection_of_its_own_meets_a_pods_inbound_rules(bare: Pod) -> None:
    """Why somebody outside is needed: what a pod without rights connects to meets no PREROUTING;
    the node does so.
    """
    bare.restore(*linkerd(outbound=False))
    user = (*UNPRIVILEGED, f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}")
    run("ip", "netns", "exec", bare.node, "sysctl", "-qw", "net.ipv4.ip_forward=1")
    connected = bare.exec(*user, sys.executable, "-c", OWN).count("connected")

    def asked() -> list[int]:
        listed = "".join(
            bare.exec(program, "-t", "nat", "-vxnL", "PROXY_INIT_REDIRECT")
            for program in ("iptables", "ip6tables")
        )
        return [int(line.split()[0]) for line in listed.splitlines() if "4143" in line]

    before = asked()
    for address in ("10.9.0.2", "fd00:9::2"):
        code = f"import socket; socket.create_connection(({address!r}, 15104), 1)"
        subprocess.run(
            ["ip", "netns", "exec", bare.node, sys.executable, "-c", code],
            capture_output=True,
            check=False,
        )

    assert ([0, 0], [1, 1]) == (before, asked())
    assert connected >= 6, "the pod reaches itself in both families"


@INBOUND
def test_inbound_that_is_missing_in_one_family_is_found(bare: Pod) -> None:
    """Outbound rules in both families, inbound in IPv4 alone: IPv6 fails, with the rule that is
    missing.
    """
    bare.restore(*linkerd(), families="4")
    bare.restore(*linkerd(inbound=False), families="6")
    with reflecting(bare):
        answer = bare.validate(*BOTH)

    assert (63, {4: "passed", 6: "failed"}) == (answer.code, answer.states("inbound"))
    assert "ip6tables -t nat -A PREROUTING -p tcp -j REDIRECT --to-ports 4143" in answer.claims(
        "failed"
    )


@INBOUND
def test_a_skipped_inbound_port_that_is_redirected_is_found(bare: Pod) -> None:
    """A port that must be let go and is redirected fails, by its number; the one that is let go
    passes.
    """
    bare.restore(*linkerd(8080))
    with reflecting(bare):
        answer = bare.validate(*BOTH, "--skip-inbound-ports", "8080,9090")

    assert ("skipped-redirected", 65) == (answer.document["cause"], answer.code)
    assert "port 9090: a connection to it is redirected to port 4143" in answer.claims("failed")
    assert "port 8080 holds" in answer.claims("passed")


@INBOUND
def test_inbound_that_leads_elsewhere_is_no_silence(bare: Pod) -> None:
    """Redirected to a port where nobody listens, the connection is refused: the reflector says so,
    and it is a failure.
    """
    bare.restore(*linkerd(inbound=False), "-A PREROUTING -p tcp -j REDIRECT --to-ports 4999")
    with reflecting(bare):
        answer = bare.validate(*BOTH)

    assert ("wrong-port", 64) == (answer.document["cause"], answer.code)
    assert "a connection from outside to port 15104 is refused" in answer.claims("failed")


@INBOUND
def test_inbound_that_is_dropped_is_untested(bare: Pod) -> None:
    """A policy that drops what comes from the node says nothing of the redirection: untested, with
    the reason.
    """
    bare.restore(*linkerd())
    for program in ("iptables", "ip6tables"):
        bare.exec(program, "-A", "INPUT", "-i", "eth0", "-p", "tcp", "-j", "DROP")
    with reflecting(bare):
        answer = bare.validate(*BOTH)

    assert (0, {4: "untested", 6: "untested"}) == (answer.code, answer.states("inbound"))
    assert "a policy or a filter drops it" in answer.claims("untested")


@INBOUND
@pytest.mark.parametrize(
    "options",
    [
        ("--mode", "linkerd"),
        ("--mode", "linkerd", "--listen-addr", "[::]:4140", "--connect-addr", "[fd00::1]:20001"),
        ("--mode", "istio", "--outbound-port", "4140", "--inbound-port", "4143"),
    ],
    ids=["linkerd", "linkerd with IPv6", "istio"],
)
def test_a_meshs_own_mode_proves_inbound_too(bare: Pod, options: tuple[str, ...]) -> None:
    """In both families whatever its own probe tests; what is missing ends with the mesh's own
    code.
    """
    bare.restore(*linkerd())
    with reflecting(bare):
        proven = bare.validate(*options, *BOTH)
        bare.restore(*linkerd(inbound=False), families="6")
        missing = bare.validate(*options, *BOTH)

    assert (0, {4: "passed", 6: "passed"}) == (proven.code, proven.states("inbound"))
    assert (126 if "istio" in options else 95, {4: "passed", 6: "failed"}) == (
        missing.code,
        missing.states("inbound"),
    )


@INBOUND
def test_lost_requests_are_asked_again(bare: Pod) -> None:
    """Every other datagram to the reflector is lost, and so is every other answer: inbound is
    proven all the same.
    """
    bare.restore(*linkerd())
    for program in ("iptables", "ip6tables"):
        for chain, port in (("INPUT", "--dport"), ("OUTPUT", "--sport")):
            lossy = (
                "-p",
                "udp",
                port,
                "15105",
                "-m",
                "statistic",
                "--mode",
                "nth",
                "--every",
                "2",
                "--packet",
                "0",
            )
            run("ip", "netns", "exec", bare.node, program, "-A", chain, *lossy, "-j", "DROP")
    with reflecting(bare):
        answer = bare.validate("--reflector", "10.9.0.1,fd00:9::1", "--timeout", "20s")

    assert (0, {4: "passed", 6: "passed"}) == (answer.code, answer.states("inbound"))


@INBOUND
def test_as_the_proxys_user_inbound_is_proven_all_the_same(bare: Pod) -> None:
    """The proxy's own user is let go outbound, which leaves that open; a packet from outside knows
    no user.
    """
    bare.restore(*linkerd())
    with reflecting(bare):
        answer = bare.validate(*BOTH, "--proxy-uid", "2102", uid=2102)

    assert (0, {4: "passed", 6: "passed"}) == (answer.code, answer.states("inbound"))
    assert ({4: "untested", 6: "untested"}, {4: "passed", 6: "passed"}) == (
        answer.states("outbound"),
        answer.states("proxy-user"),
    )


@KERNEL
def test_nobody_at_the_reflectors_address_costs_a_second(bare: Pod) -> None:
    """Without an agent that reflects, pods start all the same, soon, and it is said that inbound is
    not proven and why.
    """
    bare.restore(*linkerd())
    started = time.monotonic()
    answer = bare.validate("--reflector", "10.9.0.1", "--timeout", "30s")

    assert (0, {4: "untested", 6: "untested"}) == (answer.code, answer.states("inbound"))
    assert "no reflector answers at 10.9.0.1:15105 (nobody listens there)" in answer.claims(
        "untested"
    )
    assert "no reflector with an address of IPv6 was given" in answer.claims("untested")
    assert time.monotonic() - started < 30


CALL = """
import socket, sys, time
while True:
    try:
        socket.create_connection((sys.argv[1], int(sys.argv[2])), 1).close()
    except OSError:
        pass
    time.sleep(0.1)
"""


@contextmanager
def calling(pod: Pod, address: str, port: int) -> Iterator[None]:
    """Connect from the pod's node again and again meanwhile, as a kubelet's probe does."""
    words = ["ip", "netns", "exec", pod.node, sys.executable, "-c", CALL, address, str(port)]
    with subprocess.Popen(words) as process:
        try:
            yield
        finally:
            process.kill()


@KERNEL
@pytest.mark.parametrize(
    ("address", "proven"),
    [("10.9.0.2", {4: "passed", 6: "untested"}), ("fd00:9::2", {4: "untested", 6: "passed"})],
)
def test_inbound_is_proven_by_who_comes(bare: Pod, address: str, proven: dict[int, str]) -> None:
    """A connection from outside, as a startup probe of the kubelet makes it, is enough; the other
    family is not waited for.
    """
    bare.restore(*linkerd())
    started = time.monotonic()
    with calling(bare, address, 15104):
        answer = bare.validate("--await-inbound", "--timeout", "90s")

    assert (0, proven) == (answer.code, answer.states("inbound"))
    assert time.monotonic() - started < 45


@KERNEL
def test_who_means_the_proxys_port_proves_nothing(bare: Pod) -> None:
    """A connection from outside to port 4143 itself arrives there without any rule; it is not taken
    for a redirection.
    """
    bare.restore(*linkerd(inbound=False))
    with calling(bare, "10.9.0.2", 4143):
        answer = bare.validate("--await-inbound", "--families", "4", "--timeout", "2s")

    assert {4: "untested"} == answer.states("inbound")


@INBOUND
def test_a_reflector_serves_its_networks_only(bare: Pod) -> None:
    """Who asks from elsewhere gets no connection, and no answer either."""
    bare.restore(*linkerd())
    with reflecting(bare, "--allow", "10.77.0.0/16"):
        answer = bare.validate(
            "--reflector", "10.9.0.1:15105", "--timeout", "5s", "--families", "4"
        )

    assert {4: "untested"} == answer.states("inbound")
    assert "no reflector answers at 10.9.0.1:15105 (no answer)" in answer.claims("untested")


@KERNEL
def test_without_a_route_it_is_undecided() -> None:
    """A pod with nothing but its loopback: without any NAT that is told, with rules that only a
    route would show it is 3.
    """
    with pod(addresses=False) as made:
        answer = made.validate("--timeout", "1s")

        assert answer.code == 60
        made.restore("-A OUTPUT -d 10.0.0.0/8 -p tcp -j REDIRECT --to-ports 4140", families="4")
        answer = made.validate("--timeout", "1s")

    assert (3, "undecided") == (answer.code, answer.document["cause"])
    assert "no route" in answer.claims("untested")


@KERNEL
def test_the_termination_message_names_the_cause(bare: Pod, tmp_path: Path) -> None:
    """The kubelet's file gets the cause and the sentence; nothing is written where all is well."""
    message = tmp_path / "termination-log"
    message.touch(mode=0o666)
    message.chmod(0o666)
    let_pass(tmp_path)
    answer = bare.validate("--timeout", "1s", "--termination-message", str(message))

    assert message.read_text() == f"no-rules: {answer.document['claim']}"
    bare.restore(*linkerd())
    message.write_text("")
    assert bare.validate("--termination-message", str(message)).code == 0
    assert message.read_text() == ""


IDLE = 0.7
"""Load up to which the clock tells what the processor took: with more, a program waits for it."""


def time_verdicts(pod: Pod, *arguments: str) -> tuple[float, float]:
    """Return the least that the clock and the processor took from the start of Python to the
    verdict, in five runs.
    """
    user = (*UNPRIVILEGED, f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}")
    words = (
        "ip",
        "netns",
        "exec",
        pod.name,
        *user,
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "validate",
        *arguments,
    )
    taken: list[tuple[float, float]] = []
    for _ in range(5):
        before, began = spent_by_children(), time.monotonic()
        subprocess.run(words, capture_output=True, check=True, cwd="/")
        taken.append((time.monotonic() - began, spent_by_children() - before))
    return min(wall for wall, _ in taken), min(cpu for _, cpu in taken)


@KERNEL
def test_start_to_verdict_is_fast(bare: Pod) -> None:
    """From the start of Python to the verdict on both families: less than 300 ms of the processor,
    and of the clock at best.
    """
    bare.restore(*linkerd(443))
    wall, cpu = time_verdicts(bare, "--skip-outbound-ports", "443")

    assert cpu < 0.3 * slowness()
    assert wall < 0.3 * slowness() or os.getloadavg()[0] > IDLE


@INBOUND
def test_with_a_reflector_it_is_as_fast(bare: Pod) -> None:
    """Inbound and two skipped ports in both families too: still within 300 ms."""
    bare.restore(*linkerd(4190, 4191))
    with reflecting(bare):
        wall, cpu = time_verdicts(
            bare, "--reflector", "10.9.0.1,fd00:9::1", "--skip-inbound-ports", "4190,4191"
        )

    assert cpu < 0.3 * slowness()
    assert wall < 0.3 * slowness() or os.getloadavg()[0] > IDLE


def around(uid: int = 1000, *, may: bool = False, six: bool = True) -> PodEnvironment:
    """Make surroundings of a pod."""
    return PodEnvironment(
        uid=uid,
        may_change_user=may,
        addresses={4: ("10.9.0.2",), 6: ("fd00::2",) if six else ()},
        tracked=0,
    )


def test_families_are_those_of_the_pods_addresses() -> None:
    """A pod without an IPv6 address needs no rules for it, unless they are asked for."""
    assert [(4, 6), (4,), (6,)] == [
        choose_families(Settings(), around()),
        choose_families(Settings(), around(six=False)),
        choose_families(Settings(families=(6,)), around()),
    ]


def test_what_cannot_be_tried_is_said() -> None:
    """As the proxy's user outbound stays untried; as another its exemption does; with CAP_SETUID
    neither.
    """
    mesh = MESHES["istio"]
    settings = Settings(
        style="istio",
        proxy_uid=1337,
        outbound=mesh.outbound,
        inbound=mesh.inbound,
        inbound_chain=True,
    )
    as_proxy, as_other, as_any = (
        {one.purpose for one in plan_probes(settings, seen)[1]}
        for seen in (around(1337), around(7), around(7, may=True))
    )

    assert ({"outbound", "inbound"}, {"proxy-user", "inbound"}, {"inbound"}) == (
        as_proxy,
        as_other,
        as_any,
    )


def test_probes_do_not_leave_the_node() -> None:
    """Whatever goes to an address of nobody has one hop to live."""
    probes, _ = plan_probes(Settings(proxy_uid=1, skip_outbound=(25,)), around(7, may=True))

    assert {1} == {probe.hops for probe in probes if probe.target.address in NOWHERE.values()}


def test_what_it_connects_to_is_no_connection_that_a_diagnosis_follows() -> None:
    """The diagnosis knows the addresses at which only the redirection answers."""
    assert {str(address) for address in VALIDATED} == set(NOWHERE.values())


def test_an_answer_from_outside_is_no_missing_route() -> None:
    """An ICMP error that comes back proves that the packet left the pod; only an error of the call
    itself means no route.
    """
    (probe,) = [
        one
        for one in plan_probes(Settings(families=(4,)), around())[0]
        if one.purpose == "outbound"
    ]
    causes = [
        judge(
            Settings(),
            [ProbeOutcome(probe, None, None, errno.ENETUNREACH, at_once=at_once)],
            (),
            {4: True},
        ).cause
        for at_once in (False, True)
    ]

    assert ["outbound-missing", "undecided"] == causes


@pytest.mark.parity("V7", "G15")
@pytest.mark.parametrize(
    ("error", "tracked", "cause"),
    [(0, True, "busy"), (errno.EHOSTUNREACH, True, "outbound-missing"), (0, False, "no-rules")],
)
def test_a_busy_port_is_no_missing_rule(error: int, tracked: bool, cause: str) -> None:  # noqa: FBT001  # parametrized
    """What another process may have taken proves nothing; an answer from outside, and a pod in
    which nothing is translated, still do.
    """
    (probe,) = [
        one
        for one in plan_probes(Settings(families=(4,)), around())[0]
        if one.purpose == "outbound"
    ]
    taken = {(probe.family, port): "Address already in use" for port in probe.ports}
    seen = [ProbeOutcome(probe, None, None, error)]

    assert cause == judge(Settings(), seen, (), {4: tracked}, taken).cause
    assert (
        cause.replace("busy", "outbound-missing") == judge(Settings(), seen, (), {4: tracked}).cause
    )


def test_an_arrival_without_its_origin_proves_nothing() -> None:
    """A connection that arrived with another original destination was rewritten by somebody else
    first.
    """
    (probe,) = [
        one
        for one in plan_probes(Settings(families=(4,)), around())[0]
        if one.purpose == "outbound"
    ]
    verdict = judge(
        Settings(), [ProbeOutcome(probe, 4140, SocketEnd("10.0.0.9", 80))], (), {4: True}
    )

    assert "wrong-port" == verdict.cause
    assert "another rule rewrites it first" in verdict.claim


def test_nothing_proven_is_undecided() -> None:
    """Where no check passed and none failed there is no verdict."""
    assert "undecided" == conclude([RedirectionCheck("inbound", 4, "untested", "x")]).cause


@pytest.mark.parametrize(
    "text",
    ["1.2.3.4", "1.2.3.4:x", "fd00::1:20001", "[1.2.3.4]:1", "host:1", "[fd00::1]:99999", ":1"],
)
def test_wrong_addresses_are_refused(text: str) -> None:
    """An address without a port, a name, an IPv6 address without brackets."""
    with pytest.raises(ValueError):  # noqa: PT011  # what the message is, the option says
        parse_end(text)
    assert podpath("protect", "validate", "--connect-addr", text).returncode == 2


def test_addresses_are_spelt_as_they_are_read() -> None:
    """Reading and spelling an end are each other's inverse."""
    assert ["192.0.2.2:1404", "[fd00::1]:20001"] == [
        str(parse_end(text)) for text in ("192.0.2.2:1404", "[fd00::1]:20001")
    ]


def test_bad_options_are_usage_errors() -> None:
    """Durations, ports, networks and levels that are none end with 2 and one line."""
    wrong = (
        ("--timeout", "120"), ("--skip-outbound-ports", "a-b"),
        ("--reflect", "127.0.0.1:0", "--allow", "x"), ("--reflect", "0.0.0.0:15105"),
        ("--reflect", "[::]:15105"), ("--reflector", "node"), ("--reflector", "10.0.0.1,"),
        ("--log-level", "loud"), ("--listen-addr", "0.0.0.0:1", "--connect-addr", "[::1]:1"),
    )  # fmt: skip
    for options in wrong:
        done = podpath("protect", "validate", *options)
        assert (2, True) == (done.returncode, done.stderr.startswith("podpath: ")), (
            options,
            done.stderr,
        )


def test_namespaces_are_gone() -> None:
    """Nothing of the tests' own stays behind."""
    assert f"{PREFIX}{os.getpid()}" not in run("ip", "netns", "list")
