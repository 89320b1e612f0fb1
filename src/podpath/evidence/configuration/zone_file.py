"""Zone files of name servers (RFC 1035, section 5): every record with its owner, whatever its line
leaves to the one above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.evidence.configuration.statements import Statement

TYPES = frozenset({
    "A", "AAAA", "CAA", "CNAME", "DNAME", "DNSKEY", "DS", "HINFO", "LOC", "MX", "NAPTR", "NS",
    "PTR", "RP", "SOA", "SPF", "SRV", "SSHFP", "TLSA", "TXT",
})  # fmt: skip
_DIRECTIVE = re.compile(r"\$(?P<name>TTL|ORIGIN|INCLUDE|GENERATE)\s+(?P<value>.*?)\s*$")
_RECORD = re.compile(
    r"(?P<owner>[^\s;()$]*)(?:\s+(?:\d\w*|IN|in|CH|HS))*\s+(?P<type>[A-Za-z]{1,6})"
    r"(?:\s+(?P<data>.*?))?\s*$"
)
_COMMENT = re.compile(r";.*$")


def is_zone(lines: Sequence[str]) -> bool:
    """Tell whether a text is a zone: an SOA and another record, or `$TTL`/`$ORIGIN` above records;
    no answer of a query.
    """
    if any(line.startswith((";; ", "; <<>>")) for line in lines):
        return False
    found = list(read_zone(lines))
    types = [one.name for one in found if not one.name.startswith("$")]
    headed = "SOA" in types or any(one.name.startswith("$") for one in found)
    filled = sum(bool(_COMMENT.sub("", line).strip()) for line in lines)
    return (
        headed and len(types) >= 2 and 2 * sum(one.last - one.first + 1 for one in found) >= filled
    )


def read_zone(lines: Sequence[str]) -> Iterator[Statement]:
    """Yield each record: its owner as path, its type as name, its data as value; directives by
    their own name. Never raises.
    """
    owner = ""
    place = 0
    while place < len(lines):
        first, line = place, _COMMENT.sub("", lines[place])
        while line.count("(") > line.count(")") and place + 1 < len(lines) and place - first < 50:
            place += 1
            line = f"{line} {_COMMENT.sub('', lines[place]).strip()}"
        last, place = place, place + 1
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            yield Statement((), f"${directive['name']}", directive["value"], first, last)
            continue
        found = _RECORD.match(line)
        if found is None or found["type"].upper() not in TYPES:
            continue
        owner = found["owner"] or owner
        data = " ".join((found["data"] or "").replace("(", " ").replace(")", " ").split())
        yield Statement((owner,), found["type"].upper(), data, first, last)
