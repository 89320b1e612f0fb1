"""Who wrote a log whose lines do not say so: told by the file's name, or by the command that
printed it.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from podpath.evidence.commands.typed import parse_typed
from podpath.net.provenance import Source

_ROTATED = re.compile(
    r"(?:[-.]\d{8}(?:-\d+)?|\.\d{1,3}|\.(?:gz|xz|zst|bz2|log|out|err|INFO|WARNING|ERROR))$"
)
_CONTAINER = re.compile(
    r"(?P<pod>[a-z0-9.-]+)_(?P<namespace>[a-z0-9-]+)_(?P<container>[a-z0-9.-]+?)(?:-[0-9a-f]{64})?$"
)
_FLAG = re.compile(
    r"\s(?:-[nc]|--(?:namespace|container|tail|since|since-time|context))[ =]?\S+|\s-\S+"
)
_POD = re.compile(r"-(?:[a-f0-9]{8,10}-)?[a-z0-9]{5}$")
"""What controllers add to the names of pods."""
_SCHEDULED = re.compile(r"-(?:[a-f0-9]{8,10}-[a-z0-9]{5}|[bcdfghj-np-tv-xz2456789]{5})$")
"""The same without vowels, which controllers leave out: names of files are of programs, too, such
as kube-proxy.
"""
_UNIT = re.compile(r"(?:-u|--unit)[ =]?(?P<unit>[\w@.-]+?)(?:\.service)?(?:\s|$)")

_WHOLE_SYSTEM = frozenset(
    {"messages", "syslog", "stdin", "kern", "daemon", "log", "user", "auth", "secure"}
)
"""Logs that many programs write into."""


def name_origin(source: Source) -> str:
    """Name the program or container that wrote a log; empty where nothing says so."""
    typed = parse_typed(source.command or "")
    if (
        typed.program in {"kubectl", "oc", "k", "docker", "crictl"}
        and " logs " in f" {typed.text} "
    ):
        words = _FLAG.sub(" ", f" {typed.text.partition(' logs ')[2]}").split()
        if words:
            return _POD.sub("", words[0].rpartition("/")[2])
        return ""
    unit = _UNIT.search(typed.text)
    if unit is not None:
        return unit["unit"]
    if source.command is not None:
        return ""
    return _name_file(source.name)


def _name_file(path: str) -> str:
    """Name the writer by the file: `kubelet.log`,
    `/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log`.
    """
    name = PurePosixPath(path).name
    if name.endswith((".md", ".markdown", ".txt", ".html", ".json")):
        return ""
    before = ""
    while before != name:
        before, name = name, _ROTATED.sub("", name)
    container = _CONTAINER.fullmatch(name)
    if container is not None:
        return container["container"]
    if name in _WHOLE_SYSTEM:
        return ""
    return _SCHEDULED.sub("", name)
