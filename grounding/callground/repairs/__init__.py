"""Repairs: which real call was meant, and the edit that writes it."""
