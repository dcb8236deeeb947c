"""Between the library's plain values and the protocol's types: positions are converted here, once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types as lsp

from callground.rules import RULES
from callground.text.lines import UTF8, UTF16, UTF32
from callground.verdict.model import Finding, Range
from callground_server.lsp.documents import Change, from_units, to_units

SOURCE = "callground"
Lines = Callable[[int], str]
"""0-based line number -> its text without the end; empty where there is none."""

_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "hint": lsp.DiagnosticSeverity.Hint,
}
_DRIVE = re.compile(r"^/([A-Za-z])(:|%3A|%3a)(?=/|$)")


class Caller(NamedTuple):
    """A place elsewhere that a finding is about."""

    path: str
    range: Range
    message: str


# -- URIs


def path_of(uri: str) -> str:
    """The file that a URI names; a URI of another scheme is kept as it is."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = unquote(parts.path)
    if _DRIVE.match(parts.path) and os.name == "nt":
        path = path[1:].replace("/", "\\")
        path = path[0].lower() + path[1:]
    elif parts.netloc and parts.netloc != "localhost" and os.name == "nt":
        path = f"\\\\{parts.netloc}{path}".replace("/", "\\")
    return os.path.normpath(path)


def uri_of(path: str) -> str:
    """The URI of a file, in the spelling that editors use."""
    if is_uri(path):
        return path
    if os.name == "nt":
        return Path(path).as_uri()
    return "file://" + quote(os.fspath(path), safe="/~")


def is_uri(path: str) -> bool:
    """Whether a document's path stands for something that is no file, such as ``untitled:Untitled-1``."""
    scheme, colon, _ = path.partition(":")
    plain = scheme.replace("-", "").replace("+", "").replace(".", "")
    return bool(colon) and len(scheme) > 1 and plain.isalnum()


# -- positions


def encoding_of(capabilities: lsp.ClientCapabilities) -> str:
    """What a client counts characters in: the first of its choices that we know."""
    general = capabilities.general
    for choice in (general.position_encodings if general else None) or ():
        value = choice.value if isinstance(choice, lsp.PositionEncodingKind) else str(choice)
        if value in (UTF8, UTF16, UTF32):
            return value
    return UTF16


def to_range(span: Range, lines: Lines, encoding: str) -> lsp.Range:
    """A range of the library (1-based lines, code points) in the client's units."""
    return lsp.Range(
        lsp.Position(max(span.line - 1, 0), to_units(lines(span.line - 1), span.column, encoding)),
        lsp.Position(max(span.end_line - 1, 0), to_units(lines(span.end_line - 1), span.end_column, encoding)),
    )


def from_range(span: lsp.Range, lines: Lines, encoding: str) -> Range:
    """A range of the client in the library's units."""
    return Range(
        span.start.line + 1,
        from_units(lines(span.start.line), span.start.character, encoding),
        span.end.line + 1,
        from_units(lines(span.end.line), span.end.character, encoding),
    )


def changes_of(events: Iterable[lsp.TextDocumentContentChangeEvent]) -> list[Change]:
    """Content changes as plain values."""
    changes: list[Change] = []
    for event in events:
        span = getattr(event, "range", None)
        place = None
        if span is not None:
            place = (span.start.line, span.start.character, span.end.line, span.end.character)
        changes.append(Change(place, event.text))
    return changes


# -- diagnostics


def page_uri(code: str) -> str | None:
    """Where the rule's page lies on this machine."""
    if code not in RULES:
        return None
    page = resources.files("callground.rules") / "pages" / f"{code}.md"
    return uri_of(str(page)) if os.path.isfile(str(page)) else None


def to_diagnostic(
    finding: Finding,
    lines: Lines,
    encoding: str,
    *,
    other_lines: Callable[[str], Lines],
    related: Sequence[Caller] = (),
    with_related: bool = True,
    with_code_page: bool = True,
) -> lsp.Diagnostic:
    """One finding as the editor shows it."""
    information: list[lsp.DiagnosticRelatedInformation] = []
    if with_related:
        if finding.evidence_location is not None:
            path, line = finding.evidence_location
            text = other_lines(path)(line - 1)
            start = len(text) - len(text.lstrip())
            message = finding.evidence[0] if finding.evidence else finding.owner
            information.append(_related(path, Range(line, start, line, len(text)), message, other_lines, encoding))
        for caller in related:
            information.append(_related(caller.path, caller.range, caller.message, other_lines, encoding))
    href = page_uri(finding.code) if with_code_page else None
    return lsp.Diagnostic(
        range=to_range(finding.range, lines, encoding),
        message=message_of(finding),
        severity=_SEVERITY.get(finding.severity, lsp.DiagnosticSeverity.Error),
        code=finding.code,
        code_description=lsp.CodeDescription(href=href) if href else None,
        source=SOURCE,
        tags=[lsp.DiagnosticTag.Deprecated] if finding.code == "deprecated-call" else None,
        related_information=information or None,
        data=data_of(finding),
    )


def message_of(finding: Finding) -> str:
    """The message, with the nearest real name."""
    message = finding.message
    if finding.suggestions:
        best = finding.suggestions[0]
        message += f"\nDid you mean `{best.text}{best.signature if best.signature.startswith('(') else ''}`?"
    return message


def data_of(finding: Finding) -> dict[str, Any]:
    """What a repair needs to know; the client hands it back unread."""
    return {
        "code": finding.code,
        "kind": finding.kind,
        "callee": finding.callee,
        "owner": finding.owner,
        "name": finding.name,
        "range": list(finding.range),
        "suggestions": [
            {"text": item.text, "signature": item.signature, "import": item.import_} for item in finding.suggestions
        ],
    }


def _related(
    path: str, span: Range, message: str, other_lines: Callable[[str], Lines], encoding: str
) -> lsp.DiagnosticRelatedInformation:
    location = lsp.Location(uri=uri_of(path), range=to_range(span, other_lines(path), encoding))
    return lsp.DiagnosticRelatedInformation(location=location, message=message)
