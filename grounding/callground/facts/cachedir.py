"""Where the user's caches live."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "CALLGROUND_CACHE_DIR"
"""Environment variable that names the folder itself."""


def cache_directory(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """The folder for callground's caches; it need not exist.  Raises RuntimeError without a home."""
    variables = os.environ if environment is None else environment
    chosen = variables.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if platform == "win32":
        local = variables.get("LOCALAPPDATA")
        root = Path(local) if local else Path.home() / "AppData" / "Local"
        return root / "callground" / "Cache"
    xdg = variables.get("XDG_CACHE_HOME")
    # A relative path there is to be ignored, says the specification.
    if xdg and os.path.isabs(xdg):
        return Path(xdg) / "callground"
    if platform == "darwin":
        return Path.home() / "Library" / "Caches" / "callground"
    return Path.home() / ".cache" / "callground"
