"""Cilium's configuration as people show it: the cilium-config ConfigMap (JSON, YAML, `describe`),
`cilium config view`, values of its Helm chart, and the flags that the agent logs. All give options
by the ConfigMap's keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.evidence.cilium.flags import HELM_KEYS, config_key
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import CiliumOptionRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger, clip_lines
from podpath.net.provenance import Source

_KNOWN = frozenset(HELM_KEYS.values()) | frozenset(
    """agent-health-port auto-direct-node-routes bpf-ct-global-any-max bpf-ct-global-tcp-max
    bpf-lb-map-max bpf-map-dynamic-size-ratio bpf-nat-global-max bpf-policy-map-max
    cilium-endpoint-gc-interval cluster-id cluster-name cni-chaining-mode custom-cni-conf debug
    enable-auto-protect-node-port-range enable-bandwidth-manager enable-bpf-clock-probe
    enable-endpoint-health-checking enable-health-check-nodeport enable-health-checking
    enable-hubble enable-k8s-terminating-endpoint enable-remote-node-identity
    enable-session-affinity enable-svc-source-range-check enable-vtep enable-well-known-identities
    identity-allocation-mode kube-proxy-replacement-healthz-bind-address monitor-aggregation
    node-port-bind-protection operator-api-serve-addr preallocate-bpf-maps sidecar-istio-proxy-image
    tofqdns-proxy-port unmanaged-pod-watcher-interval wait-bpf-mount""".split()  # noqa: SIM905 - a list of words reads best as words
)
_YAML = re.compile(
    r"(?P<indent>\s*)(?P<key>[A-Za-z][\w.-]*):(?:\s+(?P<value>\S.*?))?\s*(?:\s#.*)?$"
)
_JSON = re.compile(
    r'\s*"(?P<key>[a-z][a-z0-9-]*)":\s*"(?P<value>(?:[^"\\]|\\.)*)",?\s*[}\]]*,?\s*$'
)
_COLUMNS = re.compile(
    r"(?P<key>[a-z][a-z0-9]*(?:-[a-z0-9]+)+|debug|tunnel|ipam|masquerade|devices)\s{2,}"
    r"(?P<value>\S.*?)\s*$"
)
_LOGGED = re.compile(r"(?:^|[\s\"'])--(?P<key>[a-z][a-z0-9-]+)='(?P<value>[^']*)'")
_DESCRIBED = re.compile(r"(?P<key>[a-z][a-z0-9.-]*):\s*$")
_NAMED = re.compile(
    r"\"?(?:name|Name)\"?:\s+\"?cilium-config\"?|cilium-config|helm get values.*cilium"
)


class _Option(NamedTuple):
    key: str
    value: str
    first: int
    last: int


def recognise_config(source: Source) -> int:
    """Recognize the ConfigMap by its name, and a part of it by keys that only Cilium has."""
    lines = sample(source)
    if not lines:
        return NO
    named = _NAMED.search(source.command or "") is not None or any(
        _NAMED.search(line) for line in clip_lines(source.lines[:400])
    )
    keys = {option.key for option in _options(clip_lines(source.lines[:400]))}
    known = len(keys & _KNOWN)
    if sum(_LOGGED.search(line) is not None for line in lines) >= max(1, len(lines) // 2):
        return CERTAIN if known else NO
    if named and known:
        return CERTAIN
    return LIKELY + 5 if known and known >= 0.5 * len(lines) else NO


def read_config(source: Source) -> Reading:
    """Read the options; whatever else the object holds is kept as headings."""
    ledger = LineLedger(source)
    for option in _options(ledger.lines if not _is_json(ledger.lines) else source.lines):
        span = ledger.span(option.first, option.last)
        ledger.add(CiliumOptionRecord(span=span, key=option.key, value=option.value))
    for index, line in enumerate(ledger.lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("an option of Cilium")


def _options(lines: Sequence[str]) -> Iterator[_Option]:
    logged = [option for index, line in enumerate(lines) for option in _logged(index, line)]
    if logged:
        yield from logged
    elif _is_json(lines):
        yield from _json_options(lines)
    elif any(set(line.strip()) == {"-"} and len(line.strip()) >= 3 for line in lines):
        yield from _described(lines)
    elif any(_COLUMNS.fullmatch(line) for line in lines[:40]):
        for index, line in enumerate(lines):
            found = _COLUMNS.fullmatch(line)
            if found is not None:
                yield _Option(found["key"], found["value"], index, index)
    else:
        yield from _yaml_options(lines)


def _is_json(lines: Sequence[str]) -> bool:
    return any(line.lstrip().startswith(("{", '"')) for line in lines[:5])


def _logged(index: int, line: str) -> Iterator[_Option]:
    for found in _LOGGED.finditer(line):
        yield _Option(found["key"], found["value"], index, index)


def _json_options(lines: Sequence[str]) -> Iterator[_Option]:
    """Yield the string members of `data`; of a fragment, all that stand on lines of their own."""
    try:
        value: object = json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        data = value.get("data", value)
        for key, setting in data.items() if isinstance(data, dict) else ():
            place = next((i for i, line in enumerate(lines) if f'"{key}"' in line), 0)
            if isinstance(setting, str):
                yield _Option(key, setting, place, place)
        return
    for place, line in enumerate(lines):
        found = _JSON.match(line)
        if found is not None and found["key"] not in {
            "name",
            "namespace",
            "kind",
            "resource-version",
        }:
            yield _Option(found["key"], found["value"].replace('\\"', '"'), place, place)


def _described(lines: Sequence[str]) -> Iterator[_Option]:
    """Yield the entries of `kubectl describe configmap`: key, dashes, value, blank line."""
    for index, line in enumerate(lines[:-2]):
        found = _DESCRIBED.fullmatch(line)
        below = lines[index + 1].strip()
        if found is None or not below or set(below) != {"-"}:
            continue
        value = lines[index + 2].strip()
        yield _Option(found["key"], value, index, index + 2)


def _yaml_options(lines: Sequence[str]) -> Iterator[_Option]:
    """Yield the entries of `data:`; of Helm values, nested keys joined by dots; of a fragment, the
    keys at its top.
    """
    stack: list[tuple[int, str]] = []
    is_object = any(re.match(r"(?:kind|data|apiVersion):", line) for line in lines)
    for index, line in enumerate(lines):
        found = _YAML.match(line)
        if found is None or line.lstrip().startswith("#"):
            continue
        indent = len(found["indent"])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        path = [key for _, key in stack] + [found["key"]]
        value = found["value"]
        if value is None or value in {"|", ">", "|-", ">-"}:
            stack.append((indent, found["key"]))
            continue
        if is_object:
            if path[0] != "data" or len(path) != 2:
                continue
            path = path[1:]
        yield _Option(config_key(".".join(path)), value.strip("\"'"), index, index)


FORMAT = Format("cilium-config", recognise_config, read_config)
