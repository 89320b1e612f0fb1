"""Soak the agent on a real cluster of two nodes, as the DaemonSet that `deploy/linkerd` ships, and
say whom it touched, what became of pods that were born without their rules, and whether it grew.

    scripts/soak-cluster                          # an hour, a pod killed and born each second
    scripts/soak-cluster --minutes 10 --every 3   # on a machine that has other work

Beside it, on each node: a mesh's CNI plugin that linkerd's installer (its transcription in the
tests) installs and upgrades, with seconds in which it is not there; a vendor that writes its
network anew, also while the installer is away; an API server that is killed; a tenant whose pods
have annotations, devices, rules and idle connections that nobody means. It ends with 1 where a pod
that was well was touched, a pod without its rules stayed so, an agent was restarted, or one grew.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from podpath.kube import access
from podpath.kube.client import Client, KubeError
from podpath_protect.repair.redirect import PodRedirect, render_restore
from scripts.container import archive, bytecode
from scripts.kubernetes import cluster, control, node, programs
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.image import BUSYBOX, PODPATH, write_podpath_image
from scripts.kubernetes.member import Member, MemberError
from scripts.kubernetes.plan import Plan
from tests.cluster import pods
from tests.cluster.deployed import CREDENTIALS, DEPLOY
from tests.protect.installers import LinkerdInstaller

SPACE, HOSTILE = "soak", "hostile"
VALIDATOR = "podpath-validate"
ROOT = "podpath-root"
DEPLOYMENTS, REPLICAS = 4, 3
CNI_BIN = "/run/soak-cni-bin"
KILLED = "pods killed"
"""Counted by pods, since there may be none that is well."""
STEP_SECONDS = 0.02
LOOK_SECONDS = 2.0
SETTLE_SECONDS = 240.0
MOST_GROWTH = 4.0
"""MB from the second quarter to the last."""
OPEN_CONNECTIONS = 200
MEGABYTE = 1 << 20
PROXY_UID, OUTBOUND, INBOUND = 2102, 4140, 4143
PLUGIN = """#!{python} -IS
# A mesh's chained plugin: at ADD it writes linkerd's rules into the pod's namespace, and passes on what came before it.
import json, os, subprocess, sys
command = os.environ["CNI_COMMAND"]
if command == "VERSION":
    print(json.dumps({{"cniVersion": "0.4.0", "supportedVersions": ["0.3.1", "0.4.0"]}}))
    sys.exit()
config = json.load(sys.stdin)
if command == "ADD":
    for program, rules in {rules!r}:
        enter = ["/usr/bin/nsenter", "--net=" + os.environ["CNI_NETNS"], "/usr/sbin/" + program, "--noflush"]
        subprocess.run(enter, input=rules, text=True, check=True)
    print(json.dumps(config["prevResult"]))
"""  # noqa: E501  # a program
HOG = """\
import socket, time
held = []
while True:
    try:
        held.append(socket.create_connection(("127.0.0.1", 9809), 2))
    except OSError:
        pass
    del held[:-{most}]
    time.sleep(0.01)
"""


@dataclass(slots=True)
class SeenPod:
    """What was seen of one pod."""

    name: str
    born: float
    failed: float = 0.0
    """When its validator was first seen to have failed; 0 where it never was."""
    passed: float = 0.0
    gone: float = 0.0
    actions: list[str] = field(default_factory=list)
    """Reasons of the agent's events about it."""

    @property
    def touched_well(self) -> bool:
        """Whether the agent did something to it although it was never broken."""
        return bool(self.actions) and not self.failed


@dataclass(slots=True)
class Record:
    """All that was seen."""

    pods: dict[str, SeenPod] = field(default_factory=dict)
    memory: dict[str, list[float]] = field(default_factory=dict)
    """By node, the agent's megabytes over time."""
    counts: Counter[str] = field(default_factory=Counter)
    """What was done to the cluster."""
    killed: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)


class NodeMesh:
    """The mesh's installer and the vendor of one node's network."""

    def __init__(self, member: Member, program: bytes, draw: random.Random) -> None:
        """Find the node's folders as this machine sees them."""
        self._conf = Path(f"/proc/{member.process}/root/etc/cni/net.d")
        self._programs = member.folder / "cni-bin"
        self._program, self._draw = program, draw
        self._network = (self._conf / "10-pods.conflist").read_bytes()
        self.version = 0
        self.away_until = 0.0
        self._installer = self._make()

    def _make(self) -> LinkerdInstaller:
        self.version += 1
        return LinkerdInstaller(
            conf=self._conf,
            programs=self._programs,
            kind="linkerd-cni",
            version=self.version,
            program=self._program,
        )

    def install(self) -> None:
        """Install the plugin."""
        _run_steps(self._installer.install())

    def upgrade(self, gap: float) -> None:
        """Take the old version out, and put the next one in after a while."""
        _run_steps(self._installer.uninstall())
        time.sleep(gap)
        self._installer = self._make()
        self.install()

    def watch(self) -> None:
        """Let the installer hear of changes, where it is there."""
        if time.monotonic() >= self.away_until:
            _run_steps(self._installer.watch())

    def rewrite(self) -> None:
        """Let the vendor write its network anew, by renaming or in place, without any mesh."""
        path = self._conf / "10-pods.conflist"
        if self._draw.random() < 0.5:
            aside = path.with_name(".vendor")
            aside.write_bytes(self._network)
            aside.rename(path)
        else:
            path.write_bytes(self._network)

    def entries(self) -> list[int]:
        """Return the versions of the mesh's entries that are in the chain."""
        plugins = json.loads((self._conf / "10-pods.conflist").read_bytes())["plugins"]
        return [each["schema"] for each in plugins if each["type"] == "linkerd-cni"]


def _run_steps(steps: Iterator[None]) -> None:
    for _ in steps:
        time.sleep(STEP_SECONDS)


class Repeated:
    """An action that is done again and again in a thread of its own; what fails is counted."""

    def __init__(self, record: Record, name: str, every: float, action: Callable[[], None]) -> None:
        """Begin, after the first pause."""
        self._record, self._name, self._every, self._action = record, name, every, action
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def _live(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self._action()
                self._record.counts[self._name] += 1
            except (KubeError, OSError, ValueError, subprocess.SubprocessError, MemberError):
                self._record.counts[f"{self._name}, failed"] += 1

    def stop(self) -> None:
        """End after what is being done."""
        self._stop.set()
        self._thread.join(60)


def make_plugin() -> bytes:
    """Return the mesh's program."""
    redirect = PodRedirect(
        style="linkerd", outbound=OUTBOUND, inbound=INBOUND, proxy_uid=PROXY_UID,
        skip_inbound=("4190", "4191"),
    )  # fmt: skip
    rules = [("iptables-nft-restore", render_restore(redirect, 4))]
    return PLUGIN.format(python=sys.executable, rules=rules).encode()


def prepare(made: Cluster) -> None:
    """Put podpath's image on the nodes, its files into a folder that pods mount, and the CNI
    plugins themselves where the agents see them.
    """
    image = write_podpath_image(made.plan.home)
    for each in made.nodes.values():
        node.import_images(each, [image])
        folder = each.folder / "cni-bin"
        for link in [path for path in folder.iterdir() if path.is_symlink()]:
            content = link.read_bytes()
            link.unlink()
            link.write_bytes(content)
            link.chmod(0o755)
        each.run("mkdir", "-p", CNI_BIN)
        each.run("mount", "--bind", each.inside / "cni-bin", CNI_BIN)
    bytecode.unpack(archive.read_layer(image), made.plan.home / ROOT)
    image.unlink()


def list_agents(authority: str) -> list[Any]:
    """Return what `deploy/linkerd` has, with what this cluster lacks of others."""
    entry = {"name": "linkerd-cni", "type": "linkerd-cni", "schema": 0}
    about = {"name": "linkerd-cni-config", "namespace": "linkerd-cni"}
    mesh = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": about,
        "data": {"cni_network_config": json.dumps(entry)},
    }
    trusted = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "authority", "namespace": "podpath"},
        "data": {"ca.crt": authority},
    }
    rendered = subprocess.run(
        [programs.KUBECTL, "kustomize", DEPLOY / "linkerd"], check=True, capture_output=True
    )
    objects = [
        *yaml.safe_load_all(rendered.stdout),
        pods.make_namespace("linkerd-cni"),
        mesh,
        trusted,
    ]
    for each in objects:
        if each["kind"] == "DaemonSet":
            _fit(each["spec"]["template"]["spec"])
    objects.sort(key=lambda each: each["kind"] != "Namespace")
    return objects


def _fit(spec: Any) -> None:  # noqa: ANN401  # YAML
    (agent,) = spec["containers"]
    agent["image"], agent["imagePullPolicy"] = PODPATH, "Never"
    volume, mount = (step["value"] for step in CREDENTIALS)
    spec["volumes"].append(volume)
    agent["volumeMounts"].append(mount)
    for each in spec["volumes"]:
        if each["name"] == "cni-bin":
            each["hostPath"] = {"path": CNI_BIN, "type": "Directory"}


def make_deployment(files: Path, number: int) -> dict[str, Any]:
    """Return a meshed workload: the validator, a proxy that listens, and a program."""
    name = f"app-{number}"
    labels = {"app": name, "linkerd.io/control-plane-ns": "linkerd"}
    volumes, mounts = _podpath_files(files)
    weak = {"runAsUser": 65534, "capabilities": {"drop": ["ALL"]}}
    listen = f"httpd -f -h /www -p {OUTBOUND} & exec httpd -f -h /www -p {INBOUND}"
    spec = {
        "terminationGracePeriodSeconds": 0,
        "initContainers": [
            {
                **_container(VALIDATOR, ["podpath", *_validator_arguments()]),
                "env": [
                    {"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
                    {"name": "PATH", "value": "/usr/sbin:/usr/bin:/bin"},
                ],
                "securityContext": weak,
                "volumeMounts": mounts,
            }
        ],
        "containers": [
            _container("linkerd-proxy", ["sh", "-c", listen])
            | {"securityContext": {"runAsUser": PROXY_UID}},
            _container("app", ["sleep", "1000000"]),
        ],
        "volumes": volumes,
        "tolerations": [{"operator": "Exists", "key": "podpath.dev/not-ready"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _validator_arguments() -> list[str]:
    kustomization = yaml.safe_load((DEPLOY / "linkerd/validator/kustomization.yaml").read_text())
    (step,) = yaml.safe_load(kustomization["patches"][0]["patch"])
    return [str(word) for word in step["value"]]


def _container(name: str, command: list[str]) -> dict[str, Any]:
    return {"name": name, "image": BUSYBOX, "imagePullPolicy": "Never", "command": command}


def _podpath_files(files: Path) -> tuple[list[Any], list[Any]]:
    """Return volumes and mounts by which a container has podpath's files without a copy of its own,
    which an image would cost at each birth.
    """
    own = {"etc", "proc", "run", "sys", "tmp", "var", "bin", "sbin"}
    names = [each.name for each in files.iterdir() if each.name not in own]
    volumes, mounts = [], []
    for name in sorted(names):
        path = f"/run/cluster/{ROOT}/{'usr/' if name.startswith('lib') else ''}{name}"
        volumes.append({"name": name, "hostPath": {"path": path, "type": "Directory"}})
        mounts.append({"name": name, "mountPath": f"/{name}", "readOnly": True})
    return volumes, mounts


def make_tenant(files: Path, rules: int) -> list[dict[str, Any]]:
    """Return the pods of somebody who means the agent harm."""
    volumes, mounts = _podpath_files(files)
    annotations = {
        "config.linkerd.io/proxy-uid": "9" * 5000,
        "config.linkerd.io/skip-inbound-ports": ",".join(["1-65535"] * 2000),
        "config.linkerd.io/skip-outbound-ports": "\x1b]0;x\x07" * 100,
    }
    load = (
        "(echo '*nat'; busybox awk 'BEGIN {for (i = 0; i < "
        f'{rules}; i++) print "-A OUTPUT -d 10." int(i / 65536) "." int(i / 256) % 256 "." i % 256'
        ' " -j ACCEPT"}\'; echo COMMIT) | iptables-nft-restore; exec sleep 1000000'
    )
    devices = (
        "ip link add \"$(printf '\\377\\376x')\" type dummy; "
        "ip link add \"$(printf '\\033[31m')\" type dummy; exec sleep 1000000"
    )
    made_pods = []
    for name, script, told in (
        ("wide", "exec sleep 1000000", annotations),
        ("rules", load, {}),
        ("devices", devices, {}),
    ):
        proxy = _container("linkerd-proxy", ["/usr/bin/sh", "-c", script]) | {
            "env": [{"name": "PATH", "value": "/usr/sbin:/usr/bin:/bin"}],
            "volumeMounts": mounts,
            "securityContext": {"capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
        }
        made_pods.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "namespace": HOSTILE,
                    "name": name,
                    "labels": {"linkerd.io/control-plane-ns": "linkerd"},
                    "annotations": told,
                },
                "spec": {
                    "nodeName": "node1",
                    "terminationGracePeriodSeconds": 0,
                    "containers": [proxy],
                    "volumes": volumes,
                },
            }
        )
    return made_pods


def look(client: Client, record: Record) -> None:
    """See how the pods are, and what the agents said that they did to them."""
    now = time.monotonic()
    listed = json.loads(client.request("GET", f"/api/v1/namespaces/{SPACE}/pods"))["items"]
    there = {each["metadata"]["uid"]: each for each in listed}
    for uid, each in there.items():
        seen = record.pods.setdefault(uid, SeenPod(each["metadata"]["name"], now))
        _hear_validator(seen, each.get("status", {}), now)
    for uid, seen in record.pods.items():
        if uid not in there and not seen.gone:
            seen.gone = now
    path = f"/apis/events.k8s.io/v1/namespaces/{SPACE}/events"
    for event in json.loads(client.request("GET", path))["items"]:
        about = event.get("regarding", {})
        if event.get("reportingController") != "podpath.dev/protect" or not about.get("uid"):
            continue
        if event["metadata"]["uid"] not in record.events:
            record.events.add(event["metadata"]["uid"])
            seen = record.pods.setdefault(about["uid"], SeenPod(about.get("name", ""), now))
            seen.actions.append(event["reason"])


def _hear_validator(seen: SeenPod, status: Mapping[str, Any], now: float) -> None:
    for each in status.get("initContainerStatuses", ()):
        runs = [each.get(state, {}).get("terminated") for state in ("state", "lastState")]
        codes = [run["exitCode"] for run in runs if run]
        if each["name"] == VALIDATOR and any(codes) and not seen.failed:
            seen.failed = now
        if each["name"] == VALIDATOR and each.get("ready") and not seen.passed:
            seen.passed = now


def kill_one(client: Client, record: Record, draw: random.Random) -> None:
    """End a pod that is well; its Deployment makes another."""
    well = [
        uid
        for uid, seen in list(record.pods.items())
        if seen.passed and not seen.gone and uid not in record.killed
    ]
    if not well:
        return
    uid = draw.choice(well)
    record.killed.add(uid)
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
    path = f"/api/v1/namespaces/{SPACE}/pods/{record.pods[uid].name}"
    client.request("DELETE", path, body=options)


def kill_server(made: Cluster) -> None:
    """End the API server as the kernel's memory killer would, and start it again."""
    first = made.control
    process = first.run("pidof", "kube-apiserver").split()[0]
    first.run("kill", "-9", process)
    time.sleep(3)
    control.start_api_server(first)


def read_memory(made: Cluster, record: Record) -> None:
    """Read what each agent holds: the process whose command line is the agent's, in the node's own
    namespace of processes.
    """
    for name, member in made.nodes.items():
        for process in member.run("pgrep", "-f", "podpath protect agent", check=False).split():
            status = member.run("cat", f"/proc/{process}/status", check=False)
            held = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
            if held:
                record.memory.setdefault(name, []).append(int(held[0]) / 1024)
                break


@contextmanager
def idle_connections(member: Member) -> Iterator[None]:
    """Hold connections to the agent's health port open, as somebody on the host's network can."""
    command = member.enter(sys.executable, "-I", "-c", HOG.format(most=OPEN_CONNECTIONS))
    with subprocess.Popen(command) as hog:
        try:
            yield
        finally:
            hog.kill()


def soak(made: Cluster, record: Record, chosen: argparse.Namespace) -> dict[str, NodeMesh]:
    """Let everybody do his part until the time is over, then let the agents come to rest."""
    draw = random.Random(chosen.seed)  # noqa: S311  # no secret: it repeats a run
    program = make_plugin()
    meshes = {name: NodeMesh(each, program, draw) for name, each in made.nodes.items()}
    for mesh in meshes.values():
        mesh.install()
    prepare_workloads(made, chosen)
    turn = itertools.cycle(meshes.values())
    lock = threading.Lock()

    def with_lock(action: Callable[[], None]) -> Callable[[], None]:
        def locked() -> None:
            with lock:
                action()

        return locked

    def leave_alone() -> None:
        mesh = next(turn)
        mesh.away_until = time.monotonic() + 15
        mesh.rewrite()

    with (
        Client(access.find(made.plan.kubeconfig)) as client,
        Client(access.find(made.plan.kubeconfig)) as killer,
        idle_connections(made.nodes["node1"]),
    ):
        quiet = [
            Repeated(record, "looks", LOOK_SECONDS, lambda: look(client, record)),
            Repeated(record, "readings of memory", 5.0, lambda: read_memory(made, record)),
            *(Repeated(record, "watches", 0.1, with_lock(mesh.watch)) for mesh in meshes.values()),
        ]
        control.wait(
            lambda: any(each.passed for each in record.pods.values()),
            "a pod that is well",
            seconds=300,
        )
        loud = [
            Repeated(record, KILLED, chosen.every, lambda: kill_one(killer, record, draw)),
            Repeated(record, "networks rewritten", 7.0, lambda: next(turn).rewrite()),
            Repeated(record, "networks rewritten without an installer", 45.0, leave_alone),
            Repeated(record, "upgrades", 40.0, with_lock(lambda: next(turn).upgrade(5.0))),
            Repeated(record, "API server killed", 120.0, lambda: kill_server(made)),
        ]
        until = time.monotonic() + chosen.minutes * 60
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(60.0, left))
            tell(record)
        for each in loud:
            each.stop()
        settled = time.monotonic() + SETTLE_SECONDS
        while list_unsettled(record) and time.monotonic() < settled:
            time.sleep(LOOK_SECONDS)
        time.sleep(2 * LOOK_SECONDS)
        for each in quiet:
            each.stop()
    return meshes


def prepare_workloads(made: Cluster, chosen: argparse.Namespace) -> None:
    """Create the workloads and the tenant, and wait for the agents."""
    made.kubectl("apply", "-f", "-", given=json.dumps(pods.make_namespace(SPACE)))
    made.kubectl("apply", "-f", "-", given=json.dumps(pods.make_namespace(HOSTILE)))
    authority = (made.plan.folder("control") / "certs" / "apiserver.crt").read_text("ascii")
    made.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(list_agents(authority)))
    control.wait(lambda: _agents(made)["numberReady"] == len(made.nodes), "the agents", seconds=300)
    listed = [make_deployment(made.plan.home / ROOT, number) for number in range(DEPLOYMENTS)]
    listed += make_tenant(made.plan.home / ROOT, chosen.rules)
    given = json.dumps({"apiVersion": "v1", "kind": "List", "items": listed})
    made.kubectl("create", "-f", "-", given=given)


def _agents(made: Cluster) -> Any:  # noqa: ANN401  # JSON
    return made.read("daemonset", "podpath-agent", "-n", "podpath")["status"]


def list_unsettled(record: Record) -> list[SeenPod]:
    """Return the pods that are there and whose validator has not passed yet."""
    return [each for each in record.pods.values() if not each.passed and not each.gone]


def left_broken(record: Record) -> list[SeenPod]:
    """Return the pods that failed and neither passed since nor went."""
    return [s for s in record.pods.values() if s.failed and not s.passed and not s.gone]


def tell(record: Record) -> None:
    """Print how it stands."""
    broken = sum(bool(each.failed) for each in record.pods.values())
    memory = {name: f"{held[-1]:.1f} MB" for name, held in record.memory.items() if held}
    done = dict(record.counts) | {KILLED: len(record.killed)}
    print(f"{len(record.pods)} pods, {broken} misborn, {memory}, {done}", flush=True)


class ChainAtEnd(NamedTuple):
    """What a node's chain has of the mesh, and what it should have."""

    entries: tuple[int, ...]
    """The versions of the mesh's entries, in their order."""
    version: int
    """The one that was installed last."""


def count_restarts(made: Cluster) -> dict[str, int]:
    """Return how often each agent was restarted."""
    return {
        item["metadata"]["name"]: sum(
            each["restartCount"] for each in item["status"].get("containerStatuses", ())
        )
        for item in made.read("pods", "-n", "podpath")["items"]
    }


def judge(
    record: Record, restarts: Mapping[str, int], chains: Mapping[str, ChainAtEnd]
) -> list[str]:
    """Say what does not hold."""
    seen = record.pods.values()
    found = [
        f"{each.name} was well and touched: {each.actions}" for each in seen if each.touched_well
    ]
    found += [f"{each.name} stayed without its rules" for each in left_broken(record)]
    found += [f"{name} was restarted {count} times" for name, count in restarts.items() if count]
    for name, held in record.memory.items():
        second, last = (statistics.median(_quarter(held, number)) for number in (1, 3))
        if last - second > MOST_GROWTH:
            found.append(f"the agent of {name} grew by {last - second:.1f} MB")
    for name, chain in chains.items():
        if chain.entries != (chain.version,):
            found.append(
                f"{name}'s chain has the mesh's versions {chain.entries}, not {chain.version}"
            )
    return found


def _quarter(held: list[float], number: int) -> list[float]:
    size = max(1, len(held) // 4)
    return held[number * size :][:size] or held


def report(record: Record, broken: list[str]) -> None:
    """Print the figures."""
    seen = list(record.pods.values())
    misborn = [each for each in seen if each.failed]
    mended = [each.passed - each.failed for each in misborn if each.passed]
    actions = Counter(action for each in seen for action in each.actions)
    shown: dict[str, object] = {
        "pods seen": len(seen),
        "born well": sum(1 for each in seen if each.passed and not each.failed),
        "well and touched": sum(each.touched_well for each in seen),
        "misborn": len(misborn),
        "of them well again": len(mended),
        "of them gone": sum(1 for each in misborn if each.gone and not each.passed),
        "of them left": len(left_broken(record)),
        "seconds until well": (
            f"median {statistics.median(mended):.0f}, longest {max(mended):.0f}" if mended else "-"
        ),
        "actions": dict(actions),
        "done to them": dict(record.counts) | {KILLED: len(record.killed)},
    }
    for name, held in sorted(record.memory.items()):
        quarters = (f"{statistics.median(_quarter(held, number)):.1f}" for number in range(4))
        shown[f"memory of {name}"] = f"{', '.join(quarters)} MB by quarters"
    for name, value in shown.items():
        print(f"{name:<20}{value}")
    print("bounds              " + ("; ".join(broken) or "held"))


def describe(made: Cluster) -> str:
    """Return what the agents and the pods say of themselves, for a run that did not begin."""
    about = ("-l", "app.kubernetes.io/name=podpath-agent")
    asked = (
        ("get", "pods", "-A", "-o", "wide"),
        ("-n", "podpath", "describe", "pods", *about),
        ("-n", "podpath", "logs", *about, "--tail=30"),
    )
    told = []
    for words in asked:
        with suppress(MemberError):
            told.append(made.kubectl(*words))
    ready = [
        each.run("curl", "-s", "http://127.0.0.1:9809/readyz", check=False)
        for each in made.nodes.values()
    ]
    return "\n".join([*told, *ready])


def main(arguments: list[str]) -> int:
    """Bring a cluster up, soak, judge, take it down."""
    parser = argparse.ArgumentParser(
        prog="scripts/soak-cluster", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--every", type=float, default=1.0, metavar="SECONDS", help="between two pods"
    )
    parser.add_argument(
        "--rules", type=int, default=120_000, help="rules of the tenant's namespace"
    )
    parser.add_argument("--seed", type=int, default=1, help="whom it draws")
    parser.add_argument("--name", default="soak", help="the cluster's name")
    chosen = parser.parse_args(arguments)
    lacking = programs.missing()
    if lacking is not None:
        print(f"soak-cluster: needs {lacking}", file=sys.stderr)
        return 2
    record = Record()
    try:
        made = cluster.up(Plan(name=chosen.name), lambda what: print(f"{what} ...", flush=True))
        prepare(made)
        try:
            meshes = soak(made, record, chosen)
        except MemberError:
            print(describe(made), file=sys.stderr)
            raise
        chains = {
            name: ChainAtEnd(tuple(mesh.entries()), mesh.version) for name, mesh in meshes.items()
        }
        broken = judge(record, count_restarts(made), chains)
    finally:
        with suppress(KeyboardInterrupt):
            cluster.down(chosen.name)
    report(record, broken)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
