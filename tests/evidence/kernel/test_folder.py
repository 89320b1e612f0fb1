"""What `ls` lists, and how many lines somebody counted of such a list (coreutils 9.1)."""

from __future__ import annotations

import pytest

from podpath.evidence.kernel import folder
from podpath.evidence.records import StatementRecord
from podpath.net.provenance import Source
from podpath.net.statements import FolderListing, LineCount, Statement

LONG = """\
total 8
drwxr-xr-x 2 root root 4096 Mar  1 12:00 .
-rw-r--r-- 1 root root  292 Mar  1 12:00 10-flannel.conflist
lrwxrwxrwx 1 root root   17 Mar  1 12:00 99-a.conf -> /etc/a.conf
"""


def read(command: str, text: str) -> list[Statement]:
    """Return what a block states, where it is recognized."""
    source = Source(name="t", command=command, lines=tuple(text.splitlines()))
    if not folder.recognise(source):
        return []
    reading = folder.read(source)
    assert not reading.gaps
    return [one.statement for one in reading.records if isinstance(one, StatementRecord)]


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("ls /etc/cni/net.d/", "a.conf\nb.conf\n",
         FolderListing("/etc/cni/net.d", ("a.conf", "b.conf"), whole=True)),
        ("ls /opt/cni/bin", "bridge  host-local\nloopback\n",
         FolderListing("/opt/cni/bin", ("bridge", "host-local", "loopback"), whole=True)),
        ("sudo ls -la /etc/cni/net.d", LONG,
         FolderListing("/etc/cni/net.d", ("10-flannel.conflist", "99-a.conf"), whole=True)),
        ("ls /etc/cni/net.d | head -1", "a.conf\n",
         FolderListing("/etc/cni/net.d", ("a.conf",), whole=False)),
        ("ls /opt/cni/bin", "bridge\n...\nloopback\n",
         FolderListing("/opt/cni/bin", ("bridge", "loopback"), whole=False)),
        ("ls --ignore=*.bak /opt/cni/bin", "bridge\n",
         FolderListing("/opt/cni/bin", ("bridge",), whole=False)),
        ("ls /var/lib/cni/networks/n | wc -l", "63\n",
         LineCount("ls", ("/var/lib/cni/networks/n",), "", 63)),
        ("ls /var/lib/cni/networks/n | grep -c '^10'", " 61\n",
         LineCount("ls", ("/var/lib/cni/networks/n",), "^10", 61)),
        ("crictl pods -q | grep -v x | wc -l", "5\n", LineCount("crictl", ("pods", "-q"), "x", 5)),
    ],
)  # fmt: skip
def test_lists_and_counts(command: str, text: str, expected: Statement) -> None:
    """Names without their links' ends; a count with what picked its lines."""
    assert [expected] == read(command, text)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("ls /etc/cni/net.d", "ls: cannot access '/etc/cni/net.d': No such file or directory\n"),
        ("ls -R /etc/cni", "net.d\n"),
        ("ls net.d", "a.conf\n"),
        ("ls /etc/cni/net.d /opt/cni/bin", "a\n"),
        ("ls /etc/cni/net.d; ls /root/old", "a.conf\n"),
        ("ls /etc/cni/net.d || echo none", "none\n"),
        ("ls /var/lib/cni/networks/n; crictl pods -q | wc -l", "63\n"),
        ("crictl pods", "POD ID\n"),
        ("ls /x | wc -l", "12 files\n"),
        ("cat /etc/hosts", "127.0.0.1 localhost\n"),
    ],
)
def test_what_is_no_list_of_one_folder_is_left_to_others(command: str, text: str) -> None:
    """An error, several folders, one that is not named from the root, other programs."""
    assert [] == read(command, text)
