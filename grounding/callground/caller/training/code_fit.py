"""Rows of places into the ranking and the gate of the code side.

Every project is decided on by networks that have not seen it.  The gate is crossed: what it says of each half of the
projects comes from a gate that is fitted on the other half, and that is what is calibrated, with thresholds that are
fixed beforehand.  The ranking and the gate that ship are fitted on all of them.  The projects of evaluation are only
measured.

    python -m callground.caller.training.code_fit ROWS_FOLDER MODEL_FOLDER [--more ROWS_FOLDER]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from callground.caller.calibration import Row, make_calibration
from callground.caller.code_combiner import (
    ALPHA,
    CALIBRATION_FILE,
    COMBINER_FILE,
    DELTA,
    GATE,
    CodeCombiner,
)
from callground.caller.code_features import FEATURES
from callground.caller.encoder import Encoder
from callground.caller.training.code_combiner import (
    Decision,
    PlaceRows,
    decisions,
    fit,
    fit_gate,
    reached,
    sureness,
)
from callground.caller.training.code_places import EVALUATION
from callground.caller.training.code_rows import Example, read

THRESHOLDS = tuple(step / 100 for step in range(98, 38, -1))
"""Thresholds that are tested; fixed, so that they depend on no data."""
_NAMES = tuple(FEATURES)
COSINE, ALIKE = _NAMES.index("cosine"), _NAMES.index("function alike")
CONTEXT = tuple(range(_NAMES.index("function named"), len(_NAMES)))
"""Features that the request and the tool alone do not give."""


def with_vectors(examples: Sequence[Example], encoder: Encoder, cache: Path | None = None) -> list[PlaceRows]:
    """The examples' rows with the two features that the encoder gives; vectors are kept in `cache` between runs."""
    known: dict[str, np.ndarray] = {}
    if cache is not None and cache.is_file():
        with np.load(cache) as data:
            known = dict(zip(json.loads(data["texts"].tobytes()), data["vectors"], strict=True))
    texts = {text for e in examples for text in (e.request, *e.tools, *([e.around] if e.around else []))}
    missing = sorted(texts - known.keys(), key=len)
    if missing:
        known.update(zip(missing, encoder.encode(missing).astype(np.float16), strict=True))
    if cache is not None and missing:
        with open(cache, "wb") as file:
            listed = np.frombuffer(json.dumps(list(known)).encode(), dtype=np.uint8)
            np.savez(file, texts=listed, vectors=np.stack(list(known.values())))
    made: list[PlaceRows] = []
    for each in examples:
        rows = each.rows.copy()
        tools = np.stack([known[text] for text in each.tools]).astype(np.float32)
        rows[:, COSINE] = tools @ known[each.request].astype(np.float32)
        rows[:, ALIKE] = tools @ known[each.around].astype(np.float32) if each.around else 0.0
        made.append(PlaceRows(each.project, rows, each.called, each.found))
    return made


def networks(places: Sequence[PlaceRows], count: int, hidden: int, epochs: int) -> CodeCombiner:
    """A ranking without a gate: `count` networks with seeds of their own."""
    made = [fit(places, hidden=hidden, epochs=epochs, seed=seed) for seed in range(count)]
    return CodeCombiner(made, np.zeros(len(GATE) + 1, np.float32))


def out_of_fold(
    places: Sequence[PlaceRows], more: Sequence[PlaceRows], hidden: int, epochs: int
) -> dict[str, list[Decision]]:
    """For each project what networks decide that have seen all the others."""
    found: dict[str, list[Decision]] = {}
    for project in sorted({place.project for place in places}):
        others = [place for place in (*places, *more) if place.project != project]
        combiner = networks(others, 1, hidden, epochs)
        found[project] = decisions(combiner, [place for place in places if place.project == project])
    return found


def halves(projects: dict[str, list[Decision]]) -> tuple[list[Decision], list[Decision]]:
    """Two halves of about the same size, no project in both."""
    one: list[Decision] = []
    other: list[Decision] = []
    for _, rows in sorted(projects.items(), key=lambda item: (-len(item[1]), item[0])):
        (one if len(one) <= len(other) else other).extend(rows)
    return one, other


def crossed(combiner: CodeCombiner, one: Sequence[Decision], other: Sequence[Decision]) -> list[Row]:
    """What a gate that is fitted on one half says of the other, both ways round."""
    rows: list[Row] = []
    for mine, theirs in ((one, other), (other, one)):
        gated = CodeCombiner(combiner.weights, fit_gate(mine))
        rows += [Row(sureness(gated, row), not row.right) for row in theirs]
    return rows


def shown(combiner: CodeCombiner, rows: Iterable[Decision], threshold: float) -> tuple[int, int, int]:
    """(shown, right, all) at a threshold."""
    listed = list(rows)
    above = [row for row in listed if sureness(combiner, row) >= threshold]
    return len(above), sum(row.right for row in above), len(listed)


def main() -> None:
    """Fit, calibrate, write both files into the model folder, and print what they reach."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--more", type=Path, help="rows that the ranking is fitted on besides, and nothing else is")
    parser.add_argument("--cache", type=Path, help="a file that keeps vectors between runs")
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--networks", type=int, default=3)
    given = parser.parse_args()
    examples = [each for file in sorted(given.rows.glob("*.npz")) for each in read(file)]
    extra = [each for file in sorted(given.more.glob("*.npz")) for each in read(file)] if given.more else []
    every = with_vectors([*examples, *extra], Encoder(given.model), given.cache)
    places, more = every[: len(examples)], every[len(examples) :]
    fitted = [place for place in places if place.project not in EVALUATION]
    more = [place for place in more if place.project not in EVALUATION]
    measured = [place for place in places if place.project in EVALUATION]
    final = networks([*fitted, *more], given.networks, given.hidden, given.epochs)
    one, other = halves(out_of_fold(fitted, more, given.hidden, given.epochs))
    final.gate = fit_gate([*one, *other])
    rows = crossed(final, one, other)
    strange = sum(place.called < 0 for place in fitted)
    about = (
        f"{len(rows)} places under comments of {len({row.project for row in (*one, *other)})} projects, {strange} of "
        f"which call nothing of the workspace; decided on by networks and gates that have not seen the project"
    )
    record = make_calibration(rows, THRESHOLDS, about=about)
    guarantee = record.guarantee(ALPHA, DELTA)
    (given.model / COMBINER_FILE).write_text(json.dumps(final.to_json()) + "\n", "utf-8")
    (given.model / CALIBRATION_FILE).write_text(json.dumps(record.to_json()) + "\n", "utf-8")
    own = [place for place in fitted if place.called >= 0]
    print(f"fitted on {len(own)} places of {len({p.project for p in own})} projects, {len(more)} more for the ranking")
    print(f"the threshold: {guarantee}")
    for name, these in (("fitted on", fitted), ("evaluation", measured)):
        got = reached(final, these)
        print(f"{name}: first {got.first:.3f}, in five {got.in_five:.3f} of {got.places}")
        if guarantee is not None:
            for what, some in (("all", these), ("of the workspace", [p for p in these if p.called >= 0])):
                count, right, total = shown(final, decisions(final, some), guarantee.threshold)
                print(f"  shown unasked ({what}): {count} of {total}, right {right / max(1, count):.3f}")


if __name__ == "__main__":
    main()
