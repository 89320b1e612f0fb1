"""Docker's objects and Compose files."""

from __future__ import annotations

from podpath.evidence.docker.inspect import FORMATS
from podpath.evidence.kubernetes.records import ApiObjectRecord
from tests.evidence.consoles import block, read

_, INSPECT, COMPOSE = FORMATS
NETWORK = """[
    {
        "Name": "backend",
        "Driver": "bridge",
        "IPAM": { "Config": [ { "Subnet": "172.20.0.0/16" } ] },
        "Internal": true
    }
]"""
CONTAINER = """[
    {
        "Name": "/web",
        "HostConfig": { "NetworkMode": "host" },
        "NetworkSettings": {
            "Ports": { "80/tcp": [ { "HostIp": "0.0.0.0", "HostPort": "8080" } ], "443/tcp": null },
            "IPAddress": "172.17.0.2"
        }
    }
]"""
FILE = """version: "3"
services:
  web:
    image: nginx
    ports:
      - "127.0.0.1:8080:80"
      - 5432:5432/udp
      - target: 90
        published: 9090
  db:
    image: postgres"""


def only(text: str) -> ApiObjectRecord:
    """Read the one object of `docker inspect`."""
    assert INSPECT.recognise(block(text))
    (record,) = [
        one for one in INSPECT.read(block(text)).records if isinstance(one, ApiObjectRecord)
    ]
    return record


def test_a_network() -> None:
    """A network keeps its own fields."""
    record = only(NETWORK)
    assert ("Network", "backend", "true") == (
        record.kind,
        record.name,
        record.tree.text_at("Internal"),
    )


def test_a_container() -> None:
    """A container's ports stand in one list, whatever form Docker prints."""
    record = only(CONTAINER)
    ports = [
        (port.text_at("hostPort"), port.text_at("containerPort"))
        for port in record.tree.items_at("ports")
    ]
    assert ("Container", "web") == (record.kind, record.name)
    assert ("8080", "80") in ports


def test_a_compose_file() -> None:
    """Each service is a container; ports in short and long form."""
    assert COMPOSE.recognise(block(FILE))
    records = [
        one
        for one in COMPOSE.read(block(FILE)).records
        if isinstance(one, ApiObjectRecord) and one.kind == "Container"
    ]
    found = [
        (port.text_at("hostIp"), port.text_at("hostPort"), port.text_at("containerPort"))
        for port in records[0].tree.items_at("ports")
    ]

    assert ["web", "db"] == [one.name for one in records]
    assert [("127.0.0.1", "8080", "80"), ("", "5432", "5432"), ("", "9090", "90")] == found


def test_other_json_is_none() -> None:
    """An object without Docker's fields is none of its."""
    assert not INSPECT.recognise(block('{"Name": "x"}'))
    assert not COMPOSE.recognise(block("services:\n  - a"))


def test_the_options_of_a_network_that_a_template_picks() -> None:
    """The command names the network."""
    command = "docker network inspect ci --format '{{json .Options}}'"
    reading = read(block('{"com.docker.network.driver.mtu":"1400"}', command))
    (network,) = (one for one in reading.records if isinstance(one, ApiObjectRecord))

    assert ("Network", "ci") == (network.kind, network.name)
    assert "1400" == network.tree.text_at("Options", "com.docker.network.driver.mtu")
