"""A block of a ticket as a configuration file: whose it is, and what it sets.

Other readers may know the same block better (devices of /etc/network/interfaces, objects of an
API): this one adds to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.evidence.configuration.kinds import find_kind, find_path
from podpath.evidence.configuration.statements import MEMBER, Statement, read_statements
from podpath.evidence.configuration.zone_file import is_zone, read_zone
from podpath.evidence.records import SettingsRecord
from podpath.evidence.text.line_ledger import clip_lines
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.evidence.text.trees import read_tree
from podpath.net.provenance import Source, Span
from podpath.net.settings import Setting, SettingsFile
from podpath.net.trees import Tree

LONGEST = 3000
"""Lines of a configuration file; what is longer is a list or a log."""
LEAST = 3
"""Settings, or lines, that a file must have whose kind nothing tells: fewer are words of a
sentence.
"""
_LEAST = 0.6
"""The share of lines that must look like settings where the file's name does not tell."""
_BLANK = re.compile(r"\s*(?:[#;!].*|//.*)?$")
_YAML = re.compile(r"\s*(?:- )*[\"']?[\w./-]+[\"']?:(?:\s+\S.*)?$|\s*- \S|---$|\s*\.{3}$")
_SETTING = re.compile(
    r"(?:\[[^\[\]]+\]$|(?:export\s+)?[\w./-]+\s*=\s*\S.*|[\w./-]+:(?:\s+\S.*)?$|\"[\w./-]+\"\s*:\s*\S.*|"
    r"[\w./*\"-]+(?:\s[^;{}]*)?[;{]$|[{}]+;?$|\|[^|]*\|[^|]*\|$|[a-z][\w-]*(?:\s+\S+){0,8}$)"
)
_LOG = re.compile(
    r"(?:[IWEF]\d{4} |\d{4}-\d\d-\d\d[T ]\d\d:|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |"
    r"\d\d:\d\d:\d\d[.,]|time=|level=|\[ *\d+\.\d)"
)
_PROGRAMS = re.compile(
    r"(?:sudo\s+)?(?:cat|less|more|nano|vi|vim|tail|head|grep|egrep|sed|bat|view|systemctl cat|"
    r"emacs|gedit)\b"
)

_CLOUDS = re.compile(r"(?:sudo\s+)?(?:aws|az|gcloud|oci|openstack)\s")
"""What prints an attribute as one JSON text, on one line where the output is compact."""


def find_settings(source: Source) -> SettingsRecord | None:
    """Return the file that a block is, or None where it is none. Never raises."""
    if not source.lines or len(source.lines) > LONGEST:
        return None
    lines = [strip_terminal(line) for line in clip_lines(source.lines)]
    filled = [line for line in lines if not _BLANK.match(line)]
    if not filled or sum(_LOG.match(line) is not None for line in filled) * 4 > len(filled):
        return None
    path = find_path(source) if not source.command or _PROGRAMS.match(source.command) else ""
    if is_zone(lines):
        return _record(source, "zone", path, list(_place(source, read_zone(lines))))
    settings, statements = _read(source, lines, filled)
    kind = find_kind(path, statements)
    return (
        _record(source, kind, path, settings)
        if kind
        or (settings and _is_file(filled, settings, path))
        or (_is_json(filled) and _CLOUDS.match(source.command or ""))
        else None
    )


def _is_file(filled: Sequence[str], settings: Sequence[Setting], path: str) -> bool:
    """Tell whether a text of no known kind is a configuration: it has a file's name, blocks or
    signs, and little else.
    """
    if len(filled) >= LEAST and (_is_json(filled) or filled[0].lstrip().startswith("+--")):
        return True
    fitting = sum(_SETTING.match(line.strip()) is not None for line in filled)
    if len(settings) < (1 if path else LEAST) or fitting < _LEAST * len(filled):
        return False
    return (
        bool(path) or _is_marked(filled) or (_is_yaml(filled) and any(one.path for one in settings))
    )


def _is_marked(filled: Sequence[str]) -> bool:
    """Tell whether lines have signs of a configuration: words, and words before a colon, may be
    anything.
    """
    return 2 * sum("=" in line or line.rstrip().endswith((";", "{")) for line in filled) >= len(
        filled
    )


def _is_json(filled: Sequence[str]) -> bool:
    """Tell whether a text is one JSON text, not many of one line each as logs are."""
    rows = sum(line.startswith('{"') and line.rstrip().endswith("}") for line in filled)
    return (
        filled[0].lstrip().startswith(("{", "["))
        and rows < 2
        and any('":' in line or '" :' in line for line in filled)
    )


def _is_yaml(filled: Sequence[str]) -> bool:
    return sum(_YAML.match(line) is not None for line in filled) >= 0.8 * len(filled)


def _read(
    source: Source, lines: Sequence[str], filled: Sequence[str]
) -> tuple[list[Setting], list[Statement]]:
    if _is_json(filled) or (_is_yaml(filled) and not all(map(MEMBER.match, filled))):
        settings = [
            setting
            for tree in read_tree(source, lines, source.first_line).trees
            for setting in _flatten(tree, (), "")
        ]
        return settings, [Statement(one.path, one.name, one.value, 0, 0) for one in settings]
    statements = read_statements(lines)
    return list(_place(source, statements)), statements


def _place(
    source: Source, statements: Iterator[Statement] | Sequence[Statement]
) -> Iterator[Setting]:
    for one in statements:
        yield Setting(
            one.path,
            one.name,
            one.value,
            Span(source, source.first_line + one.first, source.first_line + one.last),
        )


def _flatten(tree: Tree, path: tuple[str, ...], name: str) -> Iterator[Setting]:
    """Yield the scalars of a tree, each with the names above it; the elements of a list have the
    list's name.
    """
    if tree.fields:
        inner = (*path, name) if name else path
        for key, field in tree.fields.items():
            yield from _flatten(field, inner, key)
    elif tree.items:
        for item in tree.items:
            yield from _flatten(item, path, name)
    else:
        yield Setting(path, name, tree.text, tree.line)


def _record(
    source: Source, kind: str, path: str, settings: Sequence[Setting]
) -> SettingsRecord | None:
    if not settings:
        return None
    span = Span(source, settings[0].span.line, max(one.span.last_line for one in settings))
    return SettingsRecord(
        span=span, file=SettingsFile(kind=kind, path=path, settings=tuple(settings), span=span)
    )
