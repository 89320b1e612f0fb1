"""`sysctl`, `sysctl -a`, sysctl.d files, and the files under /proc/sys as cat, grep, head and tail
print them.

A value without its name (`sysctl -n KEY`, `cat /proc/sys/...`, `conntrack -C`) gets it from the
command. That a key does not exist is a fact too: its module is not loaded. In a configuration file
a line says what is wanted, and not what is in force.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import Command, expand_braces, parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.node_records import SparedSysctlRecord, SysctlRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source

_TOP = r"(?:net|kernel|vm|fs|dev|user|abi|sunrpc|crypto|debug)"
_SETTING = re.compile(
    rf"\s*+(?:-\s*)?(?P<key>{_TOP}[./][\w./*:@-]+)\s*(?:=|:(?=\s*\d+\s*$))\s*(?P<value>.*)"
)
_ANNOTATED = re.compile(r"(?P<value>-?\d+(?:\s+\d+)*)\s+(?:#|//|;|<[-=]|←|=>|->).*")
_SENTENCE = re.compile(r"-?\d+[.,;:]?\s+[^\W\d]|\w+ \w+ \w+.*[.!?]$")
_BARE = re.compile(rf"\s*+-(?P<key>{_TOP}[./][\w./*:@-]+)\s*$")
_PATH = re.compile(r"\s*+/proc/sys/(?P<key>[\w./:@-]+)(?:\s*[:=]\s*|\s+(?=\d+\s*$))(?P<value>.*)")
_FILE = re.compile(r"\s*+==>\s*/proc/sys/(?P<key>[\w./:@-]+)\s*<==\s*$")
_ABSENT = (
    "No such file or directory", "Datei oder Verzeichnis nicht gefunden",
    "Aucun fichier ou dossier de ce (?:nom|type)",
    "No existe el (?:archivo|fichero) o el directorio", "File o directory non esistente",
    "Ficheiro ou directoria inexistente", "Arquivo ou diretório inexistente",
    "Нет такого файла или каталога", "没有那个文件或目录",
    "そのようなファイルやディレクトリはありません", "그런 파일이나 디렉터리가 없습니다",
)  # fmt: skip
"""ENOENT as the C library says it in the languages that tickets come in."""
_MISSING = re.compile(r"/proc/sys/(?P<key>[\w./@-]++)(?P<said>.*)")
_SAYS_ABSENT = re.compile(rf"(?:{'|'.join(_ABSENT)})\s*+$", re.IGNORECASE)
_UNKNOWN_KEY = re.compile(
    rf"\s*+(?:sysctl:\s+)?(?:error:\s+)?['\"]?(?P<key>{_TOP}[./][\w./@-]+)['\"]? is an unknown key"
)
_REFUSED = re.compile(r"\s*+(?:sysctl|cat|head|tail|grep|more|less|error):?\s")
_APPLYING = re.compile(r"\s*+\* Applying \S+ ?\.\.\.")
_UNSET = re.compile(r"\s*+sysctl: reading key ")
"""EIO: the key is there and was never set (`stable_secret`)."""
_COMMENT = re.compile(r"\s*+[#;]")
_FOUND_IN = re.compile(r"^\s*+/(?:etc|run|usr)/[\w./@-]+:(?=\s*+[#;\w])")
"""The file that `grep -r` puts before a line."""
_STATED = re.compile(rf"\s*+sysctl\s++(?P<setting>{_TOP}[./][\w./*:@-]+\s?=\s?[\w.,-]+)\s*$")
_DONE = re.compile(
    r"\b(?:ran|run|running|tried|try|set|execut\w+|enter\w*|typed?|appl\w+|chang\w+|fix\w*|"
    r"workaround|add(?:ed|ing)?|did|done|after|solution|enabl\w+|disabl\w+|turn\w*|switch\w*)\b",
    re.IGNORECASE,
)
"""Words by which people say that they changed something."""
_VALUE = re.compile(r"\s*+-?(?:\d+|[\w.,/:-]+)(?:\s+[\w.,/:-]+){0,40}\s*$")
_CONFIG_NAME = re.compile(r"sysctl.*\.conf$|/sysctl\.d/|\.conf$")
_EXPECTED = "a sysctl"
_LISTING = 20
"""Lines from which on a value that is empty is one (`net.ipv4.ip_local_reserved_ports`), and no
line that was cut.
"""


def states_value(source: Source) -> bool:
    """Tell whether `sysctl KEY=VALUE` stands there as what somebody says of the host: behind no
    prompt, without the option that writes, and under no words of having done it.
    """
    lines = [line for line in source.lines if line.strip()]
    if source.prompt is not None or not lines or not all(map(_STATED.match, lines)):
        return False
    return source.label is None or _DONE.search(source.label) is None


def recognise(source: Source) -> int:
    """Recognize `KEY = VALUE` under the directories of /proc/sys, or a value that the command
    names.
    """
    if states_value(source):
        return CERTAIN
    configured = _is_configuration(source, parse_command(source.command))
    lines = [_FOUND_IN.sub("", line) if configured else line for line in sample(source)]
    hits = sum(_is_sysctl(line) for line in lines)
    if hits and (hits + sum(_COMMENT.match(line) is not None for line in lines)) * 2 >= len(lines):
        return CERTAIN
    asked = _asked_keys(parse_command(source.command))
    return LIKELY if asked and lines and all(_VALUE.match(line) for line in lines) else NO


def _is_sysctl(line: str) -> bool:
    if _parse_setting(line) is not None:
        return True
    return _parse_absent(line) is not None or any(
        pattern.match(line) for pattern in (_FILE, _APPLYING, _BARE)
    )


def _parse_absent(line: str) -> str | None:
    """Return the key that a message says does not exist."""
    found = _MISSING.search(line)
    if found is not None and _SAYS_ABSENT.search(found["said"]):
        return spell_key(found["key"])
    unknown = _UNKNOWN_KEY.match(line)
    return spell_key(unknown["key"]) if unknown is not None else None


def _parse_setting(line: str) -> tuple[str, str] | None:
    """Return the key and the value of a line; None where it has none, or where what follows is a
    sentence and no value.
    """
    found = _SETTING.match(line) or _PATH.match(line)
    if found is None:
        return None
    value: str = found["value"].rstrip()
    noted = _ANNOTATED.fullmatch(value)
    if noted is not None:
        return found["key"], noted["value"]
    return (
        None if found["key"].startswith("net") and _SENTENCE.match(value) else (found["key"], value)
    )


def read(source: Source) -> Reading:
    """Read sysctls."""
    return _read(_SysctlReader(source), source)


def read_settings(source: Source) -> Reading:
    """Read a file of sysctls that shall be written; a pattern stands for all keys that it names."""
    reader = _SysctlReader(source)
    reader.configured = reader.patterns = True
    return _read(reader, source)


def _read(reader: _SysctlReader, source: Source) -> Reading:
    for index, raw in enumerate(source.lines):
        stated = _STATED.match(raw)
        line = strip_terminal(stated["setting"] if stated is not None else raw)
        reader.feed(index, _FOUND_IN.sub("", line) if reader.configured else line)
    return reader.ledger.close(_EXPECTED)


class _SysctlReader:
    """Reads line after line, with the keys that the command or a `==> FILE <==` heading still owes
    a value.
    """

    __slots__ = ("configured", "ledger", "owed", "patterns")

    def __init__(self, source: Source) -> None:
        command = parse_command(source.command)
        self.ledger = Ledger(source)
        self.owed = _asked_keys(command)[::-1]
        self.configured = _is_configuration(source, command)
        self.patterns = False

    def feed(self, index: int, line: str) -> None:
        if not line or line.isspace():
            return
        setting = _parse_setting(line)
        if setting is not None:
            self._add(index, *setting)
        elif (key := _parse_absent(line)) is not None:
            self.owed = [name for name in self.owed if name != key]
            self.ledger.add(
                SysctlRecord(span=self.ledger.span(index), key=key, value="", missing=True)
            )
        elif (heading := _FILE.match(line)) is not None:
            self.owed = [spell_key(heading["key"])]
            self.ledger.head(index)
        elif self.patterns and (bare := _BARE.match(line)) is not None:
            self._spare(index, bare["key"])
        elif (
            _COMMENT.match(line) or _APPLYING.match(line) or _BARE.match(line) or _UNSET.match(line)
        ):
            self.ledger.head(index)
        elif _REFUSED.match(line):
            self.ledger.gap(index, "expected a sysctl, saw an error message")
        elif self.owed and not self.ledger.elide(index) and _VALUE.match(line):
            self._add(index, self.owed.pop(), line.strip())

    def _spare(self, index: int, key: str) -> None:
        """Keep a key that patterns leave alone; procps takes no pattern for one, systemd does."""
        if {"*", "?", "["}.isdisjoint(key):
            span = self.ledger.span(index)
            self.ledger.add(SparedSysctlRecord(span=span, key=spell_key(key)))
        else:
            self.ledger.gap(index, f"expected the name of one sysctl, saw the pattern {key!r}")

    def _add(self, index: int, key: str, value: str) -> None:
        if "*" in key and not self.patterns:
            self.ledger.gap(index, f"expected the name of one sysctl, saw the pattern {key!r}")
        elif not value and not self.configured and len(self.ledger.source.lines) < _LISTING:
            self.ledger.gap(index, f"expected a value of {key}, saw none")
        else:
            span = self.ledger.span(index)
            self.ledger.add(
                SysctlRecord(span=span, key=spell_key(key), value=value, configured=self.configured)
            )


def spell_key(text: str) -> str:
    """Spell a key dotted, with `/` for a dot inside a name, whether it comes as a path or dotted
    (sysctl(8), sysctl.d(5)).
    """
    key = text.strip("/")
    first = re.search(r"[./]", key)
    return key.translate(_SWAP) if first is not None and first[0] == "/" else key


_SWAP = str.maketrans("./", "/.")


def _is_configuration(source: Source, command: Command) -> bool:
    if command.program in {"cat", "grep", "egrep", "head", "tail", "less", "more", "vi", "vim"}:
        return not any("/proc/sys" in word for word in command.arguments)
    return not command.program and _CONFIG_NAME.search(source.name) is not None


def _asked_keys(command: Command) -> list[str]:
    """Return the keys that the command prints without their names, in order; none where a pattern
    or a pipe hides which.
    """
    if command.filters:
        return []
    if command.program in {"cat", "more", "less", "head", "tail"}:
        paths = [path for word in command.arguments for path in expand_braces(word)]
        keys = [path.removeprefix("/proc/sys/") for path in paths if path.startswith("/proc/sys/")]
        return (
            []
            if any("*" in key or "?" in key or "[" in key or "$" in key for key in keys)
            else [spell_key(key) for key in keys]
        )
    if command.program == "sysctl" and any(
        word in {"-n", "--values", "-b", "--binary"} for word in command.arguments
    ):
        return [
            spell_key(key)
            for word in command.arguments
            if not word.startswith("-")
            for key in expand_braces(word)
        ]
    if command.program == "conntrack" and command.arguments[:1] in {("-C",), ("--count",)}:
        return ["net.netfilter.nf_conntrack_count"]
    return []


FORMAT = Format("sysctl", recognise, read)
