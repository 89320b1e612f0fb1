"""Which outputs tell what of a namespace."""

from __future__ import annotations

from podpath.collect.netns_files import ASPECT_FILES, NETNS_FILES, NetnsAspect, aspect_of


def test_files_tell_aspects() -> None:
    """By their names."""
    assert aspect_of("live/netns/host/nft.json") is NetnsAspect.RULES
    assert aspect_of("live/netns/host/ip-rule.json") is NetnsAspect.ROUTES
    assert aspect_of("live/netns/host/sysctl.txt") is NetnsAspect.WHOLE


def test_every_aspect_is_told_by_files_that_are_taken() -> None:
    """And no file tells two of them."""
    names = [each.name for each in NETNS_FILES]
    told = [*ASPECT_FILES[NetnsAspect.RULES], *ASPECT_FILES[NetnsAspect.ROUTES]]

    assert set(told) < set(names)
    assert len(told) == len(set(told))
    assert list(ASPECT_FILES[NetnsAspect.WHOLE]) == names
