"""A workspace opened for a check: settings, environment, files and their texts, under one roof.

Everything that touches the disk for `callground.check` stands here; the check itself asks through
`Checker` only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple

from callground.check import CannotRead, Progress, Suggest, Target, check, touches
from callground.config import Config, Problem, find_root, load
from callground.environment.discover import find_environment
from callground.environment.model import Environment
from callground.environment.workspace_files import list_files
from callground.graph.workspace import Workspace
from callground.provenance.changed_lines import Lines
from callground.repairs.service import Repairs
from callground.source.decode import decode
from callground.source.disk import read_file
from callground.source.parse import parse
from callground.source.pieces import normalized
from callground.verdict.model import Range, Verdict
from callground.verdict.report import EnvironmentInfo, FileError, GroundingReport

CHECKED = (".py", ".pyw")
"""Suffixes of the files that a folder's check looks at.  A file that is named is always looked at."""

_ERRORS = {
    "syntax-error": "it does not parse",
    "syntax-newer-than-server": "its syntax is newer than the Python that callground runs on",
    "too-deep": "it is nested too deeply",
    "too-large": "it is too large",
    "not-text": "it is not text in the encoding that it declares",
}


_ACTIVATED = frozenset({"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "UV_PROJECT_ENVIRONMENT"})


class Selection(NamedTuple):
    """The files that a check was asked to look at."""

    targets: tuple[Target, ...]
    errors: tuple[FileError, ...]
    """Files and folders that could not be looked into."""


def info_of(workspace: Workspace) -> EnvironmentInfo:
    """A workspace's environment as reports name it."""
    found = workspace.environment
    version = found.version_text if any(found.version) else ""
    return EnvironmentInfo(found.python, version, found.trusted, workspace.doubtful)


class Session:
    """One opened workspace.  Use it as a context manager: it ends its child processes when it closes."""

    def __init__(
        self,
        root: str,
        workspace: Workspace,
        config: Config,
        problems: Sequence[Problem] = (),
        *,
        reported: str | None = None,
        chosen: bool = False,
        cache: str | None = None,
    ) -> None:
        self.root = root
        self.reported = reported or root
        """The folder that paths in reports and patterns in settings are relative to."""
        self.chosen = chosen
        """Somebody named the interpreter."""
        self._cache = cache
        self.workspace = workspace
        self.config = config
        self.problems = tuple(problems)

    @classmethod
    def open(
        cls,
        root: str | None = None,
        *,
        paths: Sequence[str] = (),
        python: str | None = None,
        trusted: bool = True,
        cache: str | None = None,
        adjust: Callable[[Config], Config] | None = None,
    ) -> Session:
        """Open the workspace at `root`, or the one that `paths` (else the current folder) lie in.

        `adjust` may change the settings that were read, as an editor's own do.
        """
        folder = os.path.abspath(root) if root is not None else find_root(_common(paths))
        config, problems = load(folder)
        if adjust is not None:
            config = adjust(config)
        if python is not None:
            # What was typed is relative to where it was typed; a bare command name is looked up.
            typed = os.path.abspath(python) if os.path.lexists(python) else python
            environment = find_environment(folder, python=typed, trusted=trusted, asked_by="--python")
        else:
            environment = find_environment(folder, python=config.python, trusted=trusted)
        workspace = Workspace.open(folder, environment, config, cache=cache)
        chosen = python is not None or config.python is not None
        return cls(folder, workspace, config, problems, chosen=chosen, cache=cache)

    def beside(self, root: str) -> Session:
        """A project inside of this workspace with an environment of its own, under the same settings."""
        # An environment that is activated is the one of where the command was typed.
        environ = {name: value for name, value in os.environ.items() if name not in _ACTIVATED}
        environment = find_environment(root, trusted=self.environment.trusted, environ=environ)
        workspace = Workspace.open(root, environment, self.config, cache=self._cache)
        return Session(root, workspace, self.config, reported=self.reported, cache=self._cache)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.workspace.close()

    @property
    def environment(self) -> Environment:
        """The environment that verdicts hold for."""
        return self.workspace.environment

    @property
    def info(self) -> EnvironmentInfo:
        """The environment as reports name it."""
        return info_of(self.workspace)

    def select(self, paths: Sequence[str] = ()) -> Selection:
        """The files of `paths`: folders are searched, files are taken as they are.  No paths: the root."""
        named = [os.path.abspath(path) for path in paths]
        found = list_files(self.root, exclude=self.config.exclude, explicit=named)
        by_name = set(named)
        # Stubs hold hardly a call; one that is named is looked at all the same.
        chosen = [path for path in found.python if path.endswith(CHECKED) or path in by_name]
        return Selection(
            tuple(Target(path) for path in chosen),
            tuple(FileError(path, reason) for path, reason in found.problems),
        )

    def index(self, progress: Progress | None = None) -> None:
        """Index the workspace, so that questions about all of it have answers."""
        if progress is None:
            self.workspace.index()
            return
        report = progress
        self.workspace.index(report)

    def check(
        self,
        targets: Sequence[Target],
        *,
        errors: Sequence[FileError] = (),
        scope: str = "all",
        progress: Progress | None = None,
    ) -> GroundingReport:
        """Verify the targets.  Index first, else questions about the whole workspace are abstained on."""
        return check(
            self,
            targets,
            root=self.reported,
            config=self.config,
            environment=self.info,
            scope=scope,
            problems=self.problems,
            errors=errors,
            progress=progress,
        )

    def text(self, path: str) -> str:
        """The file's text, by its own encoding declaration.  Raises CannotRead."""
        try:
            data = read_file(path)
        except (OSError, ValueError) as error:
            raise CannotRead(getattr(error, "strerror", None) or str(error)) from None
        decoded = decode(data)
        if decoded.error is not None:
            raise CannotRead(decoded.message or _ERRORS.get(decoded.error, decoded.error))
        return decoded.text

    def verify(
        self, path: str, text: str | None = None, ranges: Sequence[tuple[int, int]] | None = None
    ) -> list[Verdict]:
        """The verdicts on a file's sites.  Raises CannotRead where nothing of it could be parsed."""
        verdicts = self.workspace.verify(path, text, ranges)
        reason = self.workspace.errors.get(path)
        if reason is not None and not verdicts:
            raise CannotRead(self._why(path, text, reason))
        return verdicts

    def unparsed(self, path: str, text: str, lines: Lines | None = None) -> str:
        """Why calls on some of the lines (None: on any) were not looked at; empty when all were."""
        shown = normalized(text)
        file = self.workspace.snapshot().space.contents.get(path)
        if file is None or file.text != shown:
            file = self.workspace.reader.text(path, text, is_stub=path.endswith(".pyi"))
        masked = [
            span for span in file.facts.masked_lines() if lines is None or touches(Range(span[0], 0, span[1], 0), lines)
        ]
        if not masked:
            return ""
        more = f" (and {len(masked) - 1} more)" if len(masked) > 1 else ""
        line = masked[0][0]
        if file.facts.error == "syntax-newer-than-server":
            message = _ERRORS[file.facts.error]
        else:
            said = parse(shown)
            message = said.message
            if any(first <= said.line <= last for first, last in masked):
                line = said.line
            elif said.line:
                message = "invalid syntax"
        return f"line {line}{more} does not parse: {message}"

    def _why(self, path: str, text: str | None, reason: str) -> str:
        said = parse(normalized(self.text(path) if text is None else text)) if reason == "syntax-error" else None
        if said is None or not said.line:
            return _ERRORS.get(reason, reason)
        return f"line {said.line} does not parse: {said.message}"

    def suggest(self, path: str, text: str, verdicts: Sequence[Verdict]) -> Suggest:
        """What the findings of a file may have meant."""
        return self.repairs(path, text, verdicts).suggestions

    def repairs(self, path: str, text: str, verdicts: Sequence[Verdict]) -> Repairs:
        """Candidates and repairs for the findings of a text."""
        return Repairs.of(self.workspace, path, text, verdicts)


def _common(paths: Sequence[str]) -> str:
    """The deepest folder that all paths lie in; the current one without any."""
    absolute = [os.path.abspath(path) for path in paths] or [os.getcwd()]
    try:
        return os.path.commonpath(absolute)
    except ValueError:  # several drives
        return absolute[0]
