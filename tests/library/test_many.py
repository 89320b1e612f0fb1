"""Many flows by the library, where the distribution for them is missing."""

from __future__ import annotations

import pytest

from podpath.flows.flow import FlowSet
from podpath.library import many
from podpath.net.errors import MissingExtra


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has only the core is told what to install."""

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(many, "import_module", refuse)

    with pytest.raises(MissingExtra, match=r"podpath\[fleet\]"):
        many.walk_many("bundle", [])


def test_sets_of_flows_need_the_extra_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does a file of `check` that states one."""

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(many, "import_module", refuse)

    with pytest.raises(MissingExtra, match=r"podpath\[fleet\]"):
        many.list_witnesses([], FlowSet(), judged=True)
