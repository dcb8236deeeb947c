"""Positions in text and edits of it; knows nothing of Python or of any protocol."""
