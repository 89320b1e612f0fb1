"""One line of `iptables-save` or `iptables -S`: words, then options, each given to the match or
target that it belongs to.

Words are cut as iptables-restore cuts them (`add_param_to_argv`, iptables/xshared.c 1.8.9): double
quotes group, and a backslash escapes within them only. Where an option ends and whose it is follow
from `iptables.options`. A line that is cut, elided or garbled is read as far as it goes and says
what is wrong, since its rule stands in the chain anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.iptables.options import GENERAL, LONG_NAMES, MATCHES, TARGETS, Extension
from podpath.evidence.iptables.ruleset import ExtensionText
from podpath.net import protocols
from podpath.xtables.rule import MatchOption

_RULE = re.compile(
    r"\s*(?:\d+:)?\s*(?:\[(?P<packets>\d{1,20}):(?P<bytes>\d{1,20})\]\s*)?(?:-A|--append)\s+"
    r"(?P<chain>[^\s-]\S*)"
)
_WORD = re.compile(r'(?:[^\s"]++|"(?:[^"\\]|\\.)*+(?:"|\\?$))++')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)("|\\?$)')
_ESCAPE = re.compile(r"\\(.)")
_OPTION = re.compile(r"-[a-zA-Z46](?!\S)|--[a-zA-Z][\w-]*(?==|(?!\S))")
_VALUE = r'"(?:[^"\\]|\\.)*+"|[^\s"!-][^\s"]*+'
_CLAUSE = re.compile(
    rf"""(?<!\s)\s++(?:(!\s++)?+-([sdpio])\s++([^\s"!-][^\s"]*+)"""
    rf"""|-([mjg])\s++([^\s"!-][^\s"]*+)((?:\s++(?:!\s++)?+--[a-z][a-z0-9-]*+(?:\s++(?:{_VALUE})){{0,2}}+)*+))(?!\S)|(\S)"""
)
"""In the spelling of iptables-save a selector, or a match or target with its options; else
anything.
"""
_LONG = re.compile(rf"\s(!\s++)?+--([a-z][a-z0-9-]*+)(?:\s++({_VALUE}))?+(?:\s++({_VALUE}))?+")
"""`!`, the long name and up to two values of an option of a clause."""
_SELECTORS = {
    "s": "source",
    "d": "destination",
    "p": "protocol",
    "i": "in-interface",
    "o": "out-interface",
}
_ADDRESS = re.compile(r"[\da-fA-F.:]+(?:/[\da-fA-F.:]+)?")
_COUNTER = re.compile(r"[0-9]{1,20}")
_IMPLICIT = {
    protocols.TCP: "tcp", protocols.UDP: "udp", protocols.ICMP: "icmp", protocols.ICMPV6: "icmp6",
    protocols.SCTP: "sctp", 33: "dccp", protocols.ESP: "esp", protocols.AH: "ah", 108: "ipcomp",
    protocols.UDPLITE: "udplite", 135: "mh",
}  # fmt: skip
"""The match that `-p` loads by itself when an option of it follows without `-m`."""
_NO_EXTENSION: Extension = {}


class RuleLine(NamedTuple):
    """What a rule's line says."""

    chain: str
    selectors: tuple[MatchOption, ...]
    matches: tuple[ExtensionText, ...]
    target: ExtensionText | None
    goto: bool = False
    packets: int | None = None
    bytes: int | None = None
    unread: str = ""
    hidden: tuple[str, ...] = ()
    """Selectors that are masked, where all else of the rule is known."""


def parse_rule_line(line: str) -> RuleLine | None:
    """Read a line that appends a rule, with or without counters; None where it appends none."""
    head = _RULE.match(line)
    if head is None:
        return None
    plain = None if _holds_ellipsis(line) else _parse_plain(line, head)
    return plain or _parse_any(line, head)


def _parse_plain(line: str, head: re.Match[str]) -> RuleLine | None:
    """Read a rule that is spelled as iptables-save spells it and has no unknown extension; None
    where it is not.
    """
    selectors: list[MatchOption] = []
    matches: list[ExtensionText] = []
    target: ExtensionText | None = None
    goto = False
    for negation, short, word, kind, name, options, junk in _CLAUSE.findall(line, head.end()):
        if short:
            if short in "sd" and not _ADDRESS.fullmatch(word):
                return None
            selectors.append(MatchOption(_SELECTORS[short], (word,), bool(negation)))
            continue
        loaded = None if junk or target is not None else _read_extension(kind, name, options)
        if loaded is None:
            return None
        if kind == "m":
            matches.append(loaded)
        else:
            target, goto = loaded, kind == "g"
    packets, count, chain = head.groups()
    if packets:
        return RuleLine(
            chain, tuple(selectors), tuple(matches), target, goto, int(packets), int(count)
        )
    return RuleLine(chain, tuple(selectors), tuple(matches), target, goto)


@lru_cache(maxsize=8192)
def _read_extension(kind: str, name: str, text: str) -> ExtensionText | None:
    """Read a match or target with its options, which few lines of a ruleset do not share; None
    where one is unknown.
    """
    schema = MATCHES.get(name) if kind == "m" else TARGETS.get(name, _NO_EXTENSION)
    if schema is None:
        return None
    options: list[MatchOption] = []
    for negation, long, first, second in _LONG.findall(text):
        count = schema.get(long)
        if count == 1 and first and not second:
            options.append(MatchOption(long, (unquote(first),), bool(negation)))
        elif (count == 0 and not first) or (count == 2 and second):
            options.append(
                MatchOption(
                    long, (unquote(first), unquote(second)) if count else (), bool(negation)
                )
            )
        else:
            return None
    return ExtensionText(name, tuple(options))


def _parse_any(line: str, head: re.Match[str]) -> RuleLine:
    """Read a rule however it is spelled, with what is wrong with it."""
    draft = _RuleDraft(_WORD.findall(line, head.end()))
    draft.parse()
    packets, count = draft.counters
    if head["packets"] is not None:
        packets, count = int(head["packets"]), int(head["bytes"])
    problem = draft.problem
    if not problem and _holds_ellipsis(line) and _is_elided(draft):
        problem = "a part of the line is left out"
    hidden = () if problem else tuple(_list_masked(draft.selectors))
    if hidden:
        value = next(option.values[0] for option in draft.selectors if option.name == hidden[0])
        problem = f"expected an address behind --{hidden[0]}, saw {value!r}"
    shown = tuple(option for option in draft.selectors if option.name not in hidden)
    return RuleLine(
        head["chain"],
        shown,
        draft.matches,
        draft.target,
        draft.goto,
        packets,
        count,
        problem,
        hidden,
    )


def _list_masked(selectors: list[MatchOption]) -> Iterator[str]:
    """Yield the selectors whose address is none: digits are often replaced by letters in what
    people publish.
    """
    for name, values, _ in selectors:
        if name in ("source", "destination") and values and not _ADDRESS.fullmatch(values[0]):
            yield name


def unquote(word: str) -> str:
    """Return a word without its quotes and escapes."""
    if '"' not in word:
        return word
    if "\\" not in word and word.count('"') == 2 and word[0] == '"' == word[-1]:
        return word[1:-1]
    return _QUOTED.sub(lambda found: _ESCAPE.sub(r"\1", found[1]), word)


def _holds_ellipsis(text: str) -> bool:
    return "..." in text or "…" in text


def _is_elided(draft: _RuleDraft) -> bool:
    """Tell whether an ellipsis stands outside the free texts (a comment may hold one)."""
    extensions = draft.matches if draft.target is None else (*draft.matches, draft.target)
    words = [value for option in draft.selectors for value in option.values]
    words += [
        value
        for extension in extensions
        for option in extension.options
        if option.name not in _FREE
        for value in option.values
    ]
    words += [extension.name for extension in extensions]
    return any(map(_holds_ellipsis, words))


_FREE = frozenset({"comment", "log-prefix", "nflog-prefix", "ulog-prefix", "string", "hex-string"})


class _RuleDraft:
    """A rule while its words are read. Mutable, local to one line."""

    __slots__ = (
        "_negated",
        "_order",
        "_place",
        "_words",
        "counters",
        "goto",
        "problem",
        "selectors",
    )

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._place = 0
        self._negated = False
        self._order: list[tuple[str, bool, Extension, list[MatchOption]]] = []
        """Extensions as they were loaded: name, whether it is the target, its options' schema, its
        options.
        """
        self.selectors: list[MatchOption] = []
        self.counters: tuple[int | None, int | None] = (None, None)
        self.goto = False
        self.problem = ""

    @property
    def matches(self) -> tuple[ExtensionText, ...]:
        return tuple(
            ExtensionText(name, tuple(options))
            for name, target, _, options in self._order
            if not target
        )

    @property
    def target(self) -> ExtensionText | None:
        for name, target, _, options in self._order:
            if target:
                return ExtensionText(name, tuple(options))
        return None

    def parse(self) -> None:
        """Read all words; the first thing that is wrong stays as the problem."""
        words = self._words
        while self._place < len(words):
            word = words[self._place]
            self._place += 1
            if word == "!":
                self._negated = True
            elif _OPTION.match(word):
                self._parse_option(word)
                self._negated = False
            else:
                self._fail(f"expected an option, saw {word!r}")
        if self._negated:
            self._fail("expected an option after !, saw the end of the line")

    def _fail(self, problem: str) -> None:
        self.problem = self.problem or problem

    def _parse_option(self, word: str) -> None:
        dashes = 2 if word.startswith("--") else 1
        name, equals, value = word[dashes:].partition("=")
        if equals:
            self._words.insert(self._place, value)
        if dashes == 2:
            name = self._complete(name)
            for _, _, schema, options in reversed(self._order):
                count = schema.get(name)
                if count is not None:
                    options.append(self._take(name, count))
                    return
        general = GENERAL.get(name) if dashes == 2 or len(name) == 1 else None
        if general is not None and (len(name) > 1) == (dashes == 2):
            self._parse_general(*general)
            return
        schema, options = self._find_owner(name)
        options.append(self._take(name, schema.get(name)))

    def _complete(self, name: str) -> str:
        """Return the one long option that begins so (`--to` of DNAT), as getopt_long takes it; the
        name itself where none or several do, or where an extension is loaded that nobody knows.
        """
        schemas = [schema for _, _, schema, _ in self._order]
        own = {option for schema in schemas for option in schema}
        implied = self._implied()
        whole = {*own, *LONG_NAMES, *(MATCHES[implied] if implied else ())}
        if name in whole or not all(schemas):
            return name
        found = [option for option in own | LONG_NAMES if option.startswith(name)]
        if not found:
            found = [option for option in whole if option.startswith(name)]
        return found[0] if len(found) == 1 and found[0] not in LONG_NAMES else name

    def _find_owner(self, name: str) -> tuple[Extension, list[MatchOption]]:
        """Return the protocol's own match if the option is of it, else the extension that was
        loaded last.
        """
        implied = self._implied()
        if (
            implied
            and name in MATCHES[implied]
            and all(loaded != implied for loaded, *_ in self._order)
        ):
            self._load(implied, MATCHES[implied])
        elif not self._order:
            self._fail(f"expected an option of iptables, saw --{name}")
            return _NO_EXTENSION, []
        elif self._order[-1][0] in MATCHES or self._order[-1][0] in TARGETS:
            self._fail(f"expected an option of {self._order[-1][0]}, saw --{name}")
        return self._order[-1][2:]

    def _implied(self) -> str | None:
        for selector in self.selectors:
            if selector.name == "protocol" and selector.values:
                try:
                    return _IMPLICIT.get(protocols.protocol_number(selector.values[0]))
                except ValueError:
                    return None
        return None

    def _parse_general(self, name: str, count: int) -> None:
        option = self._take(name, count)
        values = option.values
        if name in ("match", "jump", "goto"):
            if not values:
                return
            target = name != "match"
            self.goto = self.goto or name == "goto"
            self._load(
                values[0],
                (TARGETS if target else MATCHES).get(values[0], _NO_EXTENSION),
                target=target,
            )
        elif name == "set-counters":
            if len(values) == 2 and all(_COUNTER.fullmatch(value) for value in values):
                self.counters = int(values[0]), int(values[1])
        elif name not in ("ipv4", "ipv6", "table"):
            self.selectors.append(option)

    def _load(self, name: str, schema: Extension, *, target: bool = False) -> None:
        if target and any(is_target for _, is_target, _, _ in self._order):
            self._fail(f"expected one target, saw {name} too")
            return
        self._order.append((name, target, schema, []))

    def _take(self, name: str, count: int | None) -> MatchOption:
        """Take the option's words: as many as it needs, or all up to the next option where that is
        not known.
        """
        words, place, negated = self._words, self._place, self._negated
        if (
            count != 0
            and words[place : place + 1] == ["!"]
            and not _OPTION.match(" ".join(words[place + 1 : place + 2]))
        ):
            negated = True  # `--dport ! 80`, as iptables before 1.4.3 printed it
            place += 1
        end = place
        if count is None:
            while end < len(words) and words[end] != "!" and not _OPTION.match(words[end]):
                end += 1
        else:
            end = min(place + count, len(words))
            if end - place < count:
                self._fail(f"expected a value of {name}, saw the end of the line")
        self._place = end
        values = tuple([unquote(word) for word in words[place:end]])
        if any(word.count('"') == 1 for word in words[place:end]):
            self._fail("a quote is not closed")
        return MatchOption(name, values, negated)
