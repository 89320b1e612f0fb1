"""Tests of `protect.repair.mend` on the real kernel: rules are written where they are missing, and
proven (gap G2, row I6).
"""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import structs

from podpath.collect.netns import inside as inside_of
from podpath_protect.apply import Applier
from podpath_protect.cluster.objects import EnvironmentVariable, KubePod
from podpath_protect.repair.mend import MendError, _families, hold, mend, see
from podpath_protect.repair.namespaces import NamespacePath, read_namespaces
from podpath_protect.repair.redirect import ISTIO_DUAL, LINKERD_LISTENS
from tests.kube_objects import LINKERD_PROXY
from tests.protect.pods import pod as node_and_pod
from tests.protect.repair import pods
from tests.protect.repair.netns import (
    NONE,
    fresh_addresses,
    inside,
    namespaces_of,
    pod_namespace,
)

KERNEL = pytest.mark.kernel("iptables-nft-save", "ip6tables-nft-save", "nft", "nsenter")


BOTH = {
    "linkerd": tuple(LINKERD_PROXY["linkerd-proxy"].values()), "istio": ("true",),
}  # fmt: skip
"""What the injectors write where both families are served."""
FOUR = ("127.0.0.1:4140", "0.0.0.0:4143")
"""What linkerd's injector writes with disableIPv6."""
NAMES = {"linkerd": LINKERD_LISTENS, "istio": (ISTIO_DUAL,)}


def meshed(
    *addresses: str, mesh: str = "linkerd", told: tuple[str, ...] | None = None, **more: object
) -> KubePod:
    """Make a pod with a mesh's proxy and addresses; the proxy is told to serve both families."""
    ips = [{"ip": address.partition("/")[0]} for address in addresses]
    status = {"phase": "Running", "podIP": ips[0]["ip"] if ips else "", "podIPs": ips}
    pod = pods.pod(containers=("app", f"{mesh}-proxy"), status=status, **more)  # type: ignore[arg-type]
    said = BOTH[mesh] if told is None else told
    variables = [
        EnvironmentVariable(name=name, value=value)
        for name, value in zip(NAMES[mesh], said, strict=False)
    ]
    proxy = structs.replace(pod.spec.containers[1], env=tuple(variables))
    spec = structs.replace(pod.spec, containers=(pod.spec.containers[0], proxy))
    return structs.replace(pod, spec=spec)


@pytest.mark.parity("I6")
@KERNEL
@pytest.mark.parametrize("mesh", ["linkerd", "istio"])
def test_a_pod_without_rules_is_mended_in_both_families(mesh: str) -> None:
    """Absent before; written and proven by the validator's packets; there afterwards; nothing to
    write the second time.
    """
    addresses = fresh_addresses()
    with pod_namespace(*addresses) as name:
        pod = meshed(*addresses, mesh=mesh)
        before = see(pod, read_namespaces())
        mending = mend(pod, read_namespaces(), Applier())
        after = see(pod, read_namespaces())
        again = mend(pod, read_namespaces(), Applier())

        assert before is not None
        assert before.redirected is False
        assert ("mended", True) == (mending.state, mending.changed)
        assert "IPv4 and IPv6; the validator passes" in mending.why
        assert after is not None
        assert after.redirected is True
        assert ("mended", False) == (again.state, again.changed)
        assert inside(name, "iptables-nft-save").count("-A OUTPUT") == 1


@KERNEL
def test_only_what_is_missing_is_written() -> None:
    """Where IPv4 is right, only IPv6 is written; the pod's own rules stay."""
    addresses = fresh_addresses()
    with pod_namespace(*addresses) as name:
        pod = meshed(*addresses)
        mend(pod, read_namespaces(), Applier())
        for command in (["-t", "nat", "-F"], ["-t", "nat", "-X"]):
            inside(name, "ip6tables-nft", *command)
        inside(name, "iptables-nft", "-t", "nat", "-A", "OUTPUT", "-p", "udp", "-j", "ACCEPT")
        before = inside(name, "iptables-nft", "-t", "nat", "-S")

        mending = mend(pod, read_namespaces(), Applier())

        assert "mended" == mending.state
        assert "for IPv6;" in mending.why
        assert before == inside(name, "iptables-nft", "-t", "nat", "-S")


@pytest.mark.parity("G15")
@KERNEL
def test_g15_a_rule_of_the_other_kind_that_comes_first_is_named() -> None:
    """Rules of both kinds, of which the foreign one wins: the mending fails, and says that two
    backends meet there.
    """
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        pod = meshed(address)
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
            "9999",
        )
        inside(
            name,
            "iptables-nft",
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
            "PREROUTING",
            "-p",
            "tcp",
            "-j",
            "REDIRECT",
            "--to-ports",
            "4143",
        )

        mending = mend(pod, read_namespaces(), Applier())

        assert ("failed", False) == (mending.state, mending.changed)
        assert "IPv4 has NAT rules of both kinds of iptables" in mending.why


@pytest.mark.parity("G2")
@KERNEL
def test_rules_that_are_there_but_do_not_work_are_no_cure() -> None:
    """Where a filter refuses what the rules redirect, the validator's word counts: not mended, and
    it says what it saw.
    """
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        pod = meshed(address)
        inside(name, "iptables-nft", "-A", "OUTPUT", "-p", "tcp", "-j", "DROP")

        mending = mend(pod, read_namespaces(), Applier())

        assert ("undone", False) == (mending.state, mending.changed)
        assert "written and taken back, since the validator says in its namespace" in mending.why
        assert "" == inside(name, "iptables-nft", "-t", "nat", "-S", "-v").partition("-A")[2]


@pytest.mark.parity("G2")
@pytest.mark.kernel("iptables-nft-save", "ip6tables-nft-save", "nft", "nsenter", "setpriv")
@pytest.mark.parametrize("spoiled", ["", "ip", "ip6"])
def test_g2_inbound_is_proven_from_the_node(spoiled: str) -> None:
    """On the pod's node both directions are proven by packets; an earlier rule that spoils inbound
    is found.
    """
    with node_and_pod() as made, inside_of(f"/run/netns/{made.node}"):
        if spoiled:
            chain = f"chain {spoiled} early c {{ type nat hook prerouting priority -110; }}"
            rule = f"rule {spoiled} early c tcp dport 15104 redirect to :15104"
            made.exec("nft", f"add table {spoiled} early; add {chain}; add {rule}")
        found = namespaces_of({_place(made.name): "10.9.0.2 fd00:9::2"})
        mending = mend(meshed("10.9.0.2", "fd00:9::2"), found, Applier())

    assert ("undone" if spoiled else "mended", not spoiled) == (mending.state, mending.changed), (
        mending.why
    )
    family = {"ip": "IPv4", "ip6": "IPv6"}.get(spoiled, "")
    assert (
        not spoiled
        or f"{family} inbound redirection: a connection from outside to port 15104 arrived there"
        in mending.why
    )


def _place(name: str) -> NamespacePath:
    path = Path(f"/run/netns/{name}")
    return NamespacePath(path=str(path), inode=path.stat().st_ino)


@KERNEL
def test_a_dry_run_writes_nothing() -> None:
    """A dry run looks, says what it would do, and leaves no rule."""
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        mending = mend(meshed(address), read_namespaces(), Applier(dry_run=True))

        assert "would" == mending.state
        assert "" == inside(name, "nft", "list", "ruleset")


@KERNEL
def test_a_pod_whose_proxy_listens_is_mended() -> None:
    """In a pod that runs already the proxy has its ports; the rules are written and looked for."""
    code = (
        "import socket, sys; s = [socket.create_server(('', p)) for p in (4140, 4143)]; "
        "print('up', flush=True); sys.stdin.read()"
    )
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        command = ["ip", "netns", "exec", name, sys.executable, "-c", code]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as proxy:
            assert proxy.stdout is not None
            proxy.stdout.readline()
            mending = mend(meshed(address), read_namespaces(), Applier())
            proxy.kill()

        assert "mended" == mending.state, mending.why


PROXY = (
    "import socket, sys\nheld = []\nfor address, port in zip(sys.argv[1::2], sys.argv[2::2]):\n"
    "    family = socket.AF_INET6 if ':' in address else socket.AF_INET\n"
    "    held.append(socket.create_server((address, int(port)), family=family))\n"
    "print('up', flush=True)\nsys.stdin.read()\n"
)
EXCHANGE = """
import socket, sys
with socket.create_server(("fd00:5::1", 8080), family=socket.AF_INET6) as server:
    caller = socket.create_connection(("fd00:5::1", 8080), timeout=3)
    server.accept()[0].sendall(b"hello")
    print(caller.recv(5).decode())
"""


@contextmanager
def proxy(name: str, *ends: str) -> Iterator[None]:
    """Let a proxy listen in a namespace, at addresses and ports."""
    command = ["ip", "netns", "exec", name, sys.executable, "-c", PROXY, *ends]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        try:
            yield
        finally:
            running.kill()


@pytest.mark.parity("I6", "G2")
@KERNEL
@pytest.mark.parametrize("listens", [True, False])
def test_ipv6_of_a_pod_whose_proxy_serves_ipv4_alone_is_left_alone(listens: bool) -> None:  # noqa: FBT001  # parametrized
    """A dual-stack pod with a proxy for IPv4 is healthy by its IPv4 rules; where those are missing
    they are written, and its IPv6 goes on working, whether the proxy runs or is only told.
    """
    four, six = fresh_addresses()
    ends = ("127.0.0.1", "4140", "0.0.0.0", "4143") if listens else ()  # as linkerd's proxy listens
    with pod_namespace(four, six) as name, proxy(name, *ends):
        pod = meshed(four, six, told=() if listens else FOUR)
        before = see(pod, read_namespaces())
        mending = mend(pod, read_namespaces(), Applier())
        after = see(pod, read_namespaces())

        assert before is not None
        assert after is not None
        assert (False, "mended", True) == (before.redirected, mending.state, after.redirected)
        assert "IPv6" not in before.why.partition(";")[0]
        assert "IPv6 is left alone, since its proxy does not serve it" in mending.why
        assert "REDIRECT" not in inside(name, "ip6tables-nft-save")
        inside(name, "ip", "-6", "address", "add", "fd00:5::1/128", "dev", "eth0", "nodad")
        assert "hello" == inside(name, sys.executable, "-c", EXCHANGE).strip()


@pytest.mark.parity("G2", "I6")
@KERNEL
def test_what_stood_in_the_meshs_chains_is_put_back() -> None:
    """Where a mending is not proven, the namespace is as it was to the letter: the mesh's own
    chains with the rules that they had, other people's rules, the jumps.
    """
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        table = ("iptables-nft", "-t", "nat")
        for words in (
            "-N PROXY_INIT_REDIRECT", "-A PROXY_INIT_REDIRECT -p tcp --dport 9 -j RETURN",
            "-N PROXY_INIT_LEFT", "-A PROXY_INIT_LEFT -j RETURN",
            "-A PREROUTING -p tcp -j PROXY_INIT_REDIRECT", "-A OUTPUT -p udp -j ACCEPT",
        ):  # fmt: skip
            inside(name, *table, *words.split())
        inside(name, "iptables-nft", "-A", "OUTPUT", "-p", "tcp", "-j", "DROP")
        before = inside(name, "iptables-nft", "-t", "nat", "-S")

        mending = mend(meshed(address), read_namespaces(), Applier())

        assert ("undone", False) == (mending.state, mending.changed), mending.why
        assert before == inside(name, "iptables-nft", "-t", "nat", "-S")


@pytest.mark.parity("I6")
@KERNEL
def test_a_proxy_that_serves_no_family_of_the_pod_is_no_cause_to_touch_it() -> None:
    """A pod with IPv6 alone whose proxy listens for IPv4 alone cannot be mended by rules."""
    six = fresh_addresses()[1]
    with (
        pod_namespace(six) as name,
        proxy(name, "127.0.0.1", "4140", "0.0.0.0", "4143"),
    ):  # as linkerd's proxy listens
        sight = see(meshed(six, told=()), read_namespaces())
        mending = mend(meshed(six, told=()), read_namespaces(), Applier())

        assert sight is not None
        assert (None, "impossible") == (sight.redirected, mending.state)
        assert "" == inside(name, "nft", "list", "ruleset")


@KERNEL
def test_a_namespace_of_too_many_rules_costs_little_and_is_undecided() -> None:
    """A tenant's 15,000 rules cost a few seconds at most and the verdict on that pod; nothing is
    written.
    """
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        rules = "".join(
            f"-A OUTPUT -p udp --dport {port % 65535 + 1} -j RETURN\n" for port in range(15_000)
        )
        text = f"*nat\n{rules}COMMIT\n"
        subprocess.run(
            ["ip", "netns", "exec", name, "iptables-nft-restore"], input=text, text=True, check=True
        )
        began = resource.getrusage(resource.RUSAGE_SELF)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        sight = see(meshed(address), read_namespaces())
        mending = mend(meshed(address), read_namespaces(), Applier())
        spent = _cost(resource.RUSAGE_SELF, began) + _cost(resource.RUSAGE_CHILDREN, children)

        assert sight is not None
        assert (None, "failed", False) == (sight.redirected, mending.state, mending.changed)
        assert "printed more than" in sight.why
        assert spent < 6.0, spent


def _cost(who: int, before: resource.struct_rusage) -> float:
    now = resource.getrusage(who)
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        (pods.pod(), "no mesh's proxy"),
        (meshed(), "no address yet"),
        (
            meshed("10.244.96.5", annotations={"config.linkerd.io/skip-subnets": "all"}),
            "not known how to give",
        ),
    ],
)
def test_what_cannot_be_mended_is_not_tried(pod: KubePod, why: str) -> None:
    """No proxy, no address, a wish that is not modeled: impossible, saying why."""
    mending = mend(pod, NONE, Applier())

    assert "impossible" == mending.state
    assert why in mending.why


def test_a_namespace_that_is_not_found_may_be_found_later() -> None:
    """No namespace now is a failure, to be tried again; one that went between look and action is
    none at all.
    """
    pod = meshed("10.244.96.5")
    vanished = NamespacePath(path="/proc/none/ns/net", inode=7)

    missing = mend(pod, NONE, Applier())
    gone = mend(pod, namespaces_of({vanished: "10.244.96.5"}), Applier())

    assert ("failed", "gone") == (missing.state, gone.state)
    assert "no network namespace" in missing.why


def test_a_pod_that_failed_for_good_is_not_mended() -> None:
    """With restartPolicy Never the pod is over: another must be made."""
    failed = pods.read(
        {**_sent(meshed("10.244.96.5")), "status": {"phase": "Failed", "podIP": "10.244.96.5"}}
    )

    assert "impossible" == mend(failed, NONE, Applier()).state


def _sent(pod: KubePod) -> dict[str, object]:
    names = [{"name": container.name} for container in pod.spec.containers]
    return {
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u"},
        "spec": {"containers": names},
    }


def test_a_namespace_that_is_anothers_by_now_is_not_entered() -> None:
    """A process number that was given to another leads into another namespace: its inode tells."""
    place = NamespacePath(
        path="/proc/self/ns/net", inode=Path("/proc/self/ns/net").stat().st_ino + 1
    )

    with pytest.raises(MendError, match="another's by now"), hold(place):
        pass


def test_a_namespace_that_is_held_is_the_same_one() -> None:
    """What is held leads into the namespace that was found."""
    inode = Path("/proc/self/ns/net").stat().st_ino

    with hold(NamespacePath(path="/proc/self/ns/net", inode=inode)) as path:
        assert inode == Path(path).stat().st_ino
    with (
        pytest.raises(MendError, match="cannot be entered"),
        hold(NamespacePath(path="/proc/none/ns/net", inode=1)),
    ):
        pass


def test_families_are_those_of_the_addresses() -> None:
    """A pod with addresses of both families is looked at in both."""
    assert ((4, 6), (6,)) == (
        _families(("10.0.0.1", "fd00::1")),
        _families(("fd00::1",)),
    )
    assert socket.has_ipv6
