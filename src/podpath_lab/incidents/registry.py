"""Every built-in incident, by name."""

from __future__ import annotations

from podpath_lab.incidents import capacity, forwarding, reported, routing, services
from podpath_lab.incidents.incident import Incident

INCIDENTS: dict[str, Incident] = {
    incident.name: incident
    for module in (reported, forwarding, services, routing, capacity)
    for incident in module.INCIDENTS
}
"""In the order of the manual."""
