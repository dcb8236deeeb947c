"""Calls of tools as data: JSON tool specs, calls and plans as models write them, and their grounding."""

from __future__ import annotations

from callground.toolcalls.calls import Plan, ToolCall, read_calls, read_text
from callground.toolcalls.ground import Fault, Outcome, ground_call, ground_plan
from callground.toolcalls.specs import Specs, ToolSpec, read_specs

__all__ = [
    "Fault",
    "Outcome",
    "Plan",
    "Specs",
    "ToolCall",
    "ToolSpec",
    "ground_call",
    "ground_plan",
    "read_calls",
    "read_specs",
    "read_text",
]
