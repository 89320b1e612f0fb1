"""The whole playbook: of plays that the clues support equally, the one listed first here is asked
first.
"""

from __future__ import annotations

from podpath.diagnosis.plays import fallbacks, hosts, links, meshes, plugins, rules, services
from podpath.diagnosis.plays.play import Play

PLAYS: tuple[Play, ...] = (
    *services.PLAYS,
    *rules.PLAYS,
    *links.PLAYS,
    *plugins.PLAYS,
    *meshes.PLAYS,
    *hosts.PLAYS,
    *fallbacks.PLAYS,
)
