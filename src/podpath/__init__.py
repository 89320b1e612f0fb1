"""podpath explains, down to the line, why a pod on a Kubernetes node cannot reach something.

    import podpath
    case = podpath.read("ticket.md")
    print(podpath.diagnose(case))

What stands in `__all__` is imported from `podpath.library` when it is first asked for, so that
`import podpath` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from podpath.version import __version__

if TYPE_CHECKING:
    from podpath.flows.flow import Flow
    from podpath.library.captures import CapturesResult, captures
    from podpath.library.case import Case, NodeCase
    from podpath.library.diagnosis import DiagnosisResult, diagnose
    from podpath.library.diff import DiffResult, diff
    from podpath.library.flows import ChangeFile, FlowsResult, check
    from podpath.library.given import Packed, Pasted, ThisNode
    from podpath.library.manual import Manual, checks
    from podpath.library.many import FlowAnswers, walk_many
    from podpath.library.reading import read
    from podpath.library.result import Result
    from podpath.library.timeline import TimelineResult, timeline
    from podpath.library.trace import TraceResult, trace
    from podpath.library.when import When
    from podpath.library.why import WhyResult, why
    from podpath.net.errors import EvidenceError, MissingExtra, PodpathError, UsageError
    from podpath.net.probe import Probe
    from podpath.report.style import Style

__all__ = [
    "CapturesResult",
    "Case",
    "ChangeFile",
    "DiagnosisResult",
    "DiffResult",
    "EvidenceError",
    "Flow",
    "FlowAnswers",
    "FlowsResult",
    "Manual",
    "MissingExtra",
    "NodeCase",
    "Packed",
    "Pasted",
    "PodpathError",
    "Probe",
    "Result",
    "Style",
    "ThisNode",
    "TimelineResult",
    "TraceResult",
    "UsageError",
    "When",
    "WhyResult",
    "__version__",
    "captures",
    "check",
    "checks",
    "diagnose",
    "diff",
    "read",
    "timeline",
    "trace",
    "walk_many",
    "why",
]

_PLACES: dict[str, str] = {
    "CapturesResult": "library.captures",
    "Case": "library.case",
    "ChangeFile": "library.flows",
    "DiagnosisResult": "library.diagnosis",
    "DiffResult": "library.diff",
    "EvidenceError": "net.errors",
    "Flow": "flows.flow",
    "FlowAnswers": "library.many",
    "FlowsResult": "library.flows",
    "Manual": "library.manual",
    "MissingExtra": "net.errors",
    "NodeCase": "library.case",
    "Packed": "library.given",
    "Pasted": "library.given",
    "PodpathError": "net.errors",
    "Probe": "net.probe",
    "Result": "library.result",
    "Style": "report.style",
    "ThisNode": "library.given",
    "TimelineResult": "library.timeline",
    "TraceResult": "library.trace",
    "UsageError": "net.errors",
    "When": "library.when",
    "WhyResult": "library.why",
    "captures": "library.captures",
    "check": "library.flows",
    "checks": "library.manual",
    "diagnose": "library.diagnosis",
    "diff": "library.diff",
    "read": "library.reading",
    "timeline": "library.timeline",
    "trace": "library.trace",
    "walk_many": "library.many",
    "why": "library.why",
}
"""Where each name of `__all__` is."""


class _Lazy(ModuleType):
    """This module: it imports a name of `__all__` when it is first asked for.

    `checks` and `timeline` are functions here, and packages below. Importing such a package would
    bind its name to it, and the function would be gone; `from podpath.checks import (registry)`
    finds the package all the same.
    """

    def __getattr__(self, name: str) -> object:
        """Import the name, and keep it."""
        place = _PLACES.get(name)
        if place is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"podpath.{place}"), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """Bind a name, unless it is that of a function and a package is about to take it."""
        if name not in _PLACES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List what there is, imported yet or not."""
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Lazy
