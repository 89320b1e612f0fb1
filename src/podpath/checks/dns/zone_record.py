"""zone-record: a zone file's record does not mean what its author intended, or keeps the zone from
loading.

What it is
    An MX without its preference; an SRV without its three numbers; an invalid address; a CNAME next
    to other records of the same name; an NS or MX that points to a CNAME, or to a name in the zone
    without an address; or a fully qualified name without its trailing dot, to which the server
    appends the zone again.

Why it breaks
    A name server does not load a zone with a broken record: it answers SERVFAIL (or REFUSED) for
    all its names, while other zones work. A name without its trailing dot becomes
    `server.home.lan.home.lan`, which does not exist.

How to confirm
    named-checkzone ZONE FILE; journalctl -u named; dig @SERVER ZONE SOA

How to fix
    Correct the record, increment the SOA serial, and reload: rndc reload ZONE.

References
    RFC 1035, sections 3.3 and 5; RFC 1912, section 2; RFC 2181, section 10
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, Severity
from podpath.net.addresses import read_address
from podpath.net.settings import Setting, SettingsFile
from podpath.node.case import Case

CATEGORIES = (Category.DNS_SERVER, Category.DNS_CONFIGURATION)
NAME = "zone-record"
TARGETS = {"MX": 1, "NS": 0, "CNAME": 0, "PTR": 0, "SRV": 3, "DNAME": 0}
"""Types whose data hold a name: its place among their words."""
ALONE = frozenset({"RRSIG", "NSEC", "DNSKEY"})


def check(case: Case) -> Iterator[Finding]:
    """Report the records of each zone file that cannot be, or that say another name than they seem
    to.
    """
    for file in files_of(case, "zone"):
        zone = _zone(file)
        records = [setting for setting in file.settings if not setting.name.startswith("$")]
        for setting in records:
            for what, breaks in _faults(setting, zone):
                yield _report(setting, what, breaks)
        yield from _check_aliases(records, zone)


def _zone(file: SettingsFile) -> str:
    """Return the zone's name without its last dot, from $ORIGIN or the owner of its SOA; empty
    where neither tells.
    """
    origin = next((setting.value for setting in file.settings if setting.name == "$ORIGIN"), "")
    owner = next((setting.path[0] for setting in file.settings if setting.name == "SOA"), "")
    return (origin or (owner if owner.endswith(".") else "")).rstrip(".").lower()


def _faults(setting: Setting, zone: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one record by itself."""
    words = setting.value.split()
    if setting.name == "MX" and (len(words) != 2 or not words[0].isdecimal()):
        yield "has no preference before its name", "the whole zone: it is not loaded"
    elif setting.name == "SRV" and (
        len(words) != 4 or not all(word.isdecimal() for word in words[:3])
    ):
        yield "lacks its priority, weight or port", "the whole zone: it is not loaded"
    elif (
        setting.name in {"A", "AAAA"}
        and words
        and not _is_address(words[0], setting.name)
        and not _is_masked(words[0])
    ):
        yield (
            f"has {words[0]}, which is not an address of its type",
            "the whole zone: it is not loaded",
        )
    place = TARGETS.get(setting.name)
    target = words[place] if place is not None and len(words) > place else ""
    if zone and target.lower().endswith(f".{zone}"):
        yield f"lacks the last dot: it means {target}.{zone}", f"lookups of {target}"
    if (
        setting.name == "PTR"
        and target.count(".") >= 1
        and not target.endswith(".")
        and zone.endswith(".arpa")
    ):
        yield f"lacks the last dot: it means {target}.{zone}", "reverse lookups"


def _is_address(word: str, kind: str) -> bool:
    address = read_address(word)
    return address is not None and address.family == (4 if kind == "A" else 6)


def _is_masked(word: str) -> bool:
    """Tell whether somebody replaced digits, so that nobody can say what stood there."""
    return not set(word.lower()) <= set("0123456789.:abcdef")


def _check_aliases(records: Sequence[Setting], zone: str) -> Iterator[Finding]:
    """Report an alias beside other records of its name, and name servers or mail servers that are
    one.
    """
    by_owner: dict[str, list[Setting]] = {}
    for setting in records:
        by_owner.setdefault(_full(setting.path[0], zone), []).append(setting)
    for owner, settings in by_owner.items():
        alias = next((one for one in settings if one.name == "CNAME"), None)
        others = [one for one in settings if one is not alias and one.name not in ALONE]
        if alias is not None and others:
            yield _report(
                alias,
                f"coexists with another record of {owner or 'its name'}",
                "the whole zone: it is not loaded",
                others[0],
            )
    for setting in records:
        if setting.name in {"NS", "MX"} and setting.value:
            found = by_owner.get(_full(setting.value.split()[-1], zone), [])
            alias = next((one for one in found if one.name == "CNAME"), None)
            if alias is not None:
                yield _report(
                    setting, "points to an alias (CNAME)", "lookups through that server", alias
                )


def _full(name: str, zone: str) -> str:
    if name == "@":
        return zone
    return name.rstrip(".").lower() if name.endswith(".") or not zone else f"{name.lower()}.{zone}"


def _report(setting: Setting, what: str, breaks: str, beside: Setting | None = None) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The {setting.name} record of {setting.path[0] or 'the zone'} {what}.",
        evidence=(setting.span, *((beside.span,) if beside is not None else ())),
        breaks=(breaks,),
        prevention="Run named-checkzone before every reload.",
        certainty=1.0,
        marks=(setting.name,),
    )
