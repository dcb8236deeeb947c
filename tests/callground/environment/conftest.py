"""What the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

from environment_lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)
