"""Hooks of agents: an edit is checked before (or right after) it is written, and answered in the agent's protocol."""
