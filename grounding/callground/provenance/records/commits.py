"""Commits that name an assistant: by their author or committer, by trailers, by lines that tools add.

As in git-ai, an address counts first; a name counts only beside an address that is known, or without one: a
person may be called Claude.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ADDRESSES = (
    (re.compile(r"noreply@anthropic\.com"), "Claude"),
    (re.compile(r"(?:aider|noreply)@aider\.(?:chat|dev)"), "aider"),
    (re.compile(r"(?:\d+\+)?copilot(?:-swe-agent)?(?:\[bot\])?@users\.noreply\.github\.com"), "Copilot"),
    (re.compile(r"cursoragent@cursor\.com"), "Cursor"),
    (re.compile(r"codex@openai\.com"), "Codex"),
    (re.compile(r"(?:\d+\+)?devin-ai-integration\[bot\]@users\.noreply\.github\.com"), "Devin"),
    (re.compile(r"(?:\d+\+)?factory-droid\[bot\]@users\.noreply\.github\.com"), "Factory Droid"),
    (re.compile(r"noreply@(?:windsurf|codeium)\.com"), "Windsurf"),
)
_SHARED = re.compile(r"noreply@openai\.com")
"""An address of several tools: the name decides."""
_NAMES = {
    "claude": "Claude",
    "aider": "aider",
    "copilot": "Copilot",
    "cursor": "Cursor",
    "codex": "Codex",
    "devin": "Devin",
    "windsurf": "Windsurf",
    "gemini": "Gemini",
}
_TRAILER = re.compile(
    r"(?im)^[ \t]*(?P<key>co-authored-by|assisted-by|generated-by|claude-session|codex-session|cursor-session)"
    r"[ \t]*:[ \t]*(?P<value>.*?)[ \t]*$"
)
_IDENTITY = re.compile(r"(?P<name>[^<]*?)\s*(?:<(?P<email>[^<>]*)>)?\s*\Z")


class Commit(NamedTuple):
    """What is looked at."""

    author: str
    author_email: str
    committer: str
    committer_email: str
    message: str


def assistant_of(commit: Commit) -> str | None:
    """The assistant that a commit names; None when it names none."""
    for name, email in ((commit.author, commit.author_email), (commit.committer, commit.committer_email)):
        if name.rstrip().endswith(" (aider)"):
            return "aider"
        found = _by_identity(name, email) if email else None
        if found:
            return found
    for match in _TRAILER.finditer(commit.message):
        key, value = match["key"].lower(), match["value"]
        if key.endswith("-session"):
            if value:
                return _NAMES[key.partition("-")[0]]
            continue
        identity = _IDENTITY.match(value)
        if identity is None:
            continue
        found = _by_identity(identity["name"], identity["email"] or "")
        if found:
            return found
    return "aider" if commit.message.startswith("aider: ") else None


def _by_identity(name: str, email: str) -> str | None:
    address = email.strip().lower()
    for pattern, tool in _ADDRESSES:
        if pattern.fullmatch(address):
            return tool
    if address and not _SHARED.fullmatch(address):
        return None
    words = re.findall(r"[a-z]+", name.lower())
    return next((_NAMES[word] for word in words if word in _NAMES), None)
