"""Seeds of what is drawn anew in each run."""

from __future__ import annotations

import os
import secrets


def fresh_seed() -> int:
    """Return a seed that is new each time; `PODPATH_SEED` repeats one, as CI does."""
    return int(os.environ.get("PODPATH_SEED") or secrets.randbelow(1 << 40))
