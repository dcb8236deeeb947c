"""Codes of findings about tool calls that are data.  Codes that calls in code have too keep their names."""

from __future__ import annotations

TOOL_CODES = {
    "unknown-tool": "a tool is called that is not among the tools that there are",
    "unknown-step": "an argument refers to a step that the plan does not have",
    "later-step": "an argument refers to the result of a step that has not run by then",
    "unknown-result": "an argument refers to a member that a result does not have",
    "wrong-type": "an argument is of another type than the schema says",
    "not-in-enum": "an argument is not one of the values that the schema lists",
    "wrong-format": "an argument is not of the format that the schema names",
    "out-of-range": "an argument breaks a limit of the schema: size, length, number of items, pattern",
    "not-json": "the arguments are not a JSON object",
}
"""Code -> what it reports; the gate's page (``callground schema gate``) says more."""
