"""A small shop on a test's cluster: pods and services that connections are made between, and what
`podpath why` is given of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from podpath.datapath.vocabulary import Reachability
from podpath.kube import access
from podpath.kube.client import Client
from podpath.library.given import Pasted
from podpath.library.why import WhyResult, why
from podpath.sources.objects import read_objects
from scripts.kubernetes import control, network
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import DNS_ADDRESS, NFTABLES, Plan
from tests.cluster import datagrams, pods
from tests.cluster.connecting import CLIENT, Target, connect, enter
from tests.cluster.planted import PlantedFault
from tests.command import podpath

SPACE = "shop"
FULL = 1300
"""Bytes that fill a packet on the narrowest way between pods, and are still one packet."""
_SICK = {"exec": {"command": ["cat", "/www/ready"]}, "periodSeconds": 1}
_SERVED = ("api-", "dns-", "far-")
"""How the pods are called that stand behind services, ready."""
_REFUSED = r'{0}\S+ has no endpoints|comment "{0}[^"]+" :'
"""By what rules of either kind refuse services whose names begin so."""
_PODS = "shop/(?:far|front)-"
"""Services that have a pod each."""
_FRONT, _LOCAL = 30180, 30190
"""Node ports, to which a node's number is added."""


def open_shop(tried: Cluster) -> None:
    """Create pods on every node, and services of all kinds."""
    made: list[dict[str, Any]] = [pods.make_namespace(SPACE)]
    for node in tried.plan.node_names:
        made += [pods.make_pod(SPACE, f"{app}-{node}", node, app) for app in ("web", "api")]
        made.append(pods.make_pod(SPACE, f"far-{node}", node, f"far-{node}"))
        made.append(pods.make_service(SPACE, f"far-{node}"))
        made.append(pods.make_pod("kube-system", f"dns-{node}", node, "kube-dns"))
        made += _make_fronts(tried.plan, node)
    pods.create(tried, *made, *(pods.make_service(SPACE, name) for name in ("api", "nobody")))
    sick: list[dict[str, Any]] = []
    for node in tried.plan.node_names:
        pod = pods.make_pod(SPACE, f"sick-{node}", node, f"sick-{node}")
        pod["spec"]["containers"][0]["readinessProbe"] = _SICK
        sick += [pod, pods.make_service(SPACE, f"sick-{node}")]
    ports = [{"name": "dns", "protocol": "UDP", "port": 53, "targetPort": pods.PORT}]
    resolver = pods.make_service("kube-system", "kube-dns", clusterIP=DNS_ADDRESS, ports=ports)
    pods.create(tried, *sick, resolver, ready=False)
    await_rules(tried)


def await_rules(tried: Cluster) -> None:
    """Wait until kube-proxy on every node has the endpoints of all services, each of which has a
    pod on every node or is of one.
    """
    control.wait(lambda: all(_is_served(tried, node) for node in tried.plan.node_names), "rules")


def read_rules(tried: Cluster, node: str) -> str:
    """Return the rules of a node, as both programs list them."""
    return tried.nodes[node].run("sh", "-c", "nft list ruleset; iptables-save")


def refuse(rules: str, services: str) -> bool:
    """Tell whether rules refuse a service whose name begins so, because nothing is behind it."""
    return re.search(_REFUSED.format(services), rules) is not None


def _is_served(tried: Cluster, node: str) -> bool:
    """Tell whether kube-proxy on a node has the pods that are behind services."""
    rules = read_rules(tried, node)
    if refuse(rules, _PODS):
        return False
    listed = tried.read("pods", "-A")["items"]
    served = [each for each in listed if each["metadata"]["name"].startswith(_SERVED)]
    return all(f"{each['status'].get('podIP')}:{pods.PORT}" in rules for each in served)


def _make_fronts(plan: Plan, node: str) -> Iterator[dict[str, Any]]:
    """Yield services of a node's pod that every node has a port of."""
    for name, first, policy in (("front", _FRONT, "Cluster"), ("local", _LOCAL, "Local")):
        port = first + plan.node_names.index(node) + 1
        ports = [{"name": "http", "port": 80, "targetPort": pods.PORT, "nodePort": port}]
        yield pods.make_service(
            SPACE,
            f"{name}-{node}",
            type="NodePort",
            selector={"app": f"far-{node}"},
            ports=ports,
            externalTrafficPolicy=policy,
        )


def place(tried: Cluster, fault: PlantedFault, seed: int) -> PlantedFault:
    """Return a fault on two nodes and a pod that are drawn, for each fault by itself."""
    drawn = random.Random(f"{seed} {fault.name}")  # which node is no secret
    first, second = drawn.sample(tried.plan.node_names, 2)
    return fault.placed(list_signs(tried, first, second, drawn.choice(("web", "api"))))


def list_signs(tried: Cluster, first: str, second: str, app: str) -> dict[str, str]:
    """Return what the signs in a fault's texts stand for."""
    plan = tried.plan
    in_maps = plan.proxy == NFTABLES
    signs = {
        "@without": "@no-endpoint-services" if in_maps else "nobody",
        "@resolver": "@no-endpoint-services" if in_maps else "kube-dns",
        "@refused": "no-endpoints" if in_maps else "service-rejected no-endpoints",
        "@unreached": "no-route" if plan.plugin == "routed" else "neighbour-failed",
        "@nearby": "blackhole" if plan.plugin == "routed" else "cni0",
        "@locally": "@no-endpoint-nodeports" if in_maps else "local",
        "@client": f"{app}-{first}",
        "@asker": address_of(tried, f"{app}-{first}"),
        "@server": address_of(tried, f"far-{second}"),
        "@gateway": plan.control_address,
        "@nobody": f"10.199.{plan.net}.77",
        "@front": str(_FRONT + plan.node_names.index(second) + 1),
        "@local": str(_LOCAL + plan.node_names.index(second) + 1),
        "@tunnel": network.CALICO if plan.plugin == "routed" else network.FLANNEL,
        "@vxlan": str(network.CALICO_PORT if plan.plugin == "routed" else network.FLANNEL_PORT),
    }
    for number, node in ((1, first), (2, second)):
        pods_of = tried.read("node", node)["spec"]["podCIDR"].rpartition(".")[0]
        signs |= {
            f"@node{number}": node,
            f"@address{number}": plan.node_address(node),
            f"@pods{number}": pods_of,
            f"@way{number}": f"via {pods_of}.0 dev {signs['@tunnel']} onlink"
            if plan.overlay == "vxlan"
            else f"via {plan.node_address(node)} dev eth0",
        }
    return signs


def address_of(tried: Cluster, pod: str) -> str:
    """Return a pod's address."""
    return str(tried.read("pod", pod, "-n", SPACE)["status"]["podIP"])


def move_in(tried: Cluster, name: str, node: str) -> None:
    """Create a pod with a service of its name."""
    made = (pods.make_pod(SPACE, name, node, name), pods.make_service(SPACE, name))
    pods.create(tried, *made)


def leave(tried: Cluster, name: str) -> None:
    """Delete a pod whose service has another endpoint now, and wait until it has that one alone."""
    left = address_of(tried, name)
    tried.kubectl("delete", "pod", "-n", SPACE, name, "--force", "--grace-period=0")

    def has_moved() -> bool:
        subsets = tried.read("endpoints", name, "-n", SPACE).get("subsets", ())
        living = [each["ip"] for subset in subsets for each in subset.get("addresses", ())]
        return bool(living) and left not in living

    control.wait(has_moved, f"another endpoint of {name}")


def move_out(tried: Cluster, name: str) -> None:
    """Delete a service, and its pod where that is still there."""
    tried.kubectl("delete", "service,pod", "-n", SPACE, name, "--ignore-not-found", "--force")


def resolve(tried: Cluster, destination: str) -> tuple[str, int]:
    """Return the address and port of a destination."""
    kind, _, rest = destination.partition("/")
    space, _, named = rest.rpartition("/")
    name, _, port = named.partition(":")
    if kind == "pod":
        return address_of(tried, name), pods.PORT
    if kind == "svc":
        spec = tried.read("service", name, "-n", space)["spec"]
        ports = {each["name"]: each["port"] for each in spec["ports"]}
        return spec["clusterIP"], ports[port]
    return tried.plan.node_address(name), int(port)


def connects(tried: Cluster, fault: PlantedFault) -> bool:
    """Connect really, from where the fault's connection starts."""
    address, port = resolve(tried, fault.destination)
    if fault.protocol == "udp":
        name = fault.source.rpartition("/")[2]
        return datagrams.ask(datagrams.find_pod(tried, SPACE, name), address, port)
    target = Target(address, port, filling=FULL if fault.full else 0)
    (fact,) = connect(enter(tried, fault.source), [target])
    return fact.verdict is Reachability.ALWAYS


def take_evidence(tried: Cluster, folder: Path) -> tuple[dict[str, str], tuple[Pasted, ...]]:
    """Take a snapshot of every node, and what the API says, as `podpath why` reads it."""
    folder.mkdir(exist_ok=True)

    def take(name: str) -> str:
        bundle, process = folder / f"{name}.tar.gz", str(tried.nodes[name].process)
        done = podpath("snapshot", "--no-logs", "-o", bundle, "--node-netns", process)
        assert done.returncode == 0, done.stderr
        return str(bundle)

    names = tried.plan.node_names
    with ThreadPoolExecutor(2) as pool:
        nodes = dict(zip(names, pool.map(take, names), strict=True))
    with Client(access.find(tried.plan.kubeconfig)) as client:
        documents = tuple(read_objects(client).documents())
    for document in documents:
        (folder / document.name).parent.mkdir(exist_ok=True, parents=True)
        (folder / document.name).write_text(document.text, encoding="utf-8")
    return nodes, tuple(Pasted(document.text, document.name) for document in documents)


def ask_why(tried: Cluster, fault: PlantedFault, folder: Path) -> WhyResult:
    """Ask about the connection of a fault."""
    nodes, objects = take_evidence(tried, folder)
    source = tried.plan.machine_address if fault.source == CLIENT else fault.source
    return why(source, fault.destination, nodes=nodes, objects=objects, protocol=fault.protocol)
