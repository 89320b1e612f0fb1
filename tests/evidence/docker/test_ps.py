"""Containers with what they publish."""

from __future__ import annotations

from podpath.evidence.docker.ps import FORMAT
from podpath.evidence.kubernetes.records import ApiObjectRecord
from tests.evidence.consoles import block

TABLE = """CONTAINER ID   IMAGE   COMMAND   CREATED      STATUS         PORTS                                              NAMES
1f2a3b4c5d6e   nginx   "nginx"   1 hour ago   Up 5 minutes   127.0.0.1:8080->80/tcp, :::8081->81/tcp, 443/tcp   web
2f2a3b4c5d6e   redis   "redis"   1 hour ago   Exited (0)                                                        cache"""  # noqa: E501


def ports(text: str) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Read names and ports."""
    records = [one for one in FORMAT.read(block(text)).records if isinstance(one, ApiObjectRecord)]
    return [
        (
            one.name,
            [
                (port.text_at("hostIp"), port.text_at("hostPort"), port.text_at("containerPort"))
                for port in one.tree.items_at("ports")
            ],
        )
        for one in records
    ]


def test_docker_ps() -> None:
    """Published ports with the address, and those that are only exposed."""
    assert FORMAT.recognise(block(TABLE))
    assert [
        ("web", [("127.0.0.1", "8080", "80"), ("::", "8081", "81"), ("", "", "443")]),
        ("cache", []),
    ] == ports(TABLE)


def test_docker_port() -> None:
    """The arrows of `docker port` point the other way."""
    assert [("", [("0.0.0.0", "8080", "80")])] == ports("80/tcp -> 0.0.0.0:8080")


def test_another_table_is_none() -> None:
    """A table of files is no table of containers."""
    assert not FORMAT.recognise(block("total 4\n-rw-r--r-- 1 root root 12 May 1 a.txt"))
