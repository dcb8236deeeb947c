"""Reports for other programs: SARIF 2.1.0 and annotations of GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from callground import __version__
from callground.rules import RULES
from callground.rules.tool_codes import TOOL_CODES
from callground.verdict.model import Finding, Range
from callground.verdict.report import Entry, GroundingReport, relative

_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}
_ANNOTATIONS = {"error": "error", "warning": "warning", "hint": "notice"}
_NOTES = {
    "setting": "a setting that could not be used",
    "unused-ignore": "an ignore comment that silences nothing",
}
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: GroundingReport) -> dict[str, Any]:
    """The report as a SARIF log: one run, with the rules that it names."""
    entries = [*report.findings, *report.notes]
    codes = list(dict.fromkeys(entry.finding.code for entry in entries))
    names = dict(zip(map(id, report.findings), report.fingerprints, strict=True))
    return {
        "$schema": SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "callground",
                        "semanticVersion": __version__,
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"ROOT": {"uri": Path(report.root).as_uri().rstrip("/") + "/"}},
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {
                                "level": "warning",
                                "message": {"text": f"{error.extent}: {error.reason}"},
                                "locations": [{"physicalLocation": {"artifactLocation": _file(error.path, report)}}],
                            }
                            for error in report.errors
                        ],
                    }
                ],
                "results": [_result(entry, codes, names.get(id(entry)), report) for entry in entries],
            }
        ],
    }


def github(report: GroundingReport) -> str:
    """The report as workflow commands: each finding stands at its line in a pull request."""
    lines = []
    for path, finding in (*report.findings, *report.notes):
        span = finding.range
        properties = {
            "file": relative(path, report.root),
            "line": span.line,
            "endLine": span.end_line,
            "col": span.column + 1,
            "endColumn": span.end_column,
            "title": f"callground: {finding.code}",
        }
        lines.append(_command(_ANNOTATIONS.get(finding.severity, "error"), properties, _message(finding)))
    for error in report.errors:
        lines.append(
            _command("warning", {"file": relative(error.path, report.root)}, f"{error.extent}: {error.reason}")
        )
    return "".join(f"{line}\n" for line in lines)


def _rule(code: str) -> dict[str, Any]:
    rule = RULES.get(code)
    if rule is None:
        text = TOOL_CODES.get(code) or _NOTES.get(code, code)
        return {"id": code, "shortDescription": {"text": text}}
    page = rule.page()
    return {
        "id": code,
        "shortDescription": {"text": rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(entry: Entry, codes: list[str], name: str | None, report: GroundingReport) -> dict[str, Any]:
    finding = entry.finding
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS.get(finding.severity, "error"),
        "message": {"text": _message(finding)},
        "locations": [_location(entry.path, finding.range, report)],
    }
    if finding.evidence_location is not None and os.path.isabs(finding.evidence_location[0]):
        path, line = finding.evidence_location
        result["relatedLocations"] = [
            {**_location(path, Range(line, 0, line, 0), report), "message": {"text": "what is really there"}}
        ]
    if name is not None:
        result["partialFingerprints"] = {"callground/v1": name}
    return result


def _location(path: str, span: Range, report: GroundingReport) -> dict[str, Any]:
    region = {"startLine": span.line, "startColumn": span.column + 1}
    if (span.end_line, span.end_column) > (span.line, span.column):
        region |= {"endLine": span.end_line, "endColumn": span.end_column + 1}
    return {"physicalLocation": {"artifactLocation": _file(path, report), "region": region}}


def _file(path: str, report: GroundingReport) -> dict[str, str]:
    name = relative(path, report.root)
    if name.startswith("../") or os.path.isabs(name):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(name, safe="/~"), "uriBaseId": "ROOT"}


def _message(finding: Finding) -> str:
    if not finding.suggestions:
        return finding.message
    best = finding.suggestions[0]
    return f"{finding.message}; did you mean `{best.signature or best.text}`?"


def _command(level: str, properties: dict[str, Any], message: str) -> str:
    listed = ",".join(f"{key}={_escaped(str(value), more=True)}" for key, value in properties.items())
    return f"::{level} {listed}::{_escaped(message)}"


def _escaped(text: str, *, more: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if more else text
