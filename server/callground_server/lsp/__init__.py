"""The language server: ``callground lsp``."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one client over stdin and stdout until it leaves."""
    from callground_server.lsp.start import serve

    return serve(list(argv or ()))


__all__ = ["main"]
