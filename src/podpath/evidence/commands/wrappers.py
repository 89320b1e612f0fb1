"""Programs that run another program: how each is taken off a command line, and which network
namespace it enters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from podpath.evidence.commands.shells import ShellWord
from podpath.evidence.commands.wrappers_container import (
    unwrap_container,
    unwrap_ctr,
    unwrap_kubectl,
    unwrap_lxc_attach,
    unwrap_machine,
)
from podpath.evidence.commands.wrappers_words import (
    SHELLS,
    WrappedCommand,
    find_option,
    opened,
    skip_options,
)

_NETNS_FILE = re.compile(
    r"(?:/var)?/run/netns/(?P<name>.+)|(?:/host)?/proc/(?P<pid>[^/]+)/ns/net|(?P<other>/.+)"
)


def _plain(
    valued: str = "", positional: int = 0
) -> Callable[[tuple[ShellWord, ...]], WrappedCommand | None]:
    with_value = frozenset(valued.split())

    def unwrap(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
        place = skip_options(words, 1, with_value) + positional
        if place >= len(words):
            return None
        word = words[place]
        return (
            WrappedCommand(place, text=word.text)
            if " " in word.text and place + 1 == len(words)
            else WrappedCommand(place)
        )

    return unwrap


def _remote(valued: str) -> Callable[[tuple[ShellWord, ...]], WrappedCommand | None]:
    """Unwrap `ssh HOST COMMAND`: the place is another host, its own network namespace."""
    plain = _plain(valued, 1)

    def unwrap(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
        inner = plain(words)
        return None if inner is None else inner._replace(enters=True)

    return unwrap


def _shell(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    for place, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word.text):
            return (
                WrappedCommand(place + 1, text=words[place + 1].text)
                if place + 1 < len(words)
                else None
            )
    return None


def netns_of_file(path: str) -> str | None:
    """Name the network namespace that a file of procfs or of `ip netns` stands for; None for the
    host's (process 1).
    """
    found = _NETNS_FILE.fullmatch(path)
    if found is None:
        return path or None
    if found["pid"] is not None:
        return None if found["pid"] == "1" else f"pid {found['pid']}"
    return found["name"] or found["other"]


def _nsenter(words: tuple[ShellWord, ...]) -> WrappedCommand:
    place = skip_options(
        words, 1, frozenset({"-t", "--target", "-S", "--setuid", "-G", "--setgid"})
    )
    options = words[1:place]
    path = find_option(options, "--net", "--network")
    pid = find_option(options, "-t", "--target")
    short = [
        word.text
        for word in options
        if re.fullmatch(r"-[a-zA-Z]*[na][a-zA-Z]*|-n=?/.*|--net|--network|--all", word.text)
    ]
    if path is None:
        path = next(
            (word[2:].removeprefix("=") for word in short if re.match(r"-n=?/", word)), None
        )
    if path is not None and path.startswith("/"):
        return WrappedCommand(
            opened(words, place), netns_of_file(path), enters=True, keeps_prompt=True
        )
    if not short:
        return WrappedCommand(opened(words, place), keeps_prompt=True)
    netns = None if pid in {None, "1"} else f"pid {pid}"
    return WrappedCommand(opened(words, place), netns, enters=True, keeps_prompt=True)


def _ip(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    texts = [word.text for word in words]
    if (
        len(texts) > 3
        and re.fullmatch(r"net?n?s?", texts[1])
        and re.fullmatch(r"ex?e?c?", texts[2])
    ):
        return WrappedCommand(opened(words, 4), texts[3], enters=True, keeps_prompt=True)
    place = next(
        (i for i, text in enumerate(texts[1:4], 1) if text in {"-n", "-netns", "--netns"}), None
    )
    if (
        place is None
        or place + 1 >= len(words)
        or any(not text.startswith("-") for text in texts[1:place])
    ):
        return None
    inner = " ".join([*texts[:place], *texts[place + 2 :]])
    return WrappedCommand(len(words) - 1, texts[place + 1], enters=True, text=inner)


def _minikube(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    ssh = next((place for place, word in enumerate(words[:4]) if word.text == "ssh"), None)
    if ssh is None:
        return _distribution(words)
    place = skip_options(words, ssh + 1, frozenset({"-n", "--node", "-p", "--profile"}))
    if place < len(words) and words[place - 1].text == "-c":
        place -= 1
    text = words[place].text if place < len(words) and " " in words[place].text else None
    return WrappedCommand(place, enters=True, text=text)


def _distribution(words: tuple[ShellWord, ...]) -> WrappedCommand | None:
    """Unwrap the kubectl that a distribution of Kubernetes brings along: `k3s kubectl get pods`."""
    if len(words) < 3 or words[1].text not in {"kubectl", "kc"}:
        return None
    inner = words[3:] if words[2].text == "--" else words[2:]
    return WrappedCommand(len(words) - 1, text=" ".join(["kubectl", *(one.text for one in inner)]))


WRAPPERS: Mapping[str, Callable[[tuple[ShellWord, ...]], WrappedCommand | None]] = {
    "sudo": _plain("-u -g -h -p -C -r -t -T -U -D -R"), "doas": _plain("-u -C"),
    "time": _plain("-f -o"), "nohup": _plain(), "watch": _plain("-n --interval"),
    "env": _plain("-u -C"), "nice": _plain("-n"), "ionice": _plain("-c -n -p"),
    "stdbuf": _plain("-i -o -e"), "timeout": _plain("-s -k --signal --kill-after", 1),
    "command": _plain(), "exec": _plain(), "unbuffer": _plain(), "setsid": _plain(),
    "chroot": _plain("", 1), "strace": _plain("-e -o -p -s"),
    "ssh": _remote("-i -p -l -o -F -J -L -R -b -c -E"), "minikube": _minikube, "vagrant": _minikube,
    **dict.fromkeys(sorted(SHELLS), _shell), "nsenter": _nsenter, "ip": _ip, "bridge": _ip,
    "tc": _ip, **dict.fromkeys(("kubectl", "oc", "k", "microk8s.kubectl"), unwrap_kubectl),
    **dict.fromkeys(("k3s", "k0s", "rke2", "microk8s"), _distribution),
    **dict.fromkeys(
        ("docker", "podman", "crictl", "nerdctl", "docker-compose", "podman-compose"),
        unwrap_container,
    ),
    **dict.fromkeys(("lxc", "incus", "pct", "machinectl"), unwrap_machine),
    "lxc-attach": unwrap_lxc_attach, "ctr": unwrap_ctr,
}  # fmt: skip
"""How each wrapper is taken off; None where it runs nothing."""
