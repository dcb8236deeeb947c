"""What an outcome looks like as diagnostics: shared by push and pull."""

from __future__ import annotations

from lsprotocol import types as lsp

from callground.verdict.model import Finding
from callground_server.convert import to_diagnostic
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.session import Session


def diagnostics_of(session: Session, document: Document, outcome: Outcome) -> list[lsp.Diagnostic]:
    """The diagnostics of one document, in the order of the text."""
    folder = session.folder(document.uri)
    client = session.client
    findings: list[Finding] = [verdict.finding for verdict in outcome.review.verdicts if verdict.finding is not None]
    findings += outcome.review.notes
    impact = session.impact
    callers = impact.callers(document)
    shown = session.findings_in_scope(document, outcome, findings) + impact.findings(document, outcome)
    # Whoever wrote a call: it is shown when an edit elsewhere has broken it.
    shown += [each for each in findings if (each.range, each.code) in callers and each not in shown]
    shown.sort(key=lambda finding: (finding.range, finding.code))
    return [
        to_diagnostic(
            finding,
            document.line,
            client.encoding,
            other_lines=folder.lines_of if isinstance(folder, Folder) else lambda _: lambda _: "",
            related=impact.related(document, finding),
            with_related=client.related_information,
            with_code_page=client.code_description,
        )
        for finding in shown
    ]
