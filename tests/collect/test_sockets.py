"""Who owns a socket, in `ss`'s words."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess

import pytest

from podpath.collect.sockets import COMMAND, list_owners, name_owners

LISTED = (
    b"Netid State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
    b"tcp   LISTEN 0      128          0.0.0.0:2024      0.0.0.0:*    uid:7 ino:10 sk:1 cgroup:/ "
    b"<->\nudp   UNCONN 0      0            0.0.0.0:53        0.0.0.0:*    ino:11 sk:2\n"
)


def test_owners_stand_where_the_inodes_stood() -> None:
    """A socket that nobody has open any more has none; the heading stays."""
    named = name_owners(LISTED, {10: b'users:(("dns",pid=1,fd=3))'}).splitlines()
    assert named[0] == LISTED.splitlines()[0]
    assert named[1].endswith(b'0.0.0.0:* users:(("dns",pid=1,fd=3))')
    assert named[2].endswith(b"0.0.0.0:53        0.0.0.0:*")


def test_our_own_socket_is_found() -> None:
    """By its inode, with this process and its descriptor."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        owner = list_owners()[os.fstat(server.fileno()).st_ino]
        assert f"pid={os.getpid()},fd={server.fileno()})".encode() in owner
        if shutil.which("ss") is None or os.geteuid() != 0:
            pytest.skip("needs ss and root for the rest")
        port = f":{server.getsockname()[1]} ".encode()
        ours = name_owners(printed(*COMMAND), {os.fstat(server.fileno()).st_ino: owner})
        theirs = printed("ss", "-tulnp")
        assert line_with(port, ours) == line_with(port, theirs)


def printed(*words: str) -> bytes:
    """Return what a program prints."""
    return subprocess.run(words, capture_output=True, check=True).stdout


def line_with(part: bytes, text: bytes) -> list[bytes]:
    """Return the words of the line that has a part."""
    return next(line for line in text.splitlines() if part in line).split()
