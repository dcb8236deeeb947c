"""Which training rows are the encoder's and which belong to the decisions made on top of it.

The combiner, the gate and the calibration read the encoder's similarities.  On rows that the encoder was
trained on these are too good, so a part of the public data is theirs alone.  The cut is by content (a
checksum of the query or of the service's name), so it stays the same whatever is added.
"""

from __future__ import annotations

import zlib


def is_decision_seal(split: str, query: str) -> bool:
    """Whether a query of Seal-Tools is left to the decisions: one split with tools of its own, and a quarter."""
    return split == "test_out_domain" or _checksum(query) % 4 == 0


def is_decision_service(service: str) -> bool:
    """Whether a botocore service (its folder's name) is left to the decisions: a fifth of them."""
    return _checksum(service) % 5 == 0


def is_decision_metatool(tool: str) -> bool:
    """Whether a tool of MetaTool is left to the decisions, with all its queries: a quarter of them."""
    return _checksum(tool) % 4 == 0


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8"))
