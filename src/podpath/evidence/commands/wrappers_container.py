"""`kubectl exec` and `docker exec`: in which network namespace they run a command.

A pod that runs in the host's network namespace is known by its name: the agents of the network that
ship so.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.shells import ShellWord
from podpath.evidence.commands.wrappers_words import (
    WrappedCommand,
    find_option,
    opened,
    skip_options,
)

_HOST_NETWORK = re.compile(
    r"(?:cilium(?!-operator|-test)|kube-proxy|calico-node|canal|kube-flannel|weave-net|"
    r"antrea-agent|kube-router|aws-node|kindnet|ovnkube-node|ovs-node|kube-apiserver|"
    r"kube-controller-manager|kube-scheduler|etcd|node-exporter|nodelocaldns|node-local-dns|"
    r"kube-vip|speaker|multus|azure-cni|istio-cni-node|linkerd-cni|node-problem-detector|nsenter|"
    r"node-debugger)(?:-|$)",
)
"""Pods of these names run in the host's network namespace, by the manifests that their projects
ship.
"""
_KIND_NODE = re.compile(r"(?:.+-)?(?:control-plane|worker)\d*")
"""Containers of these names are nodes of kind: what is run in them runs on the node."""
_ID = re.compile(r"[0-9a-f]{12,64}")

_KUBECTL_VALUED = frozenset(
    (  # noqa: SIM905
        "-n --namespace -c --container --context --kubeconfig --cluster --user -l --selector "
        "--image --target --profile -f"
    ).split()
)


def unwrap_kubectl(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `kubectl exec POD -- COMMAND`, `kubectl debug` and `kubectl run ... -- COMMAND`; None
    for all else it does.
    """
    place = skip_options(words, 1, _KUBECTL_VALUED)
    if place >= len(words) or words[place].text not in {"exec", "debug", "run"}:
        return None
    dashes = next((i for i, word in enumerate(words) if word.text == "--"), None)
    named = skip_options(words, place + 1, _KUBECTL_VALUED)
    if named >= len(words):
        return None
    following = skip_options(words, named + 1, _KUBECTL_VALUED) if dashes is None else dashes + 1
    if dashes is None and words[place].text != "exec":
        following = len(words)
    return WrappedCommand(
        opened(words, following),
        _pod(words[named].text, words[: dashes or len(words)]),
        enters=True,
    )


def _pod(named: str, options: tuple[ShellWord, ...]) -> str | None:
    """Name the namespace of a pod as `kubectl exec` names the pod; None where it is the host's."""
    kind, _, name = named.rpartition("/")
    if kind in {"node", "no", "nodes"} or _HOST_NETWORK.match(name.lstrip("<$")):
        return None
    namespace = find_option(options, "-n", "--namespace") or "default"
    short = {
        "": "pod",
        "po": "pod",
        "pods": "pod",
        "deploy": "deployment",
        "ds": "daemonset",
        "sts": "statefulset",
    }
    return f"{short.get(kind, kind)}/{namespace}/{name}"


def unwrap_container(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `docker exec CONTAINER COMMAND`, and `docker run --net=host IMAGE COMMAND`; None for
    all else it does.
    """
    valued = frozenset(
        [
            "-u",
            "--user",
            "-w",
            "--workdir",
            "-e",
            "--env",
            "--env-file",
            "-H",
            "--host",
            "--context",
            "-r",
            "--runtime-endpoint",
        ]
    )
    place = skip_options(words, 1, valued)
    if place >= len(words) or words[place].text not in {"exec", "run"}:
        return None
    if words[place].text == "run":
        net = find_option(words[place:], "--net", "--network") or ""
        return None if not net.startswith(("host", "container:")) else _run_in(words, place, net)
    named = skip_options(words, place + 1, valued)
    if named >= len(words):
        return None
    name = words[named].text
    short = name[:12] if _ID.fullmatch(name) else name
    netns = None if _KIND_NODE.fullmatch(name) else f"container {short}"
    return WrappedCommand(opened(words, skip_options(words, named + 1, valued)), netns, enters=True)


def _run_in(words: tuple[ShellWord, ...], place: int, net: str) -> WrappedCommand:
    valued = frozenset(
        [
            "--net",
            "--network",
            "--name",
            "-v",
            "--volume",
            "-e",
            "--env",
            "-u",
            "--user",
            "--entrypoint",
            "-w",
            "--pid",
            "--cap-add",
        ]
    )
    image = skip_options(words, place + 1, valued)
    netns = None if net == "host" else f"container {net.partition(':')[2]}"
    return WrappedCommand(opened(words, image + 1), netns, enters=True)
