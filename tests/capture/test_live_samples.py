"""Samples of the real kernel: rules that send packets to NFLOG at a limited rate, or one in three,
show by themselves that they are samples; rules that send all do not.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from podpath.library.captures import captures

pytestmark = pytest.mark.kernel("nft", "tcpdump", "unshare")
SAMPLES = {
    "limited": "limit rate 20/second log group 5",
    "third": "numgen inc mod 3 == 0 log group 6",
    "all": "log group 7",
}
TALK = """
import socket, sys, threading, time
listener = socket.create_server(("127.0.0.1", 8080))
def answer():
    while True:
        with listener.accept()[0] as connection:
            while asked := connection.recv(65536):
                connection.sendall(asked * 4)
threading.Thread(target=answer, daemon=True).start()
for _ in range(6):
    with socket.create_connection(("127.0.0.1", 8080)) as client:
        for _ in range(10):
            client.sendall(bytes(700))
            got = 0
            while got < 2800:
                got += len(client.recv(65536))
            time.sleep(0.01)
"""
SCRIPT = f"""
set -e
ip link set lo up
nft add table ip t
nft add chain ip t i '{{ type filter hook input priority 0; }}'
{"".join(f"nft add rule ip t i {rule}{chr(10)}" for rule in SAMPLES.values())}
for group in 5 6 7; do
    tcpdump -U -i nflog:$group -w $group.pcap 2>$group.err & pids="$pids $!"
done
until [ "$(cat 5.err 6.err 7.err | grep -c listening)" = 3 ]; do sleep 0.1; done
"$1" -c "$2"
sleep 1
kill -INT $pids
wait
"""


def test_samples_of_the_kernel_are_no_all_clear(tmp_path: Path) -> None:
    """The same connections work in all three; only one capture has them whole."""
    tmp_path.chmod(0o777)  # tcpdump writes as another user
    unshared = ["unshare", "--mount", "--net", "bash", "-c", SCRIPT, "samples"]
    done = subprocess.run(
        [*unshared, sys.executable, TALK],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [captures(tmp_path / f"{group}.pcap") for group in (5, 6, 7)]

    assert ["undecided", "undecided", "none"] == [result.verdict for result in found]
    assert all("no packet" in result.case.facts.gaps[0].why for result in found[:2])
