"""Hover over a flagged callee: what is missing, where the real thing lives, and what may be meant."""

from __future__ import annotations

import logging

from lsprotocol import types as lsp

from callground.repairs import Ranked
from callground.verdict.model import Finding, Range
from callground.verdict.report import evidence, known_path
from callground_server.convert import from_range, to_range
from callground_server.lsp import repairing
from callground_server.lsp.server import Server

logger = logging.getLogger(__name__)
SHOWN = 3


_TRIES = 3


def register(server: Server) -> None:
    """Answer hovers over findings; everything else is the type checker's business."""
    session = server.session

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        try:
            return await _hover(params)
        except Exception:  # the client is owed an answer
            logger.exception("hover in %s failed", params.text_document.uri)
            return None

    async def _hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = session.document(params.text_document.uri)
        folder = session.folder(params.text_document.uri)
        if document is None or folder is None:
            return None
        place = from_range(lsp.Range(params.position, params.position), document.line, session.client.encoding)
        outcome = await session.current(document.uri)
        held = [v.finding for v in outcome.review.verdicts if v.finding is not None] if outcome is not None else []
        held = [finding for finding in held if _holds(finding, place)]
        if outcome is None or not session.findings_in_scope(document, outcome, held):
            return None
        text, texts = document.text, {each.path: each.text for each in session.documents()}
        found = None
        for _ in range(_TRIES):
            # A job that a newer one has overtaken gives nothing: the hover still stands.
            found = await repairing.ask(
                session,
                lambda: repairing.meant(folder, document.path, text, place.line, place.column, texts),
            )
            if found is not None:
                break
        if found is None:
            return None
        finding, ranked = found
        return lsp.Hover(
            contents=lsp.MarkupContent(lsp.MarkupKind.Markdown, text_of(finding, ranked, folder.root)),
            range=to_range(finding.range, document.line, session.client.encoding),
        )


def _holds(finding: Finding, place: Range) -> bool:
    return finding.range[:2] <= place[:2] <= finding.range[2:]


def text_of(finding: Finding, ranked: list[Ranked], root: str) -> str:
    """The hover as Markdown."""
    blocks = [f"**callground** `{finding.code}`: {finding.message}"]
    blocks += [f"- {line}" for line in evidence(finding, root)]
    best = [each for each in ranked if each.near][:SHOWN] or [r for r in ranked if r.score > 0][:1]
    if best:
        blocks.append("\nWhat may be meant:")
    for each in best:
        candidate = each.candidate
        name = each.signature or candidate.text
        if candidate.wanted is not None:
            name = f"{name}    # {candidate.wanted.text}"
        blocks.append(f"\n```python\n{name}\n```")
        said = each.doc
        if candidate.path and candidate.line and not candidate.path.startswith("<"):
            where = f"{known_path(candidate.path, root)}:{candidate.line}"
            said = f"{said} ({where})" if said else where
        if said:
            blocks.append(said)
    return "\n".join(blocks)
