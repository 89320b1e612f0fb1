"""Packed data as a stream."""

from __future__ import annotations

import gzip
import importlib
import io
import lzma
import sys
from collections.abc import Callable

import pytest

from podpath.collect.limits import Limits
from podpath.collect.unpacking import DAMAGED, Bounded, UnpackingBudget, import_zstd, open_unpacked
from podpath.net.errors import EvidenceError, MissingExtra

CONTENT = bytes(range(256)) * 40


def _zstd() -> Callable[[bytes], bytes]:
    try:
        return import_zstd("x").compress  # type: ignore[no-any-return]  # of a module that may not be there
    except MissingExtra:
        pytest.skip("needs the package for zstd")


def test_what_is_not_packed_stays() -> None:
    """It is the file itself."""
    file = io.BytesIO(b"text")
    assert open_unpacked("x", file) is file


def test_zstd_is_read_and_damage_is_told() -> None:
    """Its package's own error is none that anybody else would know."""
    packed = _zstd()(CONTENT)
    assert CONTENT == open_unpacked("x", io.BytesIO(packed)).read()
    for data in (packed[: len(packed) // 2], b"\x28\xb5\x2f\xfdjunk and more junk"):
        with pytest.raises(DAMAGED):
            open_unpacked("x", io.BytesIO(data)).read()


def test_the_package_for_zstd_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how to get it."""
    if sys.version_info >= (3, 14):
        assert importlib.import_module("compression.zstd") is import_zstd("x")
        return
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(MissingExtra, match=r"podpath\[zstd\]"):
        import_zstd("x")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_budget_is_kept(pack: Callable[[bytes], bytes]) -> None:
    """Of several streams together no more comes out than their archive may hold."""
    budget = UnpackingBudget("x", 1, Limits(total_bytes=15_000))
    stream = Bounded(open_unpacked("x", io.BytesIO(pack(CONTENT))), budget)
    assert CONTENT == stream.readall()
    with pytest.raises(EvidenceError, match="lifts the limit"):
        Bounded(open_unpacked("x", io.BytesIO(pack(CONTENT))), budget).readall()
