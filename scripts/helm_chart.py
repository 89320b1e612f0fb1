"""Write `deploy/chart`, the Helm chart, from the folders of kustomize beside it, which are its one
source.

    python -m scripts.helm_chart            # write
    python -m scripts.helm_chart --check    # say which files are out of date

Whole documents (roles, policies, alerts) are copied into the chart. The DaemonSet is that of
`deploy/base` with the patches of the variants, each under its condition; the agent's configuration
is made of the sections of the variants' files. What the chart gives for a variant is what
kubectl gives for its folder, which `tests/deploy/test_chart.py` holds.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from scripts import deploy_platforms
from scripts.written import write_folder

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "chart"
MADE = "# Made by scripts/helm_chart.py from the folders beside the chart: change it there.\n"
WRITTEN_BY_HAND = {
    "Chart.yaml",
    *(f"templates/{name}.yaml" for name in ("checks", "config", "dashboard")),
}
FIRST_ROW = "  generic: {}\n"
"""Of the platforms in values.yaml: what stands before it is written by hand."""
MESHES = ("linkerd", "istio")
MESH = ".Values.mesh"
SNAPSHOT = "or .Values.snapshot .Values.drops"
DROPS = ".Values.drops"
TLS = 'eq .Values.metrics "tls"'
DOCUMENTS = (
    ("", "base/access.yaml"),
    ("", "base/budget.yaml"),
    *((f'eq .Values.mesh "{mesh}"', f"{mesh}/access.yaml") for mesh in MESHES),
    (SNAPSHOT, "snapshot/access.yaml"),
    (DROPS, "drops/access.yaml"),
    (TLS, "metrics/access.yaml"),
    (".Values.policy", "policy/nodes.yaml"),
    (".Values.policy", "policy/pods.yaml"),
    (".Values.policy", "policy/evictions.yaml"),
    (".Values.policy", "policy/condition.yaml"),
    (".Values.quota", "quota/quota.yaml"),
    (".Values.monitoring", "monitoring/rules.yaml"),
    (f"and .Values.monitoring (not ({TLS}))", "monitoring/pod-monitor.yaml"),
    (f"and .Values.monitoring ({TLS})", "metrics/monitoring/pod-monitor.yaml"),
)
"""What is copied as it is, and when it is in."""
PATCHES = (
    (MESH, "linkerd/chain-volumes.yaml"),
    (SNAPSHOT, "snapshot/serve.yaml"),
    (DROPS, "drops/hear.yaml"),
    (TLS, "metrics/serve.yaml"),
)
"""The patches of the DaemonSet, the stronger ones later."""
FOLDERS = {"cni-conf": "conf_dir", "cni": "conf_dir", "cni-bin": "bin_dir"}
"""Volumes whose folder the platform decides."""
_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""What YAML does not take for text."""
PROFILE_FIELD = 'semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version'
"""Since then AppArmor's profile is a field; before, it was an annotation."""
ROW = "(index .Values.platforms .Values.platform)"
Object = Any


@dataclass(frozen=True, slots=True)
class When:
    """What is there only under a condition."""

    condition: str
    value: Object


@dataclass(frozen=True, slots=True)
class Either:
    """A scalar by the first condition that holds, or else the last one."""

    choices: tuple[tuple[str, Object], ...]
    otherwise: Object


class Raw(str):
    """A scalar that is a template."""

    __slots__ = ()


class Patch(NamedTuple):
    """A part of an object that is merged in under a condition."""

    condition: str
    value: Object


def merge(base: Object, patches: Sequence[Patch]) -> Object:
    """Merge as kustomize does, and keep under which condition each part is there."""
    if not patches:
        return base
    if isinstance(base, dict):
        return _merge_tables(base, patches)
    if isinstance(base, list):
        return _merge_lists(base, patches)
    chosen = [(each.condition, each.value) for each in reversed(patches) if each.value != base]
    return Either(tuple(chosen), base) if chosen else base


def _merge_tables(base: dict[str, Object], patches: Sequence[Patch]) -> dict[str, Object]:
    merged = {
        key: merge(value, [Patch(p.condition, p.value[key]) for p in patches if key in p.value])
        for key, value in base.items()
    }
    for key in dict.fromkeys(key for patch in patches for key in patch.value):
        if key not in base:
            merged[key] = _added(
                [Patch(p.condition, p.value[key]) for p in patches if key in p.value]
            )
    return merged


def _merge_lists(base: list[Object], patches: Sequence[Patch]) -> list[Object]:
    known = {_name(item): item for item in base}
    offered: dict[str, list[Patch]] = {}
    for patch in patches:
        for item in patch.value:
            offered.setdefault(_name(item), []).append(Patch(patch.condition, item))
    merged = [merge(item, offered.get(name, [])) for name, item in known.items()]
    return merged + [_added(parts) for name, parts in offered.items() if name not in known]


def _added(parts: Sequence[Patch]) -> When:
    """Join what several patches add: it must be the same, but for lists, which grow."""
    first = parts[0].value
    if isinstance(first, list):
        grown = _merge_lists([], parts)
        return When(_any(part.condition for part in parts), grown)
    if any(part.value != first for part in parts):
        raise SystemExit(f"two patches add different values: {[part.value for part in parts]}")
    return When(_any(part.condition for part in parts), first)


def _any(conditions: Iterator[str] | Sequence[str]) -> str:
    unique = list(dict.fromkeys(conditions))
    return unique[0] if len(unique) == 1 else f"or {' '.join(f'({each})' for each in unique)}"


def _name(item: Object) -> str:
    """Return by what items of a list are told apart."""
    if isinstance(item, dict):
        return str(item.get("name") or json.dumps(item, sort_keys=True))
    return str(item)


def emit(value: Object, indent: int = 0) -> Iterator[str]:
    """Write a block of YAML with its conditions as lines of the template."""
    space = " " * indent
    if isinstance(value, list):
        for item in value:
            yield from _guarded(item, lambda held: _emit_item(held, indent))
    else:
        for key, inner in value.items():
            yield from _guarded(
                inner, lambda held, key=key: _emit_entry(f"{space}{key}:", held, indent)
            )


def _guarded(value: Object, write: Any) -> Iterator[str]:  # noqa: ANN401  # a function of the value
    if isinstance(value, When):
        yield f"{{{{- if {value.condition} }}}}"
        yield from write(value.value)
        yield "{{- end }}"
    else:
        yield from write(value)


def _emit_entry(head: str, value: Object, indent: int) -> Iterator[str]:
    if isinstance(value, (dict, list)) and value:
        yield head
        yield from emit(value, indent + 2)
    else:
        yield f"{head} {_scalar(value)}"


def _emit_item(value: Object, indent: int) -> Iterator[str]:
    space = " " * indent
    if isinstance(value, dict):
        lines = list(emit(value, indent + 2))
        if lines[0].startswith("{{"):
            raise AssertionError("the first key of an item is under no condition")
        yield f"{space}- {lines[0].lstrip()}"
        yield from lines[1:]
    else:
        yield f"{space}- {_scalar(value)}"


def _scalar(value: Object) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Either):
        (first, *rest) = value.choices
        text = f"{{{{ if {first[0]} }}}}{_scalar(first[1])}"
        text += "".join(f"{{{{ else if {condition} }}}}{_scalar(held)}" for condition, held in rest)
        return f"{text}{{{{ else }}}}{_scalar(value.otherwise)}{{{{ end }}}}"
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return str(value) if plain else json.dumps(value)


def make_daemon_set() -> str:
    """Return the template of the DaemonSet."""
    base = _load("base/agent.yaml")
    patches = [Patch(condition, _load(name)) for condition, name in PATCHES]
    merged = merge(base, patches)
    template = merged["spec"]["template"]
    template["metadata"]["annotations"] = {
        "checksum/config": Raw('{{ include "podpath.config" . | sha256sum }}'),
        "container.apparmor.security.beta.kubernetes.io/agent": When(
            f"and {ROW}.apparmor (not ({PROFILE_FIELD}))", Raw(f"{{{{ {ROW}.apparmor | lower }}}}")
        ),
    }
    spec = template["spec"]
    _fit_platform(spec)
    for container in _containers(spec):
        container["image"] = Raw('{{ printf "%s:%s" .Values.image.repository .Values.image.tag }}')
        for kind in ("startup", "liveness", "readiness"):
            asked = container.get(f"{kind}Probe", {}).get("httpGet", {})
            if "host" in asked:
                host = asked.pop("host")
                asked["host"] = When('ne .Values.metrics "pod"', host)
    return MADE + "\n".join(emit(merged)) + "\n"


def _containers(spec: Object) -> Iterator[Object]:
    for held in (spec["containers"], spec["initContainers"].value):
        for item in held:
            yield item.value if isinstance(item, When) else item


def _fit_platform(spec: Object) -> None:
    """Let the platform decide folders and security; a folder is mounted once."""
    for held in spec["volumes"]:
        volume = held.value if isinstance(held, When) else held
        key = FOLDERS.get(volume["name"])
        if key is not None:
            path = volume["hostPath"]["path"]
            volume["hostPath"]["path"] = Raw(f'{{{{ {ROW}.{key} | default "{path}" }}}}')
    agent = spec["containers"][0]
    for place, held in (("volumes", spec["volumes"]), ("volumeMounts", agent["volumeMounts"])):
        for number, item in enumerate(held):
            if isinstance(item, When) and item.value["name"] == "cni":
                held[number] = When(f"and ({item.condition}) (not {MESH})", item.value)
                break
        else:
            raise SystemExit(f"expected `cni` among the {place} of deploy/snapshot")
    security = agent["securityContext"]
    for key, field, condition in (
        ("apparmor", "appArmorProfile", f"and {ROW}.apparmor ({PROFILE_FIELD})"),
        ("selinux", "seLinuxOptions", f"{ROW}.selinux"),
    ):
        security[field] = When(condition, {"type": Raw(f"{{{{ {ROW}.{key} }}}}")})


def _load(name: str) -> Object:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def make_config() -> str:
    """Return the template of agent.toml: the sections of the base, those that a mesh changes or
    adds, and those of the other variants behind them.
    """
    base = _sections("base")
    meshes = {mesh: _sections(mesh) for mesh in MESHES}
    more = {DROPS: _sections("drops"), SNAPSHOT: _sections("snapshot")}
    order = list(dict.fromkeys([*meshes[MESHES[0]], *base, *more[DROPS]]))
    lines = ["{{- if .Values.dryRun }}", "dry_run = true", "{{- end }}"]
    for name in order:
        texts = {mesh: held[name] for mesh, held in meshes.items() if name in held}
        if name in base and all(text == base[name] for text in texts.values()):
            lines += ["", base[name]] if name else [base[name]]
        elif texts:
            lines += _by_mesh(texts, base.get(name))
        else:
            condition = SNAPSHOT if name in more[SNAPSHOT] else DROPS
            lines += [f"{{{{- if {condition} }}}}", "", more[DROPS][name], "{{- end }}"]
    lines += [f"{{{{- if {TLS} }}}}", "", "[metrics]", "{{- end }}"]
    text = "\n".join(lines)
    for old, new in (
        (
            'listen = "127.0.0.1:9809"',
            'listen = "{{ if eq .Values.metrics "pod" }}pod{{ else }}127.0.0.1{{ end }}:9809"',
        ),
        (
            "[kubernetes]\n",
            "[kubernetes]\n{{- if .Values.condition }}\ncondition = true\n{{- end }}\n",
        ),
    ):
        if old not in text:
            raise SystemExit(f"expected {old!r} in deploy/base/agent.toml")
        text = text.replace(old, new)
    return text


def _by_mesh(texts: dict[str, str], plain: str | None) -> list[str]:
    lines = []
    for place, (mesh, text) in enumerate(texts.items()):
        lines += [f'{{{{- {"else if" if place else "if"} eq .Values.mesh "{mesh}" }}}}', "", text]
    return [*lines, *(["{{- else }}", "", plain] if plain is not None else []), "{{- end }}"]


def _sections(variant: str) -> dict[str, str]:
    """Return the sections of a variant's file by their names; what stands before them has none."""
    text = (DEPLOY / variant / "agent.toml").read_text(encoding="utf-8")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    parts = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    return {
        part.partition("]")[0].lstrip("[") if part[0] == "[" else "": part.strip("\n")
        for part in parts
    }


CONFIG = """\
{{{{- define "podpath.config" -}}}}
{{{{- if .Values.config }}}}
{{{{- .Values.config }}}}
{{{{- else }}}}
{made}
{{{{- end }}}}
{{{{- end -}}}}
"""


def make_values() -> str:
    """Return values.yaml with the rows of the platforms."""
    head, mark, _ = _read("chart/values.yaml").partition(FIRST_ROW)
    rows = yaml.safe_dump(deploy_platforms.platforms(), sort_keys=False)
    return head + mark + "".join(f"  {line}\n" for line in rows.splitlines())


def make_schema() -> str:
    """Return the schema by which helm judges values: no key that nobody knows, no other choice."""
    row = {key: {"type": "string"} for key in sorted(deploy_platforms.KEYS)}
    flags = ("snapshot", "drops", "monitoring", "policy", "condition", "quota", "dryRun")
    text = {"type": "string"}
    schema = {
        "$schema": "https://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "image": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"repository": text, "tag": text},
            },
            "mesh": {"enum": ["", *MESHES]},
            "metrics": {"enum": ["loopback", "pod", "tls"]},
            **{flag: {"type": "boolean"} for flag in flags},
            "config": text,
            "platform": text,
            "platforms": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": row,
                },
            },
            "global": {"type": "object"},
        },
    }
    return json.dumps(schema, indent=2) + "\n"


def make_documents() -> Iterator[tuple[str, str]]:
    """Yield the copies below files/, and the template that puts them in."""
    template = MADE
    for condition, name in DOCUMENTS:
        text = _secure_monitor() if name.startswith("metrics/monitoring") else _read(name)
        yield f"files/{name}", text
        put = f'{{{{ .Files.Get "files/{name}" }}}}'
        template += (
            f"---\n{{{{- if {condition} }}}}\n{put}\n{{{{- end }}}}\n"
            if condition
            else f"---\n{put}\n"
        )
    yield "files/monitoring/podpath.json", _read("monitoring/podpath.json")
    yield "templates/documents.yaml", template


def _read(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def _secure_monitor() -> str:
    """Return the PodMonitor as deploy/metrics/monitoring patches it."""
    monitor = _load("monitoring/pod-monitor.yaml")
    (patch,) = _load("metrics/monitoring/kustomization.yaml")["patches"]
    for step in yaml.safe_load(patch["patch"]):
        *way, last = [int(word) if word.isdigit() else word for word in step["path"].split("/")[1:]]
        holder = monitor
        for part in way:
            holder = holder[part]
        holder[last] = step["value"]
    return MADE + str(yaml.safe_dump(monitor, sort_keys=False))


def files() -> dict[str, str]:
    """Return every file of the chart that is made, with its content."""
    return {
        "values.yaml": make_values(),
        "values.schema.json": make_schema(),
        "templates/_config.tpl": CONFIG.format(made=make_config()),
        "templates/agent.yaml": make_daemon_set(),
        **dict(make_documents()),
    }


def main(arguments: list[str]) -> int:
    """Write the files, or say which are not as they would be written."""
    there = {str(path.relative_to(CHART)) for path in CHART.rglob("*") if path.is_file()}
    return write_folder(CHART, files(), there - WRITTEN_BY_HAND, check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
