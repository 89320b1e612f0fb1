"""The rules that stand for kube-proxy's nftables mode: the kernel takes them, and packets go where
services lead.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from scripts.kubernetes import nftables_proxy
from scripts.kubernetes.nftables_proxy import (
    Settings,
    add_counters,
    list_ports,
    write_rules,
)

NODE = Settings(
    node="node1", address="192.0.2.1", pod_cidr="10.244.0.0/16", service_cidr="10.96.0.0/16"
)


def service(name: str, address: str, node_port: int = 0, **spec: object) -> Mapping[str, Any]:
    """Return a service of one port."""
    port = {"name": "http", "port": 80, **({"nodePort": node_port} if node_port else {})}
    return {
        "metadata": {"namespace": "shop", "name": name},
        "spec": {"clusterIP": address, "ports": [port], **spec},
    }


def endpoints(name: str, **nodes: str) -> Mapping[str, Any]:
    """Return the endpoints of a service, by the node that each is on."""
    addresses = [{"ip": ip, "nodeName": node} for node, ip in nodes.items()]
    subsets = [{"addresses": addresses, "ports": [{"name": "http", "port": 8080}]}]
    return {"metadata": {"namespace": "shop", "name": name}, "subsets": subsets}


SERVICES = [
    service("api", "10.96.0.5", 30080),
    service("local", "10.96.0.6", 30081, externalTrafficPolicy="Local"),
    service("nobody", "10.96.0.7", 30082),
    service("headless", "None"),
]
ENDPOINTS = [
    endpoints("api", node1="10.244.0.2", node2="10.244.1.2"),
    endpoints("local", node2="10.244.1.3"),
]


def test_services_are_joined_with_their_endpoints() -> None:
    """Each port has the addresses behind it; what has no address of its own is left out."""
    ports = {port.service: port for port in list_ports(SERVICES, ENDPOINTS)}
    assert set(ports) == {"api", "local", "nobody"}
    assert [each.address for each in ports["api"].endpoints] == ["10.244.0.2", "10.244.1.2"]
    assert ports["local"].local
    assert ports["nobody"].endpoints == ()
    assert ports["api"].title == "shop/api:http"


@pytest.mark.kernel("nft", "unshare")
def test_the_kernel_takes_the_table_again_and_again() -> None:
    """Each map leads where it should, and a second transaction replaces the first."""
    rules = write_rules(NODE, list_ports(SERVICES, ENDPOINTS))
    again = "nft -f - <<EOF\n" + rules + "EOF\n"
    done = subprocess.run(
        ("unshare", "--net", "sh", "-e", "-c", f"{again}{again}nft -j list ruleset"),
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    listed = [each["map"] for each in json.loads(done.stdout)["nftables"] if "map" in each]
    maps = {each["name"]: elements_of(each) for each in listed}
    api = next(port for port in list_ports(SERVICES, ENDPOINTS) if port.service == "api")
    assert maps["service-nodeports"] == {"tcp 30080": f"external-{api.chain}"}
    assert maps["service-ips"]["10.96.0.5 tcp 80"] == f"service-{api.chain}"
    assert maps["no-endpoint-services"] == {"10.96.0.7 tcp 80": "reject-chain"}
    assert maps["no-endpoint-nodeports"] == {"tcp 30081": "drop", "tcp 30082": "reject-chain"}
    assert nftables_proxy.MARK == "0x4000"


def elements_of(listed: Mapping[str, Any]) -> dict[str, str]:
    """Return where each key of a listed map leads."""
    found = {}
    for key, verdict in listed["elem"]:
        inner = key["elem"]["val"] if "elem" in key else key
        words = " ".join(str(part) for part in inner["concat"])
        found[words] = verdict.get("goto", {}).get("target", "drop")
    return found


@pytest.mark.kernel("nft", "unshare")
def test_rules_count_where_that_is_asked_for() -> None:
    """Every rule that does something counts, and the kernel takes them."""
    rules = add_counters(write_rules(NODE, list_ports(SERVICES, ENDPOINTS)))
    done = subprocess.run(
        ("unshare", "--net", "sh", "-e", "-c", "nft -f - && nft list ruleset"),
        input=rules,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    doing = [line for line in done.stdout.splitlines() if " to 10.244" in line or " jump " in line]
    assert len(doing) > 10
    assert all("counter packets 0" in line for line in doing)
