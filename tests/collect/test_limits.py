"""How much of an input is read."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from podpath.collect.limits import DEFAULT, MAX_SIZE, Limits
from podpath.collect.read import read_evidence
from podpath.net.provenance import Cut

RULES = (
    b"*filter\n:FORWARD ACCEPT [0:0]\n"
    + b"-A FORWARD -s 10.0.0.1/32 -j ACCEPT\n" * 100
    + b"-A FORWARD -j DROP\nCOMMIT\n"
)
SMALL = Limits(output_bytes=1000, text_bytes=500)


def _cuts(*inputs: str, limits: Limits, stdin: bytes = b"") -> list[Cut]:
    gaps = read_evidence(inputs, limits, stdin=io.BytesIO(stdin)).gaps
    return [gap.cut for gap in gaps if gap.cut is not None]


def _input(folder: Path, kind: str) -> str:
    path = folder / "node.rules"
    path.write_bytes(RULES)
    if kind == "folder":
        return str(folder)
    if kind == "packed":
        path.with_suffix(".gz").write_bytes(gzip.compress(RULES))
        return str(path.with_suffix(".gz"))
    if kind == "zip":
        with zipfile.ZipFile(folder / "x.zip", "w") as archive:
            archive.write(path, "node.rules")
            archive.writestr("ok", b"net.ipv4.ip_forward = 1\n")
        return str(folder / "x.zip")
    if kind == "packed in a tar":
        with tarfile.open(folder / "x.tar", "w") as tar:
            path.with_suffix(".gz").write_bytes(gzip.compress(RULES))
            tar.add(path.with_suffix(".gz"), "node.rules.gz")
        return str(folder / "x.tar")
    return "-" if kind == "standard input" else str(path)


@pytest.mark.parametrize(
    "kind", ["file", "folder", "packed", "zip", "packed in a tar", "standard input"]
)
def test_what_a_limit_cuts_is_a_fact(tmp_path: Path, kind: str) -> None:
    """Wherever an output comes from, the tail that is not read is told as a value, with the option
    that lifts the limit.
    """
    given = _input(tmp_path, kind)
    (cut,) = _cuts(given, limits=SMALL, stdin=RULES)
    assert cut.option == MAX_SIZE
    assert cut.kept <= 1000
    assert cut.whole in {len(RULES), None}
    assert [] == _cuts(given, limits=SMALL.lifted(len(RULES)), stdin=RULES)


def test_limits_are_lifted_and_never_lowered() -> None:
    """What is asked for holds for one input and for all that an archive holds; it takes nothing
    away.
    """
    lifted = DEFAULT.lifted(1 << 30)
    assert {1 << 30} == {
        lifted.output_bytes,
        lifted.text_bytes,
        lifted.total_bytes,
        lifted.printed_bytes,
    }
    assert DEFAULT == DEFAULT.lifted(1)
