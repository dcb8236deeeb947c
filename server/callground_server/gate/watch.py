"""Whether anything in a workspace has changed on disk, asked before every answer: cheap, and never late.

A full look lists every folder again.  Between two of them it is enough to ask each known folder for its
modification time (a file came, went or was renamed), and each known file for its signature.
"""

from __future__ import annotations

import os
import time

from callground.graph.workspace import Workspace

RECENT = 0.1
"""Seconds.  A folder that was changed so shortly before a look may change again within the same clock tick."""

_SKIPPED = frozenset(
    "__pycache__ __pypackages__ node_modules site-packages dist-packages .git .hg .svn .tox .nox "
    ".mypy_cache .pytest_cache .ruff_cache .hypothesis .ipynb_checkpoints .eggs .direnv .pixi".split()
)
_SETTINGS = ("pyproject.toml", ".gitignore", os.path.join(".git", "info", "exclude"))


class DiskWatch:
    """Keeps one workspace in step with the disk."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folders: dict[str, int] = {}
        self._packages: dict[str, int] = {}
        self._settings: dict[str, tuple[int, int] | None] = {}
        self._looked = 0.0
        self.full_looks = 0
        """How often everything was listed anew."""

    def settings_changed(self) -> bool:
        """Whether ``pyproject.toml`` is another one than at the last look."""
        path = os.path.join(self._workspace.root, "pyproject.toml")
        return path in self._settings and self._settings[path] != _signature(path)

    @property
    def packages_changed(self) -> bool:
        """Whether something was installed, upgraded or removed, or another environment may count."""
        return any(_modified(path) != before for path, before in self._packages.items())

    def look(self) -> None:
        """Take over what has changed in the workspace since the last look."""
        if self._folders and not self._moved():
            stale = [
                path
                for path, entry in self._workspace.files.disk.items()
                if _signature(path) != (entry.signature[0], entry.signature[1])
            ]
            if stale:
                self._workspace.files_changed(stale)
            return
        self.full_looks += 1
        began = time.time()
        folders = self._list()
        self._workspace.refresh()
        # Listed before: what changes meanwhile is seen by the next look.
        self._folders, self._looked = folders, began
        self._settings = {path: _signature(path) for path in self._setting_files(folders)}
        self._packages = {path: _modified(path) for path in _environment_paths(self._workspace)}

    def _moved(self) -> bool:
        recent = int((self._looked - RECENT) * 1e9)
        for folder, before in self._folders.items():
            now = _modified(folder)
            if now != before or now >= recent:
                return True
        return any(_signature(path) != before for path, before in self._settings.items())

    def _list(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for top, names, files in os.walk(self._workspace.root):
            if "pyvenv.cfg" in files:
                names.clear()
                continue
            names[:] = [name for name in names if name not in _SKIPPED]
            found[top] = _modified(top)
        return found

    def _setting_files(self, folders: dict[str, int]) -> list[str]:
        root = self._workspace.root
        inner = [os.path.join(folder, ".gitignore") for folder in folders if folder.startswith(root)]
        return [os.path.join(root, name) for name in _SETTINGS] + [p for p in inner if os.path.isfile(p)]


def _environment_paths(workspace: Workspace) -> list[str]:
    """What is touched when packages come and go, and where a virtual environment would appear."""
    environment = workspace.environment
    paths = [*environment.site, *environment.extra, *environment.pth_files]
    paths += [os.path.join(workspace.root, name, "pyvenv.cfg") for name in (".venv", "venv", "env")]
    if environment.prefix:
        paths.append(os.path.join(environment.prefix, "pyvenv.cfg"))
    return paths


def _modified(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1


def _signature(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
