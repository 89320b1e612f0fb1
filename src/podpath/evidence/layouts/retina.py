"""Microsoft Retina's capture (microsoft/retina, `pkg/capture/provider`): one node's own namespace,
with a capture of packets.

Each file of metadata says first what it will run, and then holds one output after the other, each
under its command line. `proc-net` and `proc-sys-net` are copies of the kernel's folders.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

LAYOUT = read_layout("retina.toml")
