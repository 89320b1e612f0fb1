"""A bundle made a row."""

from __future__ import annotations

import re

from podpath_fleet.bundle_row import name_pool


def test_pools_are_names_without_numbers() -> None:
    """A node's number or hash is no part of its pool's name, unless a pattern says what is."""
    names = {"web-00012": "web", "gke-pool-1-5f3a9c2b-x7k2": "gke-pool", "db-host-3": "db-host"}

    assert names == {name: name_pool(name, None) for name in names}

    assert name_pool("r7-web-12", re.compile(r"-(\w+)-")) == "web"
    assert name_pool("other", re.compile(r"-(\w+)-")) == ""
