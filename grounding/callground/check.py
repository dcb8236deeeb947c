"""One check from end to end, for every door: verdicts in, a report out.

`review` turns one file's verdicts into what people see (comments, settings, notes) and is pure; the
editor calls it for each document, `check` for every file of a scope.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

from callground.config import Config, Problem
from callground.provenance.changed_lines import Lines
from callground.rules import RULES
from callground.rules.ignores import Comment, comments, silence
from callground.verdict.model import Finding, Range, Reason, Suggestion, Verdict
from callground.verdict.nearest import suggestions
from callground.verdict.report import (
    Entry,
    EnvironmentInfo,
    FileError,
    FileVerdicts,
    GroundingReport,
    relative,
)

Progress = Callable[[str, int, int], None]
"""(phase, done, total): called now and then while something long goes on."""


class CannotRead(Exception):
    """A file that cannot be checked at all; the text is the reason, for people."""


class Target(NamedTuple):
    """One file to look at."""

    path: str
    """Absolute."""
    lines: Lines | None = None
    """Only sites that touch these lines; None is the whole file."""
    text: str | None = None
    """What stands in an editor or came through a pipe; None is what lies on the disk."""


class Checker(Protocol):
    """What a workspace offers to a check."""

    def text(self, path: str) -> str:
        """The file's text.  Raises CannotRead."""
        ...

    def verify(
        self, path: str, text: str | None = None, ranges: Sequence[tuple[int, int]] | None = None
    ) -> Sequence[Verdict]:
        """The verdicts on the sites that touch `ranges` (lines, inclusive), loading what they need."""
        ...


Suggest = Callable[[Verdict], "tuple[Suggestion, ...]"]
"""The real names that a finding may have meant, best first."""


@runtime_checkable
class Suggesting(Protocol):
    """A workspace that also ranks what a wrong name may have meant."""

    def suggest(self, path: str, text: str, verdicts: Sequence[Verdict]) -> Suggest:
        """For the findings among a file's verdicts; nothing is worked out before it is asked."""
        ...


@runtime_checkable
class Masking(Protocol):
    """A workspace that checks files of which some lines do not parse."""

    def unparsed(self, path: str, text: str, lines: Lines | None = None) -> str:
        """Why calls on some of the lines (None: on any) were not looked at; empty when all were."""
        ...


def check(
    workspace: Checker,
    targets: Iterable[Target],
    *,
    root: str,
    config: Config,
    environment: EnvironmentInfo,
    scope: str = "all",
    problems: Sequence[Problem] = (),
    errors: Sequence[FileError] = (),
    progress: Progress | None = None,
) -> GroundingReport:
    """Verify every target and report.  A file that cannot be read is an error in the report, no exception."""
    files: list[FileVerdicts] = []
    unread: list[FileError] = list(errors)
    chosen = sorted(targets, key=lambda target: target.path)
    for number, target in enumerate(chosen):
        if progress is not None:
            progress("checking", number, len(chosen))
        try:
            text = target.text if target.text is not None else workspace.text(target.path)
            verdicts = workspace.verify(target.path, target.text, target.lines)
            masked = workspace.unparsed(target.path, text, target.lines) if isinstance(workspace, Masking) else ""
        except CannotRead as error:
            unread.append(FileError(target.path, str(error)))
            continue
        except Exception as error:  # noqa: BLE001 - one file's failure must not hide what the others hold
            unread.append(FileError(target.path, f"internal error: {_record(error)}"))
            continue
        if masked:
            unread.append(FileError(target.path, masked, partly=True))
        suggest = workspace.suggest(target.path, text, verdicts) if isinstance(workspace, Suggesting) else None
        files.append(review(target.path, text, verdicts, root=root, config=config, lines=target.lines, suggest=suggest))
    if progress is not None:
        progress("checking", len(chosen), len(chosen))
    reviewed, remarks = doubt(files, environment)
    return GroundingReport(
        root=root,
        files=reviewed,
        errors=tuple(sorted(unread)),
        scope=scope,
        environment=environment,
        remarks=(*(_setting(problem, root) for problem in problems), *remarks),
    )


def review(
    path: str,
    text: str,
    verdicts: Iterable[Verdict],
    *,
    root: str,
    config: Config,
    lines: Lines | None = None,
    suggest: Suggest | None = None,
    marks: Sequence[Comment] | None = None,
) -> FileVerdicts:
    """What people see of one file's verdicts: comments and settings applied, unused comments noted.

    Without `suggest` the nearest real names are found by their spelling alone.  `marks` are the text's silencing
    comments, for those who know them already.
    """
    kept = [verdict for verdict in verdicts if lines is None or touches(verdict.range, lines)]
    marks = comments(text) if marks is None else marks
    silenced, unused = silence(kept, marks)
    off = config.ignored_in(relative(path, root)) if config.per_file_ignores else frozenset()
    configured = [_suggested(_configured(verdict, config, off), suggest) for verdict in silenced]
    notes = [_unused(mark) for mark in unused if lines is None or touches(Range(mark.line, 0, mark.line, 0), lines)]
    return FileVerdicts(path, tuple(_once(configured)), tuple(notes))


def touches(span: Range, lines: Lines) -> bool:
    """Whether a range has a line in common with `lines`."""
    return any(first <= span.end_line and span.line <= last for first, last in lines)


def restrict(targets: Iterable[Target], changed: Mapping[str, Lines | None]) -> list[Target]:
    """Those of the targets that changed, each with its changed lines."""
    by_path = {os.path.realpath(path): lines for path, lines in changed.items()}
    chosen = []
    for target in targets:
        real = os.path.realpath(target.path)
        if real in by_path:
            chosen.append(target._replace(lines=by_path[real]))
    return chosen


def _record(error: Exception) -> str:
    """What happened and where, in one line: enough for a report of the fault."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def _configured(verdict: Verdict, config: Config, off: frozenset[str]) -> Verdict:
    """The verdict with the severity that the settings give its finding."""
    finding = verdict.finding
    if finding is None:
        return verdict
    if config.ignore_names and config.ignores(finding.named):
        return _silent(verdict, f"`{finding.named}` is ignored by `ignore-names`")
    severity = "off" if finding.code in off else config.severity_of(finding.code, finding.severity)
    if severity == "off":
        where = "per-file-ignores" if finding.code in off else "severity"
        return _silent(verdict, f"rule {finding.code} is off by `{where}`")
    if severity == finding.severity:
        return verdict
    return replace(verdict, finding=replace(finding, severity=severity))


def _silent(verdict: Verdict, detail: str) -> Verdict:
    """The verdict without its finding; a call that exists stays grounded."""
    if verdict.status == "grounded":
        return replace(verdict, finding=None)
    return replace(verdict, status="abstained", reason=Reason.IGNORED, detail=detail, finding=None)


def _once(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """``from missing import a, b, c`` is one fault of one module, not three: the first name tells it."""
    told: set[tuple[int, str]] = set()
    for verdict in verdicts:
        finding = verdict.finding
        if finding is not None and finding.kind == "import":
            same = (finding.range.line, finding.message)
            if same in told:
                verdict = replace(verdict, finding=None, detail=finding.message)
            told.add(same)
        yield verdict


def _suggested(verdict: Verdict, suggest: Suggest | None) -> Verdict:
    """The verdict with the nearest real names in its finding."""
    finding = verdict.finding
    if finding is None:
        return verdict
    near = finding.suggestions or (suggest(verdict) if suggest is not None else suggestions(finding))
    return verdict if near == finding.suggestions else replace(verdict, finding=replace(finding, suggestions=near))


def doubt(
    files: Sequence[FileVerdicts], environment: EnvironmentInfo
) -> tuple[tuple[FileVerdicts, ...], tuple[Entry, ...]]:
    """In a doubtful environment third-party imports that are not found are one notice, not a red project."""
    if not environment.doubtful:
        return tuple(files), ()
    doubted: list[Entry] = []
    result: list[FileVerdicts] = []
    for file in files:
        verdicts = []
        for verdict in file.verdicts:
            finding = verdict.finding
            if finding is not None and finding.kind == "import" and finding.third_party:
                doubted.append(Entry(file.path, finding))
                detail = f"the environment is doubtful: {environment.doubtful}"
                verdict = replace(
                    verdict, status="abstained", reason=Reason.UNKNOWN_IMPORT, detail=detail, finding=None
                )
            verdicts.append(verdict)
        result.append(file._replace(verdicts=tuple(verdicts)))
    if not doubted:
        return tuple(result), ()
    first = doubted[0]
    names = sorted({entry.finding.callee for entry in doubted})
    shown = ", ".join(f"`{name}`" for name in names[:5]) + (" and others" if len(names) > 5 else "")
    message = f"{unjudged(environment)}; not judged are the imports of {shown}"
    note = replace(first.finding, severity="warning", message=message, suggestions=())
    return tuple(result), (Entry(first.path, note),)


def unjudged(environment: EnvironmentInfo) -> str:
    """The one notice in place of many findings, with what can be done about it."""
    return (
        f"the environment is doubtful ({environment.doubtful}): imports that it lacks are not judged; "
        "choose another interpreter (the setting `python`, or `--python`) or install what the project needs"
    )


def _note(code: str, span: Range, callee: str, message: str) -> Finding:
    return Finding(
        code=code,
        kind="note",
        severity="hint",
        range=span,
        callee=callee,
        owner="",
        third_party=False,
        message=message,
        evidence=(),
    )


def _unused(mark: Comment) -> Finding:
    unknown = [code for code in mark.codes if code not in RULES]
    if unknown:
        message = f"this comment names no rule of callground: {', '.join(f'`{code}`' for code in unknown)}"
    else:
        message = "this comment silences nothing"
    return _note("unused-ignore", mark.range, mark.text, message)


def _setting(problem: Problem, root: str) -> Entry:
    path = os.path.join(root, "pyproject.toml")
    return Entry(path, _note("setting", Range(1, 0, 1, 0), problem.key, str(problem)))
