"""Tests of `protect.repair.namespaces`: a pod's namespace is found by its addresses, and never
guessed (row I6).
"""

from __future__ import annotations

import ipaddress
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.repair import namespaces
from podpath_protect.repair.namespaces import (
    NamespacePath,
    Namespaces,
    parse_addresses,
    read_namespaces,
)
from tests.kube.following import until
from tests.protect.repair.netns import bare, fresh_addresses, namespaces_of, pod_namespace

TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.244.7.0/24 2 0 2
        |-- 10.244.7.0
           /24 link UNICAST
        |-- 10.244.7.5
           /32 host LOCAL
        |-- 10.244.7.255
           /32 link BROADCAST
     |-- 127.0.0.1
        /32 host LOCAL
"""
SIX = """fd000007000000000000000000000005 02 40 00 80     eth0
fe800000000000000000000000000001 02 40 20 80     eth0
00000000000000000000000000000001 01 80 10 80       lo
"""
ONE, OTHER, HOST = (
    NamespacePath(path=f"/proc/{number}/ns/net", inode=number) for number in (1, 2, 3)
)


UID = "6a2b0c9e-0000-4000-8000-00000000000a"
"""A pod's."""


def claimed(*pods: str) -> Namespaces:
    """Return a node where several namespaces hold one address, each in a pod's control group."""
    places = tuple(
        NamespacePath(path=f"/proc/{number}/ns/net", inode=number, pod=pod)
        for number, pod in enumerate(pods, start=1)
    )
    return namespaces_of(dict.fromkeys(places, "10.0.0.1"))


@pytest.mark.parametrize(
    ("pods", "inode"),
    [
        ((UID, ""), 1),
        (("", UID), 2),
        (("another", UID, ""), 2),
        (("another", ""), 2),
        (("", ""), None),
        ((UID, UID), None),
        (("another",), None),
    ],
)
def test_an_address_that_a_tenant_takes_too_hides_no_pod(
    pods: tuple[str, ...], inode: int | None
) -> None:
    """Where several namespaces hold an address, the pod's own control group tells which is its; the
    namespace of another pod never is.
    """
    place = claimed(*pods).find(["10.0.0.1"], UID).place

    assert inode == (None if place is None else place.inode)


@pytest.mark.parametrize(
    ("line", "uid"),
    [
        (f"0::/kubepods/burstable/pod{UID}/abc", UID),
        (f"0::/../kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-1.scope", UID),
        ("0::/kubepods/pod0123456789abcdef0123456789abcdef/x", "0123456789abcdef0123456789abcdef"),
        ("0::/user.slice/podman-1.scope", ""),
        ("0::/" + "x" * 100_000, ""),
    ],
)
def test_a_pod_is_read_from_a_control_group(tmp_path: Path, line: str, uid: str) -> None:
    """Both spellings of the kubelet, and a static pod's."""
    (tmp_path / "cgroup").write_text(f"{line}\n")

    assert uid == namespaces._pod_of(tmp_path / "cgroup")


@pytest.mark.kernel("nsenter")
def test_a_device_name_of_any_bytes_hides_nobody() -> None:
    """A tenant's device whose name is no text, or holds control letters, costs no other pod its
    verdict, and its own is found too.
    """
    address, six = fresh_addresses()
    with pod_namespace(address, six) as name, pod_namespace() as tenant:
        for device in (b"\xff\xfe\xc3", b"a\x1cb\x1b[31m", "größe".encode()):
            subprocess.run(
                ["ip", "-n", tenant, "link", "add", device, "type", "bridge"], check=True
            )
            words: list[str | bytes] = ["ip", "-n", tenant, "-6", "address", "add"]
            words += ["fd00:dead::1/128", "dev", device, "nodad"]
            subprocess.run(words, check=True)
            subprocess.run(["ip", "-n", tenant, "link", "set", device, "up"], check=True)
        with subprocess.Popen(["ip", "netns", "exec", tenant, "sleep", "600"]) as theirs:
            _await(tenant, theirs)
            seen = read_namespaces()
            theirs.kill()

        assert seen.find([bare(address), bare(six)]).place is not None
        assert seen.find(["fd00:dead::1"]).place is not None
        assert f"/run/netns/{name}" == (seen.find([bare(six)]).place or ONE).path


def _await(name: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has entered a namespace and runs what it is to run there."""
    program = Path(f"/proc/{process.pid}/comm")
    until(lambda: process.pid in _inside(name) and program.read_text() == "sleep\n", "it enters")


def _inside(name: str) -> set[int]:
    done = subprocess.run(["ip", "netns", "pids", name], check=True, capture_output=True, text=True)
    return set(map(int, done.stdout.split()))


@given(st.text(), st.text())
def test_no_text_of_a_namespace_is_too_strange(four: str, six: str) -> None:
    """Whatever stands in the kernel's files, only addresses come out."""
    for address in parse_addresses(f"{TRIE}{four}", f"{SIX}{six}"):
        ipaddress.ip_address(address)


def known() -> Namespaces:
    """Return a node where an old sandbox still has the address of a new one."""
    held = {ONE: "10.0.0.1 10.0.0.2", OTHER: "10.0.0.2 fd00::2", HOST: "10.0.0.3"}
    return namespaces_of(held, host=HOST.inode)


def test_addresses_are_read_without_loopback_and_link_local() -> None:
    """Only addresses that tell namespaces apart count."""
    assert {"10.244.7.5", "fd00:7::5"} == parse_addresses(TRIE, SIX)


def test_the_one_namespace_with_all_addresses_is_taken() -> None:
    """One address may be held twice; both families together tell which."""
    assert ONE == known().find(["10.0.0.1"]).place
    assert OTHER == known().find(["10.0.0.2", "FD00:0::2"]).place


@pytest.mark.parametrize(
    ("addresses", "why"),
    [
        (["10.0.0.2"], "2 network namespaces hold 10.0.0.2"),
        (["10.0.0.9"], "no network namespace of this node holds 10.0.0.9"),
        (["10.0.0.1", "fd00::2"], "no network namespace"),
        (["10.0.0.3"], "the node's own"),
        ([], "no address yet"),
    ],
)
def test_what_is_not_clear_is_not_guessed(addresses: list[str], why: str) -> None:
    """Two that hold an address, none, the node's own, no address: nothing is taken, and it is said
    why.
    """
    found = known().find(addresses)

    assert found.place is None
    assert why in found.why


@pytest.mark.parity("I6")
@pytest.mark.kernel("nsenter")
def test_i6_a_namespace_is_found_by_its_oldest_process() -> None:
    """Of a namespace with processes the oldest is taken, as its sandbox outlives the others."""
    addresses = fresh_addresses()
    with pod_namespace(*addresses) as name:
        command = ["ip", "netns", "exec", name, "sleep", "600"]
        with subprocess.Popen(command) as first:
            _await(name, first)
            time.sleep(0.05)  # /proc tells when they began in hundredths of a second
            with subprocess.Popen(command) as second:
                _await(name, second)
                found = read_namespaces(bound=()).find(map(bare, addresses))
                second.kill()
            first.kill()

    assert found.place is not None
    assert f"/proc/{first.pid}/ns/net" == found.place.path


@pytest.mark.kernel("nsenter")
def test_a_namespace_without_processes_is_found_where_it_is_bound() -> None:
    """A namespace that is only bound to a file, as runtimes do, is found there; its inode tells it
    from others.
    """
    address = fresh_addresses()[0]
    with pod_namespace(address) as name:
        found = read_namespaces().find([bare(address)])

        assert found.place is not None
        assert (f"/run/netns/{name}", Path(f"/run/netns/{name}").stat().st_ino) == (
            found.place.path,
            found.place.inode,
        )


@pytest.mark.kernel("nsenter")
def test_a_file_that_lasts_is_preferred_to_a_process_that_may_end() -> None:
    """A namespace that is bound and has a process is led into by the file: the process may be a
    probe that ends in a moment.
    """
    addresses = fresh_addresses()
    with (
        pod_namespace(*addresses) as name,
        subprocess.Popen(["ip", "netns", "exec", name, "sleep", "600"]) as probe,
    ):
        _await(name, probe)
        found = read_namespaces().find(map(bare, addresses))
        probe.kill()

    assert found.place is not None
    assert f"/run/netns/{name}" == found.place.path


def test_a_tenants_many_namespaces_cost_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a pod's namespaces the oldest few are read, and those of another pod never; where there
    are more of no pod than there is time for, nothing is taken for the only one.
    """
    mine = NamespacePath(path="/proc/1000/ns/net", inode=1000, pod=UID)
    theirs = [
        NamespacePath(path=f"/proc/{number}/ns/net", inode=number, pod=UID.replace("a", "b"))
        for number in range(1, 1000)
    ]
    read: list[int] = []
    clock = iter(range(10_000))

    def addresses(place: NamespacePath) -> frozenset[str]:
        read.append(place.inode)
        return frozenset({"10.0.0.1"})

    node = Namespaces([*theirs, mine], 99, addresses)
    assert mine == node.find(["10.0.0.1"], UID).place
    assert [1000] == read
    assert "8 network namespaces hold" in node.find(["10.0.0.1"], theirs[0].pod).why
    assert "no network namespace" in node.find(["10.0.0.1"], "another").why
    assert [1000, *range(1, 9)] == read
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    node = Namespaces([replace(place, pod="") for place in theirs], 99, addresses)
    assert "more network namespaces than can be" in node.find(["10.0.0.1"], UID).why
    assert len(read) < 9 + 10


@pytest.mark.kernel("nsenter")
def test_two_namespaces_with_one_address_are_not_told_apart() -> None:
    """The real case of an old sandbox that is not gone: nothing is taken."""
    address = fresh_addresses()[0]
    with pod_namespace(address), pod_namespace(address):
        assert (
            f"2 network namespaces hold {bare(address)}"
            in read_namespaces().find([bare(address)]).why
        )
