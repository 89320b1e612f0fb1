"""Values of JSON as Go programs write them, of a type that is asked for; what is of another type is
left out.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping

from podpath.net.addresses import Address, Prefix

Fields = Mapping[str, object]


def load_fields(text: str) -> Fields:
    """Return the members of a JSON object; none where the text is no such."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def fields_in(value: object) -> Iterator[Fields]:
    """Yield the objects of a list."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def fields_at(fields: Fields, key: str) -> Fields:
    """Return the object that is a member."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def text_at(fields: Fields, key: str) -> str:
    """Return the text that is a member; empty where there is none."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def number_at(fields: Fields, key: str) -> int:
    """Return the number that is a member; 0 where there is none, as Go leaves it."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def bytes_at(fields: Fields, key: str) -> bytes:
    """Return the bytes that a member holds in base 64, as Go writes them."""
    try:
        return base64.b64decode(text_at(fields, key), validate=True)
    except (binascii.Error, ValueError):
        return b""


def mac_at(fields: Fields, key: str) -> str:
    """Return the hardware address that a member holds; empty where there is none."""
    return bytes_at(fields, key).hex(":")


def prefix_of(fields: Fields) -> tuple[str, int] | None:
    """Return the address and the length of Go's `net.IPNet`; None where it is none, or its mask has
    holes.
    """
    mask = bytes_at(fields, "Mask")
    bits = int.from_bytes(mask, "big")
    length = bits.bit_count()
    try:
        address = Address.parse(text_at(fields, "IP"))
    except ValueError:
        return None
    width = 32 if address.family == 4 else 128
    if len(mask) * 8 == 128 and width == 32:
        length -= 96
    whole = (
        bits == ((1 << length) - 1) << (len(mask) * 8 - length)
        if 0 <= length <= len(mask) * 8
        else False
    )
    return (
        (str(address), length)
        if mask and (whole or len(mask) * 8 != width) and length <= width
        else None
    )


def spell_prefix(fields: Fields) -> str:
    """Spell Go's `net.IPNet` as a network, `default` for all; empty where it is none."""
    found = prefix_of(fields)
    return "" if found is None else str(Prefix.parse(f"{found[0]}/{found[1]}"))
