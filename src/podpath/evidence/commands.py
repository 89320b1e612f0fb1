"""A typed command line to the program that printed the output, past `sudo`, `nsenter`, `kubectl exec` and pipes.

What was asked for often decides what an output means: `ip route show table 100` does not print the table, `cat FILE` does not
print the name, `lsmod | grep X` shows only a part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.evidence.tokenizer import scan_quoted
from podpath.net.addresses import Family
from podpath.net.provenance import Source


class Command(NamedTuple):
    """The command at the start of a pipeline."""

    program: str = ""
    """Its name without a directory; empty where there is no command."""
    arguments: tuple[str, ...] = ()
    filters: tuple[tuple[str, ...], ...] = ()
    """The programs that its output was piped through, each with its arguments: what is shown may be a part."""
    netns: str | None = None
    """Where a wrapper says it: the name of a namespace, `pid PID`, or the name of a pod or container."""

    def option(self, *names: str) -> str | None:
        """Give the argument that follows one of these words (`dev`, `table`); None where there is none."""
        for name, value in zip(self.arguments, self.arguments[1:], strict=False):
            if name in names:
                return value
        return None


_PROMPT_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_NETNS_PATH = re.compile(r"(?:--net=|-n)?/(?:var/)?run/netns/(?P<name>[^/\s]+)|(?:--net=|-n)?/proc/(?P<pid>[^/\s]+)/ns/net")
_SEPARATORS = frozenset({"|", "|&", "||", "&&", ";", "&", ">", ">>", "2>", "<", "2>&1", "2>/dev/null", ">/dev/null", "&>"})
_OPERATOR = re.compile(r"\|[|&]?|&&|;|(?<![\w\\])[12]?>>?(?:&[12])?")
_SHORT_WITH_VALUE: Mapping[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R"}),
    "nsenter": frozenset({"-t", "--target", "-S", "-G"}),
    "kubectl": frozenset({"-n", "--namespace", "-c", "--container", "--context", "--kubeconfig"}),
    "docker": frozenset({"-u", "--user", "-w", "--workdir", "-e", "--env"}),
    "ssh": frozenset({"-i", "-p", "-l", "-o", "-F", "-J"}),
    "watch": frozenset({"-n", "--interval"}),
    "timeout": frozenset({"-s", "-k"}),
    "nice": frozenset({"-n"}),
    "chroot": frozenset(),
}


def parse_command(text: str | None) -> Command:
    """Read a command line; an empty `Command` where there is none."""
    pipeline = _parse_pipeline(text or "")
    if not pipeline:
        return Command()
    words, netns = pipeline[0], None
    for _ in range(8):
        inner, inside = _unwrap(words)
        netns = inside or netns
        if inner is words:
            break
        words = inner
    if not words:
        return Command(netns=netns)
    return Command(_base(words[0]), tuple(words[1:]), tuple(tuple(part) for part in pipeline[1:] if part), netns)


def parse_family(source: Source) -> Family | None:
    """Say which family a source's command (`ip -6 route`) or name (`ip6-route.json`) asks for; None where neither does."""
    command = parse_command(source.command)
    if command.program.startswith("ip6") or any(word in ("-6", "inet6", "--inet6", "-A6") for word in command.arguments):
        return 6
    if any(word in ("-4", "inet", "--inet") for word in command.arguments):
        return 4
    name = source.name.rpartition("/")[2]
    return 6 if name.startswith("ip6") else 4 if re.match(r"ip-(?:route|rule|neigh)\.json", name) else None


def _parse_pipeline(text: str) -> list[list[str]]:
    """Cut the words at `|`; what comes after another operator (a redirection, `;`) is left out."""
    spaced = _OPERATOR.sub(r" \g<0> ", text) if _is_plain(text) else text
    parts: list[list[str]] = [[]]
    skipping = False
    for word in scan_quoted(spaced):
        if word.text == "|" and not word.quoted:
            parts.append([])
            skipping = False
        elif not word.quoted and word.text in _SEPARATORS:
            skipping = True
        elif not skipping:
            parts[-1].append(word.text)
    return parts if parts[0] else []


def _is_plain(text: str) -> bool:
    return not any(sign in text for sign in "\"'\\")


def _base(program: str) -> str:
    return program.rpartition("/")[2] or program


def _unwrap(words: list[str]) -> tuple[list[str], str | None]:
    """Take one wrapper off; the same list where there is none."""
    place = 0
    while place < len(words) and _PROMPT_VARIABLE.match(words[place]):
        place += 1
    if place:
        return words[place:], None
    if not words:
        return words, None
    wrapper = _WRAPPERS.get(_base(words[0]))
    return wrapper(words) if wrapper is not None else (words, None)


def _skip_options(words: list[str], program: str, place: int = 1) -> int:
    with_value = _SHORT_WITH_VALUE.get(program, frozenset())
    while place < len(words) and words[place].startswith("-"):
        if words[place] == "--":
            return place + 1
        place += 2 if words[place] in with_value else 1
    return place


def _unwrap_plain(words: list[str]) -> tuple[list[str], str | None]:
    program = _base(words[0])
    place = _skip_options(words, program)
    return words[place + (program in {"timeout", "chroot", "ssh"}) :], None


def _unwrap_shell(words: list[str]) -> tuple[list[str], str | None]:
    for place, word in enumerate(words[1:], 1):
        if word in {"-c", "-lc", "-ic"}:
            inner = _parse_pipeline(words[place + 1]) if place + 1 < len(words) else []
            return (inner[0] if inner else []), None
    return words, None


def _unwrap_nsenter(words: list[str]) -> tuple[list[str], str | None]:
    place = _skip_options(words, "nsenter")
    netns: str | None = None
    for position, word in enumerate(words[1:place], 1):
        path = _NETNS_PATH.fullmatch(word)
        if path is not None:
            return words[place:], path["name"] or f"pid {path['pid']}"
        if word in {"-t", "--target"} and position + 1 < len(words):
            netns = f"pid {words[position + 1]}"
        elif word.startswith("--target="):
            netns = f"pid {word.removeprefix('--target=')}"
    enters = any(word in {"-n", "--net", "-a", "--all"} or re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*", word) for word in words[1:place])
    return words[place:], netns if enters else None


def _unwrap_exec(words: list[str]) -> tuple[list[str], str | None]:
    """Unwrap `kubectl exec POD -- COMMAND` and `docker exec CONTAINER COMMAND`."""
    program = _base(words[0])
    place = _skip_options(words, program)
    if place >= len(words) or words[place] != "exec":
        return words, None
    place = _skip_options(words, program, place + 1)
    if place >= len(words):
        return words, None
    name = words[place]
    return words[_skip_options(words, program, place + 1) :], name.rpartition("/")[2]


def _unwrap_ip(words: list[str]) -> tuple[list[str], str | None]:
    """Unwrap `ip netns exec NAME COMMAND` and take `-n NAME` out of `ip -n NAME ...`."""
    if words[1:3] == ["netns", "exec"] and len(words) > 3:
        return words[4:], words[3]
    for place, word in enumerate(words[1:], 1):
        if word in {"-n", "-netns", "--netns"} and place + 1 < len(words):
            return words[:place] + words[place + 2 :], words[place + 1]
        if not word.startswith("-"):
            break
    return words, None


_WRAPPERS: Mapping[str, Callable[[list[str]], tuple[list[str], str | None]]] = {
    **dict.fromkeys(
        ("sudo", "time", "watch", "env", "nice", "stdbuf", "timeout", "chroot", "ssh", "command", "exec"), _unwrap_plain
    ),
    **dict.fromkeys(("sh", "bash", "ash", "dash", "zsh"), _unwrap_shell),
    "nsenter": _unwrap_nsenter,
    **dict.fromkeys(("kubectl", "docker", "podman", "crictl", "oc", "k", "nerdctl"), _unwrap_exec),
    **dict.fromkeys(("ip", "bridge"), _unwrap_ip),
}
"""How each wrapper is taken off."""
