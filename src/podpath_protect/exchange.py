"""A file replaced so that nobody's write between the look and the change is lost.

What comes in are two names of one directory, opened; what goes out is whether the kernel did it.
`renameat2` exchanges two names in one step, so what was there comes out and can be held against
what was read: where somebody wrote meanwhile, his file is put back under its name, which is again
one step. A writer that has the old file open and writes into it late is waited for: the kernel
grants a read lease only on a file that nobody has open for writing (fs/locks.c:
check_conflicting_open v6.12).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import time
from typing import Final

_EXCHANGE: Final = 2
_NOREPLACE: Final = 1
_UNKNOWN: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTTY, errno.EOPNOTSUPP})
ROUNDS: Final = 16
"""How often a file is put back while somebody goes on writing."""
SETTLE_SECONDS: Final = 0.5
"""How long a writer that has the file open is waited for."""
_STEP: Final = 0.001


def exchange(folder: int, one: str, other: str) -> bool:
    """Exchange two names; false where the file system cannot."""
    return _rename(folder, one, other, _EXCHANGE)


def move_new(folder: int, one: str, other: str) -> bool:
    """Give a file a name that is free; `FileExistsError` where it is not, false where the file
    system cannot tell.
    """
    return _rename(folder, one, other, _NOREPLACE)


def _rename(folder: int, one: str, other: str, flags: int) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(folder, os.fsencode(one), folder, os.fsencode(other), flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), other)


def is_settled(descriptor: int, seconds: float = SETTLE_SECONDS) -> bool:
    """Wait until nobody has a file open for writing, and tell whether that came about. Where the
    file system grants no leases it is taken to have.
    """
    over = time.monotonic() + seconds
    while True:
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # ignored, unlike SIGIO
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            if time.monotonic() >= over:
                return False
            time.sleep(_STEP)
        except OSError:
            return True
        else:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return True
