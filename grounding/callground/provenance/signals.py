"""The signals that tell where text came from, each with the name that stamps carry and settings switch."""

from __future__ import annotations

from typing import NamedTuple

INSERTION = "insertion"
STREAM = "stream"
PASTE = "paste"
REWRITE = "rewrite"
CLIENT = "client"
DISK = "disk"
AGENT_TRACE = "agent-trace"
GIT_AI = "git-ai"
COMMITS = "commits"
HOOK = "hook"
GIT = "git"
BY_HAND = "by-hand"


class Signal(NamedTuple):
    """One kind of evidence."""

    name: str
    """As stamps carry it."""
    switch: str
    """The key of the settings that switches it; ``""`` for what cannot be switched off."""
    says: str
    """What it means, for people."""


ALL = (
    Signal(INSERTION, "edits", "text with calls appeared in one piece behind what was typed"),
    Signal(STREAM, "edits", "text with calls grew in many small pieces"),
    Signal(PASTE, "edits", "whole lines with calls came from outside of the workspace"),
    Signal(REWRITE, "edits", "a block was replaced by one with other calls"),
    Signal(CLIENT, "client", "the editor or a plugin said so"),
    Signal(DISK, "disk", "the file was written by another program than the editor or git"),
    Signal(AGENT_TRACE, "agent-trace", "an Agent Trace record of the workspace"),
    Signal(GIT_AI, "git-ai", "a git-ai note (refs/notes/ai) on the commit of the line"),
    Signal(COMMITS, "commits", "the line's commit names an assistant as its author or co-author"),
    Signal(HOOK, "hook", "an agent's edit hook reported the text"),
    Signal(GIT, "uncommitted", "the line differs from HEAD, and nothing tells who changed it"),
    Signal(BY_HAND, "", "a person marked it"),
)

SIGNALS = {signal.name: signal for signal in ALL}
SWITCHES = tuple(dict.fromkeys(signal.switch for signal in ALL if signal.switch))
