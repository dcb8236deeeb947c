"""Distil a team's own caller from a teacher: see `callground.caller.tool_caller`."""
