"""workspace/executeCommand."""

from __future__ import annotations

from typing import Any

from callground_server.convert import data_of, is_uri, path_of, uri_of
from callground_server.features.gate import is_request, plain
from callground_server.features.gate import verify as ask_gate
from callground_server.lsp.server import Server, guarded

VERIFY = "callground.verify"


def register(server: Server) -> None:
    """Offer the commands."""
    session = server.session

    async def verify(*arguments: Any) -> Any:
        """Judge one open document (its URI), or all of them; answers what was found in each.

        An object is a request to the gate: the answer is that of ``callground/verify``.
        """
        asked = [plain(argument) for argument in arguments if is_request(argument)]
        if asked:
            return await ask_gate(server, asked[0])
        wanted = [argument for argument in arguments if isinstance(argument, str)]
        wanted += [item for argument in arguments if isinstance(argument, list | tuple) for item in argument]
        uris = [uri if is_uri(uri) or "://" in uri else uri_of(path_of(uri)) for uri in wanted]
        answers: dict[str, Any] = {}
        for uri in uris or [document.uri for document in session.documents()]:
            outcome = await session.verify_again(uri)
            if outcome is None:
                continue
            counts = {"grounded": 0, "findings": 0, "abstained": 0}
            findings = []
            for verdict in outcome.review.verdicts:
                if verdict.finding is not None:
                    counts["findings"] += 1
                    findings.append({**data_of(verdict.finding), "message": verdict.finding.message})
                elif verdict.status in counts:
                    counts[verdict.status] += 1
            answers[uri] = {"complete": outcome.complete, "sites": counts, "findings": findings}
        return answers

    server.command(VERIFY)(guarded(VERIFY, verify))
