"""Which Python files belong to a workspace.  The only module that uses ``pathspec``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from callground.source.disk import read_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MISSING_MESSAGE = "the package 'pathspec' is not installed: .gitignore and `exclude` are not honoured"

_EXCLUDED_NAMES = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".eggs",
        ".direnv",
        ".pixi",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
        "dist-packages",
    }
)
_SUFFIXES = (".py", ".pyi", ".pyw")


class WorkspaceFiles(NamedTuple):
    """The files of a workspace, as absolute paths, sorted."""

    python: tuple[str, ...]
    """``.py``, ``.pyw`` and ``.pyi`` files."""
    notebooks: tuple[str, ...]
    problems: tuple[tuple[str, str], ...]
    """(path, reason) of what could not be read."""


class _Rules(NamedTuple):
    """The patterns of one ignore file."""

    folder: str
    """Absolute path that the patterns are relative to."""
    spec: GitIgnoreSpec


def list_files(root: str, *, exclude: Sequence[str] = (), explicit: Iterable[str] = ()) -> WorkspaceFiles:
    """The Python files below `root`.

    Args:
        root: the workspace folder.
        exclude: further patterns in the syntax of ``.gitignore``, relative to `root`.
        explicit: files and folders that a person named: the files are always taken, whatever ignores them;
            folders are searched even if they lie below an ignored one.

    Links to folders are followed once.  Folders that cannot be read stand in `problems`; nothing is raised.
    """
    root = os.path.abspath(root)
    walk = _Walk(root, exclude)
    named = [os.path.abspath(path) for path in explicit]
    for path in named or [root]:
        if os.path.isdir(path):
            walk.folder(path)
        elif os.path.isfile(path):
            walk.file(path)
        else:
            walk.problems.append((path, "is no file" if os.path.exists(path) else "does not exist"))
    return WorkspaceFiles(
        tuple(sorted(walk.python)), tuple(sorted(walk.notebooks)), tuple(dict.fromkeys(walk.problems))
    )


def is_excluded(path: str, root: str, *, exclude: Sequence[str] = ()) -> bool:
    """Whether the file `path` does not belong to the workspace `root` (outside of it, ignored, or
    excluded)."""
    path, root = os.path.abspath(path), os.path.abspath(root)
    if not path.startswith(root.rstrip(os.sep) + os.sep):
        return True
    walk = _Walk(root, exclude)
    folder = root
    rules = walk.rules_above(root)
    parts = path[len(root.rstrip(os.sep)) + 1 :].split(os.sep)
    for part in parts[:-1]:
        rules = walk.rules_in(folder, rules)
        if walk.skips(os.path.join(folder, part), part, rules):
            return True
        folder = os.path.join(folder, part)
    rules = walk.rules_in(folder, rules)
    return _ignored(path, rules, is_folder=False)


class _Walk:
    def __init__(self, root: str, exclude: Sequence[str]) -> None:
        self.root = root
        self.python: set[str] = set()
        self.notebooks: set[str] = set()
        self.problems: list[tuple[str, str]] = []
        self._seen: set[tuple[int, int]] = set()
        self._exclude: tuple[_Rules, ...] = ()
        if exclude:
            rules = self._compile(exclude, root, "the setting `exclude`")
            self._exclude = (rules,) if rules else ()

    def folder(self, start: str) -> None:
        """Collect what lies below `start`, without recursion: folders may be nested deeply."""
        pending: list[tuple[str, tuple[_Rules, ...]]] = [(start, self.rules_above(start))]
        while pending:
            folder, rules = pending.pop()
            try:
                status = os.stat(folder)
                identity = (status.st_dev, status.st_ino)
                # On file systems without inodes the path has to do.
                if identity[1] and identity in self._seen:
                    continue
                self._seen.add(identity)
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except (OSError, ValueError) as error:
                self.problems.append((folder, getattr(error, "strerror", None) or str(error)))
                continue
            rules = self.rules_in(folder, rules)
            for entry in entries:
                path = os.path.join(folder, entry.name)
                try:
                    is_folder = entry.is_dir()
                except OSError as error:
                    self.problems.append((path, error.strerror or str(error)))
                    continue
                if is_folder:
                    if not self.skips(path, entry.name, rules):
                        pending.append((path, rules))
                elif entry.name.endswith((*_SUFFIXES, ".ipynb")) and not _ignored(path, rules, is_folder=False):
                    self.file(path)

    def file(self, path: str) -> None:
        """Take one file."""
        (self.notebooks if path.endswith(".ipynb") else self.python).add(path)

    def skips(self, path: str, name: str, rules: tuple[_Rules, ...]) -> bool:
        """Whether a folder is not entered."""
        if name in _EXCLUDED_NAMES or name.endswith((".egg-info", ".dist-info", ".egg")):
            return True
        if os.path.isfile(os.path.join(path, "pyvenv.cfg")) or os.path.isdir(os.path.join(path, "conda-meta")):
            return True
        if name in ("build", "dist") and _is_build_output(path):
            return True
        return _ignored(path, rules, is_folder=True)

    def rules_above(self, start: str) -> tuple[_Rules, ...]:
        """The ignore files that hold in `start` and lie above it, outermost first."""
        above: list[str] = []
        folder = start
        while True:
            is_top = os.path.lexists(os.path.join(folder, ".git"))
            if folder != start:
                above.append(folder)
            parent = os.path.dirname(folder)
            if is_top or parent == folder:
                break
            folder = parent
        rules: tuple[_Rules, ...] = ()
        if is_top:
            # Git reads this one last: the .gitignore files are stronger.
            found = self._file_rules(os.path.join(folder, ".git", "info", "exclude"), folder)
            rules = (found,) if found else ()
            for each in reversed(above):
                rules = self.rules_in(each, rules)
        elif start != self.root and start.startswith(self.root.rstrip(os.sep) + os.sep):
            for each in reversed(above[: above.index(self.root) + 1]):
                rules = self.rules_in(each, rules)
        return (*rules, *self._exclude) if self._exclude and self._exclude[0] not in rules else rules

    def rules_in(self, folder: str, rules: tuple[_Rules, ...]) -> tuple[_Rules, ...]:
        """The rules that hold inside of `folder`."""
        found = self._file_rules(os.path.join(folder, ".gitignore"), folder)
        if found is None:
            return rules
        # The setting stays last, which makes it the strongest.
        kept = tuple(each for each in rules if each not in self._exclude)
        return (*kept, found, *self._exclude)

    def _file_rules(self, path: str, folder: str) -> _Rules | None:
        try:
            lines = read_file(path, 1_000_000).decode("utf-8", "surrogateescape").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            self.problems.append((path, getattr(error, "strerror", None) or str(error)))
            return None
        return self._compile(lines, folder, path)

    def _compile(self, lines: Sequence[str], folder: str, where: str) -> _Rules | None:
        if not any(line.strip() and not line.startswith("#") for line in lines):
            return None
        try:
            from pathspec import GitIgnoreSpec
        except ImportError:
            self.problems.append((self.root, MISSING_MESSAGE))
            return None
        try:
            return _Rules(folder, GitIgnoreSpec.from_lines(lines))
        except ValueError as error:
            self.problems.append((where, f"not a valid pattern: {error}"))
            return None


def _ignored(path: str, rules: tuple[_Rules, ...], *, is_folder: bool) -> bool:
    """Whether the innermost rule that says anything about `path` ignores it."""
    for each in reversed(rules):
        relative = path[len(each.folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        decided = each.spec.check_file(relative + "/" if is_folder else relative).include
        if decided is not None:
            return decided
    return False


def _is_build_output(path: str) -> bool:
    """Whether a folder called build or dist holds what a build made, and not a package of that name."""
    try:
        names = os.listdir(path)
    except OSError:
        return False
    if "__init__.py" in names:
        return False
    return any(
        name in ("lib", "temp") or name.startswith(("lib.", "bdist.", "temp.", "scripts-")) for name in names
    ) or any(name.endswith((".whl", ".tar.gz", ".egg")) for name in names)
