"""A report for people: what good compilers print."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from callground.repairs.model import Ranked
from callground.verdict.model import Finding, Suggestion, Verdict
from callground.verdict.report import Counts, Entry, EnvironmentInfo, GroundingReport, evidence
from callground_server.cli.columns import excerpt
from callground_server.cli.style import Style

Lines = Callable[[str], "list[str]"]
"""The source lines of a file, [] when it cannot be read."""


Ranking = Callable[[Verdict], Sequence[Ranked]]
"""What a finding may have meant, best first."""


class Look(NamedTuple):
    """How the text shall look."""

    style: Style = Style(False)
    width: int = 160
    base: str = ""
    """The folder that printed paths are relative to: where the reader stands."""


def render(report: GroundingReport, lines: Lines, look: Look) -> str:
    """The whole text: what was looked at, each finding, notes, files that could not be read, the sum."""
    blocks = [headline(report, look)]
    blocks.extend(entry(item, lines, look, report.root) for item in report.findings)
    blocks.extend(entry(item, lines, look, report.root) for item in report.notes)
    errors = [f"{place(e.path, look)}: {look.style('warning', e.extent)}: {e.reason}" for e in report.errors]
    if errors:
        blocks.append("\n".join(errors))
    blocks.append(closing(report, look))
    return "\n\n".join(blocks) + "\n"


def headline(report: GroundingReport, look: Look) -> str:
    """The first line: scope, calls looked at, environment."""
    sites = counted(report.calls.total, "call")
    if report.references.total:
        sites += f" and {counted(report.references.total, 'reference')}"
    files = counted(len(report.files), "file")
    name = look.style("bold", "callground")
    line = f"{name}: scope {report.scope}, {sites} in {files} looked at, {environment(report, look)}"
    if report.environment is not None and report.environment.doubtful:
        line += f"\n{look.style('warning', 'doubtful environment')}: {report.environment.doubtful}"
    for folder, info in report.projects:
        line += f"\n{place(folder, look)}: {_in_words(info, look)}"
        if info.doubtful:
            line += f", {look.style('warning', 'doubtful')}: {info.doubtful}"
    return line


def environment(report: GroundingReport, look: Look) -> str:
    """The environment in a few words."""
    return _in_words(report.environment, look)


def _in_words(info: EnvironmentInfo | None, look: Look) -> str:
    if info is None:
        return "no environment"
    words = f"Python {info.version}" if info.version else "Python of unknown version"
    if info.python:
        words += f" ({place(info.python, look)})"
    return words if info.trusted else f"{words}, untrusted"


def entry(item: Entry, lines: Lines, look: Look, root: str = "") -> str:
    """One finding: place, code, message, the source line with its marks, evidence, nearest real names."""
    finding = item.finding
    span = finding.range
    style = look.style
    where = style("where", f"{place(item.path, look)}:{span.line}:{span.column + 1}")
    label = style(finding.severity, finding.severity) + style("bold", f"[{finding.code}]")
    out = [f"{where}: {label}: {finding.message}"]
    gutter = len(str(span.line)) + 1
    bar = style("gutter", f"{' ' * gutter} |")
    source = lines(item.path)
    if 0 < span.line <= len(source):
        row = source[span.line - 1]
        end = span.end_column if span.end_line == span.line else len(row)
        shown = excerpt(row, span.column, end, max(40, look.width - gutter - 3))
        out.append(f"{style('gutter', f' {span.line} |')} {shown.line}".rstrip())
        out.append(f"{bar} {shown.indent}{style(finding.severity, shown.marks)}")
    equals = style("gutter", f"{' ' * gutter} =")
    out.extend(f"{equals} {line}" for line in evidence(finding, root or look.base))
    nearest = suggestion_line(finding, look)
    if nearest:
        out.append(f"{equals} {nearest}")
    return "\n".join(out)


def suggestion_line(finding: Finding, look: Look) -> str:
    """``did you mean …``, with the signature of the nearest real name; "" without one."""
    if not finding.suggestions:
        return ""
    best, *rest = finding.suggestions
    line = f"did you mean {_suggested(best, look)}?"
    if rest:
        line += f" or {', '.join(f'`{other.text}`' for other in rest[:3])}"
    return line


def _suggested(suggestion: Suggestion, look: Look) -> str:
    # A signature may come with the name or without it.
    text = suggestion.text
    if suggestion.signature:
        text = suggestion.signature if suggestion.signature.startswith(text) else text + suggestion.signature
    line = look.style("name", f"`{text}`")
    return f"{line} ({suggestion.import_})" if suggestion.import_ else line


def closing(report: GroundingReport, look: Look) -> str:
    """The last lines: the sum, and why the rest was left alone."""
    style = look.style
    found = []
    for entries, noun in (
        (report.ungrounded, "ungrounded"),
        (report.arity_errors, "arity"),
        (report.third_party, "outside the workspace"),
    ):
        if entries:
            found.append(f"{len(entries)} {noun}")
    total = len(report.findings)
    if total:
        head = style("error", counted(total, "finding")) + f" ({', '.join(found)})"
    elif report.files:
        head = style("good", "grounded") + ": no call was proven wrong"
    else:
        head = "nothing was looked at"
    if report.notes:
        head += f", {counted(len(report.notes), 'note')}"
    for extent, number in Counter(error.extent for error in report.errors).items():
        head += f", {counted(number, 'file')} {extent}"
    out = [head]
    if report.calls.total + report.references.total:
        parts = [f"{_counts('calls', report.calls)}"]
        if report.references.total:
            parts.append(_counts("references", report.references))
        out.append("; ".join(parts))
    if report.abstained:
        reasons = [f"{reason} {count}" for reason, count in report.abstained.items()]
        more = f", {len(reasons) - 6} more" if len(reasons) > 6 else ""
        out.append(style("dim", f"abstained because: {', '.join(reasons[:6])}{more}"))
    return "\n".join(out)


def _counts(noun: str, counts: Counts) -> str:
    return f"{noun}: {counts.grounded} grounded, {counts.findings} wrong, {counts.abstained} abstained"


def explain(
    path: str,
    line: int,
    verdicts: Iterable[Verdict],
    lines: Lines,
    look: Look,
    ranking: Ranking = lambda _: (),
) -> str:
    """How each call on the line was decided, step by step, and what a wrong one may have meant."""
    source = lines(path)
    text = source[line - 1] if 0 < line <= len(source) else ""
    out = [f"{look.style('where', f'{place(path, look)}:{line}')}", f"    {text.strip()}"]
    chosen = [v for v in verdicts if v.range.line <= line <= v.range.end_line]
    # A long call spans many lines: those that begin here, or whose callee stands here, are meant first.
    begun = [v for v in chosen if line in (v.range.line, v.callee_range.line)]
    for verdict in begun or chosen:
        out.append("")
        out.extend(_explained(verdict, look))
        out.extend(_ranked(verdict, ranking, look))
    if not chosen:
        out.extend(["", "no call and no reference stands on this line"])
    return "\n".join(out) + "\n"


def _explained(verdict: Verdict, look: Look) -> list[str]:
    style = look.style
    kinds = {"grounded": "good", "abstained": "note"}
    status = style(kinds.get(verdict.status, "error"), verdict.status)
    out = [f"{verdict.site} `{verdict.callee}` at {verdict.range.line}:{verdict.range.column + 1}: {status}"]
    for number, step in enumerate(verdict.steps, 1):
        out.append(f"  {number}. {step.text}" + style("dim", f"  ({step.range.line}:{step.range.column + 1})"))
    if verdict.reason is not None:
        detail = f" ({verdict.detail})" if verdict.detail else ""
        out.append(f"  because: {verdict.reason.value}{detail}")
    elif verdict.detail:
        out.append(f"  {verdict.detail}")
    finding = verdict.finding
    if finding is not None:
        out.append(f"  {style(finding.severity, finding.code)}: {finding.message}")
        out.extend(f"  = {line}" for line in evidence(finding, look.base))
        nearest = suggestion_line(finding, look)
        if nearest:
            out.append(f"  = {nearest}")
    return out


def _ranked(verdict: Verdict, ranking: Ranking, look: Look) -> list[str]:
    """What may be meant, with what speaks for each."""
    out: list[str] = []
    ranked = ranking(verdict) if verdict.finding is not None else ()
    for number, each in enumerate([r for r in ranked if r.score > 0][:6], 1):
        out = out or ["  what may be meant:"]
        candidate = each.candidate
        wanted = f" ({candidate.wanted.text})" if candidate.wanted is not None else ""
        out.append(f"  {number}. {look.style('name', candidate.text)}{wanted}  {each.score:.1f}")
        out.append(look.style("dim", f"     {'; '.join(each.reasons)}"))
    return out


def place(path: str, look: Look) -> str:
    """A path as the reader would type it: relative where that is shorter and does not climb far."""
    try:
        short = os.path.relpath(path, look.base or os.curdir)
    except ValueError:
        return path
    return path if short.startswith(os.path.join("..", "..")) or len(short) > len(path) else short


def counted(number: int, noun: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
