"""Type checkers and linter on our own code.  Asked for by name: ``pytest -m quality`` (needs the dev extra)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quality

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["mypy"], id="mypy"),
        pytest.param(["pyright", "--pythonpath", sys.executable], id="pyright"),
        pytest.param(["ruff", "check", "."], id="ruff"),
        pytest.param(["ruff", "format", "--check", "."], id="ruff-format"),
    ],
)
def test_clean(command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=TOP, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def test_bench_scripts_are_typed():
    detection = TOP / "tests" / "bench" / "detection"
    scripts = [path.name for path in sorted(detection.glob("*.py"))]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *scripts],
        cwd=detection,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
