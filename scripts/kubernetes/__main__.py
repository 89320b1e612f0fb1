"""A real Kubernetes on this machine, each node in namespaces of its own: up, down, status, kubectl,
exec.

    scripts/cluster up                       # two nodes, pods on a bridge, host-gw between nodes
    scripts/cluster up --nodes 3 --overlay vxlan --plugin routed --proxy iptables-legacy
    scripts/cluster kubectl get nodes -o wide
    scripts/cluster exec node1 ip route
    scripts/cluster down

It needs root. Nothing of the machine is changed but one device, and `down` leaves nothing behind.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from scripts.kubernetes import cluster, member, programs
from scripts.kubernetes.member import MemberError
from scripts.kubernetes.plan import HOMES, OVERLAYS, PLUGINS, PROXIES, Plan, PlanError

_PASSED_ON = {"kubectl": 1, "exec": 2}
"""Commands that pass words on, and how many words they take themselves, their own name included."""


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks for."""
    options = _parse(*_part(arguments))
    lacking = programs.missing()
    if lacking is not None:
        print(f"cluster: needs {lacking}", file=sys.stderr)
        return 2
    try:
        return _do(options)
    except (MemberError, PlanError) as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


def _part(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Part our own arguments from the words of a command that is passed on as it is."""
    for place, word in enumerate(arguments):
        if word in _PASSED_ON:
            end = place + _PASSED_ON[word]
            return arguments[:end], arguments[end:]
    return arguments, ()


def _parse(arguments: Sequence[str], words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--name", default=Plan().name, help="which cluster (default: podpath)")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("up", help="bring the cluster up, and say where its kubeconfig is")
    making.add_argument("--nodes", type=int, default=2)
    making.add_argument("--proxy", choices=PROXIES, default=PROXIES[0])
    making.add_argument("--overlay", choices=OVERLAYS, default=OVERLAYS[0])
    making.add_argument("--plugin", choices=PLUGINS, default=PLUGINS[0])
    commands.add_parser("down", help="take it down, however much of it there is")
    commands.add_parser("status", help="say what runs; 1 where it is not all of a cluster")
    commands.add_parser("kubeconfig", help="print where the admin's kubeconfig is")
    for command, what in (("kubectl", "kubectl as the admin"), ("exec", "a command on a node")):
        running = commands.add_parser(command, help=f"run {what}")
        if command == "exec":
            running.add_argument("node", help="control, node1, node2 ...")
    options = parser.parse_args(arguments)
    options.words = words
    return options


def _do(options: argparse.Namespace) -> int:
    name: str = options.name
    if options.command == "up":
        return _up(options)
    if options.command == "down":
        cluster.down(name)
        return 0
    if options.command == "status":
        return _status(name)
    found = cluster.find(name)
    if found is None:
        print(f"cluster: {name} does not run: scripts/cluster up", file=sys.stderr)
        return 1
    if options.command == "kubeconfig":
        print(found.plan.kubeconfig)
        return 0
    if options.command == "kubectl":
        known = f"--kubeconfig={found.plan.kubeconfig}"
        return subprocess.run([programs.KUBECTL, known, *options.words], check=False).returncode
    members = {"control": found.control, **found.nodes}
    if options.node not in members:
        print(f"cluster: expected one of {', '.join(members)}, saw {options.node}", file=sys.stderr)
        return 2
    words = members[options.node].enter(*options.words)
    return subprocess.run(words, check=False).returncode


def _up(options: argparse.Namespace) -> int:
    plan = Plan(
        name=options.name,
        nodes=options.nodes,
        proxy=options.proxy,
        overlay=options.overlay,
        plugin=options.plugin,
    )
    began = time.monotonic()
    made = cluster.up(plan, lambda what: print(f"cluster: {what} ...", file=sys.stderr))
    print(f"cluster: up in {time.monotonic() - began:.0f} s", file=sys.stderr)
    print(f"export KUBECONFIG={made.plan.kubeconfig}")
    return 0


def _status(name: str) -> int:
    plan = Plan.load(name)
    running = [(process, marker) for process, marker in member.list_running(name) if ":" in marker]
    if plan is None:
        print(f"no cluster {name}" + (f", but processes of it: {running}" if running else ""))
        return 1
    print(
        f"{name}: {plan.nodes} nodes, {plan.proxy}, {plan.overlay}, {plan.plugin}; {HOMES / name}"
    )
    missing = False
    for each in plan.members:
        found = member.find(plan, each)
        missing = missing or found is None
        print(f"  {each}: {'missing' if found is None else f'process {found.process}'}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
