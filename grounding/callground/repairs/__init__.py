"""Repairs: which real call was meant, and the edit that writes it."""

from __future__ import annotations

from callground.repairs.fixing import Applied, Repaired, ground_report_and_repair
from callground.repairs.model import KINDS, Candidate, FileEdits, ImportWanted, Ranked, Repair
from callground.repairs.service import Repairs

__all__ = [
    "KINDS",
    "Applied",
    "Candidate",
    "FileEdits",
    "ImportWanted",
    "Ranked",
    "Repair",
    "Repaired",
    "Repairs",
    "ground_report_and_repair",
]
