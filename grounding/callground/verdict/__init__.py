"""Verdicts on call sites, their evidence, and the report."""
