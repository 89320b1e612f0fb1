"""two-plugins: the folder of CNI configurations holds files of two network plugins.

What it is
    A listing of /etc/cni/net.d shows files of two plugins, such as 10-calico.conflist and
    10-flannel.conflist, or the runtime's own bridge before the cluster's.

Why it breaks
    The runtime takes the first file by name and ignores the others. Pods are then added to the
    wrong network: they get addresses of another range, or wait for an agent that was removed, and
    reach no pod on other nodes.

How to confirm
    ls /etc/cni/net.d; crictl info | grep -A4 '"Networks"'; kubectl get pods -A -o wide

How to fix
    Remove the file of the plugin that is not in use (mv it out of the folder), and restart the pods
    that were added to the wrong network.

References
    CNI specification 1.1, section 1; containerd/go-cni opts.go (loadFromConfDir)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.objects import see
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Source, Span
from podpath.node.case import Case

CATEGORIES = (Category.CNI_CONFIGURATION, Category.POD_CIDR)
NAME = "two-plugins"
CERTAINTY = 0.6
OF_RUNTIMES = frozenset({"crio", "podman", "containerd-net", "bridge", "k8s", "mynet"})
"""Files that runtimes and tools bring along: they do no harm behind the cluster's own."""
AGENTS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "calico": ("calico", "canal"), "canal": ("canal", "calico"), "cilium": ("cilium",),
    "flannel": ("kube-flannel", "canal"), "weave": ("weave",), "kindnet": ("kindnet",),
    "aws": ("aws-node",),
    "azure": ("azure-cni", "azure-cns"), "kuberouter": ("kube-router",), "antrea": ("antrea",),
    "kube-ovn": ("kube-ovn", "ovn"), "ovn-kubernetes": ("ovnkube",),
})  # fmt: skip
"""How the pods of each plugin's agent are called."""
_ALL = re.compile(
    r"\bget (?:pods?|po|all)\b(?![^|]*\s-(?:n|l)\b)[^|]* (?:-A|--all-namespaces)\b[^|]*$"
)
"""A list of all pods that nothing has cut."""
ASK = FollowUp(
    "which of the two plugins the cluster uses",
    "kubectl get pods -A -o wide; crictl info; ls -l /etc/cni/net.d",
    "the agent of the first file does not run: its file is a leftover, and this is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the files of two plugins in one listing, and which of them the runtime takes."""
    said = find_said(case, MessageKind.PLUGIN_FILE_LISTED)
    for name in dict.fromkeys(message.span.source.name for message in said):
        listed = [message for message in said if message.span.source.name == name]
        files = dict(file for message in listed for file in _list_files(message))
        first, *later = sorted(files)
        others = [file for file in later if files[file] not in OF_RUNTIMES | {files[first]}]
        if others:
            found = tell(NAME, listed, _make_meaning(first, others[0]))
            running = _find_running(case, files[first], files[others[0]])
            if running is not None:
                found = replace(
                    found,
                    claim=f"{first} is a leftover of a plugin that has no pods here, and the "
                    f"runtime takes it before {others[0]}.",
                    evidence=(*found.evidence, running),
                    certainty=1.0,
                    asks=(),
                )
            yield found
            return


def _find_running(case: Case, first: str, second: str) -> Span | None:
    """Return the line of the second plugin's running pod, where a whole list of all pods has none
    of the first one's.
    """
    shown = see(case, "Pod")
    whole = [pod for pod in shown if _is_whole(pod.span.source)]
    mine, other = AGENTS.get(first), AGENTS.get(second)
    if mine is None or other is None or any(pod.name.startswith(mine) for pod in shown):
        return None
    ready = (pod for pod in whole if pod.name.startswith(other))
    return next((pod.span for pod in ready if pod.text_at("status", "phase") == "Running"), None)


def _is_whole(source: Source) -> bool:
    """Tell whether an output lists all pods: its command asks for them, or, where no command is
    shown, it has their namespaces in a column.
    """
    if source.command:
        return _ALL.search(source.command) is not None
    return any(line.lstrip().startswith("NAMESPACE ") for line in source.lines)


def _list_files(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the files that a line names, each with its plugin."""
    for file, plugin in (("file", "plugin"), ("other", "second")):
        if file in message.values:
            yield message.values[file], message.values[plugin]


def _make_meaning(first: str, second: str) -> Meaning:
    return Meaning(
        claim=f"/etc/cni/net.d has files of two plugins; the runtime takes {first} and ignores "
        f"{second}.",
        breaks="pods, where the first file is not the cluster's own",
        cure="move the file of the plugin that is not in use out of the folder",
        commands=("ls -l /etc/cni/net.d",),
        certainty=CERTAINTY,
        ask=ASK,
    )
