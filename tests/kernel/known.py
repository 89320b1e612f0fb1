"""Cases in which the model is known to differ from the kernel, each with its reason: the shorter
the better.
"""

from __future__ import annotations

from collections.abc import Mapping

KNOWN_DISAGREEMENTS: Mapping[str, str] = {}
"""By the name of the case in tests/data/agreement: why the model differs, and what it would
take.
"""
