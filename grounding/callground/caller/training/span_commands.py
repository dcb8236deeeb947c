"""The commands of the span head and of the argument ranker, for ``python -m callground.caller.training``."""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callground.caller.encoder import Encoder
from callground.caller.training import span_data
from callground.caller.training.contamination import Evaluation, evaluation_texts
from callground.caller.training.span_data import Example, fold_of
from callground.caller.training.span_templates import made_request

NAMES = ("span-data", "span-train", "span-export", "rank-train")

MADE_PER_TOOL = 2
"""Requests made up for each documented tool of Seal-Tools."""

GRAMMAR_PER_TOOL = 130
SNIPS_PER_INTENT = 400
OPERATIONS_PER_SERVICE = 14

_RANKED = {"seal": 500, "seal-several": 600, "grammar": 1100, "seal-made": 700, "botocore": 250}
_RANKED_BARE = {"seal": 500, "seal-several": 500, "grammar": 2000, "seal-made": 800, "botocore": 250, "snips": 150}
_MEASURED = {"seal": 100, "seal-several": 200, "grammar": 400}


def add(commands: Any) -> None:
    """Adds the commands to the parser's subcommands."""
    data = commands.add_parser("span-data", help="write the examples of the span head and the argument ranker")
    data.add_argument("target", type=Path, help="the file of examples to write")
    data.add_argument("--seal", type=Path, help="folder Seal-Tools_Dataset")
    data.add_argument("--snips", type=Path, help="folder of the Snips custom-intent benchmark, one folder an intent")
    data.add_argument("--botocore", type=Path, help="folder botocore/data of an unpacked wheel")
    data.add_argument(
        "--evaluation", type=Path, help="folder of what is evaluated on; its near-duplicates are left out"
    )
    data.add_argument("--per-tool", type=int, default=GRAMMAR_PER_TOOL, help="requests for each tool of the grammar")

    train = commands.add_parser("span-train", help="train the span head on the frozen trunk, on one thread")
    train.add_argument("base", type=Path, help="the base model: model.safetensors and tokenizer.json")
    train.add_argument("data", type=Path, help="a file that `span-data` wrote")
    train.add_argument("target", type=Path, help="the state to write")
    train.add_argument("--steps", type=int, default=1400)
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--initial", type=Path, help="a state of an earlier run to go on from")

    export = commands.add_parser("span-export", help="write span.onnx, int8")
    export.add_argument("base", type=Path, help="the base model")
    export.add_argument("state", type=Path, help="a state that `span-train` wrote")
    export.add_argument("folder", type=Path, help="the model folder")
    export.add_argument("--float", action="store_true", help="float32, to see what int8 costs")

    rank = commands.add_parser("rank-train", help="train the argument ranker on a model folder's span head")
    rank.add_argument("folder", type=Path, help="the model folder; combiner_arguments.json is written there")
    rank.add_argument("data", type=Path, help="a file that `span-data` wrote")
    rank.add_argument("--epochs", type=int, default=25)
    rank.add_argument("--share", type=float, default=1.0, help="share of the examples to use")


def run(given: argparse.Namespace) -> None:
    """Runs one of the commands of `NAMES`."""
    if given.command == "span-data":
        barred = Evaluation(evaluation_texts(given.evaluation) if given.evaluation is not None else ())
        made = examples(given.seal, given.snips, given.botocore, given.per_tool)
        count = span_data.write((example for example in made if not barred.holds(example.text)), given.target)
        print(f"{count} examples in {given.target}")
    elif given.command == "span-train":
        from callground.caller.training.span_training import Settings, measure, train

        rows = span_data.load(given.data)
        settings = Settings(steps=given.steps, seed=given.seed)
        head = train([row for row in rows if row.fold == "span"], given.base, given.target, settings, given.initial)
        print(json.dumps(measure(head, [row for row in rows if row.fold == "dev"][:400], given.base)))
    elif given.command == "span-export":
        from callground.caller.training.span_export import export_span_head
        from callground.caller.training.span_training import load_trained

        export_span_head(load_trained(given.base, given.state), given.folder / "span.onnx", int8=not given.float)
    else:
        rank(given.folder, given.data, given.epochs, given.share)


def examples(seal: Path | None, snips: Path | None, botocore: Path | None, per_tool: int) -> Iterator[Example]:
    """All examples of the sources that are given; the grammar is always there. The order and the seeds are fixed."""
    yield from span_data.from_grammar(per_tool, 1)
    r = random.Random(3)
    if seal is not None:
        yield from span_data.from_seal(seal)
        for name, tool in span_data.seal_tools(seal).items():
            fold = fold_of(name) if fold_of(name) != "dev" else "rank"
            for _ in range(MADE_PER_TOOL if tool.args else 0):
                made = made_request(tool, "seal-made", fold, r)
                if made is not None:
                    yield made
    if snips is not None:
        yield from span_data.from_snips(snips, SNIPS_PER_INTENT, 2)
    if botocore is not None:
        for fold, tool in span_data.botocore_tools(botocore, OPERATIONS_PER_SERVICE, 4):
            made = made_request(tool, "botocore", fold, r)
            if made is not None:
                yield made


def rank(folder: Path, data: Path, epochs: int, share: float) -> None:
    """Trains the ranker and the whole call's confidence; prints what they reach on the measured fold."""
    from callground.caller.argument_ranker import FILE
    from callground.caller.training.argument_training import cases, outcome, train_ranker, train_whole

    rows = span_data.load(data)
    random.Random(9).shuffle(rows)
    encoder = Encoder(folder)
    reason = encoder.spans_available()
    if reason is not None:
        print(f"without the span head: {reason}")
    made = cases(_taken(rows, "rank", _RANKED, share), encoder, 1, 0.1)
    made += cases(_taken(rows, "span", _RANKED_BARE, share), None, 3, 0.0)
    measured = cases(_taken(rows, "dev", _MEASURED, share), encoder, 2, 0.0)
    ranker = train_ranker(made, epochs)
    outcomes = [outcome(case, ranker) for case in measured]
    train_whole(outcomes, ranker)
    ranker.save(folder / FILE)
    seen, right = Counter(case.example.source for case in measured), Counter[str]()
    for case, each in zip(measured, outcomes, strict=True):
        right[case.example.source] += each.right
    print(json.dumps({source: [round(right[source] / count, 3), count] for source, count in seen.items()}))


def _taken(rows: list[Example], fold: str, wanted: dict[str, int], share: float) -> list[Example]:
    left = {source: max(1, round(count * share)) for source, count in wanted.items()}
    taken = []
    for row in rows:
        if row.fold == fold and left.get(row.source, 0) > 0:
            left[row.source] -= 1
            taken.append(row)
    return taken
