"""Bytes and text to syntax trees, piece by piece, without ever failing."""
