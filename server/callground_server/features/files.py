"""Files that the editor makes, renames and deletes."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from callground_server.convert import path_of
from callground_server.lsp.server import Server

_FILTER = lsp.FileOperationRegistrationOptions(
    filters=[
        lsp.FileOperationFilter(pattern=lsp.FileOperationPattern(glob="**/*.{py,pyi,ipynb}"), scheme="file"),
        lsp.FileOperationFilter(
            pattern=lsp.FileOperationPattern(glob="**", matches=lsp.FileOperationPatternKind.Folder),
            scheme="file",
        ),
    ]
)


def register(server: Server) -> None:
    """Look at files that the editor has changed the place of."""

    @server.handles(lsp.WORKSPACE_DID_CREATE_FILES, _FILTER)
    def created(params: lsp.CreateFilesParams) -> None:
        _look(server, (file.uri for file in params.files))

    @server.handles(lsp.WORKSPACE_DID_RENAME_FILES, _FILTER)
    def renamed(params: lsp.RenameFilesParams) -> None:
        _look(server, (uri for file in params.files for uri in (file.old_uri, file.new_uri)))

    @server.handles(lsp.WORKSPACE_DID_DELETE_FILES, _FILTER)
    def deleted(params: lsp.DeleteFilesParams) -> None:
        _look(server, (file.uri for file in params.files))


def _look(server: Server, uris: Iterable[str]) -> None:
    paths = [path_of(uri) for uri in uris]
    if all(path.endswith((".py", ".pyi")) for path in paths):
        server.session.look_around.files(paths)
    else:
        # A folder: everything under it may be elsewhere.
        server.session.look_around.now()
