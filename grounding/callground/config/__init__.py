"""Settings: the ``[tool.callground]`` table, and the same keys from an editor."""

from __future__ import annotations

from callground.config.load import find_root, is_project, load, read_settings
from callground.config.model import DEFAULT, SCOPES, Config, Problem, Provenance

__all__ = ["DEFAULT", "SCOPES", "Config", "Problem", "Provenance", "find_root", "is_project", "load", "read_settings"]
