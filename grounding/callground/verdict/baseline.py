"""What was found before and is accepted: a report less its old findings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from callground.verdict.model import Reason, Verdict
from callground.verdict.report import FileVerdicts, GroundingReport

SCHEMA = 1


class BaselineError(ValueError):
    """A file that is no baseline."""


def write_baseline(report: GroundingReport) -> str:
    """The findings of a report, to be accepted from now on.  The text is stable: it can lie under version control."""
    known = {
        name: f"{entry.finding.code} {entry.finding.callee}"
        for name, entry in zip(report.fingerprints, report.findings, strict=True)
    }
    return json.dumps({"schema": SCHEMA, "accepted": dict(sorted(known.items()))}, indent=1) + "\n"


def read_baseline(text: str) -> frozenset[str]:
    """The fingerprints of accepted findings.  Raises BaselineError."""
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise BaselineError(f"a baseline of schema {data['schema']!r}")
        return frozenset(map(str, data["accepted"]))
    except BaselineError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BaselineError("no baseline that callground has written") from None


def without_accepted(report: GroundingReport, accepted: Iterable[str]) -> GroundingReport:
    """The report with the accepted findings left alone; they count as abstained on (``ignored``)."""
    known = frozenset(accepted)
    names = iter(report.fingerprints)
    gone = {
        (entry.path, id(entry.finding)) for name, entry in zip(names, report.findings, strict=True) if name in known
    }
    if not gone:
        return report
    files = [
        FileVerdicts(
            file.path,
            tuple(_left(verdict) if _is_in(file.path, verdict, gone) else verdict for verdict in file.verdicts),
            tuple(note for note in file.notes if (file.path, id(note)) not in gone),
        )
        for file in report.files
    ]
    return replace(report, files=tuple(files))


def _is_in(path: str, verdict: Verdict, gone: set[tuple[str, int]]) -> bool:
    return verdict.finding is not None and (path, id(verdict.finding)) in gone


def _left(verdict: Verdict) -> Verdict:
    return replace(verdict, status="abstained", reason=Reason.IGNORED, detail="accepted by the baseline", finding=None)
