"""Sessions in a real Neovim, replayed: what an assistant put in is found, what a person did is left alone.

Recorded by ``tests/data/traces/record_neovim.py``; the truth is what the driver did itself.  Reported and
passed for each kind of editing: pytest -s tests/callground/provenance/test_traces.py
"""

from __future__ import annotations

from pathlib import Path

import pytest

import traces.kinds_more  # noqa: F401 - it registers its kinds
from traces.kinds import KINDS
from traces.replay import Score, read, score

DATA = Path(__file__).parents[2] / "data" / "traces"
RECALL = 0.97
FALSE = 0.01
FEWEST = 20


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_editing(kind: str) -> None:
    total, count = Score(), 0
    for recording in read(DATA / f"{kind}.jsonl"):
        count += 1
        total = total.plus(score(recording))
    print(
        f"\n{kind}: {count} traces; assistant's calls found {total.found} of {total.ai} ({total.recall:.3f}); "
        f"a person's calls marked {total.marked} of {total.human} ({total.false_share:.4f})"
    )
    assert count >= FEWEST
    assert total.human > 0
    assert total.recall >= RECALL, total.misses[:10]
    assert total.false_share <= FALSE, total.misses[:10]


def test_every_recording_has_its_kind() -> None:
    assert {path.stem for path in DATA.glob("*.jsonl")} == set(KINDS)
