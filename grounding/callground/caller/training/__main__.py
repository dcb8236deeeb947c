"""``python -m callground.caller.training COMMAND``: makes the bundled model anew, step by step."""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from callground.caller.training import span_commands

HELP = "Makes the caller's bundled model: mine the data, train the selection head, export it, evaluate it."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m callground.caller.training", description=HELP)
    commands = parser.add_subparsers(dest="command", required=True)

    data = commands.add_parser(
        "data", help="fetch distributions with pip, mine them, write groups of tools and requests"
    )
    data.add_argument("folder", type=Path, help="where the distributions lie, or are downloaded to")
    data.add_argument("target", type=Path, help="the file of groups to write (sources.json is written beside it)")
    data.add_argument("--sets", type=Path, help="folder of the public sets (seal/Seal-Tools_Dataset, clinc/data)")
    data.add_argument("--evaluation", type=Path, help="folder of what is evaluated on; default: FOLDER/evaluation")
    data.add_argument("--only", nargs="+", metavar="NAME", help="fetch and mine these distributions only")
    data.add_argument("--offline", action="store_true", help="use what is in the folders, download nothing")

    train = commands.add_parser("train", help="train the selection head on a file of groups, on one thread")
    train.add_argument("base", type=Path, help="the base model: model.safetensors and tokenizer.json")
    train.add_argument("data", type=Path, help="a file that `data` wrote")
    train.add_argument("target", type=Path, help="the checkpoint to write")
    train.add_argument("--resume", type=Path, help="go on from this checkpoint")
    for name, kind, text in (
        ("steps", int, "steps in all"),
        ("cooldown", int, "last steps, in which the learning rate falls to zero"),
        ("batch", int, "pairs in a batch"),
        ("seed", int, "of batches, dropout and weights"),
    ):
        train.add_argument(f"--{name}", type=kind, help=text)

    export = commands.add_parser("export", help="write trunk.onnx, select.onnx and tokenizer.json, int8")
    export.add_argument("base", type=Path, help="the base model")
    export.add_argument("folder", type=Path, help="the model folder to write into")
    export.add_argument("checkpoints", type=Path, nargs="+", help="what `train` wrote; of several, the mean")
    export.add_argument("--share", type=float, default=1.0, help="weight of the trained head against the base's")
    export.add_argument("--float", action="store_true", help="float32, to see what int8 costs")

    span_commands.add(commands)

    digests = commands.add_parser("seal", help="write digests.json over all files of a model folder, check its size")
    digests.add_argument("folder", type=Path, help="the model folder")

    decide = commands.add_parser("decide", help="fit the combiner, the gate and the calibration record of JSON tools")
    decide.add_argument("folder", type=Path, help="the model folder, with every network in it")
    decide.add_argument("sets", type=Path, help="folder of the public sets (seal, metatool, toolalpaca)")
    decide.add_argument("--packages", type=Path, help="folder with the wheel of awscli, for the titles of its examples")
    decide.add_argument("--target", type=Path, help="where the three files are written; default: the model folder")
    decide.add_argument("--seed", type=int, default=0, help="of which tools stand beside the right one")

    evaluate = commands.add_parser("evaluate", help="print the table of the development groups")
    evaluate.add_argument("folder", type=Path, help="the model folder")
    evaluate.add_argument("data", type=Path, help="a file that `data` wrote")
    evaluate.add_argument("--sets", type=Path, help="folder of the public sets: what is kept back of them, too")
    evaluate.add_argument("--each", type=int, default=100, help="requests of a kind of source")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one step; 0 when it is done."""
    given = _parser().parse_args(arguments)
    if given.command in span_commands.NAMES:
        span_commands.run(given)
    elif given.command == "data":
        from callground.caller.training import mining

        counts = mining.make(
            given.folder, given.sets, given.target, given.evaluation, only=given.only, download=not given.offline
        )
        print(json.dumps(counts, indent=1))
    elif given.command == "train":
        from callground.caller.training.train_select import Settings, train

        named = {field.name for field in fields(Settings)}
        chosen = {key: value for key, value in vars(given).items() if key in named and value is not None}
        train(given.base, given.data, given.target, Settings(**chosen), resume=given.resume)
    elif given.command == "decide":
        from callground.caller.training.fit_decisions import decide

        target = given.target or given.folder
        print(json.dumps(decide(given.folder, given.sets, given.packages, target, given.seed), indent=1))
    elif given.command == "export":
        from callground.caller.training.export import export_model

        export_model(given.base, given.checkpoints, given.folder, share=given.share, int8=not given.float)
    elif given.command == "seal":
        from callground.caller.training.bundle import seal

        print(f"{seal(given.folder)} bytes")
    else:
        from callground.caller.training.evaluate import report

        print(report(given.folder, given.data, given.each, given.sets))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
