"""One namespace's files, taken with as few processes as that takes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.collect.netlink import open_routing
from podpath.collect.netns import inside
from podpath.collect.netns_files import NETNS_FILES, FileCommand, ProgramOutput
from podpath.collect.netns_state import Taker, put_in_lines, run
from podpath.collect.sockets import list_owners

NAME = f"pns-{os.getpid()}"
CHANGING = {"nstat.json", "sysctl.txt"}
"""Files that may differ from one moment to the next."""


@pytest.fixture
def netns() -> Iterator[str]:
    """Provide a new network namespace with a veth pair in it."""
    try:
        subprocess.run(["ip", "netns", "add", NAME], check=True)
        ip("link", "set", "lo", "up")
        ip("link", "add", "a0", "type", "veth", "peer", "b0")
        ip("addr", "add", "192.0.2.1/24", "dev", "a0")
        ip(
            "neigh",
            "add",
            "192.0.2.9",
            "lladdr",
            "02:00:00:00:00:09",
            "dev",
            "a0",
            "nud",
            "permanent",
        )
        ip("-6", "route", "add", "blackhole", "2001:db8::/64")
        yield NAME
    finally:
        subprocess.run(["ip", "netns", "del", NAME], check=False)


def ip(*words: str) -> None:
    """Run `ip` in the namespace."""
    subprocess.run(["ip", "-n", NAME, *words], check=True)


def take(names: int = 1) -> dict[str, bytes]:
    """Take the namespace so many times by one taker; what it gave last."""
    taker = Taker(NETNS_FILES, list_owners())
    files: dict[str, bytes] = {}
    for _ in range(names):
        with inside(f"/run/netns/{NAME}"):
            with open_routing() as kernel:
                devices = kernel.list_devices()
            files = dict(taker.take(NAME, devices).files)
    return files


def printed(command: FileCommand) -> bytes:
    """Return what the program itself prints in the namespace."""
    words = ["ip", "netns", "exec", NAME, *command.arguments]
    return subprocess.run(words, capture_output=True, check=False).stdout


@pytest.mark.kernel("iptables-nft-save", "nft", "ipset", "conntrack", "bridge", "ss", "nstat")
@pytest.mark.parametrize("times", [1, 2])
def test_files_are_what_the_programs_print(netns: str, times: int) -> None:
    """Also where a namespace has nothing of it, and the output of another one was taken."""
    files = take(times)
    assert "wg.txt" not in files  # without a device of its there is nothing to ask
    for command in NETNS_FILES:
        if command.name == "wg.txt":
            continue
        if command.name in CHANGING:
            assert files[command.name]
        elif command.name.endswith(".json"):
            assert files[command.name] == put_in_lines(printed(command)), (netns, command.name)
        else:
            assert split(files[command.name]) == split(printed(command)), (netns, command.name)


@pytest.mark.kernel("iptables-nft", "iptables-legacy", "ipset", "conntrack", "bridge", "ss")
def test_what_a_namespace_has_is_taken_though_others_have_nothing(netns: str) -> None:
    """Rules, sets, bridges, connections and sockets show once they are there."""
    taker = Taker(NETNS_FILES, {})
    for _ in range(2):
        with inside(f"/run/netns/{netns}"):
            taker.take(netns, ())
    execute("iptables-nft", "-A", "INPUT", "-m", "conntrack", "--ctstate", "NEW", "-j", "ACCEPT")
    execute("iptables-legacy", "-A", "FORWARD", "-j", "DROP")
    execute("ipset", "create", "some", "hash:ip")
    ip("link", "add", "br0", "type", "bridge")
    ip("link", "set", "a0", "master", "br0")
    execute(
        "conntrack",
        "-I",
        "-s",
        "192.0.2.1",
        "-d",
        "192.0.2.2",
        "-p",
        "udp",
        "--sport",
        "1",
        "--dport",
        "2",
        "-t",
        "300",
    )
    listener = (
        "import socket, time; s = socket.create_server(('', 7777)); print(flush=True); "
        "time.sleep(60)"
    )
    server = subprocess.Popen(
        ["ip", "netns", "exec", netns, "python3", "-c", listener], stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        with inside(f"/run/netns/{netns}"), open_routing() as kernel:
            devices = kernel.list_devices()
        again = Taker(NETNS_FILES, list_owners())
        for owner, maker in ((False, taker), (True, again)):
            with inside(f"/run/netns/{netns}"):
                files = maker.take(netns, devices).files
            assert b"-A INPUT" in files["iptables-save.txt"]
            assert b"-A FORWARD -j DROP" in files["iptables-legacy-save.txt"]
            assert b"create some hash:ip" in files["ipset.txt"]
            assert b"192.0.2.2" in files["conntrack.txt"]
            assert b'"br0"' in files["bridge-link.json"]
            assert b":7777" in files["ss.txt"]
            assert (f"pid={server.pid}".encode() in files["ss.txt"]) is owner
    finally:
        server.kill()
        server.communicate()


def execute(*words: str) -> None:
    """Run a program in the namespace."""
    subprocess.run(["ip", "netns", "exec", NAME, *words], check=True, capture_output=True)


def split(text: bytes) -> list[list[bytes]]:
    """Return the words of each line that is no comment: widths of columns and times aside."""
    return [line.split() for line in text.splitlines() if not line.startswith(b"#")]


@pytest.mark.kernel("ip")
def test_a_program_that_is_not_there_costs_its_file(netns: str) -> None:
    """A sentence says which package brings it; one that fails is told with its complaint."""
    commands = (
        FileCommand("none.txt", ("no-such-program",), "nowhere"),
        FileCommand("bad.txt", ("ip", "nonsense"), "iproute2"),
    )
    with inside(f"/run/netns/{netns}"):
        state = Taker(commands, {}).take("pod", ())
    assert state.files == {}
    assert state.missing[0] == "pod: no-such-program is not installed (Debian package nowhere)"
    assert state.missing[1].startswith("pod: `ip nonsense` failed: Object")


def test_a_program_is_run_with_files_for_pipes() -> None:
    """What it prints, what it complains of and how it ends; more than a pipe holds."""
    done = run("/bin/sh", ("sh", "-c", "cat; echo bad >&2; exit 3"), b"x" * 300_000)
    assert (done.code, done.complaint) == (3, b"bad\n")
    assert done.printed == b"x" * 300_000


@given(
    st.lists(
        st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=6), min_size=1),
        min_size=1,
        max_size=6,
    )
)
def test_a_listing_stands_one_object_to_a_line(objects: list[dict[str, object]]) -> None:
    """It stays the same listing, of which each line between the brackets is one object."""
    for whole in (
        json.dumps(objects),
        json.dumps({"nftables": objects}),
        json.dumps(objects, indent=1),
    ):
        lines = put_in_lines(whole.encode())
        assert json.loads(lines) == json.loads(whole)
        assert len(objects) + 2 == len(lines.splitlines())


@pytest.mark.parametrize(
    "text", ["", "[]", '{"kernel": {"a": 1}}', '[{"a": 1}, {"b', '[{"a": 1}, 3]', "no JSON"]
)
def test_what_is_no_listing_stays_as_it_is(text: str) -> None:
    """Nothing is lost of what a program printed otherwise than expected."""
    assert text.encode() == put_in_lines(text.encode())


@pytest.mark.kernel("ip")
@pytest.mark.parametrize("more", ["", "rule", "route"])
def test_ipv6_is_listed_as_the_program_does_without_it(
    netns: str, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """Once a namespace was asked for both families; a rule that no namespace had is asked for."""
    asked: list[str] = []

    def count(path: str, arguments: Sequence[str], given: bytes = b"") -> ProgramOutput:
        asked.extend(word for word in arguments if word == "-6")
        return run(path, arguments, given)

    monkeypatch.setattr("podpath.collect.netns_state.run", count)
    ip("link", "set", "a0", "up")
    taker = Taker(NETNS_FILES, {})
    with inside(f"/run/netns/{netns}"):
        taker.take(netns, ())
        if more == "rule":
            ip("-6", "rule", "add", "from", "fd00::3", "lookup", "77")
        elif more:
            ip("-6", "route", "add", "unreachable", "fd00::/64")
        files = taker.take(netns, ()).files

    assert ["-6"] * (2 if more == "rule" else 1) == asked
    for kind in ("route", "rule"):
        shown = ["show", "table", "all"] if kind == "route" else []
        words = ["ip", "-n", netns, "-6", "-d", "-j", kind, *shown]
        printed = subprocess.run(words, check=True, capture_output=True).stdout
        assert put_in_lines(printed) == files[f"ip6-{kind}.json"]
