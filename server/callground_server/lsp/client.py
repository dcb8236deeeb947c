"""What the client can do, read once from its announcement."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Client:
    """Capabilities as plain values."""

    encoding: str = "utf-16"
    pull: bool = False
    """It asks for diagnostics, and can be told to ask again.  Else diagnostics are pushed."""
    related_information: bool = False
    code_description: bool = False
    progress: bool = False
    """The server may start progress bars."""
    configuration: bool = False
    """Settings can be asked for."""
    register_configuration: bool = False
    watched_files: bool = False
    """File watchers can be registered."""
    workspace_folders: bool = False
    document_changes: bool = False
    """Edits of a workspace may name the versions of the documents that they are for."""
    snippet_edits: bool = False
    """Such edits may hold snippets with places to fill in."""
    resolves_edits: bool = False
    """The edit of a code action may be worked out when the action is chosen."""
    process_id: int | None = None
    folders: list[str] = field(default_factory=list)
    """Paths of the folders that are open at the start."""
    settings: object = None
    """``initializationOptions``: settings before any can be asked for."""
