"""The model folder as it is shipped: digests of every file, within the size that the wheel can carry."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

MOST_BYTES = 30_000_000
"""All files of the model together."""

DIGESTS = "digests.json"
NEEDED = ("CARD.md", "select.onnx", "sources.json", "tokenizer.json", "trunk.onnx")


def digests(folder: Path) -> dict[str, dict[str, int | str]]:
    """SHA-256 and size in bytes of each file of a model folder, by name."""
    return {
        path.name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in (DIGESTS, "__init__.py")
    }


def seal(folder: Path) -> int:
    """Writes ``digests.json``; the bytes of all files.

    Raises ValueError where a file is missing or all are too much.
    """
    found = digests(folder)
    missing = [name for name in NEEDED if name not in found]
    if missing:
        raise ValueError(f"{folder} lacks {', '.join(missing)}")
    total = sum(int(each["bytes"]) for each in found.values())
    if total > MOST_BYTES:
        raise ValueError(f"{folder} has {total} bytes, more than the {MOST_BYTES} of a model that can be shipped")
    (folder / DIGESTS).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return total
