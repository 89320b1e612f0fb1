"""Thousands of pods on the watch: the memory that they take, in a process of its own
(bench/watch_pods.py measures 10,000).
"""

from __future__ import annotations

from bench import watch_pods
from tests import apiserver

PODS = 1500
PAGES_KB = 15_000
KB_PER_POD = 5
"""What listing in pages and each pod of 6 KB may take beside the process itself: 10,000 pods stay
below 100 MB.
"""


def test_a_pod_costs_little_to_follow(api_server: apiserver.ApiServer) -> None:
    """Listing and following 1,500 pods of 6 KB takes little at its peak, and changes are heard
    within a second.
    """
    api_server.kubectl("create", "namespace", "scale")
    figures = watch_pods.measure(api_server, PODS, "scale")
    api_server.kubectl("delete", "namespace", "scale", "--wait=false")

    assert (
        figures["MB peak after changes"] - figures["MB before"]
    ) * 1024 < PAGES_KB + PODS * KB_PER_POD, figures
    assert figures["ms until heard, median"] < 1000, figures
