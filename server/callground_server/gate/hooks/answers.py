"""Answers in each agent's own protocol."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from callground.gate import Answer
from callground.verdict.model import Suggestion
from callground.verdict.report import Entry, evidence, relative
from callground_server.gate.hooks.payload import Event

MOST = 12
"""Findings that one answer names."""


class Reply(NamedTuple):
    """What the hook prints."""

    out: str = ""
    err: str = ""
    status: int = 0


SILENT = Reply()


def denied(event: Event, reason: str) -> Reply:
    """The edit must not be made (or, after it, must be made anew)."""
    if event.agent == "cursor":
        if event.before:
            return _json({"permission": "deny", "user_message": _headline(reason), "agent_message": reason})
        return _json({"additional_context": reason})
    if event.before:
        return _json(_decision(event, "deny", reason))
    return _json({"decision": "block", "reason": reason})


def asked(event: Event, reason: str) -> Reply:
    """The person shall decide."""
    if not event.before:
        return told(event, reason)
    if event.agent == "cursor":
        return _json({"permission": "ask", "user_message": reason, "agent_message": reason})
    return _json(_decision(event, "ask", reason))


def told(event: Event, reason: str) -> Reply:
    """The edit goes on; the agent and the person are told."""
    if event.agent == "cursor":
        if event.before:
            return _json({"permission": "allow", "user_message": _headline(reason), "agent_message": reason})
        return _json({"additional_context": reason})
    output = {"hookEventName": event.name, "additionalContext": reason}
    return _json({"systemMessage": _headline(reason), "hookSpecificOutput": output})


def repaired(event: Event, reason: str, updated: Any) -> Reply:
    """The edit is made in a repaired form.

    Whoever has switched questions about edits off is not asked about this one either; everybody else sees
    the repaired edit in the question that the agent asks anyway.
    """
    if event.agent == "cursor":
        answer = {"permission": "allow", "updated_input": updated}
        return _json({**answer, "user_message": _headline(reason), "agent_message": reason})
    answer = _decision(event, "allow" if event.approves else "ask", reason)
    answer["hookSpecificOutput"]["updatedInput"] = updated
    answer["hookSpecificOutput"]["additionalContext"] = reason
    return _json(answer)


def failed(event: Event | None, why: str) -> Reply:
    """Nothing was checked: the edit goes on, and nobody is left to believe that it was checked."""
    message = f"callground: not checked: {why}"
    if event is not None and event.agent == "cursor":
        return Reply(json.dumps({"user_message": message}) + "\n", message + "\n")
    return Reply(json.dumps({"systemMessage": message}) + "\n", message + "\n")


def reason_of(answer: Answer, entries: list[Entry], opening: str) -> str:
    """What is wrong with an edit, with the real signatures: written for the one who repairs it."""
    root = answer.report.root
    lines = [opening]
    for entry in entries[:MOST]:
        finding = entry.finding
        where = f"{relative(entry.path, root)}:{finding.range.line}"
        lines.append(f"- {where}: {finding.message} [{finding.code}]")
        lines += [f"    {line}" for line in evidence(finding, root)]
        if finding.suggestions:
            lines.append(f"    did you mean {' or '.join(_suggested(each) for each in finding.suggestions[:3])}?")
    if len(entries) > MOST:
        lines.append(f"- and {len(entries) - MOST} more")
    return "\n".join(lines)


def _suggested(suggestion: Suggestion) -> str:
    text = suggestion.text
    if suggestion.signature:
        text = suggestion.signature if suggestion.signature.startswith(text) else text + suggestion.signature
    return f"`{text}` ({suggestion.import_})" if suggestion.import_ else f"`{text}`"


def _decision(event: Event, decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }


def _headline(reason: str) -> str:
    lines = reason.split("\n")
    return lines[0] if len(lines) == 1 else f"{lines[0]} {lines[1].removeprefix('- ')}"


def _json(value: dict[str, Any]) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False) + "\n")
