"""How much of an input is read: past these, evidence is cut or refused, and that is said."""

from __future__ import annotations

from dataclasses import dataclass, replace

MAX_SIZE = "--max-size"
"""The option that lifts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on time and memory, whatever is given."""

    output_bytes: int = 128 << 20
    """Of one file that is one command's output: 150,000 rules of kube-proxy are 25 MB."""
    printed_bytes: int = 1 << 30
    """Of one printed capture, whose lines become columns: 200 bytes each, as many as they have."""
    text_bytes: int = 4 << 20
    """Of one document or log: what people paste is far less, and its lines are looked at one by
    one.
    """
    files: int = 20_000
    """Members of an archive, or files in a folder."""
    total_bytes: int = 512 << 20
    """Of all members together, unpacked."""
    ratio: int = 200
    """Bytes that one byte of an archive may unpack to, once it is past `ratio_from`: text packs to
    a tenth or so.
    """
    ratio_from: int = 16 << 20

    def lifted(self, size: int) -> Limits:
        """Return limits that let an input, and all its members together, have that many bytes."""
        return replace(
            self,
            output_bytes=max(self.output_bytes, size),
            printed_bytes=max(self.printed_bytes, size),
            text_bytes=max(self.text_bytes, size),
            total_bytes=max(self.total_bytes, size),
        )


DEFAULT = Limits()
