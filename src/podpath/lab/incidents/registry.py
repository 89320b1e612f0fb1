"""Every built-in incident, by name."""

from __future__ import annotations

from podpath.lab.incidents import forwarding, reported, routing, services
from podpath.lab.incidents.incident import Incident

INCIDENTS: dict[str, Incident] = {
    incident.name: incident for incident in (*reported.INCIDENTS, *forwarding.INCIDENTS, *services.INCIDENTS, *routing.INCIDENTS)
}
"""In the order of the manual."""
