"""`kubectl exec`, `docker exec` and `docker run IMAGE COMMAND`: in which network namespace they run
a command.

A pod that runs in the host's network namespace is known by its name: the agents of the network that
ship so. A container that a command makes for itself has no name that others know: it is called
after its image and its network, so that two of one image in two networks are two.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.shells import ShellWord, base_name
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
        "--image --target --profile -f --restart --overrides --env --port --labels "
        "--serviceaccount --pod-running-timeout --image-pull-policy"
    ).split()
)
_ATTACHED = re.compile(r"-[a-z]*[it][a-z]*|--(?:stdin|tty|attach)(?:=true)?")
"""Options with which `kubectl run` shows what its pod prints."""
_ON_HOST = re.compile(r"hostNetwork\W+true")


def unwrap_kubectl(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `kubectl exec POD -- COMMAND`, `kubectl debug` and `kubectl run -it ... -- COMMAND`;
    None for all else it does.
    """
    place = skip_options(words, 1, _KUBECTL_VALUED)
    if place >= len(words) or words[place].text not in {"exec", "debug", "run"}:
        return None
    dashes = next((i for i, word in enumerate(words) if word.text == "--"), None)
    named = skip_options(words, place + 1, _KUBECTL_VALUED)
    if named >= len(words):
        return None
    options = words[: dashes or len(words)]
    following = skip_options(words, named + 1, _KUBECTL_VALUED) if dashes is None else dashes + 1
    if dashes is None and words[place].text != "exec":
        following = len(words)
    if words[place].text == "run" and not any(_ATTACHED.fullmatch(word.text) for word in options):
        return None
    on_host = any(_ON_HOST.search(word.text) for word in options)
    netns = None if on_host else _pod(words[named].text, options)
    return WrappedCommand(opened(words, following), netns, enters=True)


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


_VALUED = frozenset(
    (  # noqa: SIM905
        "-u --user -w --workdir -e --env --env-file -H --host --context -r --runtime-endpoint "
        "-f --file -p --project-name --project-directory --profile --index"
    ).split()
)
"""Options of docker, of its `exec`, and of docker compose whose value stands behind them."""
_RUN_FLAGS = frozenset(
    (  # noqa: SIM905
        "--detach --interactive --tty --init --privileged --publish-all --read-only --rm --quiet "
        "--no-healthcheck --oom-kill-disable --sig-proxy --replace --rmi --env-host --no-hosts "
        "--no-hostname --disable-content-trust --no-deps --service-ports --use-aliases --build "
        "--no-TTY --remove-orphans"
    ).split()
)
"""Options of `docker run` and `podman run` without a value (docker-run(1), podman-run(1)); all
others have one, behind a `=` or as the next word.
"""
_SHORT_FLAGS = frozenset("ditPqT")
_COMPOSE = frozenset({"compose", "container"})


def unwrap_container(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `docker exec CONTAINER COMMAND` and `docker run IMAGE COMMAND`, of docker compose
    too; None for all else it does, and for a container that runs detached or that only its image
    knows what to run in.
    """
    place = skip_options(words, 1, _VALUED)
    if place < len(words) and words[place].text in _COMPOSE:
        place = skip_options(words, place + 1, _VALUED)
    if place >= len(words) or words[place].text not in {"exec", "run"}:
        return None
    if words[place].text == "run":
        return _run(words, place)
    named = skip_options(words, place + 1, _VALUED)
    if named >= len(words):
        return None
    name = words[named].text
    short = name[:12] if _ID.fullmatch(name) else name
    netns = None if _KIND_NODE.fullmatch(name) else f"container {short}"
    return WrappedCommand(
        opened(words, skip_options(words, named + 1, _VALUED)), netns, enters=True
    )


def _run(words: tuple[ShellWord, ...], place: int) -> WrappedCommand | None:
    image = _skip_run_options(words, place + 1)
    options = words[place + 1 : image]
    net = find_option(options, "--net", "--network") or ""
    if image >= len(words) or any(_is_detached(word.text) for word in options):
        return None
    if image + 1 == len(words) and not net.startswith(("host", "container:")):
        return None
    netns = _container_netns(words[image].text, net, find_option(options, "--name"))
    if image + 1 < len(words) and words[image + 1].text.startswith("-"):
        program = base_name(words[image].text).partition(":")[0]
        return WrappedCommand(image, netns, enters=True, text=program)
    return WrappedCommand(opened(words, image + 1), netns, enters=True)


def _container_netns(image: str, net: str, name: str | None) -> str | None:
    """Name the network namespace of a container that is made; None where it is the host's."""
    if net == "host":
        return None
    if net.startswith("container:"):
        return f"container {net.partition(':')[2]}"
    if name is not None:
        return f"container {name}"
    return f"container of {image}" + (f" on {net}" if net else "")


def _skip_run_options(words: tuple[ShellWord, ...], place: int) -> int:
    """Return the index of the image."""
    while place < len(words) and words[place].text.startswith("-"):
        place += 2 if _takes_next(words[place].text) else 1
    return place


def _takes_next(option: str) -> bool:
    """Tell whether an option's value is the next word."""
    if option.startswith("--"):
        return "=" not in option and option not in _RUN_FLAGS
    valued = next((i for i, letter in enumerate(option) if i and letter not in _SHORT_FLAGS), None)
    return valued is not None and valued == len(option) - 1


def _is_detached(option: str) -> bool:
    flags = option.partition("=")[0]
    return flags == "--detach" or re.fullmatch(r"-[itPq]*d[itPq]*", flags) is not None


def unwrap_machine(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `lxc exec NAME -- COMMAND`, `incus exec`, `pct exec`, `pct enter` and
    `machinectl shell`; None for all else.
    """
    place = skip_options(words, 1, frozenset({"--project", "-M", "--machine"}))
    if place >= len(words) or words[place].text not in {"exec", "enter", "shell"}:
        return None
    valued = frozenset({"--env", "--user", "--group", "--cwd", "--mode", "--uid", "-E", "--setenv"})
    named = skip_options(words, place + 1, valued)
    if named >= len(words):
        return None
    netns = f"container {words[named].text.rpartition(':')[2]}"
    following = skip_options(words, named + 1, valued)
    return WrappedCommand(opened(words, following), netns, enters=True)


def unwrap_lxc_attach(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `lxc-attach -n NAME -- COMMAND`; None where no container is named."""
    valued = frozenset({"-n", "--name", "-P", "--lxcpath", "-s", "--namespaces", "-v", "--set-var"})
    place = skip_options(words, 1, valued)
    name = find_option(words[1:place], "--name", "-n")
    if name is None and place < len(words):
        name, place = words[place].text, skip_options(words, place + 1, valued)
    if name is None:
        return None
    return WrappedCommand(opened(words, place), f"container {name}", enters=True)


def unwrap_ctr(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap `ctr -n k8s.io tasks exec --exec-id ID CONTAINER COMMAND`; None for all else."""
    valued = frozenset({"-n", "--namespace", "-a", "--address", "--exec-id", "--cwd", "--user"})
    place = skip_options(words, 1, valued)
    if [word.text for word in words[place : place + 2]] not in [
        ["tasks", "exec"],
        ["task", "exec"],
        ["t", "exec"],
    ]:
        return None
    named = skip_options(words, place + 2, valued)
    if named >= len(words):
        return None
    name = words[named].text
    short = name[:12] if _ID.fullmatch(name) else name
    return WrappedCommand(opened(words, named + 1), f"container {short}", enters=True)
